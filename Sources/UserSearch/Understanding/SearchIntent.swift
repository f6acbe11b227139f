// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// What a typed text asks for: words to find, and filters that were written in it.
///
/// ```swift
/// let intent = SearchIntent("report kind:pdf from:\"Anna Smith\" last week", clock: clock, languages: ["en-GB"])
/// intent.words.terms.map(\.text)   // ["report"]
/// intent.filters.map(\.sentence)   // ["of the kind pdf", "from Anna Smith", "dated from 9 November 2026 to …"]
/// intent.expression                // for the attribute index
/// ```
///
/// A filter is a name, a colon and a value without a space between: `from:anna`. A value with spaces stands in quotes; several
/// values behind commas are alternatives; a minus sign before the name excludes. A filter on dates also takes the words behind
/// it that belong to a date (`after:last week`). Filters are read nowhere inside of quotes. A name that is no filter's, a value
/// that the filter does not know and a colon without a value are text, with a hint where a filter was probably meant.
///
/// A date that counts from today is a filter without a name as well (``Filter/isImplied``), when it stands at the start or the
/// end of the text and something else is there: `photos yesterday`, `last week photos`, `notes from 2 days ago`. Such dates are
/// `today`, `yesterday`, `this`, `last` and `past` with a unit or a weekday, `last 7 days` and `2 days ago`. `from`, `since`,
/// `in` and `the` may stand before them.
///
/// Every text is accepted. Reading takes time linear in the first ``UserQuery/maximumBytes`` bytes.
public struct SearchIntent: Hashable, Sendable {
    /// One filter.
    public struct Filter: Hashable, Sendable {
        /// The condition on an item's attributes, with the negation; `nil` for a filter on the app (``apps``).
        public let expression: QueryExpression?
        /// The apps, any of which an item may be of: bundle identifiers or names to show, as typed. The caller knows which
        /// bundles these are. Empty for every other filter.
        public let apps: [String]
        /// Whether items that satisfy it are unwanted. Already part of ``expression``, not of ``apps``.
        public let isExcluded: Bool
        /// Whether it has no name: a date in words. Where nothing is found, the text without this filter is worth a try.
        public let isImplied: Bool
        /// Where it stands in the text, with the minus sign and quotes, in bytes of UTF-8.
        public let range: Range<Int>
        /// What it says in plain English, to follow “items”: `dated on or after 16 November 2026`.
        public let sentence: String
    }

    /// Why something that looks like a filter is read as text.
    public struct Hint: Hashable, Sendable {
        /// Where it stands in the text, in bytes of UTF-8.
        public let range: Range<Int>
        /// What to write instead, in one sentence.
        public let message: String
    }

    /// The text with spaces for the filters.
    public let text: String
    /// The words of that. Its ranges are ranges of the whole text.
    public let words: UserQuery
    /// The filters in the order of the text; an item has to satisfy all.
    public let filters: [Filter]
    /// What looks like a filter and is text.
    public let hints: [Hint]
    /// Whether something behind the limits was left out or read as text.
    public let isTruncated: Bool

    /// The most filters; those behind are text.
    public static let maximumFilters = 64
    /// The most values of one filter.
    public static let maximumValues = 16
    /// The most hints.
    public static let maximumHints = 16

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - clock: the present, the time zone and the first day of a week, by which words such as `today` become dates.
    ///   - languages: the user's, as BCP 47 tags or POSIX locales, the preferred first. They decide what `3/4/2026` is.
    public init(_ text: String, clock: QueryClock, languages: [String] = []) {
        var reader = IntentReader(text, dates: DatePhrase(clock: clock, languages: languages))
        reader.read()
        filters = reader.filters
        hints = reader.hints
        self.text = reader.remainder
        words = UserQuery(reader.remainder)
        isTruncated = reader.isTruncated || words.isTruncated
    }

    /// All conditions on attributes together, as one query within ``QueryLimits/standard``; `nil` without any.
    public var expression: QueryExpression? {
        let parts = filters.compactMap(\.expression)
        return parts.count > 1 ? .and(parts) : parts.first
    }
}
