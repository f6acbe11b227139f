// SPDX-License-Identifier: Apache-2.0

/// The limits on a query's size. Parsing takes time linear in the number of bytes, and its stack
/// use is bounded by the depth.
public struct QueryLimits: Hashable, Sendable {
    /// The size of the longest query, in UTF-8 bytes.
    public var maximumBytes: Int
    /// The largest nesting depth of parentheses and `!`.
    public var maximumDepth: Int
    /// The largest number of comparisons and ranges.
    public var maximumTerms: Int
    /// The length of the longest value, in Unicode scalars without quotes and escapes. This bounds
    /// the cost of matching one text.
    public var maximumValueLength: Int

    /// Limits far above the queries that users and programs write, and low enough for a service to
    /// accept from any client.
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
