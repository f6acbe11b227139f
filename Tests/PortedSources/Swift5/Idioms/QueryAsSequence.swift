// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func openable(_ queryString: String) async throws -> (Set<String>, [URL]) {
    var identifiers = Set<String>()
    var addresses: [URL] = []
    let query = CSSearchQuery(queryString: queryString, queryContext: CSSearchQueryContext())
    do {
        for try await result in query.results {
            identifiers.insert(result.id)
            if let url = URL(string: result.id) { addresses.append(url) }
            _ = result.item.attributeSet.title
        }
    } catch CSSearchQueryError.cancelled {
        return ([], [])
    }
    return (identifiers, addresses)
}
