// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

@Suite("The total of a search")
struct SearchTotalTests {
    @Test(
        "The total is the number of hits, with expired items, filters and bundles, at any limits",
        arguments: 1...8 as ClosedRange<UInt64>)
    func totals(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        let words = ["apple", "apricot", "avocado", "banana", "pineapple"]
        let other = IndexScope(bundle: "com.example.other")
        for number in 0..<150 {
            var record = item("\(number)", title: random.pick(words), text: random.pick(words))
            if random.below(4) == 0 { record.expiration = .at(store.clock.now + 10) }
            record.attributes["rating"] = .integer(Int64(random.below(3)))
            try await store.index.index([try EncodedItem(record)], in: random.below(3) == 0 ? other : Store.app)
        }
        try await store.index.settle()
        store.clock.advance(by: 20)
        for _ in 0..<40 {
            let word = random.pick(words)
            var request = SearchRequest(
                random.pick([
                    word, word + " ", String(word.prefix(2)), "\(random.pick(words)) \(word.prefix(3))", "app -banana",
                    "ppl",
                ]))
            request.limits.candidates = 1 + random.below(40)
            request.limits.smallStore = random.below(2) == 0 ? 0 : 20_000
            request.limits.fewCandidates = 4
            request.bundle = random.below(3) == 0 ? other.bundle : nil
            request.excludedBundles = random.below(4) == 0 ? [other.bundle] : []
            if random.below(3) == 0 { request.filters = [try QueryExpression(parsing: "rating > 0")] }
            request.limit = 1000
            let hits = try await store.index.search(request).hits
            let complete = hits.count { $0.kind.hasAllWords }
            request.limit = 1 + random.below(20)
            for maximum in [1000, 5] {
                request.countsUpTo = maximum
                let total = try await store.index.search(request).total
                // A page that shows hits with only some of the words counts these hits too.
                let all = complete >= min(request.limit, hits.count, maximum) ? complete : hits.count
                #expect(
                    total == SearchTotal(count: min(all, maximum), isExact: all < maximum),
                    "seed \(seed): \(request.text)")
            }
        }
    }

    @Test("If hits with some words are shown too, the total includes all of these")
    func someWords() async throws {
        let store = try Store()
        let items = (0..<200).map { item("\($0)", title: $0 == 7 ? "ferry to oslo" : "ferry \($0)", text: "a text") }
        try await store.index.index(items.map { try EncodedItem($0) }, in: Store.app)
        for number in 0..<300 { try await store.put(item("other \(number)", title: "none")) }
        var request = SearchRequest("ferry oslo ")
        request.countsUpTo = 1000
        for (limit, total) in [(1, 1), (10, 200), (1000, 200)] {
            request.limit = limit
            #expect(try await store.index.search(request).total == SearchTotal(count: total, isExact: true))
        }
    }

    @Test("If each item has to be read, counting stops at a bound and reports it")
    func boundedReads() async throws {
        let store = try Store()
        try await store.index.index(
            (0..<200).map { try EncodedItem(item("\($0)", title: "lemon \($0)")) }, in: Store.app)
        var request = SearchRequest("lemon")
        request.filters = [try QueryExpression(parsing: "title == \"*\"")]
        request.limit = 1
        request.countsUpTo = 1000
        request.limits.countedReads = 40
        let total = try #require(try await store.index.search(request).total)
        #expect(!total.isExact && (40..<200).contains(total.count))
        // The pages show more hits than the count reads.
        request.limit = 100
        #expect(try await store.index.search(request).total == SearchTotal(count: 100, isExact: false))
        request.limit = 1
        // The FTS5 count is not read.
        request.filters = []
        #expect(try await store.index.search(request).total == SearchTotal(count: 200, isExact: true))
    }

    @Test("Newer items of an excluded bundle do not hide the items that count")
    func excluded() async throws {
        let store = try Store()
        let other = IndexScope(bundle: "com.example.other")
        let items = try (0..<200).map { try EncodedItem(item("\($0)", title: "lemon \($0)")) }
        try await store.index.index(Array(items.prefix(50)), in: Store.app)
        try await store.index.index(items, in: other)
        var request = SearchRequest("lemon ")
        request.excludedBundles = [other.bundle]
        (request.limit, request.countsUpTo) = (10, 100)
        #expect(try await store.index.search(request).total == SearchTotal(count: 50, isExact: true))
    }
}
