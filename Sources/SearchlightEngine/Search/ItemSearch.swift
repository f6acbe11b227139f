// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import UserSearch

/// A search, and the parts that its answer has.
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
    /// Only items of this bundle; `nil` means all.
    package var bundle: String?
    /// Metadata queries that must be satisfied as well; at most ``maximumFilters``.
    package var filters: [String] = []
    /// The attributes that the answer holds of each item, besides its title, kind and path.
    package var attributes: Set<String> = []
    /// The most hits on a page, 1 to ``SearchIndex/maximumPage``.
    package var limit = 20
    /// The cursor of the previous page; `nil` for the first page.
    package var cursor: SearchCursor?
    /// Whether the search waits for pending donations; see ``SearchRequest/includesPending``.
    package var includesPending = true
    /// Whether misspelled words are corrected; see ``SearchRequest/correctsSpelling``.
    package var correctsSpelling = true
    /// The most hits that are counted; `nil` counts none.
    package var countsUpTo: Int?
    /// The longest snippet, in characters; `nil` for none.
    package var snippetLength: Int?
    /// Whether the answer says which items have a thumbnail.
    package var findsThumbnails = false
    /// The notes that the answer holds, for a client that shows them; `nil` for none.
    package var notes: StoreNotes.Request?

    /// The most filters.
    static let maximumFilters = 16

    package init(_ text: String, bundle: String? = nil) {
        self.text = text
        self.bundle = bundle
    }
}

/// A page of the hits of a search, best first.
package struct FoundItems: Hashable, Sendable, Codable {
    /// The hits.
    package var hits: [FoundItem]
    /// The cursor of the next page; `nil` on the last page.
    package var next: SearchCursor?
    /// The donations that are durable and were not waited for; `nil` if there are none.
    package var pending: PendingDonations?
    /// The number of hits on all pages, if the search counts them.
    package var total: SearchTotal?
    /// The words that were searched for in place of misspelled ones; see ``SearchPage/correction``.
    package var correction: SearchCorrection?
    /// The notes that were asked for.
    package var notes: StoreNotes?

    /// An answer without hits.
    package static let nothing = FoundItems(hits: [])
}

/// A hit, with the attributes that were asked for and no others.
package struct FoundItem: Hashable, Sendable, Codable {
    /// The item; its record has the attributes that were asked for.
    package var item: StoredItem
    /// The title that is shown: the item's title or name, or else its identifier. At most
    /// ``maximumTitleCharacters``.
    package var title: String
    /// The uniform type identifier of its content.
    package var contentType: String?
    /// The name of the type, for users.
    package var kindName: String?
    /// The path of the file that the item is.
    package var path: String?
    /// The name of the item's bundle, for users.
    package var bundleName: String
    /// Whether the item has a thumbnail, if that was asked.
    package var hasThumbnail: Bool?
    /// How the item fits.
    package var fit: SearchHit.Kind
    /// The parts of the score.
    public var parts: ScoreParts
    /// How well it fits; see ``SearchHit/score``.
    package var score: Double
    /// A passage of the item's text with words of the search.
    package var snippet: Snippet?

    /// Longer titles are cut.
    package static let maximumTitleCharacters = 2000
}

/// A passage of a text, on one line.
package struct Snippet: Hashable, Sendable, Codable {
    /// The passage, with an ellipsis where it was cut.
    package var text: String
    /// The ranges of the words of the search, in order, in bytes of UTF-8.
    package var marks: [Range<Int>]

    /// The passage in pieces, each with whether it was searched for.
    package var pieces: [(text: Substring, isMarked: Bool)] { text.pieces(marks: marks) }
}

extension SearchCorrection {
    /// The text in pieces, each with whether it stands for a misspelled word.
    package var pieces: [(text: Substring, isMarked: Bool)] { text.pieces(marks: ranges) }
}

extension String {
    /// The text in pieces, each with whether it is one of some ranges in bytes of UTF-8.
    fileprivate func pieces(marks: [Range<Int>]) -> [(text: Substring, isMarked: Bool)] {
        var pieces: [(Substring, Bool)] = []
        var start = startIndex
        for mark in marks {
            // A service could send marks that are not in the text.
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
    /// The notes that a client asks for.
    package struct Request: Hashable, Sendable, Codable {
        /// The folders that the user expects to be searched for extensions.
        package var extensionFolders: [String]

        package init(extensionFolders: [String] = []) { self.extensionFolders = extensionFolders }
    }

    /// A bundle whose items may be missing.
    package struct PendingReindex: Hashable, Sendable, Codable {
        /// The bundle identifier.
        package var bundle: String
        /// Whether its extension is installed, so that a reindex can start.
        package var isInstalled: Bool
    }

    /// The findings of the opening of the store. A service reports losses to the first client that asks.
    package var opening: StoreOpeningReport
    /// The bundles with a pending reindex.
    package var pendingReindexes: [PendingReindex]
    /// When the files of extensions were last looked at, in seconds since 2001-01-01 UTC, if no service follows them;
    /// `-infinity` if they never were.
    package var unfollowedSince: Double?
    /// Changed files of which extensions were not told yet.
    package var pendingFiles: [FollowedStatus.Pending]
    /// The folders that were asked about and are not searched for extensions.
    package var otherExtensionFolders: [String]
}
