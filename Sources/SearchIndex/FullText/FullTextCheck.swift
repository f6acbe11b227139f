// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Compares the full-text tables with the items.
///
/// FTS5 keeps no text to compare with, but lists its words with how many documents and places each has. Both sides are
/// summed up as hashes, so that it takes no memory: words that are missing, too many or wrong change the sum.
enum FullTextCheck {
    /// What is wrong, a sentence each.
    static func problems(_ db: Database) throws -> [String] {
        for table in [FullTextIndex.titleTable, FullTextIndex.textTable, FullTextIndex.trigramTable] {
            do {
                try db.execute(sql: "INSERT INTO \(table) (\(table)) VALUES ('integrity-check')")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
                return ["FTS5 finds \(table) damaged"]
            }
        }
        let lost =
            try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM item LEFT JOIN text_row ON text_row.id = item.text_row AND text_row.item = item.id
                    WHERE text_row.id IS NULL
                    """) ?? 0
        let items = try Int.fetchOne(db, sql: "SELECT count(*) FROM item") ?? 0
        let extra = try (Int.fetchOne(db, sql: "SELECT count(*) FROM text_row") ?? 0) - (items - lost)
        guard lost == 0, extra == 0 else { return ["\(lost) items have no text, and \(extra) texts have no item"] }
        var expected: (title: UInt64, text: UInt64) = (0, 0)
        let rows = try Row.fetchCursor(db, sql: "SELECT \(ItemRow.columns), bundle FROM item")
        while let row = try rows.next() {
            let text = SearchableText(try ItemRow(row).record, bundle: try row.decode(forColumn: "bundle"))
            let titles = [("title", text.title), ("keywords", text.keywords)]
            if text.hasTitleOrKeywords { expected.title &+= sum(of: titles + [("tags", text.tags)]) }
            expected.text &+= sum(
                of: titles + [("description", text.description), ("body", text.body), ("tags", text.textTags)])
        }
        var problems: [String] = []
        for (table, sum) in [(FullTextIndex.titleTable, expected.title), (FullTextIndex.textTable, expected.text)]
        where try self.sum(of: table, db) != sum {
            problems.append("the words of \(table) are not those of the items")
        }
        return problems
    }

    /// Each place of a word counts as the hash of the word and its column.
    private static func sum(of columns: [(name: String, text: String)]) -> UInt64 {
        var sum: UInt64 = 0
        for (name, text) in columns {
            let seed = hash(name.utf8)
            FullTextTokenizer.forEachWord(in: text) { word in
                sum &+= hash(word.bytes, seed)
                return true
            }
        }
        return sum
    }

    private static func sum(of table: String, _ db: Database) throws -> UInt64 {
        try db.execute(sql: "CREATE VIRTUAL TABLE temp.checked_words USING fts5vocab (main, \(table), col)")
        defer { try? db.execute(sql: "DROP TABLE temp.checked_words") }
        var sum: UInt64 = 0
        let words = try Row.fetchCursor(db, sql: "SELECT CAST(term AS BLOB), col, cnt FROM temp.checked_words")
        while let row = try words.next() {
            let seed = hash(try row.decode(String.self, atIndex: 1).utf8)
            let count = try row.decode(Int64.self, atIndex: 2)
            try row.withUnsafeData(atIndex: 0) { sum &+= hash($0 ?? .init(), seed) &* UInt64(bitPattern: count) }
        }
        return sum
    }

    /// FNV-1a.
    private static func hash(_ bytes: some Sequence<UInt8>, _ seed: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        bytes.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
