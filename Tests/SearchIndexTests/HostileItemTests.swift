// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Unlikely items")
struct HostileItemTests {
    private static let scraps = [
        "a", "B", "é", "e\u{301}", "\u{301}", "\u{345}", "α\u{345}", "の\u{345}", "\u{0}", "\u{1}", "\u{1}\u{F0001}",
        "\u{F0001}",
        "東", "京", "\n", " ", "\"", "*", "ﬁ", "ß", "İ", "ı", "K", "\u{200D}", "👩‍👩‍👧", "\u{10FFFF}", "\u{1100}\u{1161}", "각",
        "ŉ", "ᾳ", "0", "_", "\u{E0100}", "क्ष", "ก็",
    ]

    private static func text(_ random: inout SplitMix64) -> String {
        switch random.below(12) {
        case 0: return String(repeating: random.pick(scraps), count: 40 + random.below(100))
        case 1: return ""
        default: return (0..<(1 + random.below(12))).map { _ in random.pick(scraps) }.joined()
        }
    }

    private static func record(_ random: inout SplitMix64) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: "\(random.below(8))", isUpdate: random.below(4) == 0)
        let names = [
            "title", "displayName", "keywords", "textContent", "contentDescription", "url", "own", "own\u{0}",
            "own\u{0}key", "é", "e\u{301}x",
        ]
        for _ in 0..<random.below(6) {
            let value: AttributeValue =
                switch random.below(7) {
                case 0: .array((0..<random.below(4)).map { _ in .string(text(&random)) })
                case 1: .localizedString([text(&random): text(&random), "de": text(&random)])
                case 2: .dictionary([text(&random): .string(text(&random)), "x": .integer(Int64(random.below(3)))])
                case 3: .integer(5)
                default: .string(text(&random))
                }
            record.attributes[random.pick(names)] = value
        }
        return record
    }

    @Test(
        "After any donations, replacements and deletions the derived tables match the items",
        arguments: 1...12 as ClosedRange<UInt64>)
    func derivedTables(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        for step in 0..<30 {
            var batch = IndexBatch(scope: Store.app)
            for _ in 0..<(1 + random.below(4)) {
                switch random.below(5) {
                case 0: batch.delete(identifiers: ["\(random.below(8))"])
                default: batch.index([try EncodedItem(Self.record(&random))])
                }
            }
            try await store.index.commit(batch)
            guard step % 5 == 4 else { continue }
            let problems = try await store.index.write("Checking") { db in DerivedIndex.all.flatMap { $0.problems(db) }
            }
            #expect(problems == [], "seed \(seed), step \(step)")
        }
    }

    @Test("An attribute is distinguished from one whose name begins with its name")
    func names() async throws {
        let store = try Store()
        var record = item("forged", title: "lemon")
        record.attributes["pageCount\u{0}"] = .integer(5)
        try await store.put(record)
        #expect(try await store.index.items(matching: .init(parsing: "pageCount == 5")).items.isEmpty)
    }
}
