// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func identifiers(matching text: String) async throws -> [String] {
    try await withCheckedThrowingContinuation { continuation in
        let query = CSSearchQuery(queryString: "title == \"*\(text)*\"cd", attributes: ["title"])
        var found = [String]()
        query.foundItemsHandler = { items in found.append(contentsOf: items.map { $0.uniqueIdentifier }) }
        query.completionHandler = { error in
            if let error = error {
                continuation.resume(throwing: error)
            } else {
                continuation.resume(returning: found)
            }
        }
        query.start()
    }
}
