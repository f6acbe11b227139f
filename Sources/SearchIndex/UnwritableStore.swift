// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Glibc
import SystemSupport

/// Opens a store for reading when nothing can be written beside it: on a read-only file system,
/// without permission, or on a full disk.
///
/// SQLite writes two small files beside a database even for reading, unless the connection declares
/// the database immutable. The reader guarantees immutability by holding the store's lock in shared
/// mode; a process that changes the store holds the lock exclusively.
enum UnwritableStore {
    /// Opens a database for reading, normally if possible, and as immutable otherwise.
    ///
    /// - Returns: The connections, and the lock to hold while they are used; no lock if the
    ///   database was opened normally.
    /// - Throws: The `DatabaseError` from opening it normally, if it is not safe to open it as
    ///   immutable.
    static func open(
        _ path: String, in directory: String, configuration: Configuration
    ) throws -> (DatabasePool, OwnedDescriptor?) {
        do {
            return (try pool(path, configuration), nil)
        } catch let error as DatabaseError where isObstacle(error.resultCode) {
            guard isComplete(path), let address = unchanging(path) else { throw error }
            guard let lock = try? OwnFile.open(directory + "/lock", O_RDONLY) else { throw error }
            guard flock(lock.number, LOCK_SH | LOCK_NB) == 0, isComplete(path) else { throw error }
            // An SQLite build without URI file names reports a missing file; the first error is
            // more useful.
            guard let pool = try? pool(address, configuration) else { throw error }
            return (pool, lock)
        }
    }

    private static func pool(_ path: String, _ configuration: Configuration) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration)
        // Only the first read shows whether the file can be read.
        try pool.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
        return pool
    }

    private static func isObstacle(_ code: ResultCode) -> Bool {
        switch code {
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_FULL: true
        default: false
        }
    }

    /// Returns `true` if the database is complete without its SQLite WAL.
    private static func isComplete(_ path: String) -> Bool {
        var status = stat()
        return stat(path + "-wal", &status) != 0 ? errno == ENOENT : status.st_size == 0
    }

    private static func unchanging(_ path: String) -> String? {
        path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed).map { "file:\($0)?immutable=1" }
    }

    /// Returns the reason why a store cannot be written, according to its file system. Used for
    /// SQLite errors that do not state the reason.
    static func obstacle(at path: String, operation: String) -> SearchIndexError? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        if status.f_flag & UInt(ST_RDONLY) != 0 || access(path, W_OK) != 0 && errno == EACCES {
            return .readOnly(path: path, operation: operation)
        }
        return status.f_bavail * status.f_frsize < leastRoom ? .full(path: path, operation: operation) : nil
    }

    /// Advice about the file size limit (`RLIMIT_FSIZE`) for a failed write; `nil` without a limit.
    static var fileSizeLimit: String? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0, limit.rlim_cur != UInt.max
        else {
            return nil
        }
        return "files are limited to \(limit.rlim_cur >> 10) KiB; raise the limit: ulimit -f unlimited"
    }

    /// Advice for a process that has reached its limit of open files; `nil` if another file can be
    /// opened.
    static var descriptorLimit: String? {
        let number = Glibc.open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number < 0 else {
            close(number)
            return nil
        }
        guard errno == EMFILE else { return nil }
        return "the limit of open files is reached; raise it: ulimit -n"
    }

    /// Returns `true` if SQLite reports a full disk that has free space. SQLite reports this error
    /// also for an impossible page number in a damaged file. Otherwise, a quota may be exhausted,
    /// or space may have been freed since.
    static func isDoubtful(_ error: any Error, at path: String) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_FULL && obstacle(at: path, operation: "") == nil
    }

    /// The free space, in bytes, that SQLite needs beside a database for any work: the size of its
    /// WAL index.
    private static let leastRoom: UInt = 64 << 10
}
