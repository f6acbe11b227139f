// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// Compares the full-text tables with the items.
///
/// FTS5 stores no texts to compare with, but lists each word with the number of documents and
/// positions in which it occurs. Both sides are reduced to a sum of hashes, in constant memory. A
/// missing, surplus or wrong word changes the sum.
enum FullTextCheck {
    /// Returns the problems, one sentence each.
    static func problems(_ db: Database) throws -> [String] {
        for table in FullTextIndex.tables {
            do {
                try db.execute(sql: "INSERT INTO \(table) (\(table)) VALUES ('integrity-check')")
            } catch let error as DatabaseError where error.isOfDamagedTable {
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
        let total = try Int.fetchOne(db, sql: "SELECT texts FROM text_total") ?? 0
        guard total == items else { return ["the number of texts is recorded as \(total) and is \(items)"] }
        var expected: (ranked: UInt64, text: UInt64) = (0, 0)
        let words = RankedWords()
        var spelling = try SpellingCheck(db)
        let rows = try Row.fetchCursor(db, sql: "SELECT \(ItemRow.columns), bundle FROM item")
        while let row = try rows.next() {
            let text = SearchableText(try ItemRow(row).record, bundle: try row.decode(forColumn: "bundle"))
            try spelling.check(text)
            expected.ranked &+= sum(ofParts: text.terms(by: words))
            expected.text &+= sum(of: [
                ("title", text.title), ("keywords", text.keywords), ("description", text.description),
                ("body", text.body), ("tags", text.textTags),
            ])
        }
        var problems: [String] = []
        for (table, sum) in [
            (FullTextIndex.rankedTable, expected.ranked), (FullTextIndex.textTable, expected.text),
        ] where try self.sum(of: table, db) != sum {
            problems.append("the words of \(table) differ from the words of the items")
        }
        guard problems.isEmpty else { return problems }
        return try SpellingWords.problems(db)
            + (spelling.missing.map { ["“\($0)” occurs and is missing from \(SpellingWords.table)"] } ?? [])
    }

    /// Sums the hashes of the words.
    private static func sum(ofParts parts: String) -> UInt64 {
        let seed = hash("words".utf8)
        return parts.utf8.split(separator: 0x20).reduce(0) { $0 &+ hash($1, seed) }
    }

    /// Sums, for each position of a word, the hash of the word and its column.
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
        // A table without positions only counts texts.
        let count = table == FullTextIndex.textTable ? "cnt" : "doc"
        let words = try Row.fetchCursor(
            db, sql: "SELECT CAST(term AS BLOB), coalesce(col, 'words'), \(count) FROM temp.checked_words")
        while let row = try words.next() {
            let seed = hash(try row.decode(String.self, atIndex: 1).utf8)
            let count = try row.decode(Int64.self, atIndex: 2)
            try row.withUnsafeData(atIndex: 0) { sum &+= hash($0 ?? .init(), seed) &* UInt64(bitPattern: count) }
        }
        return sum
    }

    /// Returns the FNV-1a hash.
    private static func hash(_ bytes: some Sequence<UInt8>, _ seed: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        bytes.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
