// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Keeps the full-text tables in step with the items within one transaction.
final class FullTextWriter {
    private let db: Database
    /// What stands before the names of the tables; with one, `text_row` is left alone.
    private let prefix: String
    private let terms: TermWriter
    private var lastNumber: Int64?

    private lazy var insertRow = Result { try WriteStatement(db, sql: "INSERT INTO text_row (id, item) VALUES (?, ?)") }
    private lazy var deleteRow = Result { try WriteStatement(db, sql: "DELETE FROM text_row WHERE id = ?") }
    private lazy var insertTitle = Result {
        try WriteStatement(
            db, sql: "INSERT INTO \(prefix)title_text (rowid, title, keywords, tags) VALUES (?, ?, ?, ?)")
    }
    private lazy var deleteTitle = Result {
        try WriteStatement(
            db,
            sql: """
                INSERT INTO \(prefix)title_text (\(prefix)title_text, rowid, title, keywords, tags)
                VALUES ('delete', ?, ?, ?, ?)
                """)
    }
    private lazy var insertText = Result {
        try WriteStatement(
            db,
            sql: """
                INSERT INTO \(prefix)item_text (rowid, title, keywords, description, body, tags) VALUES (?, ?, ?, ?, ?, ?)
                """)
    }
    private lazy var deleteText = Result {
        try WriteStatement(
            db,
            sql: """
                INSERT INTO \(prefix)item_text (\(prefix)item_text, rowid, title, keywords, description, body, tags)
                VALUES ('delete', ?, ?, ?, ?, ?, ?)
                """)
    }

    init(_ db: Database, prefix: String = "") {
        self.db = db
        self.prefix = prefix
        terms = TermWriter(db, prefix: prefix)
    }

    /// The number of the next text: greater than all that are there, so that the newest come last.
    func nextNumber() throws -> Int64 {
        let last = try lastNumber ?? Int64.fetchOne(db, sql: "SELECT max(id) FROM text_row") ?? 0
        guard last < .max else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a text has the last number")
        }
        lastNumber = last + 1
        return last + 1
    }

    /// Makes the words of an item findable that is not there.
    ///
    /// - Parameter number: from ``nextNumber()``; to be kept with the item.
    func insert(_ text: SearchableText, number: Int64, item: Int64) throws {
        if prefix.isEmpty {
            let row = try insertRow.get()
            row.bind(number, at: 1)
            row.bind(item, at: 2)
            try row.run()
        }
        if text.hasTitleOrKeywords {
            try run(try insertTitle.get(), number, [text.title, text.keywords, text.tags])
            try terms.add(text.title)
            try terms.add(text.keywords)
        }
        try run(
            try insertText.get(), number, [text.title, text.keywords, text.description, text.body, text.textTags])
    }

    /// Takes the words of an item out; `text` is what was inserted under the number.
    func remove(_ text: SearchableText, number: Int64) throws {
        if text.hasTitleOrKeywords {
            try run(try deleteTitle.get(), number, [text.title, text.keywords, text.tags])
        }
        try run(
            try deleteText.get(), number, [text.title, text.keywords, text.description, text.body, text.textTags])
        if prefix.isEmpty { try forget(number) }
    }

    /// Takes the number of an item out, so that its words lead nowhere.
    func forget(_ number: Int64) throws {
        let row = try deleteRow.get()
        row.bind(number, at: 1)
        try row.run()
    }

    private func run(_ statement: WriteStatement, _ number: Int64, _ texts: [String]) throws {
        statement.bind(number, at: 1)
        for (index, text) in texts.enumerated() { statement.bind(text, at: Int32(index + 2)) }
        try statement.run()
    }
}
