// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import SearchIndex

/// The naive baseline: a table of items and a plain FTS5 table with the same texts, ranked by FTS5
/// itself.
final class PlainStore {
    private let database: SQLiteConnection
    private let insertItem: SQLiteStatement
    private let insertText: SQLiteStatement
    private var nextNumber: Int64

    init(path: String, cacheKiB: Int) throws {
        database = try SQLiteConnection(path: path)
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -\(cacheKiB);
            CREATE TABLE IF NOT EXISTS item (
                id INTEGER PRIMARY KEY, bundle TEXT NOT NULL, identifier TEXT NOT NULL, title TEXT, record BLOB NOT NULL,
                UNIQUE (bundle, identifier)
            );
            CREATE VIRTUAL TABLE IF NOT EXISTS item_text USING fts5 (
                title, keywords, description, body, content = '', tokenize = "unicode61 remove_diacritics 2"
            );
            INSERT INTO item_text (item_text, rank) VALUES ('rank', 'bm25(10, 6, 3, 1)');
            CREATE VIRTUAL TABLE IF NOT EXISTS temp.word USING fts5vocab (main, item_text, row);
            """)
        insertItem = try database.prepare("INSERT INTO item VALUES (?, ?, ?, ?, ?)")
        insertText = try database.prepare(
            "INSERT INTO item_text (rowid, title, keywords, description, body) VALUES (?, ?, ?, ?, ?)")
        nextNumber = try database.integer("SELECT ifnull(max(id), 0) + 1 FROM item")
    }

    var count: Int64 { nextNumber - 1 }

    /// Inserts items in one durable transaction.
    func insert(_ items: [(bundle: String, item: EncodedItem)]) throws {
        var rows = RowChunk(columnCount: 5)
        var texts = RowChunk(columnCount: 5)
        for (bundle, item) in items {
            let text = SearchableText(item.record, bundle: 0)
            rows.append(nextNumber)
            rows.append(bundle)
            rows.append(item.record.uniqueIdentifier)
            rows.append(text.title)
            rows.append(blob: item.bytes)
            texts.append(nextNumber)
            for column in [text.title, text.keywords, text.description, text.body] { texts.append(column) }
            nextNumber += 1
        }
        try database.execute("BEGIN")
        try rows.insert(with: insertItem)
        try texts.insert(with: insertText)
        try database.execute("COMMIT")
    }

    /// Searches with plain FTS5 and decodes the records of the ten best hits.
    func search(_ query: SearchQuery) throws -> Int {
        let statement = try statement(for: query)
        var found = 0
        try statement.forEachRow([query.plainArgument] + (query.bundle.map { [$0] } ?? [])) {
            blackHole(try ItemRecord(decoding: statement.bytes(0)))
            found += 1
        }
        return found
    }

    private var statements: [String: SQLiteStatement] = [:]

    private func statement(for query: SearchQuery) throws -> SQLiteStatement {
        let sql =
            switch query.bundle {
            case _ where query.isInsideWords: "SELECT record FROM item WHERE title LIKE ? LIMIT 10"
            case nil:
                "SELECT record FROM item_text JOIN item ON id = item_text.rowid WHERE item_text MATCH ? ORDER BY rank LIMIT 10"
            default:
                """
                SELECT record FROM item_text JOIN item ON id = item_text.rowid WHERE item_text MATCH ? AND bundle = ?
                ORDER BY rank LIMIT 10
                """
            }
        if let known = statements[sql] { return known }
        let statement = try database.prepare(sql)
        statements[sql] = statement
        return statement
    }

    /// Returns the words that occur in the most items, most frequent first.
    func commonestWords(_ count: Int) throws -> [String] {
        try database.texts("SELECT term FROM temp.word WHERE length(term) > 1 ORDER BY doc DESC LIMIT \(count)")
    }

    private lazy var frequency = Result { try database.prepare("SELECT doc FROM temp.word WHERE term = ?") }

    /// Returns the number of items that contain a word.
    func frequency(of word: String) throws -> Int {
        let statement = try frequency.get()
        var count = 0
        try statement.forEachRow([word]) { count = Int(statement.integer(0)) }
        return count
    }
}

extension PlainStore {
    /// Inserts a whole corpus.
    func fill(from corpus: Corpus) throws {
        let reader = try corpus.reader()
        var rest = corpus.count
        while rest > 0 {
            let items = try (0..<min(5_000, rest)).map { _ in
                guard let next = try reader.next() else { throw BenchmarkError("The corpus is too short. Remove it.") }
                return (CorpusMaker.bundle(next.bundle), try EncodedItem(decoding: Array(next.record)))
            }
            try insert(items)
            rest -= items.count
        }
    }
}
