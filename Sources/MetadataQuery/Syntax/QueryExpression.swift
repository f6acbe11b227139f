// SPDX-License-Identifier: Apache-2.0

/// A parsed query: a truth-valued expression over the attributes of one item.
///
/// This is the tree that every reader of queries works on: the evaluator of this module and the compiler of the index.
/// What each node means is stated in docs/QUERY-LANGUAGE.md. A tree that came from ``QueryExpression/init(parsing:limits:)``
/// is bounded in depth and size; a tree built by hand is as deep as its maker made it.
public indirect enum QueryExpression: Hashable, Sendable {
    /// `attribute operator value`.
    case comparison(Comparison)
    /// `InRange(attribute,minimum,maximum)`; both ends belong to the range.
    case range(RangePredicate)
    /// `a && b && …`: at least two operands when parsed. Without operands it is true.
    case and([QueryExpression])
    /// `a || b || …`: at least two operands when parsed. Without operands it is false.
    case or([QueryExpression])
    /// `!a`: exactly the negation, also for missing attributes.
    case not(QueryExpression)

    /// The attributes that are named in it, by their property names or custom keys.
    public var attributeNames: Set<String> {
        switch self {
        case .comparison(let comparison): comparison.attribute.name.map { [$0] } ?? []
        case .range(let range): range.attribute.name.map { [$0] } ?? []
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.attributeNames) }
        case .not(let part): part.attributeNames
        }
    }
}

/// One comparison of an attribute with a value.
public struct Comparison: Hashable, Sendable {
    /// What is compared.
    public var attribute: AttributeSelector
    /// How it is compared.
    public var operation: ComparisonOperator
    /// What it is compared with.
    public var value: QueryValue
    /// How texts are compared; no effect on numbers and dates.
    public var options: MatchOptions

    /// Creates a comparison from its parts.
    public init(
        attribute: AttributeSelector, operation: ComparisonOperator, value: QueryValue, options: MatchOptions = []
    ) {
        self.attribute = attribute
        self.operation = operation
        self.value = value
        self.options = options
    }

    /// Whether this is `attribute == "*"` or `attribute != "*"`: a test of presence or absence.
    public var isPresenceTest: Bool {
        guard case .text(let pattern) = value else { return false }
        return pattern.isAnyText && !operation.isOrdering
    }
}

/// `InRange(attribute,minimum,maximum)`.
public struct RangePredicate: Hashable, Sendable {
    /// What is compared.
    public var attribute: AttributeSelector
    /// The least value that is in the range.
    public var minimum: RangeBound
    /// The greatest value that is in the range.
    public var maximum: RangeBound

    /// Creates a range test from its parts.
    public init(attribute: AttributeSelector, minimum: RangeBound, maximum: RangeBound) {
        self.attribute = attribute
        self.minimum = minimum
        self.maximum = maximum
    }
}

/// One end of a range.
public enum RangeBound: Hashable, Sendable {
    /// A number, or a date in seconds since 2001-01-01 00:00 UTC.
    case number(NumberLiteral)
    /// A `$time` term; its first instant is the bound.
    case time(TimeTerm)
}

/// What a predicate looks at.
public enum AttributeSelector: Hashable, Sendable {
    /// One attribute by its property name or custom key. `kMDItem…` names and the Objective-C spellings are already
    /// translated (``AttributeNames/propertyName(for:)``).
    case named(String)
    /// `**` or `*`: any attribute that is searchable by default; one that matches is enough.
    case anyAttribute

    fileprivate var name: String? {
        switch self {
        case .named(let name): name
        case .anyAttribute: nil
        }
    }
}

/// The operator of a comparison.
public enum ComparisonOperator: String, Hashable, Sendable, CaseIterable {
    /// `==`, also written `=`.
    case equal = "=="
    /// `!=`: true exactly when `==` is false.
    case notEqual = "!="
    /// `<`
    case less = "<"
    /// `<=`
    case lessOrEqual = "<="
    /// `>`
    case greater = ">"
    /// `>=`
    case greaterOrEqual = ">="

    /// Whether the operator asks for an order, which only numbers and dates have.
    public var isOrdering: Bool { self != .equal && self != .notEqual }
}

/// The modifiers of a comparison of texts.
public struct MatchOptions: OptionSet, Hashable, Sendable {
    /// One bit for each option.
    public let rawValue: UInt8
    /// Creates options from their bits; unknown bits are dropped.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 15 }

    /// `c`: case does not count.
    public static let caseInsensitive = MatchOptions(rawValue: 1)
    /// `d`: diacritics do not count.
    public static let diacriticInsensitive = MatchOptions(rawValue: 2)
    /// `w`: the value may stand anywhere between word boundaries, which a change from lower to upper case is too.
    public static let wordBased = MatchOptions(rawValue: 4)
    /// `t`: the value is divided into words, which may stand anywhere and in any order.
    public static let tokenized = MatchOptions(rawValue: 8)

    /// The letters of the modifiers and what they stand for, in the order in which they are printed.
    static let letters: [(letter: Unicode.Scalar, option: MatchOptions)] = [
        ("c", .caseInsensitive), ("w", .wordBased), ("d", .diacriticInsensitive), ("t", .tokenized),
    ]
}
