// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import UserSearch

/// A search, and the parts of the answer that are requested.
///
/// ```swift
/// var search = ItemSearch("release notes")
/// search.attributes = ["url"]
/// search.snippetLength = 100
/// let found = try await store.find(search)
/// ```
package struct ItemSearch: Hashable, Sendable, Codable {
    /// The text as typed; see ``SearchRequest/text``.
    package var text: String
    /// The bundle to restrict the search to; `nil` for all bundles.
    package var bundle: String?
    /// The bundles whose items are excluded.
    package var excludedBundles: Set<String> = []
    /// Metadata queries that hits must also satisfy; at most ``maximumFilters``.
    package var filters: [String] = []
    /// The attributes of each hit to include in the answer, in addition to its title, kind and
    /// path.
    package var attributes: Set<String> = []
    /// The maximum number of hits on a page, 1 to ``SearchIndex/maximumPage``.
    package var limit = 20
    /// The cursor of the previous page; `nil` for the first page.
    package var cursor: SearchCursor?
    /// `true` if the search waits for pending donations; see ``SearchRequest/includesPending``.
    package var includesPending = true
    /// `true` if misspelled words are corrected; see ``SearchRequest/correctsSpelling``.
    package var correctsSpelling = true
    /// `false` to compare words only; see ``SearchRequest/usesMeaning``.
    package var usesMeaning = true
    /// The maximum number of hits to count; `nil` counts none.
    package var countsUpTo: Int?
    /// The maximum length of a snippet in characters; `nil` for no snippets.
    package var snippetLength: Int?
    /// `true` if the answer reports which items have a thumbnail.
    package var findsThumbnails = false
    /// The notes to include in the answer; `nil` for none.
    package var notes: StoreNotes.Request?

    /// The maximum number of filters.
    static let maximumFilters = 16

    package init(_ text: String, bundle: String? = nil) {
        self.text = text
        self.bundle = bundle
    }
}

/// A page of search hits, best first.
package struct FoundItems: Hashable, Sendable, Codable {
    /// The hits.
    package var hits: [FoundItem]
    /// The cursor of the next page; `nil` on the last page.
    package var next: SearchCursor?
    /// The durable donations that the search did not wait for; `nil` if there are none.
    package var pending: PendingDonations?
    /// The number of hits on all pages, if the search counts them.
    package var total: SearchTotal?
    /// The words that replaced misspelled ones in the search; see ``SearchPage/correction``.
    package var correction: SearchCorrection?
    /// The requested notes.
    package var notes: StoreNotes?
    /// `true` if protected items are locked and were not searched.
    package var isLocked = false

    /// An answer without hits.
    package static let nothing = FoundItems(hits: [])
}

/// A hit, with only the requested attributes.
package struct FoundItem: Hashable, Sendable, Codable {
    /// The item; its record contains the requested attributes.
    package var item: StoredItem
    /// The displayed title: the item's title or name, or else its identifier. At most
    /// ``maximumTitleCharacters``.
    package var title: String
    /// The uniform type identifier of the item's content.
    package var contentType: String?
    /// The user-visible name of the type.
    package var kindName: String?
    /// The path of the item's file.
    package var path: String?
    /// The user-visible name of the item's bundle.
    package var bundleName: String
    /// `true` if the item has a thumbnail; `nil` unless the search requested it.
    package var hasThumbnail: Bool?
    /// The actions that the item offers.
    package var actions: [QuickAction] = []
    /// The kind of match.
    package var fit: SearchHit.Kind
    /// The parts of the score.
    public var parts: ScoreParts
    /// The score of the hit; see ``SearchHit/score``.
    package var score: Double
    /// A passage from the item's text that contains words of the search.
    package var snippet: Snippet?

    /// The maximum length of a title. Longer titles are truncated.
    package static let maximumTitleCharacters = 2000
}

/// A passage from a text, on one line.
package struct Snippet: Hashable, Sendable, Codable {
    /// The passage, with an ellipsis at each place where it was cut.
    package var text: String
    /// The sorted ranges of the matched words, in UTF-8 bytes.
    package var marks: [Range<Int>]

    /// The passage in pieces; `isMarked` is `true` for matched words.
    package var pieces: [(text: Substring, isMarked: Bool)] { text.pieces(marks: marks) }
}

extension SearchCorrection {
    /// The text in pieces; `isMarked` is `true` for words that replace misspelled ones.
    package var pieces: [(text: Substring, isMarked: Bool)] { text.pieces(marks: ranges) }
}

extension String {
    /// Returns the text in pieces; `isMarked` is `true` for pieces in `marks`, ranges in UTF-8
    /// bytes.
    fileprivate func pieces(marks: [Range<Int>]) -> [(text: Substring, isMarked: Bool)] {
        var pieces: [(Substring, Bool)] = []
        var start = startIndex
        for mark in marks {
            // The ranges come from the service, so they may be outside the text.
            guard let lower = utf8.index(startIndex, offsetBy: mark.lowerBound, limitedBy: endIndex),
                let upper = utf8.index(startIndex, offsetBy: mark.upperBound, limitedBy: endIndex),
                lower >= start
            else { break }
            if start < lower { pieces.append((self[start..<lower], false)) }
            pieces.append((self[lower..<upper], true))
            start = upper
        }
        if start < endIndex { pieces.append((self[start...], false)) }
        return pieces
    }
}

/// The limitations of an answer: losses, pending reindexes and folders that are not searched.
package struct StoreNotes: Hashable, Sendable, Codable {
    /// The requested notes.
    package struct Request: Hashable, Sendable, Codable {
        /// The folders that the user expects to be searched for extensions.
        package var extensionFolders: [String]

        package init(extensionFolders: [String] = []) { self.extensionFolders = extensionFolders }
    }

    /// A bundle whose items may be missing.
    package struct PendingReindex: Hashable, Sendable, Codable {
        /// The bundle identifier.
        package var bundle: String
        /// `true` if its extension is installed, so that a reindex can start.
        package var isInstalled: Bool
    }

    /// The findings from opening the store. A service reports losses only to the first client that
    /// asks.
    package var opening: StoreOpeningReport
    /// The bundles with a pending reindex.
    package var pendingReindexes: [PendingReindex]
    /// The time of the last comparison of the extensions' files, in seconds since 2001-01-01 UTC.
    /// `nil` if a service follows the files; `-infinity` if they were never compared.
    package var unfollowedSince: Double?
    /// The changed files that have not been reported to extensions yet.
    package var pendingFiles: [FollowedStatus.Pending]
    /// The requested folders that are not searched for extensions.
    package var otherExtensionFolders: [String]
}
