// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import TextAnalysis
import UserSearch

/// A text that may take the place of a text that is being typed (docs/SEARCH.md).
///
/// ```swift
/// let suggestions = try await index.suggestions(SuggestionRequest("quart"))
/// suggestions.first  // a completion: "quarterly", which 12 items have
/// ```
public struct Suggestion: Hashable, Sendable, Codable {
    /// Where a suggestion comes from.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// The last word, which occurs nowhere, is another word.
        case correction
        /// The last word goes on.
        case completion
        /// The last word goes on, and words follow that stand behind it in a title.
        case title
        /// The name of an author or a recipient, as a filter.
        case person
        /// A filter, or its value.
        case filter
    }

    /// Where it comes from.
    public var kind: Kind
    /// The whole text, to be searched for in place of the typed one.
    public var text: String
    /// The number of items that have the words of the text as they are and satisfy its filters, counted up to
    /// ``maximumCounted``. A search for the text finds these, and others with other forms of the words. `nil` for a filter that
    /// lacks its value.
    public var total: SearchTotal?

    /// The most suggestions.
    public static let maximumCount = 10
    /// Items are counted up to this number.
    public static let maximumCounted = 50

    /// Creates a suggestion.
    public init(_ kind: Kind, _ text: String, total: SearchTotal?) {
        (self.kind, self.text, self.total) = (kind, text, total)
    }
}

/// What suggestions are asked for.
public struct SuggestionRequest: Hashable, Sendable, Codable {
    /// The text so far; its last word is being typed unless a space or a quote closes it.
    public var text: String
    /// Only from items of this bundle; `nil` means all.
    public var bundle: String?
    /// At most so many, 1 to ``Suggestion/maximumCount``.
    public var limit = Suggestion.maximumCount
    /// Whether everything is included that was durable when the request began; see ``SearchRequest/includesPending``.
    public var includesPending = true

    /// Creates a request.
    public init(_ text: String, bundle: String? = nil) {
        self.text = text
        self.bundle = bundle
    }
}

/// A text whose last word is being typed.
struct TypedText {
    /// The part of the text that stays: everything before the last word or filter.
    let beginning: String
    /// The last part without spaces, as typed.
    let token: String

    /// `nil` if the last word is closed, or the text is longer than a search looks at.
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
        // A quote that is closed closes the value.
        guard isQuoted || !hadQuote else { return nil }
        beginning = String(scalars[..<start])
        token = String(scalars[start...])
    }

    /// The name of the filter whose value is being typed, and that value without its quote.
    var filter: (name: String, value: String)? {
        guard let colon = token.firstIndex(of: ":") else { return nil }
        let name = String(token[..<colon])
        guard FilterCompletion.values(of: name) != nil else { return nil }
        let value = token[token.index(after: colon)...]
        let isQuoted = value.unicodeScalars.first.map(UserQuery.isQuote) ?? false
        return (name, String(isQuoted ? value.dropFirst() : value))
    }

    /// The last word, folded, and the text before it; `nil` where no word is being typed.
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
