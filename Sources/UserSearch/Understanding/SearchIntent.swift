// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// The interpretation of a typed text: words to find, and filters.
///
/// ```swift
/// let intent = SearchIntent("report kind:pdf from:\"Anna Smith\" last week", clock: clock, languages: ["en-GB"])
/// intent.words.terms.map(\.text)   // ["report"]
/// intent.filters.map(\.sentence)   // ["of the kind pdf", "from Anna Smith", "dated from 9 November 2026 to …"]
/// intent.expression                // for the attribute index
/// ```
///
/// A filter is a name, a colon and a value, without a space between: `from:anna`. A value with
/// spaces must be quoted; several values separated by commas are alternatives; a minus sign before
/// the name excludes. A filter on dates includes the following words that belong to the date
/// (`after:last week`).
///
/// Filters inside quotes are not interpreted. An unknown name, an unknown value, and a colon
/// without a value remain text. If a filter was probably meant, there is a hint.
///
/// A relative date without a name is a filter (``Filter/isImplied``) at the start or the end of a
/// text with other words. Examples are `photos yesterday`, `last week photos`, `notes from 2 days
/// ago`. Such dates are `today`, `yesterday`, `this`, `last` and `past` with a unit or a weekday,
/// `last 7 days` and `2 days ago`. `from`, `since`, `in` and `the` may precede them.
///
/// Every text is valid. Reading takes time linear in the first ``UserQuery/maximumBytes`` bytes.
public struct SearchIntent: Hashable, Sendable {
    /// A filter in the text.
    public struct Filter: Hashable, Sendable {
        /// The condition on an item's attributes, with the negation; `nil` for a filter on the app
        /// (``apps``).
        public let expression: QueryExpression?
        /// The alternative apps of an item: bundle identifiers or display names, as typed. The
        /// caller maps them to bundles. Empty for every other filter.
        public let apps: [String]
        /// `true` if the filter excludes items. Already part of ``expression``, not of ``apps``.
        public let isExcluded: Bool
        /// `true` if the filter is a date in words without a name. If nothing is found, search
        /// again without this filter.
        public let isImplied: Bool
        /// The range in the text, including the minus sign and quotes, in UTF-8 bytes.
        public let range: Range<Int>
        /// The filter in plain English, to follow “items”: `dated on or after 16 November 2026`.
        public let sentence: String
    }

    /// An explanation for text that looks like a filter.
    public struct Hint: Hashable, Sendable {
        /// The range in the text, in UTF-8 bytes.
        public let range: Range<Int>
        /// The advice, in one sentence.
        public let message: String
    }

    /// The text in which spaces replace the filters.
    public let text: String
    /// The words of ``text``. Their ranges are ranges of the whole text.
    public let words: UserQuery
    /// The filters in the order of the text; an item has to satisfy all.
    public let filters: [Filter]
    /// The hints for text that looks like a filter.
    public let hints: [Hint]
    /// `true` if a limit caused something to be omitted or read as text.
    public let isTruncated: Bool

    /// The largest number of filters; further filters are text.
    public static let maximumFilters = 64
    /// The largest number of values of one filter.
    public static let maximumValues = 16
    /// The largest number of hints.
    public static let maximumHints = 16

    /// Interprets a text.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - clock: The present, the time zone and the first weekday, which determine the dates of
    ///     words such as `today`.
    ///   - languages: The user's languages as BCP 47 tags or POSIX locales, the preferred first.
    ///     They decide the reading of `3/4/2026`.
    public init(_ text: String, clock: QueryClock, languages: [String] = []) {
        var reader = IntentReader(text, dates: DatePhrase(clock: clock, languages: languages))
        reader.read()
        filters = reader.filters
        hints = reader.hints
        self.text = reader.remainder
        words = UserQuery(reader.remainder)
        isTruncated = reader.isTruncated || words.isTruncated
    }

    /// The conjunction of all conditions on attributes, within ``QueryLimits/standard``; `nil` if
    /// there are none.
    public var expression: QueryExpression? {
        let parts = filters.compactMap(\.expression)
        return parts.count > 1 ? .and(parts) : parts.first
    }
}
