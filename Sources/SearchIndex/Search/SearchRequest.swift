// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import UserSearch

/// A search of the index.
public struct SearchRequest: Sendable {
    /// What a person typed: items with all words come before those with some, `"…"` holds a phrase together, `-word` excludes,
    /// the last word may be the beginning of one (``UserQuery``).
    public var text: String
    /// Only items of this bundle; `nil` means all.
    public var bundle: String?
    /// Metadata queries that must be satisfied as well.
    public var filters: [QueryExpression] = []
    /// Whether filters in the text count as such: `report kind:pdf` (`SearchIntent`).
    public var readsFilters = true
    /// The attributes that found items carry; `nil` means all. An item's identifier and domain are always there.
    public var attributes: Set<String>?
    /// The most hits on a page, 1 to ``SearchIndex/maximumPage``.
    public var limit = 20
    /// A page ends before the records of its items have more bytes than that, and has at least one item; `nil` for no bound.
    public var maximumBytes: Int?
    /// Where the page before ended; `nil` for the first.
    public var cursor: SearchCursor?
    /// Whether the search also finds words with the last word inside, behind all other hits: `bench` finds `workbench`.
    public var findsInsideWords = true
    /// Whether everything is found that was durable when the search began. Otherwise what was donated a moment ago may
    /// be missing, and the search does not wait for it: for a search with each key that is typed.
    public var includesPending = true
    /// Whether a word that occurs nowhere is replaced by its best correction (``SearchPage/correction``).
    public var correctsSpelling = true
    /// Up to how many hits are counted; `nil` counts none.
    public var countsUpTo: Int?
    /// Whose reports of what was done with items change the order; `nil` means nobody's. Those of an app are asked for with its
    /// ``bundle``.
    public var learnsFrom: EngagementReporter? = .user
    /// What bounds the work; tests and benchmarks compare others with the standard ones.
    package var limits = SearchLimits()

    /// Creates a request.
    public init(_ text: String, bundle: String? = nil) {
        self.text = text
        self.bundle = bundle
    }
}

/// What bounds the work of a search (``SearchRun``).
package struct SearchLimits: Sendable {
    /// The most texts that are read for the beginning of a word, the newest first.
    package var candidates = 1000
    /// In a store with fewer texts no beginning of a word takes long to look up.
    package var smallStore: Int64 = 20_000
    /// The number of newest titles in the sample that shows which beginnings of words are common.
    package var sample: Int64 = 1 << 14
    /// Up to so many texts of a word are counted; how many more there are is told from the sample.
    package var countedOccurrences = 512
    /// If fewer texts have all words, all of these are candidates.
    package var together = 1000
    /// Up to so many titles that begin with the first word and have the others are candidates.
    package var titleStarts = 256
    /// Of texts with some of the words, so many are compared: those with the rarest words.
    package var postings = 15_000
    /// The number of best candidates that are read.
    package var readItems = 128
    /// After so many bytes of text no more than ``readLargeItems`` are read; after eight times as many, no more than are shown.
    package var readBytes = 1 << 20
    package var readLargeItems = 32
    /// Fewer candidates than that are looked at rather than asking FTS5 for the beginning of a word.
    package var fewCandidates = 512
    /// So often words that the typed letters are inside of are looked up (``TermDictionary/wordsAtOnce``): anybody may donate a
    /// million of them.
    package var wordLookups = 64
    /// The most items that are read to count them.
    package var countedReads = 10_000
}

/// How many items a search finds.
public struct SearchTotal: Hashable, Sendable, Codable {
    /// The number.
    public var count: Int
    /// Whether the number is exact; otherwise there are more.
    public var isExact: Bool

    /// Creates a total.
    public init(count: Int, isExact: Bool) {
        self.count = count
        self.isExact = isExact
    }
}

/// A place in the results of a search. What is donated or changed after the first page may appear on later ones, nothing appears
/// twice, and what is deleted moves the rest up. All pages have the same corrections. It grows by eight bytes with each hit.
public struct SearchCursor: Hashable, Sendable {
    /// The present of the first page, in seconds since 2001-01-01 UTC.
    var now: Double
    /// The numbers of the items before the place. How many there are would not do: which candidates are ranked against
    /// each other changes with every deletion among them.
    var shown: [Int64]
    /// The words that were searched for in place of typed ones.
    var replacements: [WordReplacement] = []
    /// Whether filters in the text counted as such.
    var readsFilters = true

    /// How many hits are before the place.
    public var hitCount: Int { shown.count }
}

/// Some of the results of a search, best first.
public struct SearchPage: Hashable, Sendable, Codable {
    /// The hits.
    public var hits: [SearchHit]
    /// Where the next page begins; `nil` after the last one.
    public var next: SearchCursor?
    /// Donations that are durable and not applied yet, so that the page may lack them or show older versions; `nil` if there was
    /// nothing.
    public var pending: PendingDonations?
    /// How many items are found on all pages, if that was asked for (``SearchRequest/countsUpTo``).
    public var total: SearchTotal?
    /// The words that were searched for in place of typed ones that occur nowhere; `nil` if the text was searched as typed.
    public var correction: SearchCorrection?

    /// Creates a page.
    public init(
        hits: [SearchHit], next: SearchCursor?, pending: PendingDonations? = nil, total: SearchTotal? = nil,
        correction: SearchCorrection? = nil
    ) {
        self.hits = hits
        self.next = next
        self.pending = pending
        self.total = total
        self.correction = correction
    }
}

/// An item that a search found.
public struct SearchHit: Hashable, Sendable, Codable {
    /// How an item fits what was typed.
    public typealias Kind = Fit

    /// The item.
    public var item: StoredItem
    /// How it fits.
    public var kind: Kind
    /// How well it fits; larger is better, comparable only within one search.
    public var score: Double
    /// What the score is made of, before the order that an app gives to its own items.
    public var parts: ScoreParts
}
