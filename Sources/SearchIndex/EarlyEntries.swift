// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import WriteAheadLog
import GRDB

/// The log entries after ``StoreRow/applied`` that were applied early because their app waited for
/// them.
///
/// No entry may be applied twice: if a deletion before an update is applied again, the update finds
/// no item and is ignored. So the table `applied_early` lists these entries. An entry's number is
/// inserted in the transaction that applies the entry, and deleted in the transaction that applies
/// all entries before it.
///
/// The table is created when its first row is inserted, not by a migration, because earlier
/// versions of this program can use the same store. It is not derived data; if it is damaged, the
/// database is salvaged.
struct EarlyEntries: Sendable {
    static let table = "applied_early"
    /// The largest number of rows read. A store has at most ``StoreHooks/maximumEarlyEntries`` rows
    /// plus the rows of one transaction.
    private static let maximumRows = 1 << 20

    private var numbers: Set<UInt64> = []

    init() {}

    /// Reads the table; a store without early entries has none.
    ///
    /// - Parameter applied: The last entry that was applied together with all entries before it.
    /// - Throws: `SQLITE_CORRUPT` if a row is damaged.
    init(_ db: Database, after applied: UInt64) throws {
        guard try Self.areKept(db) else { return }
        let rows = try Row.fetchCursor(
            db, sql: "SELECT sequence, checksum FROM \(Self.table) LIMIT \(Self.maximumRows + 1)")
        var count = 0
        while let row = try rows.next() {
            count += 1
            let sequence = try Self.number(in: row)
            guard count <= Self.maximumRows else { throw Self.damage }
            if sequence > applied { numbers.insert(sequence) }
        }
    }

    /// Returns the entry number of a row.
    ///
    /// - Throws: `SQLITE_CORRUPT` if the row is damaged.
    static func number(in row: Row) throws -> UInt64 {
        let sequence: Int64 = try row.decode(forColumn: "sequence")
        guard sequence > 0, sequence <= LogFileNames.maximumSequence,
            try row.decode(Int64.self, forColumn: "checksum") == checksum(of: UInt64(sequence))
        else { throw damage }
        return UInt64(sequence)
    }

    private static var damage: DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the list of early applied entries is damaged")
    }

    private static func checksum(of sequence: UInt64) -> Int64 {
        var bytes: [UInt8] = []
        LittleEndian.append(sequence, to: &bytes)
        return Int64(CRC32C.of(bytes))
    }

    // MARK: The table

    /// Creates the table if it does not exist. A row in `derived_index` then records that the table
    /// must exist.
    static func prepare(_ db: Database) throws {
        if try !areKept(db) {
            try db.execute(
                sql: "CREATE TABLE \(table) (sequence INTEGER PRIMARY KEY, checksum INTEGER NOT NULL) STRICT")
        }
        try db.execute(sql: "INSERT OR IGNORE INTO derived_index (name, format) VALUES (?, 1)", arguments: [table])
    }

    /// Returns `true` if the table exists or must exist.
    static func areKept(_ db: Database) throws -> Bool {
        if try db.hasTable(table) { return true }
        return try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM derived_index WHERE name = ?)"), arguments: [table])
            ?? false
    }

    /// Adds an entry to the table.
    static func write(_ sequence: UInt64, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO \(table) (sequence, checksum) VALUES (?, ?)")
            .execute(arguments: [Int64(clamping: sequence), checksum(of: sequence)])
    }

    /// Removes the entries through `applied`. All entries before it have been applied.
    static func forget(through applied: UInt64, _ db: Database) throws {
        guard try db.hasTable(table) else { return }
        try db.cachedStatement(sql: "DELETE FROM \(table) WHERE sequence <= ?")
            .execute(arguments: [Int64(clamping: applied)])
    }

    // MARK: The numbers

    var count: Int { numbers.count }
    /// `true` if there are no early entries.
    var isEmpty: Bool { numbers.isEmpty }
    /// The last early entry; 0 if there is none.
    var last: UInt64 { numbers.max() ?? 0 }

    /// Returns `true` if all entries of a range are applied early.
    func covers(_ range: ClosedRange<UInt64>) -> Bool {
        guard range.upperBound - range.lowerBound < UInt64(numbers.count) else { return false }
        return range.allSatisfy(numbers.contains)
    }

    /// Returns the last entry such that all entries through it have been applied.
    ///
    /// - Parameters:
    ///   - applied: An entry such that all entries through it have been applied.
    ///   - more: Further entries that are applied.
    func end(after applied: UInt64, with more: Set<UInt64> = []) -> UInt64 {
        var end = applied
        while numbers.contains(end + 1) || more.contains(end + 1) { end += 1 }
        return end
    }

    /// Adds an entry.
    mutating func insert(_ sequence: UInt64) { numbers.insert(sequence) }

    /// Removes the entries through `applied`.
    mutating func remove(after before: UInt64, through applied: UInt64) {
        guard !numbers.isEmpty, applied > before else { return }
        // Loss of log entries may skip a very large range of numbers.
        if applied - before > UInt64(numbers.count) {
            numbers = numbers.filter { $0 > applied }
        } else {
            for sequence in (before + 1)...applied { numbers.remove(sequence) }
        }
    }
}
