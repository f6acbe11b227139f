// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery
import TextAnalysis

/// The tables that find items by their attributes. They are derived and can be rebuilt from `item`
/// at any time.
///
/// - `attribute_name`: assigns a number, from 1, to each attribute name that any item has had, and
///   to the item's domain and identifier.
/// - `attribute`: one row for each distinct value of each attribute of each item
///   (``AttributeRows``). A single B-tree in lookup order supports lookups by equality, prefix,
///   range and presence. Numbers sort before texts, and texts before markers. The rows cannot be
///   looked up by item; when an item changes, they are derived from its old record again.
enum AttributeIndex {
    /// The tables as a derived index of the store. Increment the format when the derivation of rows
    /// changes.
    static let derived = DerivedIndex(
        name: "attributes", format: 2, tables: ["attribute", "attribute_name"], schema: schema(),
        fill: { db in
            let writer = AttributeWriter(db)
            try ItemRow.forEach(db) { try writer.insert($0.record, item: $0.id) }
            try writer.flush()
        },
        check: check)

    /// The format from which a store is migrated while it answers searches (``IndexMigration``).
    static let previousFormat = 1

    /// Returns the SQL that creates the tables. With a prefix, `attribute_name` is only created if
    /// it is missing, because all formats share it.
    static func schema(prefix: String = "") -> String {
        """
        CREATE TABLE IF NOT EXISTS attribute_name (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE
        ) STRICT;
        CREATE TABLE \(prefix)attribute (
            name INTEGER NOT NULL,
            value ANY NOT NULL,
            item INTEGER NOT NULL,
            PRIMARY KEY (name, value, item)
        ) STRICT, WITHOUT ROWID;
        """
    }

    /// Returns `true` if the rows have the current format, so that queries may use them.
    static func isCurrent(_ db: Database) throws -> Bool { try derived.isCurrent(db) }

    /// Compares the rows with the rows derived from the items. Every derived row must exist, and
    /// there must be no others.
    private static func check(_ db: Database) throws -> [String] {
        let find = try db.cachedStatement(sql: "SELECT 1 FROM attribute WHERE name = ? AND value = ? AND item = ?")
        var numbers: [AttributeRows.Name: Int64] = [:]
        var (expected, missing) = (0, 0)
        try ItemRow.forEach(db) { row in
            for (name, values) in AttributeRows(row.record).values {
                let known = try numbers[name] ?? number(of: name, db)
                numbers[name] = known
                expected += values.count
                guard let known else {
                    missing += values.count
                    continue
                }
                for value in values where try Int.fetchOne(find, arguments: [known, value, row.id]) == nil {
                    missing += 1
                }
            }
        }
        let present = try Int.fetchOne(db, sql: "SELECT count(*) FROM attribute") ?? 0
        let extra = present - (expected - missing)
        guard missing != 0 || extra != 0 else { return [] }
        return ["\(missing) of \(expected) rows are missing and \(extra) have no item"]
    }

    /// The number of ``AttributeRows/Name/searchableByDefault``. No attribute has this number.
    static let searchableByDefault: Int64 = 0

    /// Returns `true` if any item declares attributes searchable by default.
    static func hasSearchableByDefault(_ db: Database) throws -> Bool {
        try Int.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM attribute WHERE name = ? LIMIT 1"), arguments: [searchableByDefault])
            != nil
    }

    /// Returns the stored form of a name. Canonically equivalent names are the same attribute.
    /// SQLite texts end at a NUL, so NUL is escaped as two characters; otherwise a name with a NUL
    /// would equal its prefix.
    static func storedName(_ name: String) -> String {
        let name = TextFolding.folded(name, case: false, diacritics: false)
        guard name.utf8.contains(where: { $0 <= 1 }) else { return name }
        var scalars = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar.value {
            case 0: scalars.append(contentsOf: ["\u{1}", "\u{2}"])
            case 1: scalars.append(contentsOf: ["\u{1}", "\u{1}"])
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// Returns the number of an attribute; `nil` if no item has had it.
    static func number(of name: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM attribute_name WHERE name = ?"), arguments: [storedName(name)])
    }

    /// Returns the number of a row name; `nil` if there are no rows.
    static func number(of name: AttributeRows.Name, _ db: Database) throws -> Int64? {
        switch name {
        case .attribute(let name): try number(of: name, db)
        case .searchableByDefault: searchableByDefault
        }
    }
}
