// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import MetadataQuery
import ServiceProtocol

/// The tables by which items are found by their attributes: derived, they can be rebuilt from `item` at any time.
///
/// - `attribute_name`: a number for each name that any item has had, and for the item's domain and identifier.
/// - `attribute`: one row for each distinct value of each attribute of each item (``AttributeRows``). One B-tree, in the
///   order of lookups, serves equality, beginnings, ranges and presence; numbers sort before texts, texts before marks.
///   There is no way from an item to its rows: they are computed again from its record when it changes.
/// - `attribute_format`: the ``format`` of the rows.
enum AttributeIndex {
    /// Grows when rows would be derived differently; rows of another format are dropped and made anew.
    static let format = 1

    static let schema = """
        CREATE TABLE attribute_name (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE
        ) STRICT;
        CREATE TABLE attribute (
            name INTEGER NOT NULL,
            value ANY NOT NULL,
            item INTEGER NOT NULL,
            PRIMARY KEY (name, value, item)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE attribute_format (format INTEGER NOT NULL) STRICT;
        """

    /// Drops all rows and derives them from the items again.
    ///
    /// - Throws: `DatabaseError`, also for a record that cannot be read.
    static func rebuild(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM attribute; DELETE FROM attribute_name; DELETE FROM attribute_format")
        let writer = AttributeWriter(db)
        let items = try Row.fetchCursor(db, sql: "SELECT id, record FROM item ORDER BY id")
        while let row = try items.next() {
            let number = try row.decode(Int64.self, forColumn: "id")
            let bytes = try row.decode(Data.self, forColumn: "record")
            do {
                try writer.insert(try ItemRecord(decoding: bytes), item: number)
            } catch let error as ItemRecordError {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "item \(number): \(error)")
            }
        }
        try writer.flush()
        try db.execute(sql: "INSERT INTO attribute_format (format) VALUES (?)", arguments: [format])
    }

    /// Whether the rows are of the present format, so that queries may rely on them.
    static func isCurrent(_ db: Database) throws -> Bool {
        try Int.fetchOne(db, sql: "SELECT format FROM attribute_format") == format
    }

    /// The name as it is stored: canonically equivalent names are the same attribute.
    static func storedName(_ name: String) -> String { TextFolding.folded(name, case: false, diacritics: false) }

    /// The number of an attribute, or `nil` if no item has had it.
    static func number(of name: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM attribute_name WHERE name = ?"), arguments: [storedName(name)])
    }
}
