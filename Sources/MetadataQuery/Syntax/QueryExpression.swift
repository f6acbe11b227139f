// SPDX-License-Identifier: Apache-2.0

/// A parsed query: a Boolean expression over the attributes of one item.
///
/// The evaluator in this module and the query compiler of the index process this tree.
/// docs/QUERY-LANGUAGE.md defines the meaning of each node. A tree from
/// ``QueryExpression/init(parsing:limits:)`` is bounded in depth and size; a tree built by hand is
/// not.
public indirect enum QueryExpression: Hashable, Sendable {
    /// `attribute operator value`.
    case comparison(Comparison)
    /// `InRange(attribute,minimum,maximum)`; both ends belong to the range.
    case range(RangePredicate)
    /// `a && b && …`: at least two operands when parsed. Without operands it is true.
    case and([QueryExpression])
    /// `a || b || …`: at least two operands when parsed. Without operands it is false.
    case or([QueryExpression])
    /// `!a`: the exact negation, even for missing attributes.
    case not(QueryExpression)

    /// The attributes named in the query, by their property names or custom keys.
    public var attributeNames: Set<String> {
        switch self {
        case .comparison(let comparison): comparison.attribute.name.map { [$0] } ?? []
        case .range(let range): range.attribute.name.map { [$0] } ?? []
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.attributeNames) }
        case .not(let part): part.attributeNames
        }
    }
}

/// A comparison of an attribute with a value.
public struct Comparison: Hashable, Sendable {
    /// The attribute to compare.
    public var attribute: AttributeSelector
    /// The operator.
    public var operation: ComparisonOperator
    /// The value to compare with.
    public var value: QueryValue
    /// The options for comparing texts; no effect on numbers and dates.
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

    /// `true` for `attribute == "*"` and `attribute != "*"`, which test for presence or absence.
    public var isPresenceTest: Bool {
        guard case .text(let pattern) = value else { return false }
        return pattern.isAnyText && !operation.isOrdering
    }
}

/// `InRange(attribute,minimum,maximum)`.
public struct RangePredicate: Hashable, Sendable {
    /// The attribute to compare.
    public var attribute: AttributeSelector
    /// The smallest value in the range.
    public var minimum: RangeBound
    /// The largest value in the range.
    public var maximum: RangeBound

    /// Creates a range test from its parts.
    public init(attribute: AttributeSelector, minimum: RangeBound, maximum: RangeBound) {
        self.attribute = attribute
        self.minimum = minimum
        self.maximum = maximum
    }
}

/// A bound of a range.
public enum RangeBound: Hashable, Sendable {
    /// A number, or a date in seconds since 2001-01-01 00:00 UTC.
    case number(NumberLiteral)
    /// A `$time` term; its first instant is the bound.
    case time(TimeTerm)
}

/// The attribute or attributes that a predicate tests.
public enum AttributeSelector: Hashable, Sendable {
    /// A single attribute by its property name or custom key. `kMDItem…` names and Objective-C
    /// spellings are already translated (``AttributeNames/propertyName(for:)``).
    case named(String)
    /// `**` or `*`: all attributes that are searchable by default. At least one of them must match.
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
    /// `!=`: true if and only if `==` is false.
    case notEqual = "!="
    /// `<`
    case less = "<"
    /// `<=`
    case lessOrEqual = "<="
    /// `>`
    case greater = ">"
    /// `>=`
    case greaterOrEqual = ">="

    /// `true` if the operator compares order, which only numbers and dates have.
    public var isOrdering: Bool { self != .equal && self != .notEqual }
}

/// The modifiers of a text comparison.
public struct MatchOptions: OptionSet, Hashable, Sendable {
    /// The bits of the options.
    public let rawValue: UInt8
    /// Creates options from their bits; unknown bits are dropped.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 15 }

    /// `c`: ignores case.
    public static let caseInsensitive = MatchOptions(rawValue: 1)
    /// `d`: ignores diacritics.
    public static let diacriticInsensitive = MatchOptions(rawValue: 2)
    /// `w`: the value may occur anywhere between word boundaries. A change from lower case to upper
    /// case is a boundary.
    public static let wordBased = MatchOptions(rawValue: 4)
    /// `t`: the value is split into words, which may occur anywhere and in any order.
    public static let tokenized = MatchOptions(rawValue: 8)

    /// The letters of the modifiers and their options, in printing order.
    static let letters: [(letter: Unicode.Scalar, option: MatchOptions)] = [
        ("c", .caseInsensitive), ("w", .wordBased), ("d", .diacriticInsensitive), ("t", .tokenized),
    ]
}
