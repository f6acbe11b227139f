// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// The tables that find items by their words. They are derived and can be rebuilt from `item` at
/// any time.
///
/// - `text_row`: maps the number of each text to its item. Numbers increase with the item's date
///   (``TextNumber``). FTS5 returns matches in the order of their numbers, so the newest items of
///   each list come first. `item.text_row` holds the same number.
/// - `text_total`: the number of texts, and the number of insertions so far.
/// - `text_language`: the number of texts in each language. A search stems its words in the most
///   common of these languages.
/// - `ranked_word`: terms for the stems of all words, for the words of titles and keywords with
///   their prefixes, and for whole titles and keywords (`RankedWords`). The first letters of a term
///   encode its kind, and the word's strength or position, so a search finds the best items for a
///   word without reading the others.
/// - `item_text`: all words with their fields and positions.
/// - `term`, `term_trigram`: the distinct words of titles and keywords, and their trigrams, to find
///   words by letters inside them (``TermDictionary``).
/// - `spelling_block`, `spelling_total`: the distinct words of all texts, to correct misspelled
///   words (``SpellingWords``).
///
/// The FTS5 tables store neither texts nor lengths, which saves a third of their size. In return,
/// removing an item requires its original words.
enum FullTextIndex {
    static let rankedTable = "ranked_word"
    static let textTable = "item_text"
    static let trigramTable = "term_trigram"
    static let tables = [rankedTable, textTable, trigramTable]
    /// The tables as a derived index of the store. Increment the format when their content changes.
    static let derived = DerivedIndex(
        name: "text", format: 7,
        tables: tables + ["term", "text_row", "text_total", "text_language"] + SpellingWords.tables,
        obsoleteTables: [obsoleteTable, "title_word"], schema: schema(),
        fill: fill, check: FullTextCheck.problems)

    /// The format from which a store is migrated while it answers searches (``IndexMigration``).
    static let previousFormat = 2
    /// The tables of the previous format. `title_text` is obsolete; `item_text` has the same
    /// columns in both formats.
    static let previousTables = [obsoleteTable, textTable, trigramTable, "term", "text_row"]
    static let obsoleteTable = "title_text"

    /// Returns the SQL that creates the tables. With a prefix, `text_row` is only created if it is
    /// missing, because all formats share it.
    static func schema(prefix: String = "") -> String {
        var sql = String(decoding: PackageResources.full_text_sql, as: UTF8.self)
        if !prefix.isEmpty {
            sql = sql.replacing("CREATE TABLE text_row", with: "CREATE TABLE IF NOT EXISTS text_row")
                .replacing("CREATE VIRTUAL TABLE ", with: "CREATE VIRTUAL TABLE \(prefix)")
                .replacing("CREATE TABLE term ", with: "CREATE TABLE \(prefix)term ")
                .replacing("CREATE TABLE spelling_", with: "CREATE TABLE \(prefix)spelling_")
                .replacing("INSERT INTO spelling_total", with: "INSERT INTO \(prefix)spelling_total")
                .replacing("CREATE TABLE text_total", with: "CREATE TABLE \(prefix)text_total")
                .replacing("CREATE TABLE text_language", with: "CREATE TABLE \(prefix)text_language")
                .replacing("INSERT INTO text_total", with: "INSERT INTO \(prefix)text_total")
        }
        return sql + FullTextMerging.settings(prefix: prefix)
    }

    /// Registers the tokenizers that every connection to the store needs.
    static func prepare(_ db: Database) throws {
        try FullTextTokenizer.register(db)
        try PartsTokenizer.register(db)
    }

    /// Fills the tables from the items in date order (``Freshness``). The newest items thus get the
    /// highest numbers, regardless of the order of donation.
    ///
    /// - Throws: `DatabaseError`, including for a record that cannot be decoded.
    private static func fill(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TEMP TABLE IF NOT EXISTS text_order (item INTEGER PRIMARY KEY, freshness REAL NOT NULL);
                DELETE FROM text_order;
                """)
        let note = try db.makeStatement(sql: "INSERT INTO text_order (item, freshness) VALUES (?, ?)")
        let items = try Row.fetchCursor(db, sql: "SELECT id, donated, plain_record(record) AS record FROM item")
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
                SELECT item.id, item.bundle, plain_record(item.record) AS record, text_order.freshness
                FROM text_order CROSS JOIN item ON item.id = text_order.item
                ORDER BY text_order.freshness, text_order.item
                """)
        let update = try db.makeStatement(sql: "UPDATE item SET text_row = ? WHERE id = ?")
        while let row = try order.next() {
            let item = try row.decode(Int64.self, forColumn: "id")
            let text = SearchableText(try ItemWriter.record(in: row), bundle: try row.decode(forColumn: "bundle"))
            let number = try writer.nextNumber(for: try row.decode(forColumn: "freshness"))
            try writer.insert(text, number: number, item: item)
            update.setUncheckedArguments([number, item])
            try update.execute()
        }
        try writer.finish()
        try db.execute(sql: "DROP TABLE text_order")
        for table in tables {
            try db.execute(sql: "INSERT INTO \(table) (\(table)) VALUES ('optimize')")
        }
    }
}
