// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import Synchronization
import WriteAheadLog

/// The pages of an index in memory. An image restores the index much faster than the donations do.
///
/// ```swift
/// let image = try await index.image()
/// let again = try SearchIndex(inMemoryWith: now, image: image)
/// ```
///
/// An image that this process did not make must be authenticated: SQLite trusts its pages. May be
/// used from any thread.
package final class IndexImage: Sendable {
    /// The owned memory; `nil` once SQLite owns it, or after ``release()``.
    private let memory: Mutex<Memory?>
    /// The length in bytes.
    package let count: Int

    /// Memory from `sqlite3_malloc64`.
    private struct Memory: @unchecked Sendable {
        // Sendable: the pointer is stored only in the image's mutex, and used only while that is
        // locked.
        let bytes: UnsafeMutablePointer<UInt8>
    }

    private init(adopting bytes: UnsafeMutablePointer<UInt8>, count: Int) {
        memory = Mutex(Memory(bytes: bytes))
        self.count = count
    }

    /// Allocates an image to be filled.
    ///
    /// - Returns: `nil` if there is no memory.
    package convenience init?(count: Int) {
        guard count > 0, let memory = sqlite3_malloc64(UInt64(count)) else { return nil }
        let bytes = memory.bindMemory(to: UInt8.self, capacity: count)
        bytes.initialize(repeating: 0, count: count)
        self.init(adopting: bytes, count: count)
    }

    /// Copies bytes to a position. Bytes beyond the end are ignored.
    package func fill(_ bytes: [UInt8], at offset: Int) {
        memory.withLock { memory in
            guard let memory, offset >= 0, offset <= count else { return }
            bytes.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return }
                (memory.bytes + offset).update(from: start, count: min(bytes.count, count - offset))
            }
        }
    }

    /// Returns a copy of some bytes; fewer at the end, none after ``release()``.
    package func bytes(at offset: Int, count wanted: Int) -> [UInt8] {
        memory.withLock { memory in
            guard let memory, offset >= 0, offset < count else { return [] }
            return Array(UnsafeBufferPointer(start: memory.bytes + offset, count: min(wanted, count - offset)))
        }
    }

    /// Frees the memory.
    package func release() {
        memory.withLock { memory in
            sqlite3_free(memory?.bytes)
            memory = nil
        }
    }

    deinit { release() }

    /// Names everything on which the pages depend. Another rule means that an index has to be
    /// filled from its donations.
    package static var rule: String {
        let derived = DerivedIndex.all.map { "\($0.name)=\($0.format)" }.joined(separator: ",")
        return "format=\(StoreRow.currentFormat),\(derived)"
    }

    /// Copies the pages of an index.
    init(_ db: Database) throws {
        var size: sqlite3_int64 = 0
        guard let connection = db.sqliteConnection, let bytes = sqlite3_serialize(connection, "main", &size, 0) else {
            throw DatabaseError(resultCode: .SQLITE_IOERR_NOMEM, message: "there is no memory for a copy of the index")
        }
        memory = Mutex(Memory(bytes: bytes))
        count = Int(size)
    }

    /// Replaces the empty database of a connection with the pages. The image is used up.
    func restore(into db: Database) throws {
        func fail(_ code: Int32) -> DatabaseError {
            DatabaseError(resultCode: ResultCode(rawValue: code), message: "an image of the index cannot be restored")
        }
        var source: OpaquePointer?
        let opened = sqlite3_open_v2(":memory:", &source, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        defer { sqlite3_close_v2(source) }
        guard opened == SQLITE_OK, let source else { throw fail(opened) }
        let taken = memory.withLock { memory in
            defer { memory = nil }
            return memory
        }
        guard let taken else { throw fail(SQLITE_MISUSE) }
        // SQLite frees the memory, even after an error.
        let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY)
        let deserialized = sqlite3_deserialize(source, "main", taken.bytes, Int64(count), Int64(count), flags)
        guard deserialized == SQLITE_OK else { throw fail(deserialized) }
        guard let backup = sqlite3_backup_init(db.sqliteConnection, "main", source, "main") else {
            throw fail(sqlite3_errcode(db.sqliteConnection))
        }
        let copied = sqlite3_backup_step(backup, -1)
        let finished = sqlite3_backup_finish(backup)
        guard copied == SQLITE_DONE, finished == SQLITE_OK else {
            throw fail(copied == SQLITE_DONE ? finished : copied)
        }
        db.clearSchemaCache()
    }
}

extension SearchIndex {
    /// Returns the pages of an index in memory, with everything donated before. Searches and
    /// donations wait during the copy.
    package func image() async throws(SearchIndexError) -> IndexImage {
        try await settle()
        return try await readApplied("Copying an index in memory") { db in try IndexImage(db) }
    }

    /// The memory of an index in memory, in bytes, without pending donations and unused pages.
    package func memoryBytes() async throws(SearchIndexError) -> Int {
        try await readApplied("Measuring an index in memory") { db in
            let unused = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            let pages = try (Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0) - unused
            return try pages * (Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
        }
    }
}

extension StoreOpening {
    /// Makes a restored index the state of a new log. Its log was in memory, and is gone.
    static func beginLog(_ db: Database) throws {
        try StoreRow.update(db) { row in
            (row.identifier, row.applied, row.statelessThrough) = (StoreIdentifier(), 0, 0)
        }
        try EarlyEntries.forget(through: LogFileNames.maximumSequence, db)
    }

    /// The range of the random number of item numbers that are skipped when an index is restored.
    private static let distances: ClosedRange<Int64> = 1 << 32...1 << 44

    /// Skips item numbers. Items that were donated after the image was made had the next numbers,
    /// and these must not refer to other items now.
    static func skipNumbers(_ db: Database) throws {
        try db.execute(
            sql: "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'item'",
            arguments: [Int64.random(in: distances)])
    }
}
