// SPDX-License-Identifier: Apache-2.0
import Foundation
import MetadataQuery
import TextAnalysis
import UserSearch

/// Finds the words of a query in a text, for highlighting and for snippets.
///
/// Marks the words that make the search find an item: the typed words, their other forms in the
/// language of the text, and words that begin with the last word while it is being typed. Function
/// words such as “the” are marked only if the query has no other words.
///
/// ```swift
/// let highlighter = Highlighter(query: "when is the ferry replaced")
/// highlighter.snippet(of: [minutes], length: 80)  // "…In autumn the ferry to the island is replaced…"
/// ```
public struct Highlighter: Sendable {
    private let words: WordOccurrences
    private let forms: WordForms
    /// The languages that the user may have typed.
    private let languages: [WordLanguage]
    /// The folded words that may be function words, by the index of their terms; `nil` for other
    /// terms.
    private let plainWords: [String?]
    /// The words to highlight in texts of unknown languages.
    private let usual: Sought

    /// The maximum length of the searched text, in Unicode scalars.
    public static let maximumCharacters = 200_000

    /// The maximum length of a query. A longer query would only take more time.
    private static let maximumQueryScalars = 1000

    /// Creates a highlighter for a typed query (`SearchIntent`). It highlights the wanted words,
    /// but not excluded words or filters. If there are no wanted words, it finds nothing.
    public init(query: String?) { self.init(query: query, userLanguage: WordLanguage.ofUser) }

    /// Creates a highlighter for a user with a language; `nil` if it has no stemmer.
    package init(query: String?, userLanguage: WordLanguage?) {
        let start = String(String.UnicodeScalarView((query ?? "").unicodeScalars.prefix(Self.maximumQueryScalars)))
        // The clock does not affect which words are filters.
        let intent = SearchIntent(start, clock: QueryClock(now: 0))
        let terms = intent.words.terms.filter { !$0.isExcluded }
        words = WordOccurrences(terms.map { (text: $0.text, isPrefix: $0.isPrefix) })
        languages = [LanguageGuess.language(of: start), userLanguage, .english].compactMap(\.self)
        let quoted = Set(terms.filter(\.isPhrase).map { TextAnalyzer.searchWords(of: $0.text).map { Array($0.utf8) } })
        let single = words.terms.map { $0.words.count == 1 && !quoted.contains($0.words) ? $0.words[0] : nil }
        forms = WordForms(single, languages: languages)
        plainWords = zip(single, words.terms).map { word, term in
            term.isPrefix ? nil : word.map { String(decoding: $0, as: UTF8.self) }
        }
        usual = Sought(in: nil, plainWords, languages)
    }

    // MARK: Marks

    /// Returns the ranges of the words that make the search find the text, in order and disjoint.
    ///
    /// - Complexity: Linear in the length of the text, for each word of the query.
    public func ranges(in text: String) -> [Range<String.Index>] { marks(in: text).map { text.range(ofBytes: $0) } }

    /// Returns the ranges as UTF-8 offsets from the start of the text.
    public func marks(in text: String) -> [Range<Int>] { ranges(in: Array(text.utf8)[...]) }

    /// Returns the ranges in UTF-8 bytes, as indices of the slice.
    func ranges(in bytes: ArraySlice<UInt8>) -> [Range<Int>] {
        ranges(in: bytes, sought(in: language(of: bytes)))
    }

    private func ranges(in bytes: ArraySlice<UInt8>, _ sought: Sought) -> [Range<Int>] {
        Self.start(of: bytes).withUnsafeBufferPointer { text in
            var found: [Range<Int>] = []
            forEachOccurrence(in: text, sought) { _, ranges in
                found += ranges
                return true
            }
            return WordOccurrences.apart(found, text)
                .map { $0.lowerBound + bytes.startIndex..<$0.upperBound + bytes.startIndex }
        }
    }

    /// The words to highlight in a text.
    private struct Sought {
        /// The language of the text; `nil` if it is unknown.
        var language: WordLanguage?
        /// `true` for each term to highlight. Function words are highlighted only if the query has
        /// no other words.
        var terms: [Bool]

        init(in language: WordLanguage?, _ plainWords: [String?], _ typed: [WordLanguage]) {
            let languages = Set(typed + [language].compactMap(\.self))
            let isContent = plainWords.map { word in word.map { !QuestionWords.contains($0, in: languages) } ?? true }
            self.language = language
            terms = isContent.contains(true) ? isContent : isContent.map { _ in true }
        }
    }

    /// Returns the language of a text; `nil` if it is unknown.
    private func language(of text: ArraySlice<UInt8>) -> WordLanguage? {
        // A page may have millions of short pieces.
        guard !words.isEmpty, text.count >= Self.leastGuessedBytes else { return nil }
        return text.withUnsafeBufferPointer { LanguageGuess.language(of: $0) }
    }

    /// The size of the shortest text whose language is guessed, in bytes.
    private static let leastGuessedBytes = 12

    private func sought(in language: WordLanguage?) -> Sought {
        language.map { Sought(in: $0, plainWords, languages) } ?? usual
    }

