// SPDX-License-Identifier: Apache-2.0

/// A search in the forms for both stores.
struct SearchQuery: Sendable {
    /// The text as typed in a search field.
    var typed: String
    /// The corresponding argument for plain FTS5, or for `LIKE`.
    var plainArgument: String
    /// The bundle whose items are searched; nil for all.
    var bundle: String?
    var isInsideWords = false

    /// Creates a search for all of these words and a prefix of another word.
    init(words: [String] = [], prefix: String? = nil, bundle: String? = nil) {
        // The trailing space marks the last word as complete.
        typed = words.map { $0 + " " }.joined() + (prefix ?? "")
        plainArgument = (words.map { "\"\($0)\"" } + (prefix.map { ["\"\($0)\"*"] } ?? [])).joined(separator: " ")
        self.bundle = bundle
    }

    /// Creates a search for these adjacent words.
    init(phrase: [String]) {
        plainArgument = "\"" + phrase.joined(separator: " ") + "\""
        typed = plainArgument
    }

    /// Creates a search for items that have as many of these words as possible.
    init(question words: [String]) {
        typed = words.joined(separator: " ")
        plainArgument = words.map { "\"\($0)\"" }.joined(separator: " OR ")
    }

    /// Creates a search for letters inside a word. Plain FTS5 has no such search, so the baseline
    /// scans the titles.
    init(inside letters: String) {
        typed = letters
        plainArgument = "%\(letters)%"
        isInsideWords = true
    }
}

/// The kind of a search, which determines its latency thresholds.
enum SearchKind: String, Codable {
    /// Words and beginnings of words.
    case word
    /// Letters inside a word.
    case inside
    /// A question of many words.
    case question

    /// The rows of the median and of the 95th percentile; letters inside a word share the median
    /// with words.
    var rows: (p50: Row, p95: Row) {
        switch self {
        case .word: (.searchP50, .searchP95)
        case .inside: (.searchP50, .infixP95)
        case .question: (.questionP50, .questionP95)
        }
    }
}

/// Searches of one kind, which have the same latency threshold.
struct QueryClass: Sendable {
    var name: String
    var queries: [SearchQuery]
    var kind = SearchKind.word
}
