// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import UserSearch

/// A search of the index.
public struct SearchRequest: Sendable {
    /// The text that the user typed. Items with all words rank above items with only some of them.
    /// `"…"` encloses a phrase, `-word` excludes a word, and the last word may be incomplete
    /// (``UserQuery``).
    public var text: String
    /// The bundle whose items are searched; `nil` means all bundles.
    public var bundle: String?
    /// The bundles whose items are omitted, by their exact identifiers.
    public var excludedBundles: Set<String> = []
    /// Metadata queries that every hit must satisfy too.
    public var filters: [QueryExpression] = []
    /// `true` to interpret filters in the text, as in `report kind:pdf` (`SearchIntent`).
    public var readsFilters = true
    /// `true` to interpret date phrases without a filter name as filters too
    /// (`SearchIntent.Filter.isImplied`). Has no effect if ``readsFilters`` is `false`.
    var readsBareDates = true
    /// The attributes to return for each hit; `nil` means all. An item's identifier and domain are
    /// always included.
    public var attributes: Set<String>?
    /// The largest number of hits on a page, 1 to ``SearchIndex/maximumPage``.
    public var limit = 20
    /// The largest total size of the records on a page, in bytes; `nil` for no limit. A page always
    /// has at least one item, unless there are none left.
    public var maximumBytes: Int?
    /// The end of the previous page; `nil` for the first page.
    public var cursor: SearchCursor?
    /// `true` to also find words that contain the last word: `bench` finds `workbench`. Such hits
    /// rank below all others.
    public var findsInsideWords = true
    /// `true` to wait for everything that was durable when the search began. With `false`, the
    /// search does not wait and may miss recent donations; use this for searching on each
    /// keystroke.
    public var includesPending = true
    /// `true` to replace a word that occurs nowhere with its best correction
    /// (``SearchPage/correction``).
    public var correctsSpelling = true
    /// The number of hits up to which hits are counted; `nil` disables counting.
    public var countsUpTo: Int?
    /// The source of engagement reports that affect the ranking; `nil` for none. An app's own
    /// reports require its ``bundle``.
    public var learnsFrom: EngagementReporter? = .user
    /// `false` to compare only words, even if the store has an embedding model.
    public var usesMeaning = true
    /// The meaning of the text, used to find and rank items; `nil` to compare only words.
    package var meaning: SearchMeaning?
    /// The work limits. Tests and benchmarks compare other values with these defaults.
    package var limits = SearchLimits()

    /// Creates a request.
    public init(_ text: String, bundle: String? = nil) {
        self.text = text
        self.bundle = bundle
    }
}

/// The limits that bound the work of a search (``SearchRun``).
package struct SearchLimits: Sendable {
    /// The largest number of texts read for a word prefix, newest first.
    package var candidates = 1000
    /// The maximum number of texts in a small store. In a small store lookups are fast, so every
    /// word prefix is looked up.
    package var smallStore: Int64 = 20_000
    /// The number of newest titles in the sample that shows which prefixes are common.
    package var sample: Int64 = 1 << 14
    /// The number of texts up to which a word's occurrences are counted exactly; larger numbers are
    /// estimated from the sample.
    package var countedOccurrences = 512
    /// If at most this many texts contain all words, all of these texts become candidates.
    package var together = 1000
    /// The number of texts of a word that are read to find its strength in other texts, strongest
    /// first.
    package var levelTexts = 8192
    /// The largest number of candidates whose titles begin with the first word and contain the
    /// other words.
    package var titleStarts = 256
    /// The number of index entries compared to find texts with only some of the words; the rarest
    /// words come first.
    package var postings = 15_000
    /// The number of best candidates that are read.
    package var readItems = 128
    /// The bytes of text after which at most ``readLargeItems`` items are read. After eight times
    /// as many bytes, only the requested number is read.
    package var readBytes = 1 << 20
    package var readLargeItems = 32
    /// The number of candidates below which records are read directly instead of running an FTS5
    /// prefix query.
    package var fewCandidates = 512
    /// The number of lookups for words that contain the typed letters. Each lookup returns
    /// ``TermDictionary/wordsAtOnce`` words. A donor may create a million such words.
    package var wordLookups = 64
    /// The maximum number of items that the attribute index lists for the filters, before any item
    /// is read.
    package var filteredTexts = 20_000
    /// The largest number of items read for a count.
    package var countedReads = 10_000
    /// The number of bytes of items after which no further items are read for a count.
    package var countedBytes = 4 << 20
}

/// The number of items that a search finds.
public struct SearchTotal: Hashable, Sendable, Codable {
    /// The number of items counted.
    public var count: Int
    /// `true` if the number is exact; `false` if there are more.
    public var isExact: Bool

    /// Creates a total.
    public init(count: Int, isExact: Bool) {
        self.count = count
        self.isExact = isExact
    }
}

/// A position in the results of a search. Items donated or changed after the first page may appear
/// on later pages. No item appears twice, and deleted items are skipped. All pages use the same
/// corrections. The size grows by eight bytes per hit.
public struct SearchCursor: Hashable, Sendable {
    /// The time of the first page, in seconds since 2001-01-01 UTC.
    var now: Double
    /// The item numbers of all hits before the position. An offset is not sufficient, because every
    /// deletion changes which candidates are ranked against each other.
    var shown: [Int64]
    /// The corrected words that the search used instead of typed words.
    var replacements: [WordReplacement] = []
    /// `true` if filters in the text were interpreted.
    var readsFilters = true
    /// `true` if date phrases without a filter name were interpreted as filters.
    var readsBareDates = true

    /// The number of hits before the position.
    public var hitCount: Int { shown.count }
}

/// A page of search results, best hits first.
public struct SearchPage: Hashable, Sendable, Codable {
    /// The hits.
    public var hits: [SearchHit]
    /// The start of the next page; `nil` after the last page.
    public var next: SearchCursor?
    /// The donations that are durable but not applied; `nil` if there were none. Their items may be
    /// missing from the page or outdated.
    public var pending: PendingDonations?
    /// The number of items on all pages; `nil` unless requested (``SearchRequest/countsUpTo``).
    public var total: SearchTotal?
    /// The corrected words that replaced words that occur nowhere; `nil` if the text was searched
    /// as typed.
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
    /// The kind of match between an item and the typed text.
    public typealias Kind = Fit

    /// The item.
    public var item: StoredItem
    /// The kind of match.
    public var kind: Kind
    /// The score; larger is better. Comparable only within one search.
    public var score: Double
    /// The components of the score, before an app's own ranking of its items.
    public var parts: ScoreParts
    /// The passage of the item whose meaning is similar, if the item contains no word of the text.
    public var passage: String?
}
