// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery
import TextAnalysis

/// What a person typed, as expressions for FTS5.
///
/// Words and phrases must all occur, excluded ones must not. The last word may be the beginning of one; FTS5 finds
/// beginnings by putting together the lists of all words that begin so, which takes long where there are many. There
/// the expression is made without the last phrase (`lastPhrase: false`), and candidates are looked at (``WordSequence``).
struct SearchPlan: Sendable {
    /// The text without white space around it.
    let text: String
    /// What must occur, in order.
    private let wanted: [Phrase]
    private let excluded: [Phrase]
    /// Whether the text is nothing but words, so that a title may be equal to it.
    let isPlain: Bool

    struct Phrase: Sendable {
        /// Folded words that stand side by side.
        var words: [String]
        /// Whether the last word may be the beginning of one.
        var isPrefix: Bool

        /// As FTS5 wants it. Folded words hold no quotes.
        var expression: String { "\"" + words.joined(separator: " ") + "\"" + (isPrefix ? "*" : "") }
    }

    /// `nil` if nothing was typed that could be searched for.
    ///
    /// - Parameter findsVariants: Whether the tables have variants of words (``TextAnalyzer``).
    init?(_ text: String, findsVariants: Bool = true) {
        var wanted: [Phrase] = []
        var excluded: [Phrase] = []
        let terms = UserQuery(text).terms
        // Quotes around everything say nothing but that the words stand side by side.
        let isOnePhrase = terms.count == 1 && terms[0].isPhrase && !terms[0].isExcluded
        var isPlain = true
        for term in terms {
            let words = FullTextTokenizer.searchWords(of: term.text, variants: findsVariants)
            let phrase = Phrase(words: words, isPrefix: term.isPrefix)
            isPlain = isPlain && (!term.isPhrase || isOnePhrase) && !term.isExcluded
            // A word of tags alone, which no text has.
            if words.isEmpty {
                guard term.isExcluded else { return nil }
                continue
            }
            if term.isExcluded { excluded.append(phrase) } else { wanted.append(phrase) }
        }
        guard !wanted.isEmpty else { return nil }
        self.wanted = wanted
        self.excluded = excluded
        self.isPlain = isPlain
        self.text = (isOnePhrase ? terms[0].text : text).collapsingWhitespace
    }

    /// Whether there is anything that must not occur; only the table of all words can say.
    var hasExclusions: Bool { !excluded.isEmpty }

    /// The last phrase, if its last word may go on.
    var open: WordSequence? {
        guard let last = wanted.last, last.isPrefix else { return nil }
        return WordSequence(last.words, isPrefix: true)
    }

    /// Everything that must occur.
    var sequences: [WordSequence] { wanted.map { WordSequence($0.words, isPrefix: $0.isPrefix) } }

    /// The beginning that the last word is, of which many words may be. A sign of a script without spaces is none: it is a
    /// word, which marks alone make longer.
    var prefix: String? {
        guard let last = wanted.last, last.isPrefix, let word = last.words.last else { return nil }
        return TextAnalyzer.words(of: word + "a").count == 1 ? word : nil
    }

    /// The items with all words, anywhere; `nil` if nothing is left to ask for.
    func allWords(tags: [String], lastPhrase: Bool = true) -> String? {
        guard let all = conjunction(tags: tags, lastPhrase: lastPhrase) else { return nil }
        return excluding(all)
    }

    /// The items with all words in title and keywords, asked of the table of titles, or if there are exclusions of the
    /// table of all words.
    func titleWords(tags: [String], lastPhrase: Bool = true) -> String? {
        guard hasExclusions else { return conjunction(tags: tags, lastPhrase: lastPhrase) }
        let words = wanted.map(\.expression).joined(separator: " AND ")
        return excluding((["{title keywords} : (\(words))"] + tags).joined(separator: " AND "))
    }

    /// Whether the text ends in a single letter that may go on. There are no lists for these: putting together all words
    /// that begin so takes tens of milliseconds.
    var endsInLetter: Bool { prefix?.unicodeScalars.count == 1 }

    /// The items whose title begins with the text. If words and a single letter were typed, more than these: those whose title
    /// begins with the words.
    ///
    /// - Parameter isFinished: whether the last word is a whole one, whatever was typed behind it.
    func titleStart(tags: [String], isFinished: Bool = false) -> String? {
        guard isPlain, let last = wanted.last else { return nil }
        var start = Phrase(words: wanted.flatMap(\.words), isPrefix: last.isPrefix && !isFinished)
        if start.isPrefix, endsInLetter, start.words.count > 1 {
            start.isPrefix = false
            start.words.removeLast()
        }
        return (["title : ^ \(start.expression)"] + tags).joined(separator: " AND ")
    }

    /// What may be inside of a word of title or keywords; `nil` if nothing may. The last word alone, and only while it may go
    /// on: a closed one is a whole word, and to look for parts of several takes as many times as long.
    var part: String? {
        guard !hasExclusions, let last = wanted.last, last.isPrefix, last.words.count == 1 else { return nil }
        return last.words[0]
    }

    /// The items with all words but the last in title and keywords, and one of those that stand for it.
    ///
    /// - Parameter words: at least one.
    func titleWords(tags: [String], lastOneOf words: [String]) -> String {
        let alternatives = words.map { Phrase(words: [$0], isPrefix: false).expression }.joined(separator: " OR ")
        return (wanted.dropLast().map(\.expression) + ["(\(alternatives))"] + tags).joined(separator: " AND ")
    }

    private func conjunction(tags: [String], lastPhrase: Bool) -> String? {
        let parts = (lastPhrase ? wanted : wanted.dropLast()).map(\.expression) + tags
        return parts.isEmpty ? nil : parts.joined(separator: " AND ")
    }

    private func excluding(_ expression: String) -> String {
        guard hasExclusions else { return expression }
        return "(\(expression)) NOT (\(excluded.map(\.expression).joined(separator: " OR ")))"
    }
}

extension String {
    /// Without white space around it, and with one space for any white space in it.
    var collapsingWhitespace: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
