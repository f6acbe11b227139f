// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// A search, and what its answer shall hold.
///
/// ```swift
/// var search = ItemSearch("release notes")
/// search.attributes = ["url"]
/// search.snippetLength = 100
/// let found = try await store.find(search)
/// ```
public struct ItemSearch: Hashable, Sendable, Codable {
    /// What the user typed; see ``SearchRequest/text``.
    public var text: String
    /// Only items of this bundle; `nil` means all.
    public var bundle: String?
    /// The attributes that the answer holds of each item, besides its title, kind and path.
    public var attributes: Set<String> = []
    /// At most so many hits on a page, 1 to ``SearchIndex/maximumPage``.
    public var limit = 20
    /// Where the page before ended; `nil` for the first.
    public var cursor: SearchCursor?
    /// Whether the search waits for what was donated a moment ago; see ``SearchRequest/includesPending``.
    public var includesPending = true
    /// Up to how many hits are counted; `nil` counts none.
    public var countsUpTo: Int?
    /// The longest snippet, in characters; `nil` for none.
    public var snippetLength: Int?
    /// The notes that the answer holds, for a client that shows them; `nil` for none.
    public var notes: StoreNotes.Request?

    /// Creates a search.
    public init(_ text: String, bundle: String? = nil) {
        self.text = text
        self.bundle = bundle
    }
}

/// Some of what a search finds, best first.
public struct FoundItems: Hashable, Sendable, Codable {
    /// The hits.
    public var hits: [FoundItem]
    /// Where the next page begins; `nil` after the last one.
    public var next: SearchCursor?
    /// The donations that are durable and were not waited for; `nil` if there are none.
    public var pending: PendingDonations?
    /// How many items are found on all pages, if that was asked for.
    public var total: SearchTotal?
    /// The notes that were asked for.
    public var notes: StoreNotes?

    /// An answer without hits.
    public static let nothing = FoundItems(hits: [])
}

/// A hit, with the attributes that were asked for and no others.
public struct FoundItem: Hashable, Sendable, Codable {
    /// The item; its record has the attributes that were asked for.
    public var item: StoredItem
    /// The title that is shown: the item's title or name, or else its identifier. At most
    /// ``maximumTitleCharacters``.
    public var title: String
    /// The uniform type identifier of its content.
    public var contentType: String?
    /// What users call that type.
    public var kindName: String?
    /// The path of the file that the item is.
    public var path: String?
    /// How the item fits.
    public var fit: SearchHit.Kind
    /// How well it fits; see ``SearchHit/score``.
    public var score: Double
    /// A passage of the item's text with what was searched for.
    public var snippet: Snippet?

    /// Longer titles are cut.
    public static let maximumTitleCharacters = 2000
}

/// A passage of a text, on one line.
public struct Snippet: Hashable, Sendable, Codable {
    /// The passage, with an ellipsis where it was cut.
    public var text: String
    /// The parts of it that were searched for, in order, in bytes of UTF-8.
    public var marks: [Range<Int>]

    /// The passage in pieces, each with whether it was searched for.
    public var pieces: [(text: Substring, isMarked: Bool)] {
        var pieces: [(Substring, Bool)] = []
        var start = text.startIndex
        for mark in marks {
            // A service could send marks that are not in the text.
            guard let lower = text.utf8.index(text.startIndex, offsetBy: mark.lowerBound, limitedBy: text.endIndex),
                let upper = text.utf8.index(text.startIndex, offsetBy: mark.upperBound, limitedBy: text.endIndex),
                lower >= start
            else { break }
            if start < lower { pieces.append((text[start..<lower], false)) }
            pieces.append((text[lower..<upper], true))
            start = upper
        }
        if start < text.endIndex { pieces.append((text[start...], false)) }
        return pieces
    }
}

/// What a user should know of the store before relying on an answer.
public struct StoreNotes: Hashable, Sendable, Codable {
    /// What a client wants to be told.
    public struct Request: Hashable, Sendable, Codable {
        /// The folders that the user expects to be searched for extensions.
        public var extensionFolders: [String]

        /// Creates a request.
        public init(extensionFolders: [String] = []) { self.extensionFolders = extensionFolders }
    }

    /// A bundle whose items may be missing.
    public struct PendingReindex: Hashable, Sendable, Codable {
        /// The bundle identifier.
        public var bundle: String
        /// Whether its extension is installed, so that it can be asked.
        public var isInstalled: Bool
    }

    /// What was found when the store was opened. A service tells what was lost to the first who asks.
    public var opening: StoreOpeningReport
    /// The bundles with a pending reindex.
    public var pendingReindexes: [PendingReindex]
    /// The folders that were asked about and are not searched for extensions.
    public var otherExtensionFolders: [String]
}
