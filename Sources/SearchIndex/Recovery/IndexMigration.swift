// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Migrates the full-text and attribute indexes of a store from the previous to the current format
/// in bounded steps. The old tables answer searches during the migration.
///
/// 1. ``begin(_:itemsAtOnce:)`` creates empty tables of the current format beside the old ones.
/// 2. Each ``step(_:)`` adds the next items to them, in text number order. Items donated during the
///    migration come last. ``DerivedWriter`` removes deleted items from the new tables. It keeps
///    their words in the old tables, which then refer to a text that no longer exists.
/// 3. The last step renames the new tables to replace the old ones, in one transaction. Further
///    steps empty the old tables, a few pages at a time, and drop them.
///
/// During the migration, metadata queries read every item, because they only use indexes of the
/// current format. Searches use the old `item_text`, without variants of words. Nothing reads the
/// old `title_text`, so it is not updated. Texts keep their old numbers, so their lists stay in
/// donation order.
struct IndexMigration {
    /// The last text whose words are in the old tables in the previous format.
    let last: Int64
    /// The last text added to the new tables.
    let through: Int64

    /// The prefix of the new tables' names.
    static let next = "next_"
    private static let old = "old_"

    private static let textTables = FullTextIndex.derived.tables.filter { $0 != "text_row" }
    private static let tables = textTables + ["attribute"]
    /// The names of old tables that may remain.
    private static let oldTables = (tables + [FullTextIndex.obsoleteTable]).map { old + $0 }
    /// The largest number of items in a step, which takes a few milliseconds.
    static let itemsOfStep = 256
    private static let bytesOfStep = 256 << 10
    private static let droppedRows = 1000

    /// Returns the migration in progress; `nil` if there is none.
    static func current(_ db: Database) throws -> IndexMigration? {
        guard try db.hasTable("index_migration") else { return nil }
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT last, through FROM index_migration WHERE text = ? AND attributes = ?"),
            arguments: [FullTextIndex.derived.format, AttributeIndex.derived.format])
        return try row.map {
            try IndexMigration(last: $0.decode(forColumn: "last"), through: $0.decode(forColumn: "through"))
        }
    }

    /// Returns `true` if an index is being migrated and its old tables are in use.
    static func covers(_ index: DerivedIndex, _ db: Database) throws -> Bool {
        try DerivedIndex.searched.contains { $0.name == index.name } && current(db) != nil
    }

    /// Begins a migration if both indexes have the previous format.
    ///
    /// - Parameter itemsAtOnce: The number of items up to which the indexes are rebuilt instead of
    ///   migrated.
    static func begin(_ db: Database, itemsAtOnce: Int) throws {
        guard try current(db) == nil else { return }
        try abandon(db)
        guard
            try FullTextIndex.derived.isCurrent(
                db, format: FullTextIndex.previousFormat, tables: FullTextIndex.previousTables),
            try AttributeIndex.derived.isCurrent(db, format: AttributeIndex.previousFormat),
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM (SELECT 1 FROM text_row LIMIT ?)", arguments: [itemsAtOnce + 1])
                ?? 0 > itemsAtOnce
        else { return }
        try db.execute(sql: FullTextIndex.schema(prefix: next) + AttributeIndex.schema(prefix: next))
        try db.execute(
            sql: """
                CREATE TABLE index_migration (
                    text INTEGER NOT NULL,
                    attributes INTEGER NOT NULL,
                    last INTEGER NOT NULL,
                    through INTEGER NOT NULL
                ) STRICT;
                INSERT INTO index_migration (text, attributes, last, through)
                SELECT \(FullTextIndex.derived.format), \(AttributeIndex.derived.format), max(id), 0 FROM text_row;
                """)
    }

    /// Drops all tables that a migration created.
    static func abandon(_ db: Database) throws {
        for table in tables.map({ next + $0 }) + oldTables { try db.execute(sql: "DROP TABLE IF EXISTS \(table)") }
        try db.execute(sql: "DROP TABLE IF EXISTS index_migration")
    }

    /// Runs one step of a migration, or of dropping replaced tables.
    ///
    /// - Parameter items: The largest number of items to add to the new tables.
    /// - Returns: `true` if there was anything to do.
    static func step(_ db: Database, items: Int = itemsOfStep) throws -> Bool {
        guard let migration = try current(db) else { return try dropStep(db) }
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT text_row.id AS text, \(ItemRow.columns), item.bundle AS bundle
                FROM text_row CROSS JOIN item ON item.id = text_row.item WHERE text_row.id > ? ORDER BY text_row.id LIMIT ?
                """, arguments: [migration.through, items])
        guard !rows.isEmpty else {
            try migration.replaceTables(db)
            return true
        }
        let texts = FullTextWriter(db, prefix: next)
        let attributes = AttributeWriter(db, prefix: next)
        var through = migration.through
        var bytes = 0
        for row in rows {
            let item = try ItemRow(row)
            through = try row.decode(forColumn: "text")
            try texts.insert(
                SearchableText(item.record, bundle: row.decode(forColumn: "bundle")), number: through, item: item.id)
            try attributes.insert(item.record, item: item.id)
            bytes += item.bytes.count
            if bytes >= bytesOfStep { break }
        }
        try attributes.flush()
        try texts.finish()
        try db.execute(sql: "UPDATE index_migration SET through = ?", arguments: [through])
        _ = try FullTextMerging.step(db, pages: max(FullTextMerging.minimumStep, bytes / 2048), prefix: next)
        return true
    }

    private func replaceTables(_ db: Database) throws {
        for table in Self.tables + [FullTextIndex.obsoleteTable] where try db.hasTable(table) {
            try db.execute(sql: "ALTER TABLE \(table) RENAME TO \(Self.old)\(table)")
        }
        for table in Self.tables { try db.execute(sql: "ALTER TABLE \(Self.next)\(table) RENAME TO \(table)") }
        for index in DerivedIndex.searched {
            try db.execute(
                sql: "UPDATE derived_index SET format = ? WHERE name = ?", arguments: [index.format, index.name])
        }
        try db.execute(sql: "DROP TABLE index_migration")
    }

    /// Empties a replaced table in steps, because dropping it at once would delay donations.
    private static func dropStep(_ db: Database) throws -> Bool {
        for table in oldTables where try db.hasTable(table) {
            let rows = try db.hasTable(table + "_data") ? table + "_data" : table
            let columns = table == old + "attribute" ? "name, value, item" : "id"
            // FTS5 needs the first records of a table in order to drop it.
            let kept = rows.hasSuffix("_data") ? 10 : 0
            let condition = table == old + "attribute" ? "" : "WHERE id > \(kept)"
            try db.execute(
                sql: """
                    DELETE FROM \(rows) WHERE (\(columns)) IN (
                        SELECT \(columns) FROM \(rows) \(condition) LIMIT \(droppedRows))
                    """)
            if db.changesCount == 0 { try db.execute(sql: "DROP TABLE \(table)") }
            return true
        }
        return false
    }
}
