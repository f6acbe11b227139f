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
        ranges(in: Array(text.utf8)[...]).map { text.range(ofBytes: $0) }
    }

    /// The same in bytes of UTF-8 from the beginning of the text.
    public func marks(in text: String) -> [Range<Int>] { ranges(in: Array(text.utf8)[...]) }

    /// The same for text as bytes of UTF-8, in their indices.
    func ranges(in bytes: ArraySlice<UInt8>) -> [Range<Int>] {
        var finder = WordFinder(bytes, limit: Self.maximumCharacters)
        var found: [Range<Int>] = []
        var isWordStart = true
        while let range = next(in: &finder, &isWordStart) { found.append(range) }
        return found
    }

    /// The first of ``ranges(in:)``; looks little further than that, and at no more than four times so many bytes as
    /// characters.
    public func firstRange(in text: String) -> Range<String.Index>? {
        var length = 16 << 10
        while true {
            // A beginning of whole scalars; its last character may go on behind it.
            let start = text.utf8.prefix(length)
            let isAll = start.endIndex == text.utf8.endIndex
            var bytes = Array(start)
            while !isAll, let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            var finder = WordFinder(bytes[...], limit: Self.maximumCharacters)
            var isWordStart = true
            let range = next(in: &finder, &isWordStart)
            if let range, isAll || range.upperBound < bytes.count - 256 { return text.range(ofBytes: range) }
            guard !isAll, length < 4 * Self.maximumCharacters else { return range.map { text.range(ofBytes: $0) } }
            length = min(8 * length, 4 * Self.maximumCharacters)
        }
    }

    /// The next place with a word of the search.
    private func next(in finder: inout WordFinder, _ isWordStart: inout Bool) -> Range<Int>? {
        guard !words.isEmpty else { return nil }
        while let byte = finder.byte {
            let start = finder.position
            if isWordStart, byte >= 0x80 || starts[Int(lowered(byte))], let end = passWord(at: start, &finder) {
                isWordStart = false
                return start..<end
            }
            isWordStart = !finder.passCharacter()
        }
        return nil
    }

    /// Passes the longest word that stands at a place of the text; `nil` if none does.
    ///
    /// - Returns: Where it ends.
    private func passWord(at start: Int, _ finder: inout WordFinder) -> Int? {
        var longest: (end: Int, characters: Int)?
        for word in words {
            if let end = Self.end(of: word, at: start, &finder), end > longest?.end ?? start {
                longest = (end, word.characters.count)
            }
        }
        guard let longest else { return nil }
        finder.passWord(endingAt: longest.end, characters: longest.characters)
        return longest.end
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
