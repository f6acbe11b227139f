// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery
import TextAnalysis

/// The tables by which items are found by their attributes: derived, they can be rebuilt from `item` at any time.
///
/// - `attribute_name`: a number for each name that any item has had, and for the item's domain and identifier; from 1.
/// - `attribute`: one row for each distinct value of each attribute of each item (``AttributeRows``). One B-tree, in the
///   order of lookups, serves equality, beginnings, ranges and presence; numbers sort before texts, texts before marks.
///   There is no way from an item to its rows: they are computed again from its record when it changes.
enum AttributeIndex {
    /// As a derived index of the store. Its format grows when rows would be derived differently.
    static let derived = DerivedIndex(
        name: "attributes", format: 2, tables: ["attribute", "attribute_name"], schema: schema(),
        fill: { db in
            let writer = AttributeWriter(db)
            try ItemRow.forEach(db) { try writer.insert($0.record, item: $0.id) }
            try writer.flush()
        },
        check: check)

    /// The format from which a store is migrated while it answers (``IndexMigration``).
    static let previousFormat = 1

    /// Makes the tables; `attribute_name`, which serves all formats, only without a prefix.
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

    /// Whether the rows are of the present format, so that queries may rely on them.
    static func isCurrent(_ db: Database) throws -> Bool { try derived.isCurrent(db) }

    /// Compares the rows with what the items would be listed with: each of these is there, and there are not more.
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

    /// The number of ``AttributeRows/Name/searchableByDefault``, which no attribute has.
    static let searchableByDefault: Int64 = 0

    /// Whether any item calls attributes of its own searchable by default.
    static func hasSearchableByDefault(_ db: Database) throws -> Bool {
        try Int.fetchOne(
            db.cachedStatement(sql: "SELECT 1 FROM attribute WHERE name = ? LIMIT 1"), arguments: [searchableByDefault])
            != nil
    }

    /// The name as it is stored: canonically equivalent names are the same attribute. SQLite is handed texts that end at a
    /// NUL, so one is written as two other signs; otherwise a name would be taken for the one that it begins with.
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

    /// The number of an attribute, or `nil` if no item has had it.
    static func number(of name: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM attribute_name WHERE name = ?"), arguments: [storedName(name)])
    }

    /// The number under which rows are, or `nil` if there are none.
    static func number(of name: AttributeRows.Name, _ db: Database) throws -> Int64? {
        switch name {
        case .attribute(let name): try number(of: name, db)
        case .searchableByDefault: searchableByDefault
        }
    }
}
