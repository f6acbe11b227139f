// SPDX-License-Identifier: Apache-2.0
import UserSearch

/// The words that were searched for in place of misspelled ones.
///
/// ```swift
/// let page = try await index.search(SearchRequest("quartrely report"))
/// page.correction?.text  // "quarterly report"
/// ```
public struct SearchCorrection: Hashable, Sendable, Codable {
    /// The typed text with other words, which was searched for.
    public var text: String
    /// The ranges of the other words in ``text``, in bytes of UTF-8, in order.
    public var ranges: [Range<Int>]

    /// Creates a correction.
    public init(text: String, ranges: [Range<Int>]) {
        self.text = text
        self.ranges = ranges
    }

    /// Replaces words of a typed text; `nil` for ranges that the text does not have.
    init?(of typed: String, _ replacements: [WordReplacement]) {
        guard !replacements.isEmpty, let text = typed.replacing(replacements) else { return nil }
        self.text = text
        ranges = []
        var shift = 0
        for replacement in replacements {
            let start = replacement.range.lowerBound + shift
            ranges.append(start..<(start + replacement.word.utf8.count))
            shift += replacement.word.utf8.count - replacement.range.count
        }
    }
}

/// A typed word, and the word that is searched for in its place.
struct WordReplacement: Hashable, Sendable {
    /// In the typed text, in bytes of UTF-8.
    var range: Range<Int>
    /// Folded; of letters alone.
    var word: String

    /// The most in one text.
    static let maximumCount = 8
}

extension String {
    /// The text with other words; `nil` if it does not have the ranges, in order.
    func replacing(_ replacements: [WordReplacement]) -> String? {
        var (result, position) = ("", startIndex)
        var end = 0
        for replacement in replacements {
            let range = replacement.range
            guard range.lowerBound >= end, range.upperBound <= utf8.count else { return nil }
            let lower = utf8.index(startIndex, offsetBy: range.lowerBound)
            let upper = utf8.index(startIndex, offsetBy: range.upperBound)
            guard let before = String(self[position..<lower].utf8), String(self[lower..<upper].utf8) != nil else {
                return nil
            }
            result += before + replacement.word
            (position, end) = (upper, range.upperBound)
        }
        return result + self[position...]
    }
}
