// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// Asks the index as a search field does with each key that is typed.
enum Searching {
    private static let limit = 10

    /// The numbers of the best hits, best first.
    ///
    /// - Parameter candidates: How many of the newest matches are ranked; `nil` as always, `Int.max` all.
    static func search(_ index: SearchIndex, _ query: SearchQuery, candidates: Int? = nil) async throws -> [Int64] {
        var request = SearchRequest(query.typed, bundle: query.bundle)
        request.limit = limit
        request.includesPending = false
        if let candidates { request.limits.candidates = candidates }
        return try await index.search(request).hits.map(\.item.number)
    }

    /// How much of the best hits among all matches is found, 0 to 1; the mean over some queries.
    static func overlap(_ index: SearchIndex, _ queries: [SearchQuery], seconds: Double) async throws -> Double {
        let start = ProcessCost.now
        var shares: [Double] = []
        for query in queries where (ProcessCost.now - start).wall < seconds || shares.isEmpty {
            let best = Set(try await search(index, query, candidates: .max))
            let found = try await search(index, query)
            if !best.isEmpty { shares.append(Double(best.intersection(found).count) / Double(best.count)) }
        }
        return shares.isEmpty ? 1 : shares.reduce(0, +) / Double(shares.count)
    }
}
