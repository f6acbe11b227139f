// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// Searches the index for each typed character, as a search field does.
enum Searching {
    private static let limit = 10

    /// Returns the numbers of the best hits, best first.
    static func search(_ index: SearchIndex, _ query: SearchQuery) async throws -> [Int64] {
        try await index.search(request(query)).hits.map(\.item.number)
    }

    private static func request(_ query: SearchQuery) -> SearchRequest {
        var request = SearchRequest(query.typed, bundle: query.bundle)
        request.limit = limit
        request.includesPending = false
        return request
    }

    /// Returns the share of the best matches that a search finds, 0 to 1, averaged over some
    /// queries.
    ///
    /// - Parameter least: The minimum number of queries to compare, although ranking all items
    ///   takes seconds, because a single query does not represent a class.
    static func overlap(
        _ index: SearchIndex, _ queries: [SearchQuery], seconds: Double, least leastCompared: Int
    ) async throws -> Double {
        let start = ProcessCost.now
        var shares: [Double] = []
        for query in queries where (ProcessCost.now - start).wall < seconds || shares.count < leastCompared {
            let best = try await index.rankingOfAll(request(query)).prefix(limit)
            // Any of several items with the same score may be shown.
            guard let least = best.last?.score else { continue }
            let found = try await index.search(request(query)).hits
            shares.append(Double(found.count { $0.score >= least - 1e-9 }) / Double(best.count))
        }
        return shares.isEmpty ? 1 : shares.reduce(0, +) / Double(shares.count)
    }
}
