// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Candidates of a search")
struct CandidateFinderTests {
    /// Returns the identifiers of the best hits among some old items and many newer ones.
    private static func best(
        _ typed: String, of old: [ItemRecord], among newer: (Int) -> ItemRecord, limit: Int = 3
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
        request.limit = limit
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
