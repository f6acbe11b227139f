// SPDX-License-Identifier: Apache-2.0
import Foundation
import MetadataQuery
import TextAnalysis
import UserSearch

/// Finds the words of a search in a text, to show them.
public struct Highlighter: Sendable {
    private let words: WordOccurrences

    /// The longest text that is looked through, in Unicode scalars; a preview is read, not archived.
    public static let maximumCharacters = 200_000

    /// More of a query only costs time.
    private static let maximumQueryScalars = 1000

    /// Creates a highlighter for a typed query (`SearchIntent`). It finds the wanted words, not the excluded ones and not the
    /// filters. Without any it finds nothing.
    public init(query: String?) {
        let start = String(String.UnicodeScalarView((query ?? "").unicodeScalars.prefix(Self.maximumQueryScalars)))
        // The clock has no effect on which words are filters.
        let intent = SearchIntent(start, clock: QueryClock(now: 0))
        words = WordOccurrences(intent.words.terms.filter { !$0.isExcluded }.map(\.text))
    }

    /// The places of the words that the search finds the text by (``WordOccurrences``), in order and apart.
    ///
    /// - Complexity: Linear in the length of the text, once for each word of the search.
    public func ranges(in text: String) -> [Range<String.Index>] { marks(in: text).map { text.range(ofBytes: $0) } }

    /// The same in bytes of UTF-8 from the beginning of the text.
    public func marks(in text: String) -> [Range<Int>] { ranges(in: Array(text.utf8)[...]) }

    /// The same for text as bytes of UTF-8, in their indices.
    func ranges(in bytes: ArraySlice<UInt8>) -> [Range<Int>] { words.ranges(in: Self.start(of: bytes)) }

    /// The first of ``ranges(in:)``, or the first word of it; looks little further than that.
    public func firstRange(in text: String) -> Range<String.Index>? {
        guard !words.isEmpty else { return nil }
        return words.ranges(
            in: Self.start(of: Array(text.utf8.prefix(4 * Self.maximumCharacters))[...]), stopsAtFirst: true
        )
        .first.map { text.range(ofBytes: $0) }
    }

    /// The first ``maximumCharacters`` scalars.
    private static func start(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard bytes.count > maximumCharacters else { return bytes }
        var count = 0
        for place in bytes.indices where bytes[place] & 0xC0 != 0x80 {
            count += 1
            if count > maximumCharacters { return bytes[..<place] }
        }
        return bytes
    }

    /// The text cut at its highlights: pieces in order, each with whether it is one.
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

    /// A passage of the first text that has a highlight, around it and on one line; the beginning of the first text if none
    /// has.
    ///
    /// - Parameters:
    ///   - texts: Each is looked through as far as its first highlight, at most ``maximumCharacters``.
    ///   - length: The most characters, without the ellipses; less than 0 is taken as 0, and more than
    ///     ``maximumCharacters`` as that.
    /// - Returns: `nil` without a text.
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
            // Begin with a whole word.
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
    /// Bytes of its UTF-8, counted from its beginning, as a range of it.
    fileprivate func range(ofBytes range: Range<Int>) -> Range<Index> {
        let lower = utf8.index(startIndex, offsetBy: range.lowerBound)
        return lower..<utf8.index(lower, offsetBy: range.count)
    }
}
