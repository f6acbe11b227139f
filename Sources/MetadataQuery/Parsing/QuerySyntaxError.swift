// SPDX-License-Identifier: Apache-2.0

/// The reason why a text is not a valid query, and its position.
public struct QuerySyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Reason: Hashable, Sendable {
        /// An unexpected token.
        case unexpected
        /// A quote is not closed.
        case unterminatedText
        /// A modifier is not one of `c d w t`.
        case unknownModifier
        /// There is no such `$time` function.
        case unknownTimeFunction
        /// The argument of a `$time` function is not a number with a known unit, is too large, or
        /// is not allowed.
        case invalidTimeArgument
        /// The argument of `$time.iso` is not a date.
        case invalidDate
        /// An ordering operator or `InRange` is used with a text.
        case textHasNoOrder
        /// A limit of ``QueryLimits`` is exceeded.
        case limitExceeded
    }

    /// A position in the query.
    public struct Position: Hashable, Sendable {
        /// The number of UTF-8 bytes that precede the position.
        public let utf8Offset: Int
        /// The line, counted from 1; lines end with a line feed.
        public let line: Int
        /// The column in the line, counted in Unicode scalars from 1.
        public let column: Int
    }

    /// The kind of error.
    public let reason: Reason
    /// The start of the error.
    public let position: Position
    /// The text at the position, shortened. It is part of the query, so do not log it.
    public let found: String
    /// The text that could be there instead.
    public let expected: String

    /// The error in one sentence, which quotes the query.
    public var description: String {
        "Line \(position.line), column \(position.column): found \(found), expected \(expected)."
    }
}
