// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// The state of a database file and of the files that SQLite keeps next to it, to the extent that
/// it can be read without a lock.
struct DatabaseStamp: Equatable {
    private struct File: Equatable {
        var device: dev_t
        var inode: ino_t
        var size: off_t
        var seconds: Int
        var nanoseconds: Int

        init(_ status: stat) {
            (device, inode, size) = (status.st_dev, status.st_ino, status.st_size)
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }

        func isSameFile(as other: File) -> Bool { device == other.device && inode == other.inode }
    }
    private var database: File
    /// The header's transaction counter, for databases without a log.
    private var changeCounter: [UInt8]
    private var log: File?
    /// The log's header, which differs after each restart of the log.
    private var logHeader: [UInt8] = []
    /// `true` if there is a rollback journal for an unfinished transaction.
    private(set) var hasJournal: Bool

    /// The start of a journal that SQLite would roll back.
    private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    /// The interval within which two writes may have the same modification time, in nanoseconds.
    private static let coarseness = 20_000_000

    var size: Int { Int(database.size) }
    var hasLog: Bool { log != nil }
    var logSize: Int { Int(log?.size ?? 0) }

    /// Reads the state; `nil` if the file does not exist.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        database = File(status)
        changeCounter = Self.bytes(of: path, at: 24, count: 4)?.bytes ?? []
        if let (bytes, status) = Self.bytes(of: path + "-wal", at: 0, count: 32), status.st_size > 0 {
            (log, logHeader) = (File(status), bytes)
        }
        hasJournal = Self.bytes(of: path + "-journal", at: 0, count: 8)?.bytes == Self.journalMagic
    }

    private static func bytes(of path: String, at offset: Int, count: Int) -> (bytes: [UInt8], status: stat)? {
        // O_NONBLOCK: a named pipe may exist under that name.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let bytes = try? WholeTransfer.bytes(of: file.number, upTo: count, at: offset)
        else { return nil }
        return (bytes, status)
    }

    /// Returns `true` if a copy that was made between these two stamps contains exactly one
    /// committed state of the app's database.
    ///
    /// If the database has a log, a checkpoint may have changed the file, because a checkpoint only
    /// writes content that is still in the log. If there is no log, the file must not have changed.
    func isSameState(as later: DatabaseStamp) -> Bool {
        guard hasLog == later.hasLog, database.isSameFile(as: later.database), !hasJournal, !later.hasJournal else {
            return false
        }
        if let log, let laterLog = later.log { return log.isSameFile(as: laterLog) && logHeader == later.logHeader }
        return database == later.database && changeCounter == later.changeCounter
    }

    /// Returns `true` if the modification time could hide a later write, at the given
    /// `CLOCK_REALTIME` time.
    func isRecent(at now: timespec) -> Bool {
        guard log == nil else { return false }
        let passed = (now.tv_sec - database.seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return !passed.overflow && abs(passed.partialValue + now.tv_nsec - database.nanoseconds) < Self.coarseness
    }
}
