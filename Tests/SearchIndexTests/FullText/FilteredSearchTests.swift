// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

@Suite("A search with filters")
struct FilteredSearchTests {
    @Test(
        "finds and ranks the same items, whether the attribute index lists the allowed items or each item is read",
        arguments: 1...12 as ClosedRange<UInt64>)
    func listed(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        let words = ["apple", "apricot", "avocado", "banana", "pineapple", "apples"]
        var records: [EncodedItem] = []
        for number in 0..<300 {
            let text = (0..<4).map { _ in random.pick(words) }.joined(separator: " ")
            var record = item("\(number)", title: random.pick(words), text: text)
            record.attributes["rating"] = .integer(Int64(random.below(6)))
            record.attributes["genre"] = .string(random.pick(["pop", "rock"]))
            records.append(try EncodedItem(record))
        }
        try await store.index.index(records, in: Store.app)
        try await store.index.settle()
        for _ in 0..<30 {
            let word = random.pick(words)
            var request = SearchRequest(
                random.pick([
                    word, word + " ", String(word.prefix(2)), "\(word) \(random.pick(words).prefix(3))",
                    "\"\(word)\" ", "\(word) -\(random.pick(words)) ", "ppl", "rating",
                ]))
            let filter = random.pick([
                "rating > 2", "rating == 5", "rating == 9", "rating > 3 && genre == \"pop\"",
                "genre == \"ro*\" || rating < 1", "rating != 4",
            ])
            request.filters = [try QueryExpression(parsing: filter)]
            request.limit = 1 + random.below(40)
            request.countsUpTo = 1000
            (request.limits.together, request.limits.readItems) = (40, 16)
            var read = request
            read.limits.filteredTexts = -1
            let (listed, expected) = (try await store.index.search(request), try await store.index.search(read))
            let all = "seed \(seed): \(request.text), \(filter), \(request.limit)"
            #expect(listed.hits.map(\.item.number) == expected.hits.map(\.item.number), "\(all)")
            #expect(listed.total == expected.total, "\(all)")
        }
    }

    @Test("without an allowed item reads nothing, and finds nothing")
    func nothingAllowed() async throws {
        let store = try Store()
        try await store.index.index(
            (0..<200).map { try EncodedItem(item("\($0)", title: "lemon \($0)")) }, in: Store.app)
        var request = SearchRequest("lemon")
        request.filters = [try QueryExpression(parsing: "rating > 2")]
        request.countsUpTo = 1000
        // Without the list of allowed items, a count that reads no item is not exact.
        (request.limits.countedReads, request.limits.countedBytes) = (0, 0)
        let page = try await store.index.search(request)
        #expect(page.hits.isEmpty && page.total == SearchTotal(count: 0, isExact: true))
    }

    @Test("lists only filters that allow few items")
    func fewAllowed() async throws {
        let store = try Store()
        let records = try (0..<60).map { number in
            var record = item("\(number)", title: "lemon")
            record.attributes["rating"] = .integer(Int64(number % 3))
            return try EncodedItem(record)
        }
        try await store.index.index(records, in: Store.app)
        try await store.index.settle()
        let allowed = { (filter: String) in
            try await store.index.query("Listing", includingPending: true) { db in
                try PreparedQuery(
                    try QueryExpression(parsing: filter), filters: [], bundle: nil, context: store.index.queryContext()
                ).candidateTexts(upTo: 20, db)?.count
            }
        }
        #expect(try await allowed("rating == 1") == 20)
        #expect(try await allowed("rating > 0") == nil)
        #expect(try await allowed("rating == 7") == 0)
        #expect(try await allowed("rating == 1 && rating > 0") == 20)
        #expect(try await allowed("rating != 1") == nil)
        #expect(try await allowed("rating == 1 || rating == 2") == nil)
        #expect(try await allowed("!(rating == 1) && !(rating == 2)") == nil)
    }
}
