// SPDX-License-Identifier: Apache-2.0

/// What a query needs to know besides the item: all of it handed in, so that evaluation is a function of its inputs.
public struct QueryContext: Sendable {
    /// The present, for `$time` terms; fixed when the query starts.
    public var clock: QueryClock
    /// Whether the first type identifier is the second one or a kind of it; asked for `contentTypeTree`.
    public var conforms: @Sendable (_ type: String, _ other: String) -> Bool
    /// Whether `**` and `*` look at the attribute of this name in every item; an item may name more of its own.
    public var isSearchableByDefault: @Sendable (_ attribute: String) -> Bool
    /// How many scalars at the start of one text are looked at. What lies behind is not found, and a longer text equals
    /// nothing and ends with nothing.
    public var maximumTextLength: Int

    /// The standard for ``maximumTextLength``.
    public static let standardTextLength = 1 << 20

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - clock: the present.
    ///   - conforms: conformance of type identifiers; the standard compares for equality.
    ///   - isSearchableByDefault: the standard is ``AttributeNames/searchableByDefault``.
    ///   - maximumTextLength: in Unicode scalars.
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
