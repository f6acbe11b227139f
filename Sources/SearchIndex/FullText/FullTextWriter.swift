// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Keeps the full-text tables in step with the items within one transaction.
final class FullTextWriter {
    private let db: Database
    private let terms: TermWriter
    private var lastNumber: Int64?

    init(_ db: Database) {
        self.db = db
        terms = TermWriter(db)
    }

    /// The number of the next text: greater than all that are there, so that the newest come last.
    func nextNumber() throws -> Int64 {
        let last = try lastNumber ?? Int64.fetchOne(db, sql: "SELECT max(id) FROM text_row") ?? 0
        lastNumber = last + 1
        return last + 1
    }

    /// Makes the words of an item findable that is not there.
    ///
    /// - Parameter number: from ``nextNumber()``; to be kept with the item.
    func insert(_ text: SearchableText, number: Int64, item: Int64) throws {
        let row = try db.cachedStatement(sql: "INSERT INTO text_row (id, item) VALUES (?, ?)")
        row.setUncheckedArguments([number, item])
        try row.execute()
        if text.hasTitleOrKeywords {
            let title = try db.cachedStatement(
                sql: "INSERT INTO title_text (rowid, title, keywords, tags) VALUES (?, ?, ?, ?)")
            title.setUncheckedArguments([number, text.title, text.keywords, text.tags])
            try title.execute()
            try terms.add(text.title)
            try terms.add(text.keywords)
        }
        let all = try db.cachedStatement(
            sql: "INSERT INTO item_text (rowid, title, keywords, description, body, tags) VALUES (?, ?, ?, ?, ?, ?)")
        all.setUncheckedArguments([number, text.title, text.keywords, text.description, text.body, text.tags])
        try all.execute()
    }

    /// Takes the words of an item out; `text` is what was inserted under the number.
    func remove(_ text: SearchableText, number: Int64) throws {
        if text.hasTitleOrKeywords {
            let title = try db.cachedStatement(
                sql: "INSERT INTO title_text (title_text, rowid, title, keywords, tags) VALUES ('delete', ?, ?, ?, ?)")
            title.setUncheckedArguments([number, text.title, text.keywords, text.tags])
            try title.execute()
        }
        let all = try db.cachedStatement(
            sql: """
                INSERT INTO item_text (item_text, rowid, title, keywords, description, body, tags)
                VALUES ('delete', ?, ?, ?, ?, ?, ?)
                """)
        all.setUncheckedArguments([number, text.title, text.keywords, text.description, text.body, text.tags])
        try all.execute()
        let row = try db.cachedStatement(sql: "DELETE FROM text_row WHERE id = ?")
        row.setUncheckedArguments([number])
        try row.execute()
    }
}
