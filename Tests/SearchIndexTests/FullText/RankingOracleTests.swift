// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("The order of hits, compared with a ranking of all items")
struct RankingOracleTests {
    private static let words = [
        "annual", "report", "reports", "reporting", "budget", "sales", "sale", "meeting", "notes", "note", "travel",
        "plan", "plans", "東京", "Überblick", "v12", "c++", "list", "directory", "contents",
    ]
    /// The number of compared searches in small stores; larger in a long run (`make oracle`).
    private static let cases = variable("SEARCHLIGHT_RANKING_CASES") ?? 120
    /// The seed of the first store. A failure reports its own seed.
    private static let firstSeed = UInt64(max(1, variable("SEARCHLIGHT_RANKING_SEED") ?? 1))
    private static let isLong = cases > 120
    /// The number of searches in one store.
    private static let searches = isLong ? 250 : 30
    private static var smallStores: Range<UInt64> { firstSeed..<firstSeed + UInt64(max(1, cases / searches)) }
    /// Ranking all of many items takes a long time.
    private static var largeStores: Range<UInt64> {
        firstSeed..<firstSeed + (isLong ? UInt64(max(2, cases / 5000)) : 2)
    }
    private static let searchesOfLargeStores = 30

    private static func variable(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private static func text(_ count: Int, _ random: inout SplitMix64) -> String {
        (0..<count).map { _ in
            // A few words are common, and many are rare.
            words[min(random.below(words.count), random.below(words.count))]
        }.joined(separator: " ")
    }

    private static func store(_ random: inout SplitMix64, items: Int) async throws -> Store {
        let store = try Store()
        store.clock.advance(by: 400 * 86400)
        var records: [EncodedItem] = []
        for number in 0..<items {
            var record = item(
                "\(number)", title: text(random.below(5), &random),
                keywords: random.below(4) == 0 ? [text(1, &random)] : [],
                description: random.below(3) == 0 ? text(random.below(8), &random) : nil,
                text: random.below(3) > 0 ? text(random.below(40), &random) : nil)
            if random.below(2) == 0 {
                record.attributes["contentModificationDate"] = .date(
                    store.clock.now - Double(random.below(300)) * 86400)
            }
            records.append(try EncodedItem(record))
        }
        try await store.index.index(records, in: Store.app)
        return store
    }

    private static func typed(_ random: inout SplitMix64) -> String {
        let count = 1 + random.below(4)
        var parts = (0..<count).map { _ in random.pick(words) }
        if random.below(2) == 0 {
            let last = parts[count - 1]
            parts[count - 1] = String(last.prefix(1 + random.below(last.count)))
        } else if random.below(2) == 0 {
            parts[count - 1] += " "
        }
        if random.below(8) == 0 { parts[0] = "\"" + parts[0] + " " + random.pick(words) + "\"" }
        if random.below(8) == 0 { parts.append("-" + random.pick(words)) }
        return parts.joined(separator: " ")
    }

    @Test(
        "In a small store the order follows the rule, with every match", arguments: smallStores
    )
    func exact(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try await Self.store(&random, items: 60)
        for _ in 0..<Self.searches {
            var request = SearchRequest(Self.typed(&random))
            request.correctsSpelling = false
            request.limit = 200
            let expected = try await store.index.rankingOfAll(request)
            let page = try await store.index.search(request)
            #expect(
                page.hits.map(\.item.number) == expected.map(\.item), "seed \(seed): \(request.text)")
            #expect(page.hits.map(\.score) == expected.map(\.score), "seed \(seed): \(request.text)")
        }
    }

    @Test(
        "Among many items the best ten follow the rule, in any order of donation",
        arguments: largeStores)
    func topTen(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try await Self.store(&random, items: 1500)
        var (shared, wanted) = (0, 0)
        var notes: [String] = []
        for _ in 0..<Self.searchesOfLargeStores {
            var request = SearchRequest(Self.typed(&random))
            request.correctsSpelling = false
            request.limit = 10
            request.limits.smallStore = 0
            let expected = try await store.index.rankingOfAll(request)
            let hits = try await store.index.search(request).hits
            #expect(hits.count == min(10, expected.count), "seed \(seed): \(request.text)")
            // Any of the items with the same score may be shown.
            let least = expected.prefix(10).last?.score ?? 0
            let right = hits.count { hit in hit.score >= least - 1e-9 }
            shared += right
            if right < min(10, expected.count) { notes.append("\(request.text): \(right)") }
            wanted += min(10, expected.count)
        }
        // Each word occurs in a third of all items, which makes the search harder than in any real
        // text.
        #expect(Double(shared) >= 0.9 * Double(wanted), "seed \(seed): \(shared) of \(wanted): \(notes)")
    }
}
