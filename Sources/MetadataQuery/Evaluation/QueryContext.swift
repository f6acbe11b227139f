// SPDX-License-Identifier: Apache-2.0

/// The inputs of a query other than the item. Passing in all of them makes evaluation a pure
/// function.
public struct QueryContext: Sendable {
    /// The current time for `$time` terms, fixed when the query starts.
    public var clock: QueryClock
    /// Returns `true` if the first type identifier equals the second or conforms to it; used for
    /// `contentTypeTree`.
    public var conforms: @Sendable (_ type: String, _ other: String) -> Bool
    /// Returns `true` if `**` and `*` cover the attribute in every item. An item may declare
    /// further attributes.
    public var isSearchableByDefault: @Sendable (_ attribute: String) -> Bool
    /// The number of scalars that are read at the start of each text. The rest cannot be found, and
    /// a longer text does not equal or end with any value.
    public var maximumTextLength: Int

    /// The default value of ``maximumTextLength``.
    public static let standardTextLength = 1 << 20

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - clock: The current time.
    ///   - conforms: Returns `true` if a type identifier conforms to another; the default compares
    ///     for equality.
    ///   - isSearchableByDefault: The attributes that `**` covers; the default is
    ///     ``AttributeNames/searchableByDefault``.
    ///   - maximumTextLength: The number of Unicode scalars to read from each text.
    public init(
        clock: QueryClock,
        conforms: @escaping @Sendable (_ type: String, _ other: String) -> Bool = { $0 == $1 },
        isSearchableByDefault: @escaping @Sendable (_ attribute: String) -> Bool = {
            AttributeNames.searchableByDefault.contains($0)
        },
        maximumTextLength: Int = QueryContext.standardTextLength
    ) {
        self.clock = clock
        self.conforms = conforms
        self.isSearchableByDefault = isSearchableByDefault
        self.maximumTextLength = Swift.max(0, maximumTextLength)
    }
}
