// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Tables that are derived from `item` alone, so that damage in them costs time and nothing else: they are dropped and
/// made anew.
///
/// The table `derived_index` keeps the format each was made with. One that is not there with its present ``format`` is
/// rebuilt when the store is opened to be changed; forgetting that line is how one is marked for it.
struct DerivedIndex: Sendable {
    /// Its name in `derived_index` and in messages.
    let name: String
    /// Grows when the tables or their rows would be made differently.
    let format: Int
    /// The tables ``schema`` makes, in the order in which they can be dropped.
    let tables: [String]
    /// Tables of older formats, which are dropped with them.
    var obsoleteTables: [String] = []
    /// Makes the empty tables.
    let schema: String
    /// Fills the empty tables from the items, whose records have been found sound.
    let fill: @Sendable (Database) throws -> Void
    /// Compares the tables with the items; says what is wrong, a sentence each and not very many. Changes nothing, but
    /// may need a connection that could.
    let check: @Sendable (Database) throws -> [String]

    /// Every one of a store.
    static let all = [
        AttributeIndex.derived, FullTextIndex.derived, unconfirmed, ExpiryIndex.derived, StoreClock.derived,
    ]

    /// Those without which nothing is found.
    static let searched = [AttributeIndex.derived, FullTextIndex.derived]

    /// What a reindex may still delete at its end, and the number of each reindex in pages, which may outlive the process
    /// that runs it. Derived from nothing: where the tables were lost, so is the number, by which the reindex is known to
    /// begin anew; what is left over stays in the index until then.
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

    /// Whether the tables are there, made with the present format.
    func isCurrent(_ db: Database) throws -> Bool { try isCurrent(db, format: format) }

    /// Whether the tables are there, made with a format.
    func isCurrent(_ db: Database, format: Int, tables: [String]? = nil) throws -> Bool {
        let known = try Int.fetchOne(
            db.cachedStatement(sql: "SELECT format FROM derived_index WHERE name = ?"), arguments: [name])
        guard known == format else { return false }
        return try (tables ?? self.tables).allSatisfy { try db.hasTable($0) }
    }

    /// Drops the tables and derives them from the items again.
    ///
    /// - Throws: `DatabaseError`; `SQLITE_CORRUPT` where the file is too damaged for that, or an item is.
    func rebuild(_ db: Database) throws {
        if Self.searched.contains(where: { $0.name == name }) { try IndexMigration.abandon(db) }
        try db.execute(sql: "DELETE FROM derived_index WHERE name = ?", arguments: [name])
        for table in tables + obsoleteTables { try db.execute(sql: "DROP TABLE IF EXISTS \(table)") }
        try db.execute(sql: schema)
        try fill(db)
        try db.execute(sql: "INSERT INTO derived_index (name, format) VALUES (?, ?)", arguments: [name, format])
    }

    /// Rebuilds those that are not current and not being migrated (``IndexMigration``).
    ///
    /// - Parameter itemsAtOnce: Up to so many items an index of the previous format is rebuilt too.
    /// - Returns: Their names.
    static func bringUpToDate(_ db: Database, itemsAtOnce: Int) throws -> [String] {
        try IndexMigration.begin(db, itemsAtOnce: itemsAtOnce)
        var rebuilt: [String] = []
        for index in all where try !index.isCurrent(db) && !IndexMigration.covers(index, db) {
            try index.rebuild(db)
            rebuilt.append(index.name)
        }
        return rebuilt
    }

    /// Everything wrong with this one; what its own check cannot even begin counts too.
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
    /// The most faults that SQLite's own check reports, so that a wholly damaged file does not fill the memory.
    private static let maximumFaults = 50

    /// Whether there is a table. GRDB's own answer traps where the description of the tables is damaged.
    func hasTable(_ name: String) throws -> Bool {
        try Int.fetchOne(
            cachedStatement(sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?"),
            arguments: [name]) ?? 0 > 0
    }

    /// What SQLite finds wrong with the B-trees of a table, or of the whole file.
    func structuralFaults(in table: String? = nil) throws -> [String] {
        let argument = table.map { "'\($0)'" } ?? "\(Self.maximumFaults)"
        let report = try String.fetchCursor(self, sql: "PRAGMA integrity_check(\(argument))")
        var faults: [String] = []
        while faults.count < Self.maximumFaults, let line = try report.next() {
            if line != "ok" { faults.append(String(line.prefix(200))) }
        }
        return faults
    }

    /// Whether a name is that of an ordinary table rather than of a virtual one.
    fileprivate func isBTree(_ table: String) throws -> Bool {
        try Int.fetchOne(
            self, sql: "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [table]
        ) ?? 0 > 0
    }
}
