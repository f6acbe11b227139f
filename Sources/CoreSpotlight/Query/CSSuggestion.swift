// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import TextAnalysis

/// A text that may replace what is in a search field.
open class CSSuggestion: NSObject, NSCopying, NSSecureCoding {
    /// Where a suggestion comes from.
    public enum SuggestionKind: Int, Hashable, Sendable {
        /// From nowhere.
        case none = 0
        /// From the app.
        case custom = 1
        /// From the index: a completion of what was typed.
        case `default` = 2
    }

    /// Marks the part of a suggestion that was typed, in ``CSSuggestion/localizedAttributedSuggestion``. An addition for
    /// Linux: the attributed strings of Swift have no keys by name.
    public enum HighlightAttribute: AttributedStringKey {
        /// Always true.
        public typealias Value = Bool
        /// The raw value of `NSAttributedString.Key.suggestionHighlight`.
        public static let name = "CSSuggestionHighlightAttributeName"
    }

    /// The whole text.
    let text: String
    /// The parts that were typed, in order, apart from one another.
    private let typed: [Range<String.Index>]
    private let kind: SuggestionKind
    /// The place among the suggestions of a query, 0 for the likeliest.
    private let place: Int

    init(completing typedText: String, to text: String, place: Int) {
        self.text = text
        typed = Self.matches(of: typedText, in: text)
        kind = .default
        self.place = place
    }

    /// The text, with ``HighlightAttribute`` where it matches what was typed.
    ///
    /// - Note: Differs on Linux: the matched part carries ``HighlightAttribute``, since attributed strings of Swift
    ///   have no keys by name.
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

    /// The text, with `NSAttributedString.Key.suggestionHighlight` where it matches what was typed. An addition for Linux,
    /// where Foundation does not turn one kind of attributed string into the other.
    open var attributedSuggestion: NSAttributedString {
        let suggestion = NSMutableAttributedString(string: text)
        for range in typed {
            suggestion.addAttribute(.suggestionHighlight, value: NSNumber(value: true), range: NSRange(range, in: text))
        }
        return suggestion
    }

    /// Where the suggestion comes from; ``SuggestionKind/default`` for those of a query.
    open var suggestionKind: SuggestionKind { kind }

    /// Orders suggestions by their texts.
    open func compare(_ other: CSSuggestion) -> ComparisonResult { text.compare(other.text) }

    /// Orders suggestions of one query, the likelier first.
    open func compare(byRank other: CSSuggestion) -> ComparisonResult {
        place < other.place ? .orderedAscending : place > other.place ? .orderedDescending : .orderedSame
    }

    /// The whole typed text if the suggestion begins with it, else the typed words that begin one of its words.
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

    /// Suggestions never change, so the copy is the suggestion itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Suggestions are equal when text and kind are.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CSSuggestion else { return false }
        return text == other.text && kind == other.kind
    }

    /// Equal for equal suggestions.
    open override var hash: Int { text.hashValue }

    // MARK: Archiving

    /// Suggestions can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads a suggestion from an archive; `nil` if it holds none.
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

    /// Writes the suggestion to an archive.
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
    /// Marks the part of a suggestion that was typed.
    public static let suggestionHighlight = NSAttributedString.Key(CSSuggestion.HighlightAttribute.name)
}

extension String {
    /// Bytes of its UTF-8, counted from its beginning, as a range of it.
    fileprivate func range(ofBytes range: Range<Int>) -> Range<Index> {
        let lower = utf8.index(startIndex, offsetBy: range.lowerBound)
        return lower..<utf8.index(lower, offsetBy: range.count)
    }
}
