// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchIndex
import TestSupport
import Testing

@testable import benchmarks

@Suite struct BaselineTests {
    private func item(_ number: Int, title: String?) throws -> EncodedItem {
        var attributes: [String: AttributeValue] = [
            "textContent": .string("body number\(number)"), "contentType": .string("public.html"),
        ]
        attributes["title"] = title.map { .string($0) }
        return try EncodedItem(ItemRecord(uniqueIdentifier: "\(number)", expiration: .never, attributes: attributes))
    }

    @Test func theRawBaselineHoldsWhatTheStoreHolds() async throws {
        let folder = try TemporaryFolder()
        let index = try SearchIndex(directory: folder.path("store"), access: .readWrite)
        for bundle in ["com.example.a", "com.example.b"] {
            let items = try (0..<50).map { try item($0, title: $0 % 5 == 0 ? nil : "Harbour \($0)") }
            try await index.index(items, in: IndexScope(bundle: bundle))
        }
        // A change gives the text a number that differs from the item's number.
        try await index.index([try item(7, title: "Lighthouse")], in: IndexScope(bundle: "com.example.a"))
        try await index.close()

        let path = folder.path("raw.sqlite")
        // Filling includes a comparison of the row counts.
        let filled = try RawStore(copying: folder.path("store/index.sqlite"), to: path, cacheKiB: 1024).fill()
        #expect(filled.items == 100)
        let raw = try SQLiteConnection(path: path, isReadOnly: true)
        func rows(_ table: String, _ match: String) throws -> [String] {
            try raw.texts(
                """
                SELECT item.unique_identifier || bundle FROM \(table) JOIN item ON item.text_row = \(table).rowid
                WHERE \(table) MATCH '\(match)' ORDER BY 1
                """)
        }
        #expect(try rows("ranked_word", "Alighthouse") == ["71"])
        #expect(try rows("ranked_word", "Aharbour").count == 79)
        #expect(try rows("item_text", "number0") == ["01", "02"])
        #expect(
            try raw.texts(
                "SELECT text FROM term WHERE id IN (SELECT rowid FROM term_trigram WHERE term_trigram MATCH 'ght')")
                == ["lighthouse"])
        let store = try SQLiteConnection(path: folder.path("store/index.sqlite"), isReadOnly: true)
        for columns in [
            "id, text_row, hex(record) FROM item", "name, value, item FROM attribute", "id, item FROM text_row",
        ] {
            let list = columns.split(separator: " FROM ").first ?? ""
            let all = "SELECT json_array(\(list)) FROM \(columns.split(separator: " FROM ").last ?? "") ORDER BY 1"
            #expect(try raw.texts(all) == store.texts(all))
        }
    }

    @Test func thePlainBaselineFindsWhatWasInserted() throws {
        let folder = try TemporaryFolder()
        let plain = try PlainStore(path: folder.path("plain.sqlite"), cacheKiB: 1024)
        try plain.insert([("a", try item(1, title: "Harbour lights")), ("b", try item(2, title: "Harbours"))])
        #expect(try plain.search(SearchQuery(words: ["harbour"])) == 1)
        #expect(try plain.search(SearchQuery(prefix: "harb")) == 2)
        #expect(try plain.search(SearchQuery(prefix: "harb", bundle: "b")) == 1)
        #expect(try plain.search(SearchQuery(phrase: ["harbour", "lights"])) == 1)
        #expect(try plain.search(SearchQuery(inside: "ight")) == 1)
        #expect(try plain.frequency(of: "body") == 2)
    }

    @Test func percentilesAreTheNearestRanksAndTheMiddleIsTheMedian() {
        let percentiles = Percentiles((1...200).map(Double.init).shuffled())
        #expect(percentiles.p50 == 100.5)
        #expect(Percentiles([0.6, 0.8, 1, 1]).p50 == 0.9)
        #expect(Percentiles([1, 2, 9]).p50 == 2)
        #expect(percentiles.p95 == 190)
        #expect(percentiles.maximum == 200)
        #expect(Percentiles([3]).p95 == 3)
        #expect(Percentiles([]).p50 == 0)
    }
}
