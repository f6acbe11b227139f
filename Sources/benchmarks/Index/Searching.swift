// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import SearchIndex

/// Asks the index in the form of its API.
enum Searching {
    static let limit = 10

    /// The numbers of the best hits, best first.
    static func search(_ index: SearchIndex, _ query: SearchQuery) async throws -> [Int64] {
        switch query.text {
        case .typed(let text):
            try await index.search(text, bundle: query.bundle, limit: limit).hits.map(\.item.number)
        case .metadata(let text):
            try await index.items(
                matching: try QueryExpression(parsing: text), bundle: query.bundle, limit: limit
            ).items.map(\.number)
        }
    }
}
