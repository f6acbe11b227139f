// SPDX-License-Identifier: Apache-2.0
import Foundation
import MetadataQuery

/// Finds the words of a search in a text, to show them.
public struct Highlighter: Sendable {
    /// A word of the search.
    private struct Word {
        /// Its folded characters.
        let characters: [String]
        /// The same as bytes, if all are ASCII.
        let bytes: [UInt8]?

        init(_ characters: [String]) {
            self.characters = characters
            let isPlain = characters.allSatisfy { $0.utf8.count == 1 }
            bytes = isPlain ? characters.flatMap { Array($0.utf8) } : nil
        }
    }
    private let words: [Word]
    /// Whether a word begins with a byte of ASCII; most words of a text begin with none of these.
    private let starts: [Bool]

    /// The longest text that is looked through, in characters; a preview is read, not archived.
    public static let maximumCharacters = 200_000

    /// More of what is typed only costs time: each word is compared with every word of the text.
    private static let maximumQueryScalars = 1000
    private static let maximumWords = 32

    /// Creates a highlighter for what a person typed (``UserQuery``): it finds the words that are wanted, not those that must
    /// not occur. Without any it finds nothing.
    public init(query: String?) {
        let start = String(String.UnicodeScalarView((query ?? "").unicodeScalars.prefix(Self.maximumQueryScalars)))
        var words: [[String]] = []
        let wanted = UserQuery(start).terms.filter { !$0.isExcluded }.map(\.text).joined(separator: " ")
        for word in wanted.components(separatedBy: CharacterSet.alphanumerics.inverted)
        where words.count < Self.maximumWords {
            // Accents alone fold to nothing, which would be found everywhere.
            let folded = word.map(Self.folded).filter { !$0.isEmpty }
            if !folded.isEmpty && !words.contains(folded) { words.append(folded) }
        }
        self.words = words.map { Word($0) }
        var starts = [Bool](repeating: false, count: 0x80)
        for word in words where word[0].utf8.count == 1 { word[0].utf8.first.map { starts[Int($0)] = true } }
        self.starts = starts
    }

    private static func folded(_ character: Character) -> String {
        if character.isASCII { return character.lowercased() }
        return String(character).folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    /// The places where a word of the search begins a word of the text, in order and without overlap; where several
    /// begin, the longest. Case and accents do not matter, and no character is split.
    ///
    /// - Complexity: Linear in the length of the text, once for each word of the search.
    public func ranges(in text: String) -> [Range<String.Index>] {
        guard !words.isEmpty else { return [] }
        func index(_ place: Int) -> String.Index { text.utf8.index(text.startIndex, offsetBy: place) }
        return ranges(in: Array(text.utf8)[...]).map { index($0.lowerBound)..<index($0.upperBound) }
    }

    /// The same in bytes of UTF-8 from the beginning of the text.
    public func marks(in text: String) -> [Range<Int>] { ranges(in: Array(text.utf8)[...]) }

    /// The same for text as bytes of UTF-8, in their indices.
    func ranges(in bytes: ArraySlice<UInt8>) -> [Range<Int>] {
        guard !words.isEmpty else { return [] }
        var finder = WordFinder(bytes, limit: Self.maximumCharacters)
        var found: [Range<Int>] = []
        var isWordStart = true
        while let byte = finder.byte {
            let start = finder.position
            if isWordStart, byte >= 0x80 || starts[Int(lowered(byte))], let end = end(at: start, &finder) {
                found.append(start..<end)
                finder.position = end
                isWordStart = false
            } else {
                isWordStart = !finder.passCharacter()
            }
        }
        return found
    }

    /// Where the longest word ends that stands at a place of the text, or `nil` if none does.
    private func end(at start: Int, _ finder: inout WordFinder) -> Int? {
        var longest: Int?
        for word in words {
            if let end = Self.end(of: word, at: start, &finder) { longest = max(longest ?? end, end) }
        }
        return longest
    }

    private static func end(of word: Word, at start: Int, _ finder: inout WordFinder) -> Int? {
        if let bytes = word.bytes, let isThere = finder.hasPlain(bytes, at: start) {
            return isThere ? start + bytes.count : nil
        }
        var position = finder.text.utf8.index(finder.text.startIndex, offsetBy: start - finder.bytes.startIndex)
        for character in word.characters {
            guard position < finder.text.endIndex, folded(finder.text[position]) == character else { return nil }
            finder.text.formIndex(after: &position)
        }
        return finder.bytes.startIndex + finder.text.utf8.distance(from: finder.text.startIndex, to: position)
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
    /// - Parameter length: The most characters, without the ellipses; less than 0 is taken as 0, and more than
    ///   ``maximumCharacters`` as that.
    public func snippet(of text: String, length: Int) -> String {
        let length = max(0, min(length, Self.maximumCharacters))
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
