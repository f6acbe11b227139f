// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// The text that the user typed in a search field, split into terms. Every text is valid.
///
/// - Terms are separated by white space; all of them should be found.
/// - `"…"` encloses a phrase; typographic quotes work too. Without a closing quote, the phrase
///   extends to the end. A quote inside a word is part of the word.
/// - `-term` and `-"phrase"` exclude items.
/// - The last term is still being typed (``Term/isPrefix``) if the text ends within its last word.
/// - Terms that contain no words, by the rules of ``Words``, are dropped.
public struct UserQuery: Hashable, Sendable {
    /// A term to find or to exclude.
    public struct Term: Hashable, Sendable {
        /// The text as typed, without quotes and the minus sign.
        public let text: String
        /// The words of the text in order, not folded; at least one. If there are several, they
        /// must be adjacent.
        public let words: [String]
        /// `true` if the term was quoted.
        public let isPhrase: Bool
        /// `true` if items that contain the term are excluded.
        public let isExcluded: Bool
        /// `true` if the last word is being typed and may be incomplete. Always `false` for
        /// excluded terms, because a prefix would exclude too much.
        public let isPrefix: Bool
        /// The range of the text in the input, in UTF-8 bytes, without quotes and the minus sign.
        public let textRange: Range<Int>
        /// The range of the term in the input, in UTF-8 bytes, including quotes and the minus sign.
        public let range: Range<Int>
    }

    /// The terms, in text order.
    public let terms: [Term]
    /// `true` if something that exceeded a limit was omitted.
    public let isTruncated: Bool

    /// The number of UTF-8 bytes of a text that are read at most.
    public static let maximumBytes = 4_096
    /// The largest number of terms.
    public static let maximumTerms = 64
    /// The largest number of words in all terms together.
    public static let maximumWords = 256

    /// Splits a text into terms.
    ///
    /// - Complexity: Linear in the length of the text, at most ``maximumBytes``.
    public init(_ text: String) {
        var reader = UserQueryReader(text)
        reader.readAll()
        terms = reader.terms
        isTruncated = reader.isTruncated
    }

    /// Returns `true` if the scalar begins and ends a phrase.
    package static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\"", "“", "”", "„", "‟", "«", "»", "＂": true
        default: false
        }
    }

    /// Returns `true` if the scalar separates terms.
    package static func isSpace(_ scalar: Unicode.Scalar) -> Bool { QueryScanner.isSpace(scalar) }
}

private struct UserQueryReader {
    private let text: String.UnicodeScalarView
    private var position: String.Index
    private let end: String.Index
    private var wordCount = 0
    private(set) var terms: [UserQuery.Term] = []
    private(set) var isTruncated = false

    init(_ string: String) {
        text = string.unicodeScalars
        position = text.startIndex
        let utf8 = string.utf8
        if let limit = utf8.index(utf8.startIndex, offsetBy: UserQuery.maximumBytes, limitedBy: utf8.endIndex),
            limit < utf8.endIndex
        {
            // Moves back to the start of the scalar at the limit.
            end = text.index(before: text.index(after: limit))
            isTruncated = true
        } else {
            end = utf8.endIndex
        }
    }

    private var current: Unicode.Scalar? { position < end ? text[position] : nil }

    private mutating func advance() { text.formIndex(after: &position) }

    mutating func readAll() {
        while true {
            while let scalar = current, QueryScanner.isSpace(scalar) { advance() }
            guard position < end else { return }
            guard terms.count < UserQuery.maximumTerms, wordCount < UserQuery.maximumWords else {
                isTruncated = true
                return
            }
            readTerm()
        }
    }

    private mutating func readTerm() {
        let start = position
        let isExcluded = current == "-"
        if isExcluded { advance() }
        var textStart = position
        var textEnd: String.Index
        var isClosed = false
        let isPhrase = current.map(UserQuery.isQuote) ?? false
        if isPhrase {
            advance()
            textStart = position
            while let scalar = current, !UserQuery.isQuote(scalar) { advance() }
            textEnd = position
            if position < end {
                isClosed = true
                advance()
            }
        } else {
            while let scalar = current, !QueryScanner.isSpace(scalar) { advance() }
            textEnd = position
        }
        add(
            textStart..<textEnd, in: start..<position, isPhrase: isPhrase, isExcluded: isExcluded,
            isOpen: position == end && !isClosed)
    }

    private mutating func add(
        _ textRange: Range<String.Index>, in range: Range<String.Index>, isPhrase: Bool, isExcluded: Bool, isOpen: Bool
    ) {
        let content = String(text[textRange])
        var words: [String] = []
        var endsInWord = false
        for word in Words(content) {
            guard wordCount < UserQuery.maximumWords else {
                isTruncated = true
                endsInWord = false
                break
            }
            words.append(String(content[word]))
            wordCount += 1
            endsInWord = word.upperBound == content.endIndex
        }
        guard !words.isEmpty else { return }
        terms.append(
            UserQuery.Term(
                text: content, words: words, isPhrase: isPhrase, isExcluded: isExcluded,
                isPrefix: isOpen && endsInWord && !isExcluded, textRange: offsets(textRange), range: offsets(range)))
    }

    private func offsets(_ range: Range<String.Index>) -> Range<Int> {
        let utf8 = String(text).utf8
        let lower = utf8.distance(from: utf8.startIndex, to: range.lowerBound)
        return lower..<(lower + utf8.distance(from: range.lowerBound, to: range.upperBound))
    }
}
