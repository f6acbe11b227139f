// SPDX-License-Identifier: Apache-2.0

/// Why a text is not a query, and where.
public struct QuerySyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of fault it is.
    public enum Reason: Hashable, Sendable {
        /// Something else should stand here.
        case unexpected
        /// A quote has no partner.
        case unterminatedText
        /// A modifier is none of `c d w t`.
        case unknownModifier
        /// There is no such `$time` function.
        case unknownTimeFunction
        /// The argument of a `$time` function is not a number with a known unit, or too large, or not allowed.
        case invalidTimeArgument
        /// The argument of `$time.iso` is no moment.
        case invalidDate
        /// An ordering operator or `InRange` stands before a text.
        case textHasNoOrder
        /// A limit of ``QueryLimits`` is exceeded.
        case limitExceeded
    }

    /// A place in the query.
    public struct Position: Hashable, Sendable {
        /// Bytes of UTF-8 before the place.
        public let utf8Offset: Int
        /// The line, counted from 1; lines end with a line feed.
        public let line: Int
        /// The Unicode scalar in the line, counted from 1.
        public let column: Int
    }

    /// What kind of fault it is.
    public let reason: Reason
    /// Where the fault begins.
    public let position: Position
    /// What stands there, shortened; part of the query, so not for logs.
    public let found: String
    /// What could stand there instead.
    public let expected: String

    /// The error in one sentence, with the words of the query.
    public var description: String {
        "Line \(position.line), column \(position.column): found \(found), expected \(expected)."
    }
}
