// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Glibc
import Synchronization

@testable import SearchIndex

/// The machine's file system with a limited number of free bytes, for the log.
final class FullDisk: LogFiles {
    private let files = SystemLogFiles()
    private let room = Mutex<Int?>(nil)

    /// Sets the number of free bytes; `nil` means no limit.
    func leave(_ bytes: Int?) { room.withLock { $0 = bytes } }

    /// Returns how many of the bytes fit, and takes their space.
    fileprivate func take(_ count: Int) -> Int {
        room.withLock { room in
            guard let left = room else { return count }
            room = max(0, left - count)
            return min(left, count)
        }
    }

    func createFolder(_ path: String) throws(LogFileError) { try files.createFolder(path) }
    func names(in folder: String) throws(LogFileError) -> [String] { try files.names(in: folder) }
    func rename(_ path: String, to other: String) throws(LogFileError) { try files.rename(path, to: other) }
    func remove(_ path: String) throws(LogFileError) { try files.remove(path) }
    func synchronizeFolder(_ path: String) throws(LogFileError) { try files.synchronizeFolder(path) }

    func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile {
        FullDiskFile(file: try files.open(path, for: mode), path: path, disk: self)
    }
}

private struct FullDiskFile: LogFile {
    let file: any LogFile
    let path: String
    let disk: FullDisk

    func size() throws(LogFileError) -> Int { try file.size() }
    func read(at offset: Int, count: Int) throws(LogFileError) -> [UInt8] {
        try file.read(at: offset, count: count)
    }
    func synchronize() throws(LogFileError) { try file.synchronize() }
    func truncate(to size: Int) throws(LogFileError) { try file.truncate(to: size) }

    /// Writes as a file system does: the bytes that fit, and then an error. Overwriting needs no
    /// space.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LogFileError) -> Int {
        guard offset + bytes.count > (try file.size()) else { return try file.write(bytes, at: offset) }
        let count = disk.take(bytes.count)
        guard count > 0 else { throw LogFileError(operation: "writing", path: path, code: ENOSPC) }
        return try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
    }
}
