// SPDX-License-Identifier: Apache-2.0

/// Finds the occurrences of search words in a text for highlighting, using the same rules as the
/// search.
///
/// ```swift
/// let search = WordOccurrences(["O'Reilly", "caf"])
/// search.ranges(in: Array("Café OREILLY".utf8)[...])  // 0..<4 and 6..<13
/// ```
public struct WordOccurrences: Sendable {
    /// A term to find: adjacent words.
    package struct Term: Sendable {
        /// The folded words in UTF-8; at least one, and none is empty.
        package let words: [[UInt8]]
        /// `true` if the last word may be the prefix of a longer word.
        package fileprivate(set) var isPrefix: Bool
    }

    /// The distinct terms, in order.
    package let terms: [Term]
    /// A table of the first bytes of all terms, used to skip most words of a text.
    private let starts: [Bool]

    /// The largest number of words to find; more words would only cost time.
    public static let maximumWords = 32

    /// Creates a finder for terms. The words of a term must be adjacent, and the last one may be a
    /// prefix. Terms beyond the first ``maximumWords`` words are ignored.
    public init(_ terms: [String]) { self.init(terms.map { (text: $0, isPrefix: true) }) }

    /// Creates a finder for terms that may be prefixes.
    package init(_ terms: [(text: String, isPrefix: Bool)]) {
        var found: [Term] = []
        var count = 0
        for term in terms {
            let words = TextAnalyzer.searchWords(of: term.text).map { Array($0.utf8) }
            guard !words.isEmpty else { continue }
            if let known = found.firstIndex(where: { $0.words == words }) {
                found[known].isPrefix = found[known].isPrefix || term.isPrefix
                continue
            }
            count += words.count
            guard count <= Self.maximumWords else { break }
            found.append(Term(words: words, isPrefix: term.isPrefix))
        }
        self.terms = found
        var starts = [Bool](repeating: false, count: 256)
        for byte in found.compactMap(\.words.first?.first) { starts[Int(byte)] = true }
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
            var found: [Range<Int>] = []
            forEachOccurrence(in: bytes) { _, ranges in
                found += ranges
                return !stopsAtFirst
            }
            return Self.apart(found, bytes).map { $0.lowerBound + text.startIndex..<$0.upperBound + text.startIndex }
        }
    }

    /// Recognises other forms of words.
    ///
    ///     { term, word in stem(of: word) == stems[term] }
    ///
    /// Receives the index of a term with one word, and a folded word of the text. The word is not
    /// equal to the term's word, but begins with the same byte.
    package typealias FormTest = (_ term: Int, _ word: UnsafeBufferPointer<UInt8>) -> Bool

    /// Calls `body` with the occurrences of the terms, in the order of their last words, until it
    /// returns `false`.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8.
    ///   - comparesAll: `true` to call `isForm` with words that begin with any byte.
    ///   - isForm: Returns `true` if a word is a form of a term's word. The whole word then
    ///     matches.
    ///   - body: Receives the index of the term and the ranges of its words, in bytes, in the
    ///     order of their starts. A range may end within a character.
    package func forEachOccurrence(
        in text: UnsafeBufferPointer<UInt8>, comparesAll: Bool = false, isForm: FormTest = { _, _ in false },
        _ body: (_ term: Int, _ ranges: [Range<Int>]) -> Bool
    ) {
        if terms.allSatisfy({ $0.words.count == 1 }) {
            let beginnings = comparesAll ? [Bool](repeating: true, count: 256) : starts
            beginnings.withUnsafeBufferPointer { beginnings in
                _ = TextAnalyzer.forEachWord(in: text, beginningWith: beginnings) { word, _ in
                    guard beginnings[Int(word.bytes[0])] else { return true }
                    return terms.indices.allSatisfy { term in
                        guard let end = end(of: word, term, in: text, isForm) else { return true }
                        return body(term, [word.range.lowerBound..<end])
                    }
                }
            }
        } else {
            forEachOccurrenceOfPhrases(in: text, comparesAll, isForm, body)
        }
    }

    private func forEachOccurrenceOfPhrases(
        in text: UnsafeBufferPointer<UInt8>, _ comparesAll: Bool, _ isForm: FormTest,
        _ body: (_ term: Int, _ ranges: [Range<Int>]) -> Bool
    ) {
        // The terms begun by the words so far, and the terms begun before the last word, which are
        // needed for a variant of that word.
        var (begun, before): ([Progress], [Progress]) = ([], [])
        TextAnalyzer.forEachWord(in: text, variants: true) { word in
            if !word.isVariant {
                before = begun
                begun = []
            }
            let mayBegin = comparesAll || starts[Int(word.bytes[0])]
            guard mayBegin || !before.isEmpty else { return true }
            let started = mayBegin ? terms.indices.map { Progress(term: $0, ranges: []) } : []
            for progress in before + started {
                // A variant may begin before the term's first word.
                if let last = progress.ranges.last, word.range.lowerBound < last.lowerBound { continue }
                let words = terms[progress.term].words
                if progress.ranges.count == words.count - 1 {
                    guard let end = end(of: word, progress.term, in: text, isForm) else { continue }
                    guard body(progress.term, progress.ranges + [word.range.lowerBound..<end]) else { return false }
                } else if word.bytes.elementsEqual(words[progress.ranges.count]) {
                    begun.append(Progress(term: progress.term, ranges: progress.ranges + [word.range]))
                }
            }
            return true
        }
    }

    /// Returns the end of the part of a word that matches the last word of a term; `nil` if none
    /// does.
    private func end(
        of word: TextAnalyzer.Word, _ term: Int, in text: UnsafeBufferPointer<UInt8>, _ isForm: FormTest
    ) -> Int? {
        let (words, isPrefix) = (terms[term].words, terms[term].isPrefix)
        let wanted = words[words.count - 1]
        let begins = word.bytes.starts(with: wanted)
        if begins, word.bytes.count == wanted.count { return word.range.upperBound }
        if words.count == 1, !word.isVariant, isForm(term, word.bytes) { return word.range.upperBound }
        return begins && isPrefix ? Self.end(of: wanted.count, of: word, in: text) : nil
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
    package static func apart(_ ranges: [Range<Int>], _ text: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
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
