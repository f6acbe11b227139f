// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UserSearch

@testable import ItemRecord
@testable import SearchIndex

/// Searches by words and by meaning, with embeddings that the test chooses.
@Suite("Search by meaning", .timeLimit(.minutes(10)))
struct MeaningSearchTests {
    private let place: MeaningStore
    private static let target = MeaningStore.direction(1000)

    init() throws { place = try MeaningStore() }

    /// Adds 200 items; item 50 has the meaning `target`. Half of the items belong to another app.
    private func fill(embeds: Bool = true) async throws {
        let other = IndexScope(bundle: "org.example.other")
        for number in 0..<200 {
            let record = item(
                "i\(number)", title: "Sheet \(number)",
                text: "The boat of number \(number) is at the pier. \(number % 10 == 0 ? "harvest moon lantern" : "")")
            try await place.store.put(record, in: number % 2 == 0 ? Store.app : other)
        }
        guard embeds else { return }
        try await place.embedAll(Self.passages)
    }

    private static func passages(_ job: EmbeddingJob) -> [EmbeddedPassages.Passage] {
        job.text.title == "Sheet 50"
            ? [
                MeaningStore.passage(MeaningStore.direction(3), range: 0..<8),
                MeaningStore.passage(target, range: 4..<27),
            ] : [MeaningStore.passage(MeaningStore.direction(UInt64(job.item)))]
    }

    @Test("An item without any of the words is found by its meaning, with the passage that matches")
    func alone() async throws {
        try await fill()
        let hits = try await place.hits("zebra quartz violin", Self.target)
        #expect(hits.map(\.item.record.uniqueIdentifier) == ["i50"])
        let hit = try #require(hits.first)
        #expect(hit.kind == .meaning && hit.parts.meaning > 0 && hit.parts.words == 0)
        #expect(hit.passage == "boat of number 50 is at")
        #expect(abs(hit.score - hit.parts.meaning * hit.parts.freshness) < 1e-9)
    }

    @Test("A meaning that no item has finds nothing")
    func floor() async throws {
        try await fill()
        for seed in 0..<20 {
            #expect(try await place.hits("zebra quartz violin", MeaningStore.direction(5000 + UInt64(seed))).isEmpty)
        }
    }

    @Test("Of items with the same words, the one with the similar meaning comes first")
    func fused() async throws {
        try await fill()
        let words = try await place.hits("harvest moon lantern", nil)
        #expect(words.count == 20 && words.first?.item.record.uniqueIdentifier != "i50")
        #expect(words.allSatisfy { $0.parts.meaning == 0 && $0.passage == nil })
        let both = try await place.hits("harvest moon lantern", Self.target)
        #expect(both.count == 20 && both.first?.item.record.uniqueIdentifier == "i50")
        #expect(both.first?.kind == .text)
    }

    @Test("A used item with the similar meaning is one hit")
    func used() async throws {
        try await fill()
        let item = try #require(try await place.index.items(uniqueIdentifier: "i50").first).number
        let text = "harvest moon lantern"
        #expect(try await place.index.countEngagement([Engagement(item: item, text: text, kind: .open)]) == 1)
        let hits = try await place.hits(text, Self.target).map(\.item.number)
        #expect(hits.count == 20 && Set(hits).count == 20 && hits.first == item)
    }

