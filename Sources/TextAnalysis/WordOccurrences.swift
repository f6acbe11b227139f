// SPDX-License-Identifier: Apache-2.0

/// Finds the occurrences of search words in a text for highlighting, using the same rules as the
/// search.
///
/// ```swift
/// let search = WordOccurrences(["O'Reilly", "caf"])
/// search.ranges(in: Array("Café OREILLY".utf8)[...])  // 0..<4 and 6..<13
/// ```
public struct WordOccurrences: Sendable {
    /// The terms, each a sequence of adjacent words; the last word may be a prefix.
    private let terms: [[[UInt8]]]
    /// A table of the first bytes of all terms, used to skip most words of a text.
    private let starts: [Bool]

    /// The largest number of words to find; more words would only cost time.
    public static let maximumWords = 32

    /// Creates a finder for terms. The words of a term must be adjacent, and the last one may be a
    /// prefix. Terms beyond the first ``maximumWords`` words are ignored.
    public init(_ terms: [String]) {
        var found: [[[UInt8]]] = []
        var count = 0
        for term in terms {
            let words = TextAnalyzer.searchWords(of: term).map { Array($0.utf8) }
            guard !words.isEmpty, !found.contains(words) else { continue }
            count += words.count
            guard count <= Self.maximumWords else { break }
            found.append(words)
        }
        self.terms = found
        var starts = [Bool](repeating: false, count: 256)
        for byte in found.compactMap(\.first?.first) { starts[Int(byte)] = true }
        self.starts = starts
    }

    /// `true` if there is nothing to find.
    public var isEmpty: Bool { terms.isEmpty }

    /// A term whose first words were found.
    private struct Progress {
        var term: Int
        var ranges: [Range<Int>]
    }

    /// Returns the disjoint ranges of a text that match words of the terms, in order. If a word is
    /// longer than its term, only the matching prefix is returned. No character is split.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8; the ranges are in its indices.
    ///   - stopsAtFirst: `true` if the ranges of the first matching term are sufficient.
    /// - Complexity: Linear in the length of the text, times the number of terms in the worst case.
    public func ranges(in text: ArraySlice<UInt8>, stopsAtFirst: Bool = false) -> [Range<Int>] {
        guard !isEmpty else { return [] }
        return text.withUnsafeBufferPointer { bytes in
            let found = occurrences(in: bytes, stopsAtFirst)
            return Self.apart(found, bytes).map { $0.lowerBound + text.startIndex..<$0.upperBound + text.startIndex }
        }
    }

    private func occurrences(in text: UnsafeBufferPointer<UInt8>, _ stopsAtFirst: Bool) -> [Range<Int>] {
        var found: [Range<Int>] = []
        // The terms begun by the words so far, and the terms begun before the last word, which are
        // needed for a variant of that word.
        var (begun, before): ([Progress], [Progress]) = ([], [])
        TextAnalyzer.forEachWord(in: text, variants: true) { word in
            if !word.isVariant {
                before = begun
                begun = []
            }
            guard !before.isEmpty || starts[Int(word.bytes[0])] else { return true }
            for progress in before {
                meet(word, progress, in: text, &begun, &found)
            }
            for term in terms.indices where starts[Int(word.bytes[0])] {
                meet(word, Progress(term: term, ranges: []), in: text, &begun, &found)
            }
            return found.isEmpty || !stopsAtFirst
        }
        return found
    }

    private func meet(
        _ word: TextAnalyzer.Word, _ progress: Progress, in text: UnsafeBufferPointer<UInt8>, _ begun: inout [Progress],
        _ found: inout [Range<Int>]
    ) {
        let words = terms[progress.term]
        let wanted = words[progress.ranges.count]
        guard word.bytes.starts(with: wanted) else { return }
        let isWhole = word.bytes.count == wanted.count
        if progress.ranges.count == words.count - 1 {
            let range =
                isWhole ? word.range : word.range.lowerBound..<Self.end(of: wanted.count, of: word, in: text)
            found += progress.ranges + [range]
        } else if isWhole {
            begun.append(Progress(term: progress.term, ranges: progress.ranges + [word.range]))
        }
    }

    /// Returns the position in the text where the first `count` bytes of a folded word end.
    private static func end(of count: Int, of word: TextAnalyzer.Word, in text: UnsafeBufferPointer<UInt8>) -> Int {
        let range = word.range
        if range.count == word.bytes.count, text[range].allSatisfy({ $0 < 0x80 }) { return range.lowerBound + count }
        var folded = 0
        var end = range.lowerBound
        for character in String(decoding: UnsafeBufferPointer(rebasing: text[range]), as: UTF8.self) {
            guard folded < count else { break }
            end += character.utf8.count
            folded += TextAnalyzer.words(of: String(character)).reduce(0) { $0 + $1.utf8.count }
        }
        return min(end, range.upperBound)
    }

    /// Returns the ranges in order. Merges overlapping and adjacent ranges, and expands them to
    /// whole characters.
    private static func apart(_ ranges: [Range<Int>], _ text: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        var result: [Range<Int>] = []
        var string: String?
        for var range in ranges.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if !isPlain(range, text) {
                let whole = string ?? String(decoding: text, as: UTF8.self)
                string = whole
                range = widened(range, in: whole)
            }
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }

    /// Returns `true` if both ends are known to be between characters, because the adjacent bytes
    /// are ASCII.
    private static func isPlain(_ range: Range<Int>, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        func isPlain(_ place: Int) -> Bool { place < 0 || place >= text.count || text[place] < 0x80 }
        return isPlain(range.lowerBound - 1) && isPlain(range.lowerBound) && isPlain(range.upperBound - 1)
            && isPlain(range.upperBound)
    }

    private static func widened(_ range: Range<Int>, in text: String) -> Range<Int> {
        guard range.upperBound <= text.utf8.count else { return range }
        let scalars = text.unicodeScalars
        var lower = text.utf8.index(text.startIndex, offsetBy: range.lowerBound)
        while lower > text.startIndex, String.Index(lower, within: text) == nil { scalars.formIndex(before: &lower) }
        var upper = text.utf8.index(text.startIndex, offsetBy: range.upperBound)
        while upper < text.endIndex, String.Index(upper, within: text) == nil { scalars.formIndex(after: &upper) }
        let start = text.utf8.distance(from: text.startIndex, to: lower)
        return start..<(start + text.utf8.distance(from: lower, to: upper))
    }
}
