// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery
import TextAnalysis
import UserSearch

/// A parsed search text: words, most of which should occur; phrases that must occur; and excluded
/// phrases.
struct SearchPlan: Sendable {
    /// The text without surrounding white space.
    let text: String
    /// The distinct words, in typing order.
    let words: [Word]
    /// The phrases that must occur.
    let phrases: [Phrase]
    /// The phrases that must not occur.
    let excluded: [Phrase]
    /// `true` if the text consists only of words, so that a title may equal it.
    let isPlain: Bool

    struct Word: Sendable {
        /// The folded word.
        var text: String
        /// `true` if the word is the last one and may be incomplete.
        var isOpen: Bool
    }

    struct Phrase: Sendable {
        /// The folded words, which must be adjacent.
        var words: [String]
        /// `true` if the last word may be a prefix.
        var isPrefix: Bool

        /// The FTS5 expression. Folded words contain no quotes.
        var expression: String { "\"" + words.joined(separator: " ") + "\"" + (isPrefix ? "*" : "") }
        /// The phrase, prepared for matching texts without an index.
        var sequence: WordSequence { WordSequence(words, isPrefix: isPrefix) }
    }

    /// Parses a text; `nil` if it contains nothing to search for.
    ///
    /// - Parameter findsVariants: `true` if the tables contain variants of words
    ///   (``TextAnalyzer``).
    init?(_ text: String, findsVariants: Bool = true) {
        var (words, phrases, excluded): ([Word], [Phrase], [Phrase]) = ([], [], [])
        let terms = UserQuery(text).terms
        // Quotes around the whole text only mean that the words must be adjacent.
        let isOnePhrase = terms.count == 1 && terms[0].isPhrase && !terms[0].isExcluded
        var isPlain = true
        for term in terms {
            let parts = FullTextTokenizer.searchWords(of: term.text, variants: findsVariants)
            isPlain = isPlain && (!term.isPhrase || isOnePhrase) && !term.isExcluded
            // The term consists of characters that never occur in indexed words.
            if parts.isEmpty {
                guard term.isExcluded else { return nil }
                continue
            }
            let phrase = Phrase(words: parts, isPrefix: term.isPrefix)
            if term.isExcluded {
                excluded.append(phrase)
                continue
            }
            if term.isPhrase || Self.isShortRun(parts) { phrases.append(phrase) }
            for (index, part) in parts.enumerated() {
                let isOpen = phrase.isPrefix && index == parts.count - 1
                if let known = words.firstIndex(where: { $0.text == part }) {
                    words[known].isOpen = words[known].isOpen || isOpen
                } else {
                    words.append(Word(text: part, isOpen: isOpen))
                }
            }
        }
        guard !words.isEmpty else { return nil }
        self.words = words
        self.phrases = phrases
        self.excluded = excluded
        self.isPlain = isPlain
        self.text = (isOnePhrase ? terms[0].text : text).collapsingWhitespace
    }

    /// Returns `true` for two to four characters of a script without spaces. These form one word,
    /// so they must be adjacent.
    static func isShortRun(_ words: [String]) -> Bool {
        (2...4).contains(words.count) && words.allSatisfy { !mayGoOn($0) }
    }

    private init(isPlain: Bool) {
        (text, words, phrases, excluded) = ("", [], [], [])
        self.isPlain = isPlain
    }

    /// The plan that finds all items, newest first; used if the text consists only of filters.
    static let everything = SearchPlan(isPlain: false)

    /// Returns `true` if letters can extend a word. A character of a script without spaces is a
    /// word by itself; only combining marks extend it.
    static func mayGoOn(_ word: String) -> Bool { TextAnalyzer.searchWords(of: word + "a").count == 1 }

    /// `true` if items must be read to check phrases and exclusions.
    var isStrict: Bool { !phrases.isEmpty || !excluded.isEmpty }

    /// The incomplete last word, to be searched for inside words of titles and keywords; `nil` if
    /// there is none.
    var part: String? {
        guard excluded.isEmpty, !phrases.contains(where: \.isPrefix) else { return nil }
        return words.first(where: \.isOpen)?.text
    }

    /// The FTS5 expression for texts that contain all phrases and no excluded phrase; `nil` if
    /// there are no phrases.
    var strict: String? {
        guard !phrases.isEmpty else { return nil }
        let all = "(\(phrases.map(\.expression).joined(separator: " AND ")))"
        return excluded.isEmpty ? all : "\(all) NOT (\(excluded.map(\.expression).joined(separator: " OR ")))"
    }

    /// Returns `true` if an item contains all phrases and no excluded phrase.
    ///
    /// - Parameter fields: The text of each field of the item.
    func allows(_ fields: [String]) -> Bool {
        phrases.allSatisfy { $0.sequence.occurs(inAnyOf: fields) }
            && !excluded.contains { $0.sequence.occurs(inAnyOf: fields) }
    }
}

extension String {
    /// The string without surrounding white space, and with one space for each run of white space.
    var collapsingWhitespace: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
