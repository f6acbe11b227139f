// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Candidates of a search")
struct CandidateFinderTests {
    /// Returns the identifiers of the best hits among some old items and many newer ones.
    private static func best(
        _ typed: String, of old: [ItemRecord], among newer: (Int) -> ItemRecord
    ) async throws -> [String] {
        let store = try Store()
        let kept = old.map { record in
            var record = record
            record.expiration = .never
            return record
        }
        try await store.index.index(kept.map { try EncodedItem($0) }, in: Store.app)
        try await store.index.settle()
        store.clock.advance(by: 90 * 86400)
        try await store.index.index((0..<400).map { try EncodedItem(newer($0)) }, in: Store.app)
        var request = SearchRequest(typed)
        request.limit = 3
        return try await store.index.search(request).hits.map(\.item.record.uniqueIdentifier)
    }

    @Test("A title with another form of the word comes before many newer texts with the form")
    func formInTitle() async throws {
        let old = item("old", title: "Simply a very long title about something else altogether")
        let found = try await Self.best("simplies ", of: [old]) {
            item("\($0)", title: "Other \($0)", text: "it simplies and simply simplified the rest, simply")
        }
        #expect(found.first == "old")
    }

    @Test("A title that begins with a word and a part of the next comes before many newer ones with both")
    func titleStart() async throws {
        let old = item("old", title: "Annual report of the whole company and its parts")
        let found = try await Self.best("annual rep", of: [old]) {
            item("\($0)", title: "The report of \($0), which is an annual one")
        }
        #expect(found.first == "old")
    }

    @Test("Of many titles with two common words the first is the one whose text repeats them")
    func strongTitle() async throws {
        let old = item("old", title: "name of a file", text: "name file name file name file name file name file")
        let found = try await Self.best("file name ", of: [old]) {
            item("\($0)", title: "the name of another \($0) file", text: "nothing of the kind")
        }
        #expect(found.first == "old")
    }

    @Test(
        "Of many items that share a whole keyword or title, the best ten score as in a ranking of all, but for a level",
        arguments: ["parser", "parser ", "query parser", "query parser "], [true, false])
    func shared(typed: String, inTitle: Bool) async throws {
        let name = typed.hasPrefix("query") ? "query parser" : "parser"
        var random = SplitMix64(seed: 12)
        let store = try Store()
        let items = try (0..<600).map { number in
            // The strong items are the oldest.
            let repeated = number < 60 ? 2 + random.below(9) : random.below(2)
            let text = String(repeating: "a \(name) of files. ", count: repeated)
            let others = (0..<random.below(5)).map { "other \($0)" }
            return try EncodedItem(
                item(
                    "\(number)", title: inTitle ? name : "A library \(number)",
                    keywords: (inTitle ? [] : [name]) + others, text: text))
        }
        try await store.index.index(items, in: Store.app)
        try await store.index.settle()
        var request = SearchRequest(typed)
        request.limit = 10
        let found = try await store.index.search(request).hits.map(\.score)
        let best = try await store.index.rankingOfAll(request).prefix(10).map(\.score)
        // A fine level spans a thirty-second of the strength of a word, which is worth up to 1.
        let level = typed.hasPrefix("query") ? 1.0 / 32 : 0.6 / 32
        #expect(found.count == 10 && zip(found, best).allSatisfy { abs($0 - $1) < level }, "\(found), \(best)")
    }

    @Test("A short form in a title, which no dictionary lists, comes before many keywords with the word")
    func shortForm() async throws {
        let found = try await Self.best("logs ", of: [item("old", title: "Log")]) {
            item("\($0)", title: "Machine \($0)", keywords: ["server logs"])
        }
        #expect(found.first == "old")
    }

    @Test("The best sums agree with sorting", arguments: [3, 100, 2000])
    func sums(limit: Int) {
        var random = SplitMix64(seed: 5)
        var (sums, expected) = (TextSums(), [Int64: Double]())
        for source in 1...4 {
            var met: Set<Int64> = []
            for _ in 0..<1500 {
                let text = Int64(random.below(3000)) << 7
                let number = Double(random.below(20))
                sums.add(number, to: text, of: source)
                if met.insert(text).inserted { expected[text, default: 0] += number }
            }
        }
        let factor = { (text: Int64) in text % 3 == 0 ? 0.9 : 1 }
        #expect(sums.count == expected.count)
        #expect(expected.allSatisfy { sums[$0.key] == $0.value } && sums[1] == nil)
        let best = expected.sorted {
            ($0.value * factor($0.key), $0.key) > ($1.value * factor($1.key), $1.key)
        }.prefix(limit)
        #expect(sums.best(limit, factor: factor).map(\.text) == best.map(\.key))
    }
}
