// SPDX-License-Identifier: Apache-2.0
import UserSearch

/// The corrections that a search used instead of misspelled words.
///
/// ```swift
/// let page = try await index.search(SearchRequest("quartrely report"))
/// page.correction?.text  // "quarterly report"
/// ```
public struct SearchCorrection: Hashable, Sendable, Codable {
    /// The corrected text, which was searched for.
    public var text: String
    /// The ranges of the corrected words in ``text``, in UTF-8 bytes, in order.
    public var ranges: [Range<Int>]

    /// Creates a correction.
    public init(text: String, ranges: [Range<Int>]) {
        self.text = text
        self.ranges = ranges
    }

    /// Replaces words of a typed text; `nil` if a range is not within the text.
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

/// A typed word and its replacement in the search.
struct WordReplacement: Hashable, Sendable {
    /// The range in the typed text, in UTF-8 bytes.
    var range: Range<Int>
    /// The folded replacement, which consists of letters only.
    var word: String

    /// The largest number of replacements in one text.
    static let maximumCount = 8
}

extension String {
    /// Returns the text with words replaced; `nil` if the ranges are out of order or not in the
    /// text.
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
