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
/// A filter is a name, a colon and a value, without spaces in between: `from:anna`. A value with
/// spaces must be quoted; several values separated by commas are alternatives; a minus sign before
/// the name excludes matching items. A date filter includes the following words that belong to the
/// date (`after:last week`).
///
/// Filters inside quotes are not interpreted. If the name or the value is unknown, or the value is
/// missing, the filter is treated as text. If a filter was probably intended, a hint is added.
///
/// A relative date without a filter name is treated as a filter (``Filter/isImplied``) at the start
/// or the end of a text that contains other words. Examples are `photos yesterday`, `last week
/// photos`, `notes from 2 days ago`. Such dates are `today`, `yesterday`, `this`, `last` and `past`
/// with a unit or a weekday, `last 7 days` and `2 days ago`. `from`, `since`, `in` and `the` may
/// precede them.
///
/// Every text is valid. The time is linear in the first ``UserQuery/maximumBytes`` bytes.
public struct SearchIntent: Hashable, Sendable {
    /// A filter in the text.
    public struct Filter: Hashable, Sendable {
        /// The condition on an item's attributes, including the negation; `nil` for an app filter
        /// (``apps``).
        public let expression: QueryExpression?
        /// The alternative apps: bundle identifiers or display names, as typed. The caller maps
        /// them to bundles. Empty for all other filters.
        public let apps: [String]
        /// `true` if the filter excludes items. ``expression`` already includes the negation;
        /// ``apps`` does not.
        public let isExcluded: Bool
        /// `true` if the filter is a date phrase without a filter name. If nothing is found, search
        /// again with the phrase as words (`readsBareDates: false`); other filters still apply.
        public let isImplied: Bool
        /// The range in the text, including the minus sign and quotes, in UTF-8 bytes.
        public let range: Range<Int>
        /// The filter in plain English, phrased to follow “items”: `dated on or after 16 November
        /// 2026`.
        public let sentence: String
    }

    /// An explanation for text that looks like a filter.
    public struct Hint: Hashable, Sendable {
        /// The range in the text, in UTF-8 bytes.
        public let range: Range<Int>
        /// The advice, in one sentence.
        public let message: String
    }

    /// The text with filters replaced by spaces.
    public let text: String
    /// The words of ``text``. Their ranges also apply to the original text.
    public let words: UserQuery
    /// The filters, in text order; an item has to satisfy all of them.
    public let filters: [Filter]
    /// The hints for text that looks like a filter.
    public let hints: [Hint]
    /// `true` if a limit caused something to be omitted or to be treated as text.
    public let isTruncated: Bool

    /// The largest number of filters; further filters are treated as text.
    public static let maximumFilters = 64
    /// The largest number of values of one filter.
    public static let maximumValues = 16
    /// The largest number of hints.
    public static let maximumHints = 16

    /// Interprets a text.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - clock: The current time, the time zone and the first weekday, which determine the dates
    ///     denoted by words such as `today`.
    ///   - languages: The user's languages as BCP 47 tags or POSIX locales, preferred first. They
    ///     determine how `3/4/2026` is interpreted.
    ///   - readsBareDates: `false` to treat dates without a filter name as words.
    public init(_ text: String, clock: QueryClock, languages: [String] = [], readsBareDates: Bool = true) {
        var reader = IntentReader(text, dates: DatePhrase(clock: clock, languages: languages))
        reader.read(bareDates: readsBareDates)
        filters = reader.filters
        hints = reader.hints
        self.text = reader.remainder
        words = UserQuery(reader.remainder)
        isTruncated = reader.isTruncated || words.isTruncated
    }

    /// The conjunction of all attribute conditions, within ``QueryLimits/standard``; `nil` if there
    /// are none.
    public var expression: QueryExpression? {
        let parts = filters.compactMap(\.expression)
        return parts.count > 1 ? .and(parts) : parts.first
    }
}