    /// Calls `body` with the occurrences of terms, until it returns `false`.
    ///
    /// - Parameter body: Receives the index of the term, and the ranges of its words.
    private func forEachOccurrence(
        in text: UnsafeBufferPointer<UInt8>, _ sought: Sought, _ body: (_ term: Int, _ ranges: [Range<Int>]) -> Bool
    ) {
        guard !words.isEmpty else { return }
        forms.withTest(in: sought.language) { isForm in
            words.forEachOccurrence(
                in: text, comparesAll: forms.changeBeginnings(in: sought.language),
                isForm: { sought.terms[$0] && isForm($0, $1) },
                { term, ranges in !sought.terms[term] || body(term, ranges) })
        }
    }

    /// Returns the first ``maximumCharacters`` scalars.
    private static func start(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard bytes.count > maximumCharacters else { return bytes }
        var count = 0
        for place in bytes.indices where bytes[place] & 0xC0 != 0x80 {
            count += 1
            if count > maximumCharacters { return bytes[..<place] }
        }
        return bytes
    }

    /// Splits the text at its highlights. Returns the pieces in order; `isHighlight` is `true` for
    /// the highlights.
    public func pieces(of text: String) -> [(text: Substring, isHighlight: Bool)] {
        var pieces: [(Substring, Bool)] = []
        var start = text.startIndex
        for range in ranges(in: text) {
            if start < range.lowerBound { pieces.append((text[start..<range.lowerBound], false)) }
            pieces.append((text[range], true))
            start = range.upperBound
        }
        if start < text.endIndex { pieces.append((text[start...], false)) }
        return pieces
    }

    // MARK: Snippets

    /// Returns the passage with the most words of the query, on one line. If no text has any,
    /// returns the start of the first text.
    ///
    /// Of passages with equally many different words, the one whose words are rarer in the text is
    /// better, then the first one.
    ///
    /// - Parameters:
    ///   - texts: The texts. Of each, the first ``maximumCharacters`` are searched.
    ///   - length: The maximum number of characters, without the ellipses; clamped to 0 through
    ///     ``maximumCharacters``.
    /// - Returns: `nil` if there are no texts.
    public func snippet(of texts: [String], length: Int) -> String? {
        markedSnippet(of: texts, length: length)?.text
    }

    /// Returns a snippet and the ranges of its marked words, in UTF-8 bytes. The language is
    /// guessed from the whole text, because many snippets are too short for a guess. So the ranges
    /// may differ from ``marks(in:)`` of the snippet.
    ///
    /// - Parameters: As for ``snippet(of:length:)``.
    /// - Returns: `nil` if there are no texts.
    public func markedSnippet(of texts: [String], length: Int) -> (text: String, marks: [Range<Int>])? {
        let length = max(0, min(length, Self.maximumCharacters))
        var best: (passage: Passage, text: String, sought: Sought)?
        for text in texts {
            let bytes = Array(text.utf8)
            let sought = sought(in: language(of: bytes[...]))
            // Some characters are for the words around it.
            guard let passage = passage(in: bytes[...], sought, length: length * 9 / 10) else { continue }
            if best.map({ $0.passage < passage }) ?? true { best = (passage, text, sought) }
        }
        guard let best else { return texts.first.map { (Self.beginning(of: $0, length), []) } }
        let line = Self.line(around: best.passage, in: best.text, length)
        return (line, ranges(in: Array(line.utf8)[...], best.sought))
    }

    /// Returns the best passage of a text.
    private func passage(in text: ArraySlice<UInt8>, _ sought: Sought, length: Int) -> Passage? {
        Self.start(of: text).withUnsafeBufferPointer { text in
            var finder = PassageFinder(length: length, wanted: sought.terms.count { $0 })
            forEachOccurrence(in: text, sought) { term, ranges in
                finder.add(term, ranges[0].lowerBound..<ranges[ranges.count - 1].upperBound, in: text)
            }
            return finder.best
        }
    }

    /// Returns a passage with the text around it, on one line.
    private static func line(around passage: Passage, in text: String, _ length: Int) -> String {
        let first = text.utf8.index(text.startIndex, offsetBy: passage.range.lowerBound)
        let before = min(length / 3, max(0, (length - passage.length) / 2))
        var start = text.index(first, offsetBy: -before, limitedBy: text.startIndex) ?? text.startIndex
        if start > text.startIndex {
            // Starts with a whole word.
            let space = text[start..<first].firstIndex(where: \.isWhitespace)
            start = space.map { text.index(after: $0) } ?? start
        }
        let passage = cut(DisplayText.line(String(text[start...].prefix(length * 2))), length)
        return start > text.startIndex ? "…" + passage : passage
    }

    private static func beginning(of text: String, _ length: Int) -> String {
        let start = text.unicodeScalars.prefix(maximumCharacters).firstIndex { !$0.properties.isWhitespace }
        let head = text[(start ?? text.startIndex)...].prefix(4 * length)
        let line = DisplayText.line(String(head))
        return head.endIndex < text.endIndex && line.count <= length ? line + "…" : cut(line, length)
    }

    private static func cut(_ line: String, _ length: Int) -> String {
        guard line.count > length else { return line }
        let head = line.prefix(length)
        if line[head.endIndex...].first == " " { return head + "…" }
        return (head.lastIndex(of: " ").map { String(head[..<$0]) } ?? String(head)) + "…"
    }
}

extension String {
    /// Returns the string range of an offset range in its UTF-8.
    fileprivate func range(ofBytes range: Range<Int>) -> Range<Index> {
        let lower = utf8.index(startIndex, offsetBy: range.lowerBound)
        return lower..<utf8.index(lower, offsetBy: range.count)
    }
}
