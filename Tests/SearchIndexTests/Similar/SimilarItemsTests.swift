// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import UserSearch

@testable import ItemRecord
@testable import SearchIndex

/// Items that are similar to an item, by embeddings that the test chooses and by words.
@Suite("Similar items", .timeLimit(.minutes(10)))
struct SimilarItemsTests {
    private let place: MeaningStore
    private static let other = IndexScope(bundle: "org.example.other")

    init() throws { place = try MeaningStore() }

    /// Returns a direction near another one: the larger the share of noise, the smaller the cosine.
    /// The noise is orthogonal to the direction, so that only its share matters.
    private static func near(_ number: UInt64, share: Float, noise: UInt64) -> [Float] {
        let (base, noise) = (MeaningStore.direction(number), MeaningStore.direction(noise))
        let common = zip(base, noise).reduce(0) { $0 + $1.0 * $1.1 }
        let across = normalized(zip(base, noise).map { $1 - common * $0 })
        return normalized(zip(base, across).map { $0 + share * $1 })
    }

    private static func normalized(_ vector: [Float]) -> [Float] {
        let length = vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return vector.map { $0 / length }
    }

    /// Adds 300 items, every third from another app. Items 10 to 19 are increasingly dissimilar to
    /// item 9.
    private func fill() async throws {
        for number in 0..<300 {
            let record = item("i\(number)", title: "Sheet \(number)", text: "Text of \(number) \(number % 7)")
            try await place.store.put(record, in: number % 3 == 0 ? Self.other : Store.app)
        }
        try await place.embedAll(Self.passages)
    }

    private static func passages(_ job: EmbeddingJob) -> [EmbeddedPassages.Passage] {
        let number = UInt64(job.text.title.dropFirst("Sheet ".count)) ?? 0
        guard (9..<20).contains(number) else { return [MeaningStore.passage(MeaningStore.direction(number + 10_000))] }
        let direction = near(9, share: Float(number - 9) * 0.15, noise: number)
        // The similar passage does not have to be an item's first.
        let unrelated = MeaningStore.passage(MeaningStore.direction(number + 20_000), range: 0..<4)
        return number == 9
            ? [MeaningStore.passage(direction)] : [unrelated, MeaningStore.passage(direction, range: 5..<9)]
    }

    private func page(
        _ name: String = "i9", _ filters: String = "", model: String? = MeaningStore.model,
        _ change: (inout SearchRequest) -> Void = { _ in }
    ) async throws -> SimilarPage? {
        let number = try #require(try await place.index.items(uniqueIdentifier: name).first?.number)
        var request = SearchRequest(filters)
        request.limit = 5
        change(&request)
        return try await place.index.similar(to: number, request, model: model)
    }

    private func names(_ page: SimilarPage?) -> [String] { page?.hits.map(\.item.record.uniqueIdentifier) ?? [] }

    @Test("The most similar items come first, with their most similar passage, and without the item itself")
    func order() async throws {
        try await fill()
        let found = try #require(try await page())
        #expect(names(found) == ["i10", "i11", "i12", "i13", "i14"])
        #expect(found.basis == .meaning && !found.isPartial && found.words.isEmpty)
        #expect(found.hits.first?.passage == "of 1" && found.hits.first?.kind == .meaning)
        let scores = found.hits.map(\.score)
        #expect(scores == scores.sorted(by: >) && (scores.first ?? 0) > 0.9)
    }

    @Test("Items that are hardly more similar than any other are left out")
    func floor() async throws {
        try await fill()
        let found = try #require(try await page { $0.limit = 300 })
        #expect(found.hits.count >= 10 && found.hits.count < 80, "\(found.hits.count)")
        #expect(Set(names(found).prefix(8)).isSubset(of: Set((10..<20).map { "i\($0)" })))
    }

    @Test("Filters and bundles hold, even if only an item behind thousands of others satisfies them")
    func filters() async throws {
        try await fill()
        #expect(try await names(page("i9", "title:12")).first == "i12")
        #expect(try await !names(page("i9", "title:12")).contains("i11"))
        #expect(try await names(page("i9", "-title:10,11")).first == "i12")
        #expect(try await names(page("i9", "app:other")).first == "i12")
        #expect(try await names(page { $0.bundle = Store.app.bundle }).prefix(3) == ["i10", "i11", "i13"])
        #expect(try await names(page { $0.excludedBundles = [Store.app.bundle] }).prefix(2) == ["i12", "i15"])
        #expect(try await names(page("i9", "title:nothing")).isEmpty)
    }

    @Test("Deleted and changed items are not found, and an unknown item has no answer")
    func deleted() async throws {
        try await fill()
        #expect(try await names(page()).first == "i10")
        try await place.index.delete(identifiers: ["i10"], in: Store.app)
        try await place.store.put(item("i11", title: "Sheet 11", text: "Another text."))
        let found = try #require(try await page())
        #expect(names(found) == ["i12", "i13", "i14", "i15", "i16"])
        #expect(found.isPartial)
        #expect(try await place.index.similar(to: 99_999, SearchRequest(""), model: MeaningStore.model) == nil)
    }

    @Test("Without a model, items with the same rare words are found, and a common word finds none")
    func words() async throws {
        for number in 0..<60 {
            let text =
                switch number {
                case 7: "The lighthouse keeper of Skagen repairs the foghorn."
                case 8: "A foghorn at the lighthouse needs a new valve."
                case 9: "The keeper counts ships."
                default: "The sheet of number \(number) is about nothing else."
                }
            try await place.store.put(item("i\(number)", title: "Sheet \(number)", text: text))
        }
        let found = try #require(try await page("i7", model: nil))
        #expect(names(found) == ["i8", "i9"] && found.basis == .wordsWithoutModel)
        #expect(Set(found.words) == ["lighthouse", "foghorn", "keeper"])
        #expect(try await names(page("i7", "title:9", model: nil)) == ["i9"])
        // The item has no embeddings yet.
        #expect(try await page("i7")?.basis == .wordsWithoutEmbedding)
        #expect(try await names(page("i7")) == ["i8", "i9"])
    }

    @Test("An item without a text has no similar items, and says so")
    func noText() async throws {
        try await place.store.put(ItemRecord(uniqueIdentifier: "bare"))
        let found = try #require(try await page("bare", model: nil))
        #expect(found.hits.isEmpty && found.basis == .noText)
    }
}
