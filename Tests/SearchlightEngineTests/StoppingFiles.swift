// SPDX-License-Identifier: Apache-2.0
import Synchronization
import WriteAheadLog

/// The system's files, whose changes of protected indexes fail from one step on, as if the process
/// were killed there. A stopped write writes the first half of its bytes.
final class StoppingFiles: LogFiles {
    private let system = SystemLogFiles()
    private let rest = Mutex(Int.max)
    /// Runs at the operation, in place of the stop.
    private let hook = Mutex<(@Sendable () -> Void)?>(nil)
    /// The number of times that a folder can still be synchronized.
    private let folders = Mutex(Int.max)

    var hasStopped: Bool { rest.withLock { $0 < 0 } }
    func stop(after operations: Int) { rest.withLock { $0 = operations } }

    /// Runs a closure at one operation. Nothing fails.
    func call(after operations: Int, _ body: @escaping @Sendable () -> Void) {
        hook.withLock { $0 = body }
        stop(after: operations)
    }

    /// Makes the synchronization of a folder fail after `count` calls.
    func failFolders(after count: Int) { folders.withLock { $0 = count } }

    private func step(_ path: String) throws(LogFileError) {
        guard path.contains("/protected") else { return }
        let rest = rest.withLock { rest in
            rest -= 1
            return rest
        }
        guard let hook = hook.withLock({ $0 }) else {
            guard rest >= 0 else { throw Self.stopped }
            return
        }
        if rest == -1 { hook() }
    }

    private static var stopped: LogFileError { LogFileError(operation: "stopping", path: "", code: 5) }

    func createFolder(_ path: String) throws(LogFileError) {
        try step(path)
        try system.createFolder(path)
    }
    func names(in folder: String) throws(LogFileError) -> [String] { try system.names(in: folder) }
    func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile {
        if mode == .create { try step(path) }
        return File(base: try system.open(path, for: mode), path: path, files: self)
    }
    func rename(_ path: String, to other: String) throws(LogFileError) {
        try step(path)
        try system.rename(path, to: other)
    }
    func remove(_ path: String) throws(LogFileError) {
        try step(path)
        try system.remove(path)
    }
    func synchronizeFolder(_ path: String) throws(LogFileError) {
        try step(path)
        let isPossible = folders.withLock { folders in
            folders -= 1
            return folders >= 0
        }
        guard isPossible else { throw Self.stopped }
        try system.synchronizeFolder(path)
    }

    private struct File: LogFile {
        let base: any LogFile
        let path: String
        let files: StoppingFiles

        func size() throws(LogFileError) -> Int { try base.size() }
        func read(at offset: Int, count: Int) throws(LogFileError) -> [UInt8] {
            try base.read(at: offset, count: count)
        }
        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LogFileError) -> Int {
            do throws(LogFileError) { try files.step(path) } catch {
                _ = try base.write(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), at: offset)
                throw error
            }
            return try base.write(bytes, at: offset)
        }
        func synchronize() throws(LogFileError) {
            try files.step(path)
            try base.synchronize()
        }
        func truncate(to size: Int) throws(LogFileError) {
            try files.step(path)
            try base.truncate(to: size)
        }
    }
}
