// SPDX-License-Identifier: Apache-2.0
import UserSearch

/// An explanation of why an item is on the first page of a search, or why it is not. It names the
/// word, condition or rank that keeps the item off the page, and suggests searches that show the
/// item.
///
/// ```swift
/// let diagnosis = try await index.diagnose(SearchRequest("report kind:pdf"), item: 12)
/// diagnosis?.outcome                                  // .excluded
/// diagnosis?.conditions.first { !$0.isMet }?.sentence // "of the kind pdf"
/// diagnosis?.suggestions.first?.text                  // "report", which shows the item
/// ```
public struct SearchDiagnosis: Hashable, Sendable, Codable {
    /// The outcome of a search for one item.
    public enum Outcome: String, Hashable, Sendable, Codable {
        /// The item is on the first page.
        case shown
        /// The item is a hit after the first page.
        case behind
        /// The item is a hit after the first ``SearchDiagnosis/maximumRank`` hits.
        case tooFarBehind
        /// The item is a hit by the ranking rule, but the search did not select it as a candidate.
        case missed
        /// The item does not satisfy a condition.
        case excluded
        /// The item contains none of the words that alone make a hit.
        case noWord
        /// The text contains nothing that can be searched for.
        case nothingSought
    }

    /// The kind of match between a word of an item and a typed word, best first.
    public enum Match: String, Hashable, Sendable, Codable, CaseIterable {
        /// The words are equal.
        case exact
        /// The word is another form of the typed word.
        case form
        /// The word begins with the typed word.
        case beginning
        /// The word contains the typed word.
        case inside
    }

    /// The parts of an item that searches read.
    public enum Field: String, Hashable, Sendable, Codable {
        /// Titles and names.
        case title
        /// Keywords.
        case keywords
        /// Descriptions, names of people, places, and other short texts.
        case description
        /// The main text.
        case text
    }

    /// An occurrence of a word in an item.
    public struct Occurrence: Hashable, Sendable, Codable {
        /// The part of the item.
        public var field: Field
        /// The best match in that part.
        public var match: Match
        /// The matching word of the item, folded; at most 64 bytes.
        public var example: String
    }

    /// A typed word.
    public struct Word: Hashable, Sendable, Codable {
        /// The folded word.
        public var text: String
        /// `true` if the word may be incomplete because the user is typing it.
        public var isOpen: Bool
        /// `true` if the word alone makes a hit. A word that occurs in nearly all items or in none
        /// does not, unless all words are like that.
        public var tells: Bool
        /// The occurrences in the item, at most one per part.
        public var occurrences: [Occurrence] = []
        /// The attributes of the item that contain the word but are not searched; at most
        /// ``SearchDiagnosis/maximumAttributes``.
        public var unsearched: [String] = []
    }

    /// A condition of the search that items must satisfy.
    public struct Condition: Hashable, Sendable, Codable {
        /// The kinds of conditions.
        public enum Kind: String, Hashable, Sendable, Codable {
            /// The bundle of the request.
            case bundle
            /// A filter on attributes in the text.
            case filter
            /// A filter on the app in the text.
            case app
            /// A metadata query of the request.
            case query
            /// Words that must be adjacent.
            case phrase
            /// Words that must not occur.
            case excludedWords
            /// The requirement that the item has not expired.
            case expiry
        }

        /// The kind of the condition.
        public var kind: Kind
        /// The condition as typed; empty if it was not typed.
        public var text: String
        /// The condition in plain English, phrased to follow “items”: `of the kind pdf`.
        public var sentence: String
        /// `true` if the item satisfies the condition.
        public var isMet: Bool
        /// The tested attributes that the item has. ``SearchDiagnosis/item`` contains their values
        /// unless they are long.
        public var attributes: [String] = []
    }

    /// A hit, for comparison with the item.
    public struct RankedItem: Hashable, Sendable, Codable {
        /// The item number.
        public var number: Int64
        /// The title.
        public var title: String
        /// The score.
        public var score: Double
        /// The components of the score, before the app's own ranking of its items.
        public var parts: ScoreParts
    }

