// SPDX-License-Identifier: Apache-2.0

/// How large a query may be. Parsing takes time linear in the bytes read, and never more stack than the depth allows.
public struct QueryLimits: Hashable, Sendable {
    /// The longest query, in bytes of UTF-8.
    public var maximumBytes: Int
    /// How deep parentheses and `!` may nest.
    public var maximumDepth: Int
    /// The most comparisons and ranges in one query.
    public var maximumTerms: Int
    /// The longest value, in Unicode scalars without quotes and escapes; bounds the cost of matching one text.
    public var maximumValueLength: Int

    /// Limits far above what people and programs write, and low enough for a service to accept from anyone.
    public static let standard = QueryLimits(
        maximumBytes: 65_536, maximumDepth: 64, maximumTerms: 1_024, maximumValueLength: 4_096)

    /// Creates limits.
    public init(maximumBytes: Int, maximumDepth: Int, maximumTerms: Int, maximumValueLength: Int) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
        self.maximumTerms = maximumTerms
        self.maximumValueLength = maximumValueLength
    }
}
