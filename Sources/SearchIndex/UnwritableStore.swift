// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Glibc
import SystemSupport

/// Reading a store beside which nothing can be written: on a read-only file system, without the permission, on a full
/// disk.
///
/// SQLite writes two small files beside a database even to read it, unless it is told that nobody changes it meanwhile.
/// Whoever reads makes sure of that by sharing the store's lock, which a process that changes the store has alone.
enum UnwritableStore {
    /// Opens a database to be read, in the usual way if that works.
    ///
    /// - Returns: The connections, and the lock to be held for as long as they are used, if there is one.
    /// - Throws: `DatabaseError`: why the usual way failed, if the other one is not safe.
    static func open(
        _ path: String, in directory: String, configuration: Configuration
    ) throws -> (DatabasePool, OwnedDescriptor?) {
        do {
            return (try pool(path, configuration), nil)
        } catch let error as DatabaseError where isObstacle(error.resultCode) {
            guard isComplete(path), let address = unchanging(path) else { throw error }
            guard let lock = try? OwnFile.open(directory + "/lock", O_RDONLY) else { throw error }
            guard flock(lock.number, LOCK_SH | LOCK_NB) == 0, isComplete(path) else { throw error }
            // A build of SQLite without addresses finds no such file; then the first error says more.
            guard let pool = try? pool(address, configuration) else { throw error }
            return (pool, lock)
        }
    }

    private static func pool(_ path: String, _ configuration: Configuration) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration)
        // Only the first look at the file tells whether it can be read.
        try pool.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
        return pool
    }

    private static func isObstacle(_ code: ResultCode) -> Bool {
        switch code {
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_IOERR, .SQLITE_FULL: true
        default: false
        }
    }

    /// Whether the database is whole without its write-ahead log.
    private static func isComplete(_ path: String) -> Bool {
        var status = stat()
        return stat(path + "-wal", &status) != 0 ? errno == ENOENT : status.st_size == 0
    }

    private static func unchanging(_ path: String) -> String? {
        path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed).map { "file:\($0)?immutable=1" }
    }

    /// What keeps a store from being written, as far as its file system says: for errors of SQLite that do not.
    static func obstacle(at path: String, operation: String) -> SearchIndexError? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        if status.f_flag & UInt(ST_RDONLY) != 0 || access(path, W_OK) != 0 && errno == EACCES {
            return .readOnly(path: path, operation: operation)
        }
        return status.f_bavail * status.f_frsize < leastRoom ? .full(path: path, operation: operation) : nil
    }

    /// What to say of the limit of file sizes (`RLIMIT_FSIZE`) where something could not be written; `nil` without one.
    static var fileSizeLimit: String? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0, limit.rlim_cur != UInt.max
        else {
            return nil
        }
        return "no file may have more than \(limit.rlim_cur >> 10) KiB here; raise that limit: ulimit -f unlimited"
    }

    /// What to say where no more files may be open; `nil` where there is room.
    static var descriptorLimit: String? {
        let number = Glibc.open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number < 0 else {
            close(number)
            return nil
        }
        guard errno == EMFILE else { return nil }
        return "no more files may be open here; raise that limit: ulimit -n"
    }

    /// Whether SQLite finds no room where there is some. It says so of a page number that no database has, too, where it
    /// follows damaged ones; or a quota is used up, or there was no room a moment ago.
    static func isDoubtful(_ error: any Error, at path: String) -> Bool {
        (error as? DatabaseError)?.resultCode == .SQLITE_FULL && obstacle(at: path, operation: "") == nil
    }

    /// The room that SQLite needs beside a database to do anything: its index of the log, in bytes.
    private static let leastRoom: UInt = 64 << 10
}
