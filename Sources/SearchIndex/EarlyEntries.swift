// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import WriteAheadLog
import GRDB

/// The log entries behind ``StoreRow/applied`` that are applied all the same, because their app waited for them.
///
/// An entry must not be applied twice: an update is ignored once a deletion before it, applied again, has deleted its item.
/// So the table `applied_early` names each of them, and is written in the transaction that applies it. Numbers leave the
/// table in the transaction that applies everything before them.
///
/// The table is made with its first row, not by a migration: earlier versions of this program work beside it. It is not
/// derived from anything; if it is damaged, the database is salvaged.
struct EarlyEntries: Sendable {
    static let table = "applied_early"
    /// The most rows that are read. A store has at most ``StoreSeams/maximumEarlyEntries`` and one transaction's more.
    private static let maximumRows = 1 << 20

    private var numbers: Set<UInt64> = []

    init() {}

    /// Reads the table; a store without early entries has none.
    ///
    /// - Parameter applied: The last entry that was applied with all before it.
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

    /// The number in a row.
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
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the list of entries that were applied early is damaged")
    }

    private static func checksum(of sequence: UInt64) -> Int64 {
        var bytes: [UInt8] = []
        LittleEndian.append(sequence, to: &bytes)
        return Int64(CRC32C.of(bytes))
    }

    // MARK: The table

    /// Makes the table if there is none. A line in `derived_index` says from then on that it must be there.
    static func prepare(_ db: Database) throws {
        if try !areKept(db) {
            try db.execute(
                sql: "CREATE TABLE \(table) (sequence INTEGER PRIMARY KEY, checksum INTEGER NOT NULL) STRICT")
        }
        try db.execute(sql: "INSERT OR IGNORE INTO derived_index (name, format) VALUES (?, 1)", arguments: [table])
    }

    /// Whether there is, or must be, such a table.
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

    /// Removes the entries up to one before which nothing is missing any more.
    static func forget(through applied: UInt64, _ db: Database) throws {
        guard try db.hasTable(table) else { return }
        try db.cachedStatement(sql: "DELETE FROM \(table) WHERE sequence <= ?")
            .execute(arguments: [Int64(clamping: applied)])
    }

    // MARK: The numbers

    var count: Int { numbers.count }
    /// Whether there are none.
    var isEmpty: Bool { numbers.isEmpty }
    /// The last of them; 0 if there are none.
    var last: UInt64 { numbers.max() ?? 0 }

    /// Whether all of some entries are among them.
    func covers(_ range: ClosedRange<UInt64>) -> Bool {
        guard range.upperBound - range.lowerBound < UInt64(numbers.count) else { return false }
        return range.allSatisfy(numbers.contains)
    }

    /// The last entry up to which nothing is missing.
    ///
    /// - Parameters:
    ///   - applied: An entry up to which nothing is missing.
    ///   - more: Further entries that are applied.
    func end(after applied: UInt64, with more: Set<UInt64> = []) -> UInt64 {
        var end = applied
        while numbers.contains(end + 1) || more.contains(end + 1) { end += 1 }
        return end
    }

    /// Adds an entry.
    mutating func insert(_ sequence: UInt64) { numbers.insert(sequence) }

    /// Removes the entries up to one.
    mutating func remove(after before: UInt64, through applied: UInt64) {
        guard !numbers.isEmpty, applied > before else { return }
        // A loss may span very many numbers.
        if applied - before > UInt64(numbers.count) {
            numbers = numbers.filter { $0 > applied }
        } else {
            for sequence in (before + 1)...applied { numbers.remove(sequence) }
        }
    }
}
