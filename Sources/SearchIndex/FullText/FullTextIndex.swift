// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// The tables by which items are found by their words: derived, they can be rebuilt from `item` at any time.
///
/// - `text_row`: gives each item's text a number that grows with each change, so that the newest come last: FTS5 hands
///   out matches by this number, and a search looks at the newest candidates first. `item.text_row` is the way back.
/// - `title_text`: the words of titles and keywords, with an index of beginnings, for what is being typed.
/// - `item_text`: all words.
/// - `term`, `term_trigram`: the distinct words of titles and keywords, and their parts of three letters, to find words
///   by what is inside them (``TermDictionary``).
///
/// The FTS5 tables keep no text of their own and no lengths; that saves a third of their size. In return, the words of
/// an item must be told again to take them out.
enum FullTextIndex {
    static let titleTable = "title_text"
    static let textTable = "item_text"
    static let trigramTable = "term_trigram"
    /// As a derived index of the store. Its format grows when the tables would be filled differently.
    static let derived = DerivedIndex(
        name: "text", format: 3, tables: [titleTable, textTable, trigramTable, "term", "text_row"], schema: schema(),
        fill: fill, check: FullTextCheck.problems)

    /// The format from which a store is migrated while it answers (``IndexMigration``).
    static let previousFormat = 2

    /// Makes the tables; `text_row`, which serves all formats, only without a prefix.
    static func schema(prefix: String = "") -> String {
        var sql = String(decoding: PackageResources.full_text_sql, as: UTF8.self)
        if !prefix.isEmpty {
            sql = sql.replacing("CREATE TABLE text_row", with: "CREATE TABLE IF NOT EXISTS text_row")
                .replacing("CREATE VIRTUAL TABLE ", with: "CREATE VIRTUAL TABLE \(prefix)")
                .replacing("CREATE TABLE term ", with: "CREATE TABLE \(prefix)term ")
        }
        return sql + FullTextMerging.settings(prefix: prefix)
    }

    /// What every connection to the store needs.
    static func prepare(_ db: Database) throws {
        try FullTextTokenizer.register(db)
        try FullTextScore.register(db)
    }

    /// Fills the tables from the items, in the order of their dates (``Freshness``): so that after a rebuild the newest
    /// really come last, whatever the order of their donation was.
    ///
    /// - Throws: `DatabaseError`, also for a record that cannot be read.
    private static func fill(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TEMP TABLE IF NOT EXISTS text_order (item INTEGER PRIMARY KEY, freshness REAL NOT NULL);
                DELETE FROM text_order;
                """)
        let note = try db.makeStatement(sql: "INSERT INTO text_order (item, freshness) VALUES (?, ?)")
        let items = try Row.fetchCursor(db, sql: "SELECT id, donated, record FROM item")
        while let row = try items.next() {
            let freshness = Freshness.date(
                of: try ItemWriter.record(in: row), donated: try row.decode(forColumn: "donated"))
            note.setUncheckedArguments([try row.decode(Int64.self, forColumn: "id"), freshness])
            try note.execute()
        }
        let writer = FullTextWriter(db)
        let order = try Row.fetchCursor(
            db,
            sql: """
                SELECT item.id, item.bundle, item.record FROM text_order CROSS JOIN item ON item.id = text_order.item
                ORDER BY text_order.freshness, text_order.item
                """)
        let update = try db.makeStatement(sql: "UPDATE item SET text_row = ? WHERE id = ?")
        while let row = try order.next() {
            let item = try row.decode(Int64.self, forColumn: "id")
            let text = SearchableText(try ItemWriter.record(in: row), bundle: try row.decode(forColumn: "bundle"))
            let number = try writer.nextNumber()
            try writer.insert(text, number: number, item: item)
            update.setUncheckedArguments([number, item])
            try update.execute()
        }
        try db.execute(sql: "DROP TABLE text_order")
        for table in [titleTable, textTable, trigramTable] {
            try db.execute(sql: "INSERT INTO \(table) (\(table)) VALUES ('optimize')")
        }
    }
}