    /// A search that was tried and does find the item.
    public struct Suggestion: Hashable, Sendable, Codable {
        /// The text to type. It equals the original text if only the limit differs.
        public var text: String
        /// The bundle to search; `nil` for all bundles.
        public var bundle: String?
        /// The size of the page that shows the item.
        public var limit: Int
        /// The rank of the item in that search, from 1.
        public var rank: Int
    }

    /// The item, with its title and the values that the conditions test.
    public var item: StoredItem
    /// The text as typed.
    public var text: String
    /// The largest number of hits on the first page.
    public var limit: Int
    /// The outcome for the item.
    public var outcome: Outcome
    /// The distinct typed words.
    public var words: [Word] = []
    /// The conditions, in text order.
    public var conditions: [Condition] = []
    /// The corrections of misspelled words; ``words`` contains the corrected words.
    public var correction: SearchCorrection?
    /// The rank among the hits, from 1; `nil` if the item is not a hit, or ranks below
    /// ``maximumRank``.
    public var rank: Int?
    /// The item as a hit; `nil` if it is not a hit.
    public var hit: RankedItem?
    /// The last hit on the first page; `nil` if there is none.
    public var lastShown: RankedItem?
    /// The number of items that the search finds, counted up to ``maximumRank``.
    public var total: SearchTotal
    /// Searches that find the item, best first. Each one was tried.
    public var suggestions: [Suggestion] = []
    /// Durable donations that are not applied yet and may change the item.
    public var pending: PendingDonations?

    /// The largest rank that can be determined.
    public static let maximumRank = 1000
    /// The largest number of attributes named for a word.
    public static let maximumAttributes = 8
    /// The largest number of texts tried as suggestions.
    static let maximumSuggestions = 4
    /// The size, in bytes of text, above which a value is omitted from ``item``.
    static let maximumValueBytes = 4096
}

extension SearchDiagnosis {
    /// A sentence about the outcome, followed by a sentence about pending donations.
    ///
    /// ```swift
    /// print(diagnosis.summary)  // "It is not found: the search asks for items of the kind pdf."
    /// ```
    public var summary: String { outcomeSentence + (pendingSentence.map { " " + $0 } ?? "") }

    private var outcomeSentence: String {
        switch outcome {
        case .shown: "It is hit \(rank ?? 1)."
        case .behind where (rank ?? 0) <= limit:
            "It ranks \(rank ?? 0), but a page of \(limit) does not show it."
        case .behind: "It is hit \(rank ?? 0) of \(found); the first page shows \(limit)."
        case .tooFarBehind: "It is a hit after the first \(Self.maximumRank); the first page shows \(limit)."
        case .missed: "It matches, but the search did not find it."
        case .excluded:
            "It is not found: the search is limited to items "
                + conditions.filter { !$0.isMet }.map(\.sentence).joined(separator: " and ") + "."
        case .noWord:
            "It is not found: "
                + (words.allSatisfy(\.occurrences.isEmpty)
                    ? "it has none of the words." : "it only has words that do not make a hit alone.")
        case .nothingSought: "It is not found: the text has no word to search for."
        }
    }

    /// A sentence about the pending donations of the item's app; `nil` if there are none.
    private var pendingSentence: String? {
        guard let count = pending?.bundles[item.scope.bundle]?.donations, count > 0 else { return nil }
        return count == 1
            ? "1 donation of its app is not applied yet and may change it."
            : "\(count) donations of its app are not applied yet and may change it."
    }

    private var found: String { total.isExact ? "\(total.count)" : "more than \(total.count)" }
}

extension SearchDiagnosis.Word {
    /// The occurrences of the word as a phrase: `in the title, in the text as “reports”`.
    public var places: String {
        var places = occurrences.map { occurrence in
            switch occurrence.match {
            case .exact: "in the \(occurrence.field)"
            case .form, .beginning: "in the \(occurrence.field) as “\(occurrence.example)”"
            case .inside: "inside “\(occurrence.example)” in the \(occurrence.field)"
            }
        }
        if places.isEmpty, !unsearched.isEmpty {
            places = ["only in \(unsearched.joined(separator: ", ")), which is not searched"]
        }
        let place = places.isEmpty ? "not in the item" : places.joined(separator: ", ")
        let owners = occurrences.isEmpty ? "no items have it, or nearly all" : "nearly all items have it"
        return tells ? place : place + "; makes no hit by itself, because \(owners)"
    }
}
