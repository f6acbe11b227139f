// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery
import TextAnalysis
import UserSearch

/// What a person typed: words, of which as many as possible should occur, phrases that must, and what must not.
struct SearchPlan: Sendable {
    /// The text without white space around it.
    let text: String
    /// The words in the order in which they were typed, each once.
    let words: [Word]
    /// What must stand side by side.
    let phrases: [Phrase]
    /// What must not occur.
    let excluded: [Phrase]
    /// All words in the order in which they were typed, also those that were typed twice.
    private let sequence: [String]
    /// Whether the text is nothing but words, so that a title may be equal to it.
    let isPlain: Bool

    struct Word: Sendable {
        /// Folded.
        var text: String
        /// Whether it is the last one, and may go on.
        var isOpen: Bool
    }

    struct Phrase: Sendable {
        /// Folded words that stand side by side.
        var words: [String]
        /// Whether the last word may be the beginning of one.
        var isPrefix: Bool

        /// As FTS5 wants it. Folded words hold no quotes.
        var expression: String { "\"" + words.joined(separator: " ") + "\"" + (isPrefix ? "*" : "") }
        /// For looking at texts without an index.
        var sequence: WordSequence { WordSequence(words, isPrefix: isPrefix) }
    }

    /// `nil` if nothing was typed that could be searched for.
    ///
    /// - Parameter findsVariants: Whether the tables have variants of words (``TextAnalyzer``).
    init?(_ text: String, findsVariants: Bool = true) {
        var (words, phrases, excluded): ([Word], [Phrase], [Phrase]) = ([], [], [])
        let terms = UserQuery(text).terms
        // Quotes around everything say nothing but that the words stand side by side.
        let isOnePhrase = terms.count == 1 && terms[0].isPhrase && !terms[0].isExcluded
        var isPlain = true
        var sequence: [String] = []
        for term in terms {
            let parts = FullTextTokenizer.searchWords(of: term.text, variants: findsVariants)
            isPlain = isPlain && (!term.isPhrase || isOnePhrase) && !term.isExcluded
            // A word of tags alone, which no text has.
            if parts.isEmpty {
                guard term.isExcluded else { return nil }
                continue
            }
            let phrase = Phrase(words: parts, isPrefix: term.isPrefix)
            if term.isExcluded {
                excluded.append(phrase)
                continue
            }
            sequence += parts
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
        self.sequence = sequence
        self.text = (isOnePhrase ? terms[0].text : text).collapsingWhitespace
    }

    /// Whether signs of a script without spaces are so few that they are one word of a language: they stand side by side.
    static func isShortRun(_ words: [String]) -> Bool {
        (2...4).contains(words.count) && words.allSatisfy { !mayGoOn($0) }
    }

    private init(isPlain: Bool) {
        (text, words, phrases, excluded, sequence) = ("", [], [], [], [])
        self.isPlain = isPlain
    }

    /// All items, the newest first: where nothing but filters was typed.
    static let everything = SearchPlan(isPlain: false)

    /// Whether letters may make a word longer. A sign of a script without spaces is a word, which marks alone make longer.
    static func mayGoOn(_ word: String) -> Bool { TextAnalyzer.searchWords(of: word + "a").count == 1 }

    /// Whether items must be looked at for what is strict.
    var isStrict: Bool { !phrases.isEmpty || !excluded.isEmpty }

    /// What is inside of a word of titles and keywords may stand for the last word, while that may go on.
    var part: String? {
        guard excluded.isEmpty, !phrases.contains(where: \.isPrefix) else { return nil }
        return words.first(where: \.isOpen)?.text
    }

    /// The expression for titles that begin with all words, in the table of texts.
    var titleStart: String? {
        guard isPlain, sequence.count > 1 else { return nil }
        return "title : ^ " + Phrase(words: sequence, isPrefix: words.contains(where: \.isOpen)).expression
    }

    /// The expression for the texts with all phrases and nothing that is excluded; `nil` if there are none.
    var strict: String? {
        guard !phrases.isEmpty else { return nil }
        let all = "(\(phrases.map(\.expression).joined(separator: " AND ")))"
        return excluded.isEmpty ? all : "\(all) NOT (\(excluded.map(\.expression).joined(separator: " OR ")))"
    }

    /// Whether an item has all phrases, and nothing that is excluded.
    ///
    /// - Parameter fields: the text of each field of the item.
    func allows(_ fields: [String]) -> Bool {
        phrases.allSatisfy { $0.sequence.occurs(inAnyOf: fields) }
            && !excluded.contains { $0.sequence.occurs(inAnyOf: fields) }
    }
}

extension String {
    /// Without white space around it, and with one space for any white space in it.
    var collapsingWhitespace: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
