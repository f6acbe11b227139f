// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord

/// A verified row of `item`: its checksum is correct, and its record can be decoded.
struct ItemRow {
    let id: Int64
    let bundle: String
    let index: String
    let donated: Double
    let expires: Double?
    /// The decompressed bytes of the record (``RecordCompression``).
    let bytes: Data
    let record: ItemRecord

    /// The columns to select from `item`.
    static let columns = """
        item.id, (SELECT identifier FROM bundle WHERE bundle.id = item.bundle) AS bundle_name, item.index_name, \
        item.unique_identifier, item.donated, item.expires, plain_record(item.record) AS record, item.checksum
        """

    /// Decodes and verifies a row.
    ///
    /// - Throws: `SQLITE_CORRUPT` with the item's number, or `RowDecodingError`, if the row is
    ///   damaged.
    init(_ row: Row) throws {
        // GRDB's row subscript traps if a damaged file holds a value of an unexpected type; this
        // method throws instead.
        id = try row.decode(forColumn: "id")
        bundle = try row.decode(forColumn: "bundle_name")
        index = try row.decode(forColumn: "index_name")
        donated = try row.decode(forColumn: "donated")
        expires = try row.decode(forColumn: "expires")
        bytes = try row.decode(forColumn: "record")
        let identifier = try row.decode(String.self, forColumn: "unique_identifier")
        let sum = RowChecksum.item(
            bundle: bundle, index: index, identifier: identifier, expires: expires, donated: donated, record: bytes)
        guard try row.decode(Int64.self, forColumn: "checksum") == sum else {
            throw Self.damage(id, "its checksum is wrong")
        }
        do {
            record = try ItemRecord(decoding: bytes)
        } catch {
            throw Self.damage(id, error.description)
        }
        guard identifier == record.uniqueIdentifier else {
            throw Self.damage(id, "its identifier differs from its record")
        }
    }

    private static func damage(_ id: Int64, _ reason: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "item \(id): \(reason)")
    }

    /// Calls `body` with all items in number order.
    ///
    /// - Throws: An error at the first damaged row.
    static func forEach(_ db: Database, _ body: (ItemRow) throws -> Void) throws {
        let rows = try Row.fetchCursor(db, sql: "SELECT \(columns) FROM item ORDER BY id")
        while let row = try rows.next() { try body(ItemRow(row)) }
    }
}

struct ClientStateRow {
    let bundle: Int64
    let bundleName: String
    let index: String
    let state: Data
    let checksum: Int64?

    var isSound: Bool { checksum == expectedChecksum }
    private var expectedChecksum: Int64 { RowChecksum.clientState(bundle: bundleName, index: index, state: state) }

    private static let columns = """
        bundle, (SELECT identifier FROM bundle AS owner WHERE owner.id = client_state.bundle) AS bundle_name, \
        index_name, state, checksum
        """

    private init(_ row: Row) throws {
        bundle = try row.decode(forColumn: "bundle")
        bundleName = try row.decode(forColumn: "bundle_name")
        index = try row.decode(forColumn: "index_name")
        state = try row.decode(forColumn: "state")
        checksum = try row.decode(forColumn: "checksum")
    }

    init(bundle: Int64, scope: IndexScope, state: [UInt8]) {
        self.bundle = bundle
        bundleName = scope.bundle
        index = scope.index ?? ""
        self.state = Data(state)
        checksum = nil
    }

    /// Returns all client states, intact or not.
    ///
    /// - Throws: `RowDecodingError` if a state cannot be read.
    static func fetchAll(_ db: Database) throws -> [ClientStateRow] {
        try Row.fetchAll(db, sql: "SELECT \(columns) FROM client_state").map(ClientStateRow.init)
    }

    /// Returns the client state of a scope; `nil` if it is missing or damaged. In both cases the
    /// app starts over.
    static func state(of scope: IndexScope, _ db: Database) throws -> [UInt8]? {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT \(columns) FROM client_state
                WHERE bundle = (SELECT id FROM bundle WHERE identifier = ?) AND index_name = ?
                """, arguments: [scope.bundle, scope.index ?? ""]
        ).map(ClientStateRow.init)
        guard let row, row.isSound else { return nil }
        return Array(row.state)
    }

    /// Writes the client state of a scope, replacing an existing one.
    func write(_ db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO client_state (bundle, index_name, state, checksum) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [bundle, index, state, expectedChecksum])
    }
}
