// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Queries that use words")
struct QueryWordsTests {
    /// Limits that treat a small store like a large one: words are looked up, whether common or
    /// not.
    static let lookups = CandidateLimits(fewRows: 0, smallStore: .max, rareShare: .max)
    /// Limits under which words are often common, and only few words of a pattern are checked.
    static let samples = CandidateLimits(
        fewRows: 8, smallStore: 16, sample: 48, commonShare: 8, skippedShare: 3, words: 2, expansions: 1, rareShare: 4)

    private func check(
        _ store: QueryTestStore, _ records: [ItemRecord], _ random: inout SplitMix64, _ count: Int,
        _ limits: CandidateLimits, _ seed: UInt64
    ) async throws -> (found: Int, words: Int, walks: Int) {
        let live = records.filter { record in
            if case .at(let moment) = record.expiration { moment > queryTestNow } else { true }
        }
        var (found, words, walks) = (0, 0, 0)
        for number in 0..<count {
            let query = QueryWordSoup.expression(&random, of: live)
            let matcher = QueryMatcher(query, context: queryTestContext)
            let expected = live.filter { matcher.matches($0) }.map(\.uniqueIdentifier)
            let prepared = try PreparedQuery(
                query, filters: [], bundle: nil, context: queryTestContext, limits: limits)
            let page = try await store.index.page(of: prepared, limit: 1_000, after: nil)
            let plan = try await store.index.explain(prepared)
            #expect(
                page.items.map(\.record.uniqueIdentifier) == expected, "seed \(seed), \(number): \(query) \(plan.sql)")
            found += expected.isEmpty ? 0 : 1
            words += plan.sql.contains("text_row") ? 1 : 0
            walks += plan.usesIndex ? 0 : 1
        }
        return (found, words, walks)
    }

    @Test("Give the evaluator's results", arguments: [1, 2, 3, 4] as [UInt64])
    func agreement(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let records = (0..<80).map { QueryWordSoup.record(&random, "\($0)") }
        let store = try await QueryTestStore(records)
        let looked = try await check(store, records, &random, 150, Self.lookups, seed)
        #expect(looked.found > 40)
        #expect(looked.words > 40)
        let sampled = try await check(store, records, &random, 100, Self.samples, seed)
        #expect(sampled.words > 3)
        #expect(sampled.walks > 3)
        let usual = try await check(store, records, &random, 20, CandidateLimits(), seed)
        #expect(usual.words == 0)
    }

    @Test("After items were replaced, updated and deleted", arguments: [11, 12] as [UInt64])
    func changes(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try await QueryTestStore((0..<60).map { QueryWordSoup.record(&random, "\($0)") })
        var again = (10..<50).map { QueryWordSoup.record(&random, "\($0)") }
        for index in again.indices { again[index].isUpdate = random.below(2) == 0 }
        try await store.add(again)
        try await store.index.delete(identifiers: (0..<20).map { "\($0)" }, in: store.scope)
        let records = try await store.index.items(matching: .and([]), limit: 1_000).items.map(\.record)
        #expect(records.count > 20)
        let looked = try await check(store, records, &random, 100, Self.lookups, seed)
        #expect(looked.words > 25)
        #expect(looked.found > 25)
        // The entries removed from the full-text tables equal those that were added.
        let problems = try await store.index.write("Checking") { try FullTextCheck.problems($0) }
        #expect(problems.isEmpty)
    }

    @Test("A quick check of the bytes rejects no matching item", arguments: [21, 22] as [UInt64])
    func prefilter(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let records = (0..<60).map { QueryWordSoup.record(&random, "\($0)") }
        var (matches, refused) = (0, 0)
        for number in 0..<400 {
            let query = QueryWordSoup.expression(&random, of: records)
            guard let prefilter = RecordPrefilter(query, context: queryTestContext) else { continue }
            let matcher = QueryMatcher(query, context: queryTestContext)
            for record in records {
                let mayMatch = try record.encoded().withUnsafeBufferPointer { prefilter.mayMatch($0) }
                let isMatch = matcher.matches(record)
                #expect(mayMatch || !isMatch, "seed \(seed), \(number): \(query) \(record)")
                matches += isMatch ? 1 : 0
                refused += mayMatch ? 0 : 1
            }
        }
        #expect(matches > 400)
        #expect(refused > 4_000)
    }

    // MARK: Plans

    static func store() async throws -> QueryTestStore {
        try await QueryTestStore(
            (0..<64).map { number in
                queryItem(
                    "\(number)",
                    [
                        "title": .string(
                            "Common workbench\(number) " + (number % 8 == 4 ? "TableViewer\(number)" : "none")),
                        "textContent": .string("common text about rare\(number % 32) fjords"),
                        "keywords": .array([.string("k\(number)")]),
                        "größe": .string(number == 7 ? "rare1 too" : "none"),
                    ])
            })
    }

    @Test(
        "Look words up in the full-text tables",
        arguments: [
            ("** == \"rare7*\"cdw", "item_text", 2), ("** == \"rare1\"cw", "item_text", 3),
            ("textContent == \"about rare3\"w", "item_text", 2), ("title == \"viewer12*\"cdw", "item_text", 1),
            ("title == \"*bench12 *\"cd", "ranked_word", 1), ("title == \"*kbench4*\"cd", "ranked_word", 11),
            ("title == \"* TableViewer20\"", "item_text", 1), ("keywords == \"k12\"cdt", "item_text", 1),
            ("textContent == \"rare5 about*\"t", "item_text", 2),
        ])
    func lookups(query: String, table: String, count: Int) async throws {
        let store = try await Self.store()
        let limits = CandidateLimits(fewRows: 0, smallStore: 0, commonShare: 4, skippedShare: 1)
        let prepared = try PreparedQuery(
            QueryExpression(parsing: query), filters: [], bundle: nil, context: queryTestContext, limits: limits)
        let plan = try await store.index.explain(prepared)
        #expect(plan.usesIndex && !plan.isExact)
        #expect(plan.sql.contains(table))
        #expect(plan.steps.contains { $0.contains(table) && $0.contains("VIRTUAL TABLE INDEX") }, "\(plan.steps)")
        #expect(plan.steps.allSatisfy { !$0.contains("TEMP B-TREE") }, "\(plan.steps)")
        let page = try await store.index.page(of: prepared, limit: 100, after: nil)
        #expect(page.items.count == count)
    }

    @Test("Scan all items if most have the word", arguments: ["** == \"common*\"cdw", "title == \"*ommo*\"cd"])
    func common(query: String) async throws {
        let store = try await Self.store()
        let limits = CandidateLimits(fewRows: 0, smallStore: 0)
        let prepared = try PreparedQuery(
            QueryExpression(parsing: query), filters: [], bundle: nil, context: queryTestContext, limits: limits)
        let plan = try await store.index.explain(prepared)
        #expect(!plan.usesIndex)
        let page = try await store.index.page(of: prepared, limit: 100, after: nil)
        #expect(page.items.count == 64)
    }

    @Test("Use the keys if the full-text tables are not current, or an attribute is rare")
    func keys() async throws {
        let store = try await Self.store()
        let query = try QueryExpression(parsing: "title == \"viewer12*\"cdw")
        let limits = CandidateLimits(fewRows: 0, smallStore: .max)
        let prepared = try PreparedQuery(query, filters: [], bundle: nil, context: queryTestContext, limits: limits)
        let words = try await store.index.explain(prepared)
        #expect(words.sql.contains("item_text"))
        let few = try await store.index.explain(query)
        #expect(!few.sql.contains("item_text"))
        try await store.index.write("Forgetting") {
            try $0.execute(sql: "UPDATE derived_index SET format = 1 WHERE name = 'text'")
        }
        let plan = try await store.index.explain(prepared)
        #expect(!plan.sql.contains("item_text") && plan.usesIndex)
        let page = try await store.index.page(of: prepared, limit: 100, after: nil)
        #expect(page.items.count == 1)
    }
}
