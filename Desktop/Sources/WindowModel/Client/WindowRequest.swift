// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine

/// The window's requests to the store.
enum WindowRequest {
    /// The maximum number of displayed results. A user who does not find an item among them types
    /// another word.
    static let results = 60
    /// The maximum number of results that are counted.
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

    static func search(_ text: String, correctsSpelling: Bool) -> ItemSearch {
        var search = ItemSearch(text)
        search.limit = results
        search.countsUpTo = counted
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
