// SPDX-License-Identifier: Apache-2.0

/// The value to the right of an operator.
public enum QueryValue: Hashable, Sendable {
    /// A text with its wildcards, either quoted or a single word.
    case text(TextPattern)
    /// An unquoted number; for a date, seconds since 2001-01-01 00:00 UTC.
    case number(NumberLiteral)
    /// A `$time` term.
    case time(TimeTerm)
}

/// A number in its original spelling.
///
/// The spelling is preserved because an unquoted number is also compared with texts (`postalCode ==
/// 0150`).
public struct NumberLiteral: Hashable, Sendable {
    /// The digits as written, with sign, fraction and exponent.
    public let spelling: String
    /// The numeric value.
    public let value: QueryNumber

    /// Parses a decimal number: sign, digits, fraction, exponent. `nil` for anything else, and for
    /// values that are not finite.
    public init?(_ spelling: String) {
        guard let isWhole = Self.isWholeNumber(spelling.utf8) else { return nil }
        if isWhole, let integer = Int64(spelling) {
            value = .integer(integer)
        } else if let double = Double(spelling), double.isFinite {
            value = .double(double)
        } else {
            return nil
        }
        self.spelling = spelling
    }

    /// Creates an integer.
    public init(_ integer: Int64) {
        spelling = String(integer)
        value = .integer(integer)
    }

    /// Returns `true` if a number has neither a fraction nor an exponent; `nil` if the bytes are
    /// not a number.
    private static func isWholeNumber(_ bytes: String.UTF8View) -> Bool? {
        var rest = bytes[...]
        func digits() -> Int {
            let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        func skip(_ choices: String) -> Bool {
            guard let first = rest.first, choices.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = skip("+-")
        var count = digits()
        var isWhole = true
        if skip(".") {
            isWhole = false
            count += digits()
        }
        guard count > 0 else { return nil }
        if skip("eE") {
            isWhole = false
            _ = skip("+-")
            guard digits() > 0 else { return nil }
        }
        return rest.isEmpty ? isWhole : nil
    }
}

/// A number in a query or an item. All 64 bits of integers are exact.
public enum QueryNumber: Hashable, Sendable {
    /// An integer.
    case integer(Int64)
    /// Any other number.
    case double(Double)
}
