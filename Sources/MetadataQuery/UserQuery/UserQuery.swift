// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// What a person typed in a search field, divided into terms. Every text is a user query: nothing is refused.
///
/// - Terms are separated by white space; all of them should be found.
/// - `"…"` holds a phrase together, also with typographic quotes; without a closing quote it reaches to the end. A quote
///   inside a word is part of it.
/// - `-term` and `-"phrase"` exclude.
/// - The last term is still being typed (``Term/isPrefix``) when the text ends within its last word.
/// - What holds no word by the rules of ``Words`` is dropped.
public struct UserQuery: Hashable, Sendable {
    /// One thing to find or to exclude.
    public struct Term: Hashable, Sendable {
        /// The text as typed, without quotes and the minus sign.
        public let text: String
        /// The words of the text in order, not folded; at least one. Several are found side by side.
        public let words: [String]
        /// Whether the term stood in quotes.
        public let isPhrase: Bool
        /// Whether items that hold the term are unwanted.
        public let isExcluded: Bool
        /// Whether the last word may go on: it is the one being typed. Never set for excluded terms, since the
        /// beginning of a word would exclude too much.
        public let isPrefix: Bool
        /// Where the text stands in the input, in bytes of UTF-8, without quotes and the minus sign.
        public let textRange: Range<Int>
        /// Where the term stands in the input, with quotes and the minus sign, in bytes of UTF-8.
        public let range: Range<Int>
    }

    /// The terms in the order of the text.
    public let terms: [Term]
    /// Whether something behind the limits was left out.
    public let isTruncated: Bool

    /// The longest text that is looked at, in bytes of UTF-8.
    public static let maximumBytes = 4_096
    /// The most terms.
    public static let maximumTerms = 64
    /// The most words in all terms together.
    public static let maximumWords = 256

    /// Divides a text.
    ///
    /// - Complexity: linear in the length of the text, at most ``maximumBytes``.
    public init(_ text: String) {
        var reader = UserQueryReader(text)
        reader.readAll()
        terms = reader.terms
        isTruncated = reader.isTruncated
    }

    /// Whether the scalar begins and ends a phrase.
    package static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\"", "“", "”", "„", "‟", "«", "»", "＂": true
        default: false
        }
    }

    /// Whether the scalar separates terms.
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
            // Back to the start of the scalar the limit falls into.
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
