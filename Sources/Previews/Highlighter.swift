// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Finds the words of a search in a text, to show them.
public struct Highlighter: Sendable {
    private let words: [String]

    /// The longest text that is looked through, in characters; a preview is read, not archived.
    public static let maximumCharacters = 200_000

    /// Creates a highlighter for what a person typed; without words it finds nothing.
    public init(query: String?) {
        let separators = CharacterSet.alphanumerics.inverted
        words = (query ?? "").components(separatedBy: separators).filter { !$0.isEmpty }
    }

    /// The places where a word of the search begins a word of the text, in order and without overlap. Case and accents
    /// do not matter.
    public func ranges(in text: String) -> [Range<String.Index>] {
        var found: [Range<String.Index>] = []
        let end =
            text.index(text.startIndex, offsetBy: Self.maximumCharacters, limitedBy: text.endIndex) ?? text.endIndex
        for word in words {
            var start = text.startIndex
            while let range = text.range(
                of: word, options: [.caseInsensitive, .diacriticInsensitive], range: start..<end)
            {
                if isWordStart(range.lowerBound, in: text) { found.append(range) }
                start = range.upperBound
            }
        }
        found.sort { $0.lowerBound < $1.lowerBound }
        var disjoint: [Range<String.Index>] = []
        for range in found where range.lowerBound >= disjoint.last?.upperBound ?? text.startIndex {
            disjoint.append(range)
        }
        return disjoint
    }

    private func isWordStart(_ index: String.Index, in text: String) -> Bool {
        guard index > text.startIndex else { return true }
        let before = text[text.index(before: index)]
        return !(before.isLetter || before.isNumber)
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

    /// A passage of a text around its first highlight, on one line; the text's beginning if there is none.
    ///
    /// - Parameter length: The most characters, without the ellipses.
    public func snippet(of text: String, length: Int) -> String {
        let head = String(text.prefix(Self.maximumCharacters))
        guard let first = ranges(in: head).first else { return cut(DisplayText.line(head), length) }
        let lead = head.index(first.lowerBound, offsetBy: -length / 3, limitedBy: head.startIndex) ?? head.startIndex
        var start = lead
        if start > head.startIndex {
            // Begin with a whole word.
            start =
                head[start..<first.lowerBound].firstIndex(where: \.isWhitespace).map { head.index(after: $0) } ?? start
        }
        let passage = cut(DisplayText.line(String(head[start...].prefix(length * 2))), length)
        return start > head.startIndex ? "…" + passage : passage
    }

    private func cut(_ line: String, _ length: Int) -> String {
        guard line.count > length else { return line }
        let head = line.prefix(length)
        return (head.lastIndex(of: " ").map { String(head[..<$0]) } ?? String(head)) + "…"
    }
}
