// SPDX-License-Identifier: Apache-2.0
import UserSearch

/// An explanation of whether an item is on the first page of a search: the word, condition or rank that keeps it away, and
/// searches that show it.
///
/// ```swift
/// let diagnosis = try await index.diagnose(SearchRequest("report kind:pdf"), item: 12)
/// diagnosis?.outcome                                  // .excluded
/// diagnosis?.conditions.first { !$0.isMet }?.sentence // "of the kind pdf"
/// diagnosis?.suggestions.first?.text                  // "report", which shows the item
/// ```
public struct SearchDiagnosis: Hashable, Sendable, Codable {
    /// The result of a search for one item.
    public enum Outcome: String, Hashable, Sendable, Codable {
        /// It is on the first page.
        case shown
        /// It is a hit behind the first page.
        case behind
        /// It is a hit behind the first ``SearchDiagnosis/maximumRank``.
        case tooFarBehind
        /// It is a hit by the rule, and the search did not come across it.
        case missed
        /// It does not satisfy a condition.
        case excluded
        /// It has none of the words that make a hit.
        case noWord
        /// The text has nothing that could be searched for.
        case nothingSought
    }

    /// How a word of an item fits a word that was typed, the best first.
    public enum Match: String, Hashable, Sendable, Codable, CaseIterable {
        /// It is that word.
        case exact
        /// It is another form of it.
        case form
        /// It begins with it.
        case beginning
        /// It has it inside.
        case inside
    }

    /// The parts of an item that searches read.
    public enum Field: String, Hashable, Sendable, Codable {
        /// Titles and names.
        case title
        /// Keywords.
        case keywords
        /// Descriptions, names of people, places, and whatever else is short.
        case description
        /// The text.
        case text
    }

    /// Where an item has a word.
    public struct Occurrence: Hashable, Sendable, Codable {
        /// The part of the item.
        public var field: Field
        /// The best match there.
        public var match: Match
        /// The word of the item, folded; at most 64 bytes of it.
        public var example: String
    }

    /// A word that was typed.
    public struct Word: Hashable, Sendable, Codable {
        /// The word, folded.
        public var text: String
        /// Whether the word may be the beginning of a longer one, since the user is typing it.
        public var isOpen: Bool
        /// Whether the word makes a hit by itself. A word that nearly all items or no items have does not, beside others.
        public var tells: Bool
        /// Where the item has it, one for each part.
        public var occurrences: [Occurrence] = []
        /// The attributes of the item that have the word and are not searched; at most ``SearchDiagnosis/maximumAttributes``.
        public var unsearched: [String] = []
    }

