// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import WriteAheadLog
import Foundation
import GRDB

/// The state of a store: the single row of `store`, with a checksum. A wrong number here would skip
/// donations or reuse item numbers.
struct StoreRow: Hashable {
    /// The format of the database. It is incremented when earlier programs cannot read the new
    /// format.
    static let currentFormat = 5

    var format = Self.currentFormat
    /// The identifier in the headers of the log's files.
    var identifier: StoreIdentifier
    /// The last log entry that was applied together with all entries before it.
    var applied: UInt64 = 0
    /// The generation, which is incremented whenever donations are lost.
    var generation = 1
    /// The last entry whose client state is ignored. Earlier entries were lost, although their
    /// donors assume that they are stored. `UInt64.max` stands for all entries in the log at the
    /// next opening.
    var statelessThrough: UInt64 = 0

    /// Reads the row.
    ///
    /// - Throws: `SQLITE_CORRUPT` if the row is missing or damaged.
    init(_ db: Database) throws {
        let row = try Row.fetchOne(db, sql: "SELECT * FROM store")
        guard let row,
            let identifier = StoreIdentifier(bytes: Array(try row.decode(Data.self, forColumn: "identifier")))
        else { throw Self.damage }
        format = try row.decode(forColumn: "format")
        self.identifier = identifier
        applied = UInt64(bitPattern: try row.decode(Int64.self, forColumn: "applied"))
        generation = try row.decode(forColumn: "generation")
        statelessThrough = UInt64(bitPattern: try row.decode(Int64.self, forColumn: "stateless_through"))
        guard try row.decode(Int64.self, forColumn: "checksum") == checksum else { throw Self.damage }
    }

    private static var damage: DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the header of the store cannot be read")
    }

    /// Creates the state of a new store.
    init(identifier: StoreIdentifier) { self.identifier = identifier }

    private var checksum: Int64 {
        var bytes = identifier.bytes
        for number in [UInt64(clamping: format), applied, UInt64(clamping: generation), statelessThrough] {
            LittleEndian.append(number, to: &bytes)
        }
        return Int64(CRC32C.of(bytes))
    }

    /// Writes the row. Replaces an unreadable row.
    func write(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO store (id, identifier, applied, generation, format, stateless_through, checksum)
                VALUES (1, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                Data(identifier.bytes), Int64(bitPattern: applied), generation, format,
                Int64(bitPattern: statelessThrough), checksum,
            ])
    }

    /// Changes the row.
    @discardableResult
    static func update(_ db: Database, _ change: (inout StoreRow) throws -> Void) throws -> StoreRow {
        var row = try StoreRow(db)
        let before = row
        try change(&row)
        guard row != before else { return row }
        try db.cachedStatement(
            sql: """
                UPDATE store SET applied = ?, generation = ?, format = ?, stateless_through = ?, identifier = ?, checksum = ?
                """
        ).execute(arguments: [
            Int64(bitPattern: row.applied), row.generation, row.format, Int64(bitPattern: row.statelessThrough),
            Data(row.identifier.bytes), row.checksum,
        ])
        return row
    }

    /// Records a loss of acknowledged donations: increments the generation, deletes all client
    /// states, and ignores the client states of entries through `sequence`.
    static func noteLoss(_ db: Database, through sequence: UInt64) throws {
        try update(db) { row in
            row.generation += 1
            row.statelessThrough = max(row.statelessThrough, sequence)
        }
        try db.execute(sql: "DELETE FROM client_state")
    }
}
