// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine

/// The window's requests to the store.
enum WindowRequest {
    /// The maximum number of results on a page.
    static let results = 60
    /// The maximum number of results that are counted, and displayed.
    static let counted = 1000
    /// The maximum length of a passage, in characters.
    static let snippetLength = 120
    /// The maximum number of suggestions.
    static let suggestions = 5
    /// The attributes that results need: their day, and the types that they offer to a drag's
    /// receivers.
    static let attributes: Set<String> = FoundItem.dateAttributes.union([
        "contentType", "contentURL", "displayName", "title", "url",
        "providerDataTypeIdentifiers", "providerFileTypeIdentifiers", "providerInPlaceFileTypeIdentifiers",
    ])

    /// Returns the search for a page of results.
    ///
    /// - Parameter cursor: The end of the previous page; `nil` for the first page, which also
    ///   counts the results.
    static func search(_ text: String, correctsSpelling: Bool, after cursor: SearchCursor? = nil) -> ItemSearch {
        var search = ItemSearch(text)
        search.limit = results
        search.cursor = cursor
        search.countsUpTo = cursor == nil ? counted : nil
        search.snippetLength = snippetLength
        search.attributes = attributes
        search.findsThumbnails = true
        search.correctsSpelling = correctsSpelling
        // The search runs after each keystroke, so it does not wait for pending donations.
        search.includesPending = false
        return search
    }

    static func suggest(_ text: String) -> SuggestionRequest {
        var request = SuggestionRequest(text)
        request.limit = suggestions
        request.includesPending = false
        return request
    }
}