    /// A condition that a search sets for items.
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
            /// Words that stand side by side.
            case phrase
            /// Words that must not occur.
            case excludedWords
            /// An item that has not expired.
            case expiry
        }

        /// Its kind.
        public var kind: Kind
        /// The condition as typed; empty if it was not typed.
        public var text: String
        /// The condition in plain English, to follow “items”: `of the kind pdf`.
        public var sentence: String
        /// Whether the item satisfies the condition.
        public var isMet: Bool
        /// The attributes that it asks for and the item has; ``SearchDiagnosis/item`` holds their values unless they are long.
        public var attributes: [String] = []
    }

    /// A hit to compare with.
    public struct RankedItem: Hashable, Sendable, Codable {
        /// Its number.
        public var number: Int64
        /// Its title.
        public var title: String
        /// Its score.
        public var score: Double
        /// The parts of the score, before the order that its app gives to its own items.
        public var parts: ScoreParts
    }

    /// A search that was tried and finds the item.
    public struct Suggestion: Hashable, Sendable, Codable {
        /// The text to type; the same text if only the limit differs.
        public var text: String
        /// The bundle to ask for.
        public var bundle: String?
        /// The size of the page that shows the item.
        public var limit: Int
        /// The item's rank then, from 1.
        public var rank: Int
    }

    /// The item, with its title and the values that conditions ask for.
    public var item: StoredItem
    /// The text as typed.
    public var text: String
    /// The most hits on the first page.
    public var limit: Int
    /// The result for the item.
    public var outcome: Outcome
    /// The words that were typed, each once.
    public var words: [Word] = []
    /// The conditions, in the order of the text.
    public var conditions: [Condition] = []
    /// The words that were searched for in place of misspelled ones; ``words`` has these.
    public var correction: SearchCorrection?
    /// The rank among the hits, from 1; `nil` if it is no hit, or behind the first ``maximumRank``.
    public var rank: Int?
    /// The item as a hit; `nil` if it is none.
    public var hit: RankedItem?
    /// The last hit on the first page; `nil` if there is none.
    public var lastShown: RankedItem?
    /// The number of items that the search finds, counted up to ``maximumRank``.
    public var total: SearchTotal
    /// Searches that find the item, the best first. Each was tried.
    public var suggestions: [Suggestion] = []
    /// Durable donations that are not applied yet and may change the item.
    public var pending: PendingDonations?

    /// The last rank that is determined.
    public static let maximumRank = 1000
    /// The most attributes that are named for a word.
    public static let maximumAttributes = 8
    /// The most texts that are tried as suggestions.
    static let maximumSuggestions = 4
    /// Longer values are left out of ``item``, in bytes of their texts.
    static let maximumValueBytes = 4096
}

extension SearchDiagnosis {
    /// The outcome in one sentence, and a sentence on pending donations.
    ///
    /// ```swift
    /// print(diagnosis.summary)  // "It is not found: the search asks for items of the kind pdf."
    /// ```
    public var summary: String { outcomeSentence + (pendingSentence.map { " " + $0 } ?? "") }

    private var outcomeSentence: String {
        switch outcome {
        case .shown: "It is hit \(rank ?? 1)."
        case .behind where (rank ?? 0) <= limit:
            "It ranks \(rank ?? 0) by the rule, and a page of \(limit) does not show it."
        case .behind: "It is hit \(rank ?? 0) of \(found); the first page shows \(limit)."
        case .tooFarBehind: "It is a hit behind the first \(Self.maximumRank); the first page shows \(limit)."
        case .missed: "It is a hit by the rule, and the search did not come across it."
        case .excluded:
            "It is not found: the search asks for items "
                + conditions.filter { !$0.isMet }.map(\.sentence).joined(separator: " and ") + "."
        case .noWord:
            "It is not found: "
                + (words.allSatisfy(\.occurrences.isEmpty)
                    ? "it has none of the words." : "it only has words that make no hit by themselves.")
        case .nothingSought: "It is not found: the text has no word to search for."
        }
    }

    /// The donations of the item's app that are not applied.
    private var pendingSentence: String? {
        guard let count = pending?.bundles[item.scope.bundle]?.donations, count > 0 else { return nil }
        return count == 1
            ? "1 donation of its app is not applied yet and may change it."
            : "\(count) donations of its app are not applied yet and may change it."
    }

    private var found: String { total.isExact ? "\(total.count)" : "more than \(total.count)" }
}

extension SearchDiagnosis.Word {
    /// Where the item has the word, as a phrase: `in the title, in the text as “reports”`.
    public var places: String {
        var places = occurrences.map { occurrence in
            switch occurrence.match {
            case .exact: "in the \(occurrence.field)"
            case .form, .beginning: "in the \(occurrence.field) as “\(occurrence.example)”"
            case .inside: "inside of “\(occurrence.example)” in the \(occurrence.field)"
            }
        }
        if places.isEmpty, !unsearched.isEmpty {
            places = ["only in \(unsearched.joined(separator: ", ")), which searches do not read"]
        }
        let place = places.isEmpty ? "not in the item" : places.joined(separator: ", ")
        return tells ? place : place + "; makes no hit by itself, since nearly all items have it or none"
    }
}
