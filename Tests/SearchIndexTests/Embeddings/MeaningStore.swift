// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport

@testable import ItemRecord
@testable import SearchIndex

/// A store whose embeddings come from the test instead of a model.
struct MeaningStore {
    static let model = String(repeating: "a", count: 64)
    static let width = 64

    let store: Store
    var index: SearchIndex { store.index }

    init() throws { store = try Store() }

    /// Returns a unit vector; equal numbers give equal vectors.
    static func direction(_ number: UInt64) -> [Float] {
        var random = SplitMix64(seed: number &* 7919 &+ 1)
        let numbers = (0..<width).map { _ in Float(random.below(2001)) / 1000 - 1 }
        let length = numbers.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return numbers.map { $0 / length }
    }

    static func passage(_ direction: [Float], range: Range<Int> = 0..<1) -> EmbeddedPassages.Passage {
        let peak = direction.reduce(0) { max($0, abs($1)) }
        return .init(range: range, scale: peak / 127, components: direction.map { Int8(($0 / peak * 127).rounded()) })
    }

    /// Embeds all pending items.
    ///
    /// - Parameter passages: The passages of an item. The first one is embedded first, and the
    ///   others in the next step.
    func embedAll(
        model: String = model, width: Int = width, _ passages: (EmbeddingJob) -> [EmbeddedPassages.Passage]
    ) async throws {
        while true {
            let (jobs, lists) = try await index.embeddingJobs(model: model, width: width, count: 7)
            guard !jobs.isEmpty || lists else { return }
            try await index.store(
                jobs.map { job in
                    let rest = passages(job).dropFirst(job.embedded)
                    return EmbeddedPassages(job: job, passages: Array(rest.prefix(1)), isComplete: rest.count <= 1)
                }, model: model)
        }
    }

    /// Returns the numbers of items, rows and deleted rows.
    func rows() async throws -> [Int] {
        try await index.readApplied("Counting") { db in
            try [
                "SELECT count(DISTINCT item) FROM embedding", "SELECT count(*) FROM embedding",
                "SELECT count(*) FROM embedding_pending",
            ]
            .map { try Int.fetchOne(db, sql: $0) ?? 0 }
        }
    }

    /// Returns the hits of a search whose meaning has a given direction.
    func hits(
        _ text: String, _ direction: [Float]?, bundle: String? = nil, _ change: (inout SearchRequest) -> Void = { _ in }
    ) async throws -> [SearchHit] {
        var request = SearchRequest(text, bundle: bundle)
        request.limit = 100
        request.correctsSpelling = false
        request.meaning = direction.map { SearchMeaning(model: Self.model, embedding: $0) }
        change(&request)
        return try await index.search(request).hits
    }
}
