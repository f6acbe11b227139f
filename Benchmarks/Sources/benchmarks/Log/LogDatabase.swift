// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// The alternative to the write-ahead log that the part “log” measures: a second SQLite database
/// with one table of blobs and `synchronous=FULL`.
///
/// It groups concurrent appends as the log does. One queue commits all appends that wait, in one
/// transaction.
final class LogDatabase: Sendable {
    private struct Append {
        var bytes: [UInt8]
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Pending {
        var appends: [Append] = []
        var isCommitting = false
    }

    private struct Database: ~Copyable {
        let connection: SQLiteConnection
        let insert: SQLiteStatement
    }

    private let pending = Mutex(Pending())
    private let database: Mutex<Database>
    private let queue = DispatchQueue(label: "log database")

    init(path: String) throws {
        let connection = try SQLiteConnection(path: path)
        try connection.execute("PRAGMA journal_mode=WAL")
        try connection.execute("PRAGMA synchronous=FULL")
        try connection.execute("CREATE TABLE IF NOT EXISTS entry (sequence INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
        let insert = try connection.prepare("INSERT INTO entry (bytes) VALUES (?)")
        database = Mutex(Database(connection: connection, insert: insert))
    }

    /// Appends an entry. Returns after the commit.
    func append(_ bytes: [UInt8]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let starts = pending.withLock { pending in
                pending.appends.append(Append(bytes: bytes, continuation: continuation))
                defer { pending.isCommitting = true }
                return !pending.isCommitting
            }
            if starts { queue.async { self.commitAll() } }
        }
    }

    /// Commits the waiting appends, until none is left.
    private func commitAll() {
        while true {
            let group = pending.withLock { pending in
                defer { pending.appends = [] }
                pending.isCommitting = !pending.appends.isEmpty
                return pending.appends
            }
            if group.isEmpty { return }
            let result = Result { try commit(group) }
            for append in group { append.continuation.resume(with: result) }
        }
    }

    private func commit(_ group: [Append]) throws {
        try database.withLock { database in
            try database.connection.execute("BEGIN IMMEDIATE")
            for append in group {
                try append.bytes.withUnsafeBufferPointer { bytes in
                    guard let start = bytes.baseAddress else { return }
                    database.insert.bind(.blob(start: 0, count: bytes.count), at: 1, in: start)
                    try database.insert.run()
                }
            }
            try database.connection.execute("COMMIT")
        }
    }

    /// Deletes all entries, as after they were applied.
    func discardAll() throws {
        try database.withLock { try $0.connection.execute("DELETE FROM entry") }
    }

    /// Reads all entries. Returns their total size in bytes.
    func readAll() throws -> Int {
        try database.withLock { database in
            let statement = try database.connection.prepare("SELECT bytes FROM entry ORDER BY sequence")
            var total = 0
            while try statement.step() { total += statement.bytes(0).count }
            return total
        }
    }
}
