// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import TextAnalysis
import UserSearch

/// A text that can replace the text being typed (docs/SEARCH.md).
///
/// ```swift
/// let suggestions = try await index.suggestions(SuggestionRequest("quart"))
/// suggestions.first  // a completion: "quarterly", which 12 items have
/// ```
public struct Suggestion: Hashable, Sendable, Codable {
    /// The source of a suggestion.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// A replacement for the last word, which does not occur in the store.
        case correction
        /// A completion of the last word.
        case completion
        /// A completion of the last word, followed by the next words of a title.
        case title
        /// The name of an author or a recipient, as a filter.
        case person
        /// A filter, or its value.
        case filter
    }

    /// The source of the suggestion.
    public var kind: Kind
    /// The complete text to search for, in place of the typed text.
    public var text: String
    /// The number of items that contain the words of the text, in any form, and satisfy its
    /// filters, counted up to ``maximumCounted``. Beside filters and phrases, only the exact words
    /// count. `nil` for a filter without a value.
    public var total: SearchTotal?

    /// The largest number of suggestions.
    public static let maximumCount = 10
    /// The number up to which items are counted.
    public static let maximumCounted = 50

    /// Creates a suggestion.
    public init(_ kind: Kind, _ text: String, total: SearchTotal?) {
        (self.kind, self.text, self.total) = (kind, text, total)
    }
}

/// A request for suggestions.
public struct SuggestionRequest: Hashable, Sendable, Codable {
    /// The text so far. Its last word is being typed unless a space or a quote closes it.
    public var text: String
    /// The bundle that suggestions are taken from; `nil` means all bundles.
    public var bundle: String?
    /// The largest number of suggestions, 1 to ``Suggestion/maximumCount``.
    public var limit = Suggestion.maximumCount
    /// `true` to include everything that was durable when the request began; see
    /// ``SearchRequest/includesPending``.
    public var includesPending = true

    /// Creates a request.
    public init(_ text: String, bundle: String? = nil) {
        self.text = text
        self.bundle = bundle
    }
}

/// A text whose last word is being typed.
struct TypedText {
    /// The part of the text that is kept: everything before the last word or filter.
    let beginning: String
    /// The last part that contains no spaces, as typed.
    let token: String

    /// Splits a text; `nil` if its last word is closed, or if the text is longer than a search
    /// reads.
    init?(_ text: String) {
        guard text.utf8.count <= UserQuery.maximumBytes, let last = text.unicodeScalars.last, !UserQuery.isSpace(last)
        else { return nil }
        let scalars = text.unicodeScalars
        var (start, isQuoted, hadQuote) = (scalars.startIndex, false, false)
        var previous: Unicode.Scalar = " "
        for index in scalars.indices {
            let scalar = scalars[index]
            if isQuoted {
                isQuoted = !UserQuery.isQuote(scalar)
            } else if UserQuery.isQuote(scalar), UserQuery.isSpace(previous) || previous == ":" || previous == "-" {
                (isQuoted, hadQuote) = (true, true)
            } else if UserQuery.isSpace(scalar) {
                (start, hadQuote) = (scalars.index(after: index), false)
            }
            previous = scalar
        }
        // A closing quote ends the value.
        guard isQuoted || !hadQuote else { return nil }
        beginning = String(scalars[..<start])
        token = String(scalars[start...])
    }

    /// The name of the filter whose value is being typed, and the value without its quote.
    var filter: (name: String, value: String)? {
        guard let colon = token.firstIndex(of: ":") else { return nil }
        let name = String(token[..<colon])
        guard FilterCompletion.values(of: name) != nil else { return nil }
        let value = token[token.index(after: colon)...]
        let isQuoted = value.unicodeScalars.first.map(UserQuery.isQuote) ?? false
        return (name, String(isQuoted ? value.dropFirst() : value))
    }

    /// The folded last word and the text before it; `nil` if no word is being typed.
    var word: (beginning: String, folded: String)? {
        guard let first = token.unicodeScalars.first, first != "-", !UserQuery.isQuote(first), !token.contains(":")
        else {
            return nil
        }
        var word: (start: Int, end: Int, folded: String) = (0, 0, "")
        var token = token
        token.withUTF8 { bytes in
            TextAnalyzer.forEachWord(in: bytes, variants: false) { next in
                word = (next.range.lowerBound, next.range.upperBound, String(decoding: next.bytes, as: UTF8.self))
                return true
            }
        }
        guard !word.folded.isEmpty, word.end == token.utf8.count,
            !word.folded.unicodeScalars.contains(where: FullTextTag.isTag)
        else { return nil }
        return (beginning + String(decoding: token.utf8.prefix(word.start), as: UTF8.self), word.folded)
    }
}
