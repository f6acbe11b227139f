// SPDX-License-Identifier: Apache-2.0
import GRDB
import ServiceProtocol

/// The full-text table as a derived index.
enum TextIndex {
    static let derived = DerivedIndex(
        name: "text", format: 1, tables: ["item_text"],
        schema: """
            CREATE VIRTUAL TABLE item_text USING fts5 (
                title, keywords, description, body,
                content = '', tokenize = "unicode61 remove_diacritics 2"
            );
            """,
        fill: { db in
            let insert = try db.cachedStatement(
                sql: "INSERT INTO item_text (rowid, title, keywords, description, body) VALUES (?, ?, ?, ?, ?)")
            try ItemRow.forEach(db) { row in
                try insert.execute(arguments: [row.id] + StatementArguments(SearchableText(row.record).arguments))
            }
        },
        check: { db in
            do {
                try db.execute(sql: "INSERT INTO item_text (item_text) VALUES ('integrity-check')")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                return ["its own check finds it damaged"]
            }
            // A table without content keeps one line for each of its rows.
            let missing = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM item WHERE id NOT IN (SELECT id FROM item_text_docsize)")
            let extra = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM item_text_docsize WHERE id NOT IN (SELECT id FROM item)")
            guard (missing, extra) != (0, 0) else { return [] }
            return ["\(missing ?? 0) items are missing and \(extra ?? 0) do not exist"]
        })
}
