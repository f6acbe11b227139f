// SPDX-License-Identifier: Apache-2.0
import GRDB

/// A set of tables that are derived only from `item`. Damage to them loses no data: the tables are
/// dropped and rebuilt.
///
/// The table `derived_index` stores the format of each index. When the store is next opened for
/// writing, an index whose row is missing or has another ``format`` is rebuilt. Deleting the row
/// therefore requests a rebuild.
struct DerivedIndex: Sendable {
    /// The name in `derived_index` and in messages.
    let name: String
    /// The format. It is incremented when the tables or their rows are derived differently.
    let format: Int
    /// The tables that ``schema`` creates, in an order in which they can be dropped.
    let tables: [String]
    /// The tables of older formats, which are dropped too.
    var obsoleteTables: [String] = []
    /// The SQL that creates the empty tables.
    let schema: String
    /// Fills the empty tables from the items, whose records have been verified.
    let fill: @Sendable (Database) throws -> Void
    /// Compares the tables with the items. Returns a limited number of problems, one sentence each.
    /// Changes nothing, but may need a writable connection.
    let check: @Sendable (Database) throws -> [String]

    /// All derived indexes of a store.
    static let all = [
        AttributeIndex.derived, FullTextIndex.derived, unconfirmed, ExpiryIndex.derived, StoreClock.derived,
    ]

    /// The indexes that searches require.
    static let searched = [AttributeIndex.derived, FullTextIndex.derived]

    /// Two tables for reindexes in progress. `unconfirmed` lists the items that a reindex may still
    /// delete at its end. `replacement` stores the number of each paged reindex, because such a
    /// reindex may outlive its process. These tables are not derived from other data. If they are
    /// lost, the number is lost too, and the reindex restarts. Until then, leftover items stay in
    /// the index.
    private static let unconfirmed = DerivedIndex(
        name: "unconfirmed", format: 2, tables: ["unconfirmed", "replacement"],
        schema: """
            CREATE TABLE unconfirmed (
                item INTEGER PRIMARY KEY REFERENCES item (id) ON DELETE CASCADE
            ) STRICT;
            CREATE TABLE replacement (
                bundle TEXT PRIMARY KEY,
                number INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """,
        fill: { _ in },
        check: { db in
            let count = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM unconfirmed WHERE item NOT IN (SELECT id FROM item)")
            return count == 0 ? [] : ["\(count ?? 0) of its items do not exist"]
        })

    /// Returns `true` if the tables exist in the current format.
    func isCurrent(_ db: Database) throws -> Bool { try isCurrent(db, format: format) }

    /// Returns `true` if the tables exist in a given format.
    func isCurrent(_ db: Database, format: Int, tables: [String]? = nil) throws -> Bool {
        let known = try Int.fetchOne(
            db.cachedStatement(sql: "SELECT format FROM derived_index WHERE name = ?"), arguments: [name])
        guard known == format else { return false }
        return try (tables ?? self.tables).allSatisfy { try db.hasTable($0) }
    }

    /// Drops the tables and derives them from the items again.
    ///
    /// - Throws: `DatabaseError`; `SQLITE_CORRUPT` if an item is damaged, or the file is too
    ///   damaged for a rebuild.
    func rebuild(_ db: Database) throws {
        if Self.searched.contains(where: { $0.name == name }) { try IndexMigration.abandon(db) }
        try db.execute(sql: "DELETE FROM derived_index WHERE name = ?", arguments: [name])
        for table in tables + obsoleteTables { try db.execute(sql: "DROP TABLE IF EXISTS \(table)") }
        try db.execute(sql: schema)
        try fill(db)
        try db.execute(sql: "INSERT INTO derived_index (name, format) VALUES (?, ?)", arguments: [name, format])
    }

    /// Rebuilds the indexes that are outdated and not being migrated (``IndexMigration``).
    ///
    /// - Parameter itemsAtOnce: The number of items up to which an index of the previous format is
    ///   rebuilt instead of migrated.
    /// - Returns: The names of the rebuilt indexes.
    static func bringUpToDate(_ db: Database, itemsAtOnce: Int) throws -> [String] {
        try IndexMigration.begin(db, itemsAtOnce: itemsAtOnce)
        var rebuilt: [String] = []
        for index in all where try !index.isCurrent(db) && !IndexMigration.covers(index, db) {
            try index.rebuild(db)
            rebuilt.append(index.name)
        }
        return rebuilt
    }

    /// Returns all problems of this index; a check that cannot run is a problem too.
    func problems(_ db: Database) -> [String] {
        do {
            if try IndexMigration.covers(self, db) { return [] }
            guard try isCurrent(db) else { return ["it is missing or has another format"] }
            let faults = try tables.filter { try db.isBTree($0) }.flatMap { try db.structuralFaults(in: $0) }
            return faults.isEmpty ? try check(db) : faults
        } catch {
            return ["\((error as? DatabaseError)?.message ?? "\(error)")"]
        }
    }
}

extension Database {
    /// The largest number of faults read from SQLite's integrity check, so that a badly damaged
    /// file does not exhaust memory.
    private static let maximumFaults = 50

    /// Returns `true` if a table exists. GRDB's own method traps if the schema is damaged.
    func hasTable(_ name: String) throws -> Bool {
        try Int.fetchOne(
            cachedStatement(sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?"),
            arguments: [name]) ?? 0 > 0
    }

    /// Returns the faults that SQLite finds in the B-trees of a table, or of the whole file.
    func structuralFaults(in table: String? = nil) throws -> [String] {
        let argument = table.map { "'\($0)'" } ?? "\(Self.maximumFaults)"
        let report = try String.fetchCursor(self, sql: "PRAGMA integrity_check(\(argument))")
        var faults: [String] = []
        while faults.count < Self.maximumFaults, let line = try report.next() {
            if line != "ok" { faults.append(String(line.prefix(200))) }
        }
        return faults
    }

    /// Returns `true` for an ordinary table, and `false` for a virtual table.
    fileprivate func isBTree(_ table: String) throws -> Bool {
        try Int.fetchOne(
            self, sql: "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [table]
        ) ?? 0 > 0
    }
}
