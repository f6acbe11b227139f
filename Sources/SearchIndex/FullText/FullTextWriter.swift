// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// Keeps the full-text tables in step with the items within one transaction.
///
/// FTS5 starts a new segment whenever a text's number is smaller than the previous one, and numbers follow the dates of items. So
/// this writer buffers texts and writes them in the order of their numbers. Call ``finish()`` at the end.
final class FullTextWriter {
    private let db: Database
    /// What stands before the names of the tables; with one, `text_row` is left alone.
    private let prefix: String
    private let terms: TermWriter
    private let spelling: SpellingWriter
    private let numberer: TextNumberAllocator
    private let cache: FullTextCache
    private var changes: [Int64: Change] = [:]
    private var bufferedBytes = 0
    /// The buffer is written when it holds this many bytes.
    private static let maximumBufferedBytes = 16 << 20

    private struct Change {
        var removed: SearchableText?
        var inserted: SearchableText?
    }

    private lazy var insertRow = Result { try WriteStatement(db, sql: "INSERT INTO text_row (id, item) VALUES (?, ?)") }
    private lazy var deleteRow = Result { try WriteStatement(db, sql: "DELETE FROM text_row WHERE id = ?") }
    private lazy var ranked = Result { try FullTextStatements(db, prefix + FullTextIndex.rankedTable, ["words"]) }
    private lazy var texts = Result {
        try FullTextStatements(
            db, prefix + FullTextIndex.textTable, ["title", "keywords", "description", "body", "tags"])
    }

    /// Whether the tables are those of the previous format, of which only the table of texts goes on.
    private let isPrevious: Bool

    /// - Parameter cache: The memory of writers of the same tables.
    init(
        _ db: Database, prefix: String = "", isPrevious: Bool = false, cache: FullTextCache = FullTextCache()
    ) {
        self.db = db
        self.prefix = prefix
        self.isPrevious = isPrevious
        self.cache = cache
        terms = TermWriter(db, prefix: prefix, cache: cache)
        spelling = SpellingWriter(db, prefix: prefix, cache: cache)
        numberer = TextNumberAllocator(db, countsUp: isPrevious)
    }

    /// The number of the next text of an item of a date, in seconds since 2001.
    func nextNumber(for date: Double) throws -> Int64 { try numberer.next(for: date) }

    /// Makes the words of an item findable that is not there.
    ///
    /// - Parameter number: from ``nextNumber(for:)``; to be kept with the item.
    func insert(_ text: SearchableText, number: Int64, item: Int64) throws {
        if prefix.isEmpty {
            let row = try insertRow.get()
            row.bind(number, at: 1)
            row.bind(item, at: 2)
            try row.run()
        }
        changes[number, default: Change()].inserted = text
        try buffer(text)
    }

    /// Takes the words of an item out; `text` is what was inserted under the number.
    func remove(_ text: SearchableText, number: Int64) throws {
        if prefix.isEmpty { try forget(number) }
        if changes[number]?.inserted != nil {
            changes[number]?.inserted = nil
        } else {
            changes[number, default: Change()].removed = text
        }
        try buffer(text)
    }

    /// Takes the number of an item out, so that its words lead nowhere.
    func forget(_ number: Int64) throws {
        let row = try deleteRow.get()
        row.bind(number, at: 1)
        try row.run()
    }

    private func buffer(_ text: SearchableText) throws {
        bufferedBytes += text.bytes
        if bufferedBytes >= Self.maximumBufferedBytes { try finish() }
    }

    /// Writes the buffered texts.
    func finish() throws {
        var texts = 0
        var insertions = 0
        var languages: [WordLanguage: Int] = [:]
        let ordered = changes.sorted { $0.key < $1.key }
        // The words that a transaction added are gone if it is rolled back.
        db.afterNextTransaction(onCommit: { _ in }, onRollback: { [cache] _ in cache.forgetTerms() })
        changes.removeAll(keepingCapacity: true)
        bufferedBytes = 0
        for (number, change) in ordered {
            if let text = change.removed {
                texts -= 1
                languages[text.language, default: 0] -= 1
                try write(text, number, isRemoval: true)
            }
            if let text = change.inserted {
                texts += 1
                insertions += 1
                languages[text.language, default: 0] += 1
                try write(text, number, isRemoval: false)
                if !isPrevious {
                    try terms.add(text.title)
                    try terms.add(text.keywords)
                    try spelling.add(text)
                }
            }
        }
        guard !isPrevious, texts != 0 || insertions != 0 else { return }
        try spelling.finish()
        try db.cachedStatement(sql: "UPDATE \(prefix)text_total SET texts = texts + ?, changes = changes + ?")
            .execute(arguments: [texts, insertions])
        for (language, count) in languages where count != 0 {
            try db.cachedStatement(
                sql: """
                    INSERT INTO \(prefix)text_language (language, texts) VALUES (?, ?)
                    ON CONFLICT (language) DO UPDATE SET texts = texts + excluded.texts
                    """
            ).execute(arguments: [language.rawValue, count])
        }
    }

    private func write(_ text: SearchableText, _ number: Int64, isRemoval: Bool) throws {
        if !isPrevious {
            try ranked.get().run(number, [text.terms(by: cache.words)], isRemoval: isRemoval)
        }
        try texts.get().run(
            number, [text.title, text.keywords, text.description, text.body, text.textTags], isRemoval: isRemoval)
    }
}

/// The statements that put texts into a table and take them out.
private struct FullTextStatements {
    private let insert: WriteStatement
    private let delete: WriteStatement

    init(_ db: Database, _ table: String, _ columns: [String]) throws {
        let names = columns.joined(separator: ", ")
        let values = columns.map { _ in ", ?" }.joined()
        insert = try WriteStatement(db, sql: "INSERT INTO \(table) (rowid, \(names)) VALUES (?\(values))")
        delete = try WriteStatement(
            db, sql: "INSERT INTO \(table) (\(table), rowid, \(names)) VALUES ('delete', ?\(values))")
    }

    func run(_ number: Int64, _ texts: [String], isRemoval: Bool) throws {
        let statement = isRemoval ? delete : insert
        statement.bind(number, at: 1)
        for (index, text) in texts.enumerated() { statement.bind(text, at: Int32(index + 2)) }
        try statement.run()
    }
}
