// SPDX-License-Identifier: Apache-2.0
import SearchIndex

extension SearchIndex {
    /// Returns all items that contain a whole word.
    public func items(containing word: String) async throws -> [StoredItem] {
        var request = SearchRequest(word + " ")
        request.limit = Self.maximumPage
        request.findsInsideWords = false
        do throws(IndexQueryError) {
            return try await search(request).hits.map(\.item)
        } catch {
            if case .index(let error) = error { throw error }
            throw error
        }
    }
}