    @Test("Filters, phrases, excluded words and bundles hold for hits by meaning too")
    func filters() async throws {
        try await fill()
        for text in [
            "zebra quartz violin title:other", "zebra quartz violin -boat", "zebra quartz violin \"pier at\"",
            "zebra quartz violin app:other",
        ] {
            #expect(try await place.hits(text, Self.target).isEmpty, "\(text)")
        }
        for text in ["zebra quartz violin title:50", "zebra quartz violin app:app", "zebra quartz violin -goat"] {
            #expect(try await place.hits(text, Self.target).count == 1, "\(text)")
        }
        #expect(try await place.hits("zebra quartz violin", Self.target, bundle: "org.example.other").isEmpty)
        #expect(try await place.hits("zebra quartz violin", Self.target, bundle: Store.app.bundle).count == 1)
        #expect(
            try await place.hits("zebra quartz violin", Self.target) { $0.excludedBundles = [Store.app.bundle] }.isEmpty
        )
    }

    @Test("Deleted and changed items are not found by their former meaning")
    func deleted() async throws {
        try await fill()
        #expect(try await place.hits("zebra quartz violin", Self.target).count == 1)
        try await place.store.put(item("i50", title: "Sheet 50", text: "Another text."))
        #expect(try await place.hits("zebra quartz violin", Self.target).isEmpty)
        try await place.embedAll(Self.passages)
        #expect(try await place.hits("zebra quartz violin", Self.target).count == 1)
        try await place.index.delete(identifiers: ["i50"], in: Store.app)
        #expect(try await place.hits("zebra quartz violin", Self.target).isEmpty)
    }

    @Test("A store with embeddings of some items finds these by meaning, and all by words")
    func half() async throws {
        try await fill(embeds: false)
        while try await place.rowsOrNone() < 100 {
            let (jobs, _) = try await place.index.embeddingJobs(
                model: MeaningStore.model, width: MeaningStore.width, count: 10)
            try await place.index.store(
                jobs.map { EmbeddedPassages(job: $0, passages: Self.passages($0), isComplete: true) },
                model: MeaningStore.model)
        }
        #expect(try await place.hits("harvest moon lantern", Self.target).count == 20)
        let embedded = try await place.hits("zebra quartz violin", MeaningStore.direction(180))
        #expect(embedded.map(\.item.number) == [180])
        #expect(try await place.hits("zebra quartz violin", MeaningStore.direction(20)).isEmpty)
    }

    @Test("Without embeddings of the model, a meaning changes nothing")
    func withoutEmbeddings() async throws {
        try await fill(embeds: false)
        for text in ["harvest moon lantern", "boat at the pier", "zebra quartz violin"] {
            #expect(try await place.hits(text, Self.target) == place.hits(text, nil))
        }
        try await place.embedAll(model: String(repeating: "b", count: 64), Self.passages)
        #expect(try await place.hits("harvest moon lantern", Self.target) == place.hits("harvest moon lantern", nil))
    }

    @Test("Pages continue, and totals include the hits by meaning")
    func pages() async throws {
        try await fill()
        var request = SearchRequest("zebra moon violin")
        request.meaning = SearchMeaning(model: MeaningStore.model, embedding: MeaningStore.direction(7))
        request.limit = 7
        request.countsUpTo = 1000
        request.correctsSpelling = false
        var found: [Int64] = []
        while true {
            let page = try await place.index.search(request)
            #expect(page.total?.count == 21)
            found += page.hits.map(\.item.number)
            guard let next = page.next else { break }
            request.cursor = next
        }
        #expect(found.count == 21 && Set(found).count == 21 && found.contains(7))
    }

    @Test("A word that the model knows is corrected only if nothing is found otherwise")
    func knownWords() async throws {
        try await fill()
        func page(_ direction: UInt64, knows words: [String]) async throws -> SearchPage {
            var request = SearchRequest("zebra moan violin")
            request.meaning = SearchMeaning(
                model: MeaningStore.model, embedding: MeaningStore.direction(direction), knownWords: words)
            return try await place.index.search(request)
        }
        #expect(try await page(7, knows: []).correction?.text == "zebra moon violin")
        let found = try await page(7, knows: ["Moan"])
        #expect(found.correction == nil)
        #expect(found.hits.map(\.item.number) == [7])
        #expect(try await page(99_999, knows: ["Moan"]).correction?.text == "zebra moon violin")
    }

    @Test("Questions are searched by meaning; short texts, and the unfinished word of a user who types, are not")
    func questions() throws {
        func text(_ typed: String, isTyping: Bool = false) -> String? {
            var request = SearchRequest(typed)
            request.includesPending = !isTyping
            return place.index.meaningText(of: request)
        }
        #expect(text("where is the boat") == "where is the boat")
        #expect(text("where is  kind:pdf boat") == "where is boat")
        #expect(text("annual report") == nil && text("report") == nil && text("kind:pdf") == nil && text("") == nil)
        #expect(text("cheap flights tok", isTyping: true) == nil)
        #expect(text("cheap flights tokyo ", isTyping: true) == "cheap flights tokyo")
        #expect(text("cheap flights to tok", isTyping: true) != nil)
        var request = SearchRequest("where is the boat")
        request.usesMeaning = false
        #expect(place.index.meaningText(of: request) == nil)
    }

    @Test("The part for the meaning begins above the mean, and is at most 0.8 of the best words")
    func rule() {
        #expect(MeaningRule.part(deviations: -0.5, best: 2) == 0)
        #expect(MeaningRule.part(deviations: 100, best: 2) == 1.6)
        #expect(abs(MeaningRule.part(deviations: 5, best: 1) - 0.5) < 1e-12)
    }

    @Test("The similarity of an item's best passage counts less the more passages the item has")
    func passages() async throws {
        // The maximum of random numbers is the oracle.
        var random = SplitMix64(seed: 1)
        for count in [1, 2, 5, 16] {
            let maxima = (0..<20_000).map { _ in
                (0..<count).map { _ in
                    (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
                }.max() ?? 0
            }
            let mean = maxima.reduce(0, +) / Double(maxima.count)
            #expect(abs(MeaningRule.expected(passages: count) - mean) < 0.06)
        }
        #expect(MeaningRule.expected(passages: 1000) == MeaningRule.expected(passages: 16))
        // Two items have the same best passage; one of them has more passages.
        try await fill(embeds: false)
        try await place.embedAll { job in
            let target = MeaningStore.passage(Self.target)
            return switch job.text.title {
            case "Sheet 30": [target]
            case "Sheet 50": [target] + (0..<4).map { MeaningStore.passage(MeaningStore.direction(7000 + $0)) }
            default: [MeaningStore.passage(MeaningStore.direction(UInt64(job.item)))]
            }
        }
        let hits = try await place.hits("harvest moon lantern", Self.target)
        #expect(hits.prefix(2).map(\.item.record.uniqueIdentifier) == ["i30", "i50"])
        let (short, long) = (try #require(hits.first).parts, try #require(hits.dropFirst().first).parts)
        #expect(short.meaning > long.meaning && long.meaning > 0)
    }
}

extension MeaningStore {
    fileprivate func rowsOrNone() async throws -> Int {
        try await index.embeddingCounts(model: Self.model)?.embedded ?? 0
    }
}
