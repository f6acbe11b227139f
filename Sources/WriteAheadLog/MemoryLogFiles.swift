// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Files in process memory, for a log whose entries are durable elsewhere.
///
/// May be used from any thread.
package final class MemoryLogFiles: LogFiles {
    private let files = Mutex<[String: File]>([:])

    /// Creates an empty file system.
    package init() {}

    package func createFolder(_ path: String) {}

    package func names(in folder: String) -> [String] {
        let prefix = folder + "/"
        return files.withLock { $0.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) } }
    }

    package func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile {
        let file = files.withLock { files -> File? in
            if mode == .create { files[path] = File() }
            return files[path]
        }
        guard let file else { throw LogFileError(operation: "opening", path: path, code: ENOENT) }
        return file
    }

    package func rename(_ path: String, to other: String) throws(LogFileError) {
        let isThere = files.withLock { files in
            guard let file = files.removeValue(forKey: path) else { return false }
            files[other] = file
            return true
        }
        if !isThere { throw LogFileError(operation: "renaming", path: path, code: ENOENT) }
    }

    package func remove(_ path: String) throws(LogFileError) {
        guard files.withLock({ $0.removeValue(forKey: path) }) != nil else {
            throw LogFileError(operation: "removing", path: path, code: ENOENT)
        }
    }

    package func synchronizeFolder(_ path: String) {}

    private final class File: LogFile {
        private let bytes = Mutex<[UInt8]>([])

        func size() -> Int { bytes.withLock { $0.count } }

        func read(at offset: Int, count: Int) -> [UInt8] {
            bytes.withLock { bytes in Array(bytes.dropFirst(offset).prefix(count)) }
        }

        func write(_ new: UnsafeRawBufferPointer, at offset: Int) -> Int {
            bytes.withLock { bytes in
                let end = offset + new.count
                if bytes.count < end { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
                bytes.replaceSubrange(offset..<end, with: new)
            }
            return new.count
        }

        func synchronize() {}

        func truncate(to size: Int) {
            bytes.withLock { bytes in
                if bytes.count > size {
                    bytes.removeSubrange(size...)
                } else {
                    bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
                }
            }
        }
    }
}
