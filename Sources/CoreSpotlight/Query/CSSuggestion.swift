// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import TextAnalysis

/// A suggested text for a search field.
open class CSSuggestion: NSObject, NSCopying, NSSecureCoding {
    /// The origin of a suggestion.
    public enum SuggestionKind: Int, Hashable, Sendable {
        /// No origin.
        case none = 0
        /// A suggestion from the app.
        case custom = 1
        /// A suggestion from the index: a completion of the typed text.
        case `default` = 2
    }

    /// An attribute that marks the typed part of a suggestion in
    /// ``CSSuggestion/localizedAttributedSuggestion``. An addition for Linux, because attributed
    /// strings in Swift have no named keys.
    public enum HighlightAttribute: AttributedStringKey {
        /// The type of the value, which is always `true`.
        public typealias Value = Bool
        /// The raw value of `NSAttributedString.Key.suggestionHighlight`.
        public static let name = "CSSuggestionHighlightAttributeName"
    }

    /// The complete text.
    let text: String
    /// The typed ranges, in order and without overlap.
    private let typed: [Range<String.Index>]
    private let kind: SuggestionKind
    /// The rank among a query's suggestions, 0 for the best.
    private let place: Int

    init(completing typedText: String, to text: String, place: Int) {
        self.text = text
        typed = Self.matches(of: typedText, in: text)
        kind = .default
        self.place = place
    }

    /// The text with ``HighlightAttribute`` on the part that matches the typed text.
    ///
    /// - Note: Differs on Linux: the matched part carries ``HighlightAttribute``, since attributed
    ///   strings in Swift have no named keys.
    open var localizedAttributedSuggestion: AttributedString {
        var suggestion = AttributedString(text)
        for range in typed {
            guard let lower = AttributedString.Index(range.lowerBound, within: suggestion),
                let upper = AttributedString.Index(range.upperBound, within: suggestion)
            else { continue }
            suggestion[lower..<upper][HighlightAttribute.self] = true
        }
        return suggestion
    }

    /// The text with `NSAttributedString.Key.suggestionHighlight` on the part that matches the
    /// typed text. An addition for Linux, where Foundation does not convert between the two kinds
    /// of attributed strings.
    open var attributedSuggestion: NSAttributedString {
        let suggestion = NSMutableAttributedString(string: text)
        for range in typed {
            suggestion.addAttribute(.suggestionHighlight, value: NSNumber(value: true), range: NSRange(range, in: text))
        }
        return suggestion
    }

    /// The origin of the suggestion; ``SuggestionKind/default`` for a query's suggestions.
    open var suggestionKind: SuggestionKind { kind }

    /// Compares the texts of two suggestions.
    open func compare(_ other: CSSuggestion) -> ComparisonResult { text.compare(other.text) }

    /// Compares the ranks of two suggestions of one query. The better suggestion is ordered first.
    open func compare(byRank other: CSSuggestion) -> ComparisonResult {
        place < other.place ? .orderedAscending : place > other.place ? .orderedDescending : .orderedSame
    }

    /// Returns the range of the whole typed text if the suggestion begins with it. Otherwise,
    /// returns the ranges of typed words that match the beginnings of words in the suggestion.
    private static func matches(of typedText: String, in text: String) -> [Range<String.Index>] {
        let bytes = Array(text.utf8)[...]
        let whole = WordOccurrences([typedText]).ranges(in: bytes, stopsAtFirst: true)
        if let first = whole.first, let last = whole.last,
            TextAnalyzer.words(of: String(decoding: bytes[..<first.lowerBound], as: UTF8.self)).isEmpty
        {
            return [text.range(ofBytes: first.lowerBound..<last.upperBound)]
        }
        let words = WordOccurrences(typedText.split(whereSeparator: \.isWhitespace).map(String.init))
        return words.ranges(in: bytes).map { text.range(ofBytes: $0) }
    }

    /// Returns the suggestion itself, because suggestions are immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns `true` if text and kind are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CSSuggestion else { return false }
        return text == other.text && kind == other.kind
    }

    /// A hash value that is equal for equal suggestions.
    open override var hash: Int { text.hashValue }

    // MARK: Archiving

    /// A Boolean value that indicates that suggestions support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Decodes a suggestion; `nil` if the archive contains none.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: "text"),
            let text = coder.decodeObject(of: NSString.self, forKey: "text")?.substring(from: 0)
        else { return nil }
        self.text = text
        kind = SuggestionKind(rawValue: coder.decodeInteger(forKey: "kind")) ?? .none
        place = coder.decodeInteger(forKey: "place")
        typed =
            (coder.decodeObject(of: [NSArray.self, NSNumber.self], forKey: "typed") as? NSArray)
            .map { $0.compactMap { ($0 as? NSNumber)?.intValue } }
            .map { Self.ranges($0, in: text) } ?? []
    }

    /// Encodes the suggestion.
    open func encode(with coder: NSCoder) {
        coder.encode(NSString(string: text), forKey: "text")
        coder.encode(kind.rawValue, forKey: "kind")
        coder.encode(place, forKey: "place")
        let offsets = typed.map { NSRange($0, in: text) }.flatMap { [$0.location, $0.length] }
        coder.encode(NSArray(array: offsets.map { NSNumber(value: $0) }), forKey: "typed")
    }

    private static func ranges(_ offsets: [Int], in text: String) -> [Range<String.Index>] {
        let pairs = stride(from: 0, to: offsets.count - 1, by: 2)
        return pairs.compactMap { index -> Range<String.Index>? in
            let (start, count) = (offsets[index], offsets[index + 1])
            guard (0...text.utf16.count).contains(start), (0...text.utf16.count - start).contains(count) else {
                return nil
            }
            return Range(NSRange(location: start, length: count), in: text)
        }
    }
}

extension NSAttributedString.Key {
    /// The key of the attribute that marks the typed part of a suggestion.
    public static let suggestionHighlight = NSAttributedString.Key(CSSuggestion.HighlightAttribute.name)
}

extension String {
    /// Converts a range of UTF-8 offsets to a range of the string.
    fileprivate func range(ofBytes range: Range<Int>) -> Range<Index> {
        let lower = utf8.index(startIndex, offsetBy: range.lowerBound)
        return lower..<utf8.index(lower, offsetBy: range.count)
    }
}
