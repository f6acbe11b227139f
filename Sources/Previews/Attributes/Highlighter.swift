// SPDX-License-Identifier: Apache-2.0
import Foundation
import MetadataQuery
import TextAnalysis
import UserSearch

/// Finds the words of a query in a text, for highlighting.
public struct Highlighter: Sendable {
    private let words: WordOccurrences

    /// The maximum length of the searched text, in Unicode scalars.
    public static let maximumCharacters = 200_000

    /// The maximum length of a query. A longer query would only take more time.
    private static let maximumQueryScalars = 1000

    /// Creates a highlighter for a typed query (`SearchIntent`). It highlights the wanted words,
    /// but not excluded words or filters. If there are no wanted words, it finds nothing.
    public init(query: String?) {
        let start = String(String.UnicodeScalarView((query ?? "").unicodeScalars.prefix(Self.maximumQueryScalars)))
        // The clock does not affect which words are filters.
        let intent = SearchIntent(start, clock: QueryClock(now: 0))
        words = WordOccurrences(intent.words.terms.filter { !$0.isExcluded }.map(\.text))
    }

    /// Returns the ranges of the words that make the search find the text (``WordOccurrences``), in
    /// order and disjoint.
    ///
    /// - Complexity: Linear in the length of the text, for each word of the query.
    public func ranges(in text: String) -> [Range<String.Index>] { marks(in: text).map { text.range(ofBytes: $0) } }

    /// Returns the ranges as UTF-8 offsets from the start of the text.
    public func marks(in text: String) -> [Range<Int>] { ranges(in: Array(text.utf8)[...]) }

    /// Returns the ranges in UTF-8 bytes, as indices of the slice.
    func ranges(in bytes: ArraySlice<UInt8>) -> [Range<Int>] { words.ranges(in: Self.start(of: bytes)) }

    /// Returns the first range in ``ranges(in:)``, or its first word. Searches little beyond that
    /// range.
    public func firstRange(in text: String) -> Range<String.Index>? {
        guard !words.isEmpty else { return nil }
        return words.ranges(
            in: Self.start(of: Array(text.utf8.prefix(4 * Self.maximumCharacters))[...]), stopsAtFirst: true
        )
        .first.map { text.range(ofBytes: $0) }
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

    /// Returns the text split at its highlights, in order; each piece states whether it is a
    /// highlight.
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

    /// Returns a passage around a highlight, on one line, from the first text that has one. If no
    /// text has one, returns the start of the first text.
    ///
    /// - Parameters:
    ///   - texts: The texts. Each is searched up to its first highlight, at most
    ///     ``maximumCharacters``.
    ///   - length: The maximum number of characters, without the ellipses; clamped to 0 through
    ///     ``maximumCharacters``.
    /// - Returns: `nil` if there are no texts.
    public func snippet(of texts: [String], length: Int) -> String? {
        let length = max(0, min(length, Self.maximumCharacters))
        for text in texts {
            if let found = firstRange(in: text) { return Self.passage(of: text, around: found, length) }
        }
        return texts.first.map { Self.beginning(of: $0, length) }
    }

    private static func passage(of text: String, around found: Range<String.Index>, _ length: Int) -> String {
        var start = text.index(found.lowerBound, offsetBy: -length / 3, limitedBy: text.startIndex) ?? text.startIndex
        if start > text.startIndex {
            // Starts with a whole word.
            let space = text[start..<found.lowerBound].firstIndex(where: \.isWhitespace)
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
