// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// Updates the full-text tables in the transaction that changes the items.
///
/// FTS5 starts a new segment whenever a text's number is smaller than the previous one, and numbers
/// follow the dates of items. So this writer buffers texts and writes them in the order of their
/// numbers. Call ``finish()`` at the end.
final class FullTextWriter {
    private let db: Database
    /// The prefix of the table names. With a prefix, `text_row` is not changed.
    private let prefix: String
    private let terms: TermWriter
    private let spelling: SpellingWriter
    private let numberer: TextNumberAllocator
    private let cache: FullTextCache
    private var changes: [Int64: Change] = [:]
    private var bufferedBytes = 0
    /// The buffer size at which the buffer is written, in bytes.
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

    /// `true` if the tables have the previous format, in which only the table of texts is
    /// maintained.
    private let isPrevious: Bool

    /// - Parameter cache: The cache shared by writers of the same tables.
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

    /// Returns the number of the next text for an item's date, in seconds since 2001.
    func nextNumber(for date: Double) throws -> Int64 { try numberer.next(for: date) }

    /// Adds the words of a new item.
    ///
    /// - Parameter number: A number from ``nextNumber(for:)``, which is stored with the item.
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

    /// Removes the words of an item; `text` must be the text inserted under the number.
    func remove(_ text: SearchableText, number: Int64) throws {
        if prefix.isEmpty { try forget(number) }
        if changes[number]?.inserted != nil {
            changes[number]?.inserted = nil
        } else {
            changes[number, default: Change()].removed = text
        }
        try buffer(text)
    }

    /// Removes the number of a text, so that the words stored under it no longer lead to an item.
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
        // A rollback removes the words that the transaction added.
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

/// The statements that insert texts into a table and delete them.
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
