// SPDX-License-Identifier: Apache-2.0

extension QueryNumber {
    /// Returns the order of two numbers by value, exact even between integers and doubles; `nil`
    /// for NaN, which has no order.
    func compared(to other: QueryNumber) -> ComparisonResult? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): .init(left, right)
        case (.double(let left), .double(let right)): .init(left, right)
        case (.integer(let left), .double(let right)): Self.compare(left, right)
        case (.double(let left), .integer(let right)): Self.compare(right, left)?.reversed
        }
    }

    private static func compare(_ integer: Int64, _ double: Double) -> ComparisonResult? {
        if double.isNaN { return nil }
        if double >= 0x1p63 { return .less }
        if double < -0x1p63 { return .greater }
        // The integer part fits in 64 bits; if the integers are equal, the fraction decides.
        let whole = Int64(double)
        if integer != whole { return integer < whole ? .less : .greater }
        return ComparisonResult(Double(whole), double)
    }

    enum ComparisonResult {
        case less, equal, greater

        init<T: Comparable>(_ left: T, _ right: T) where T: FixedWidthInteger {
            self = left < right ? .less : left == right ? .equal : .greater
        }

        init?(_ left: Double, _ right: Double) {
            if left.isNaN || right.isNaN { return nil }
            self = left < right ? .less : left == right ? .equal : .greater
        }

        var reversed: ComparisonResult {
            switch self {
            case .less: .greater
            case .equal: .equal
            case .greater: .less
            }
        }

        func satisfies(_ operation: ComparisonOperator) -> Bool {
            switch operation {
            case .equal: self == .equal
            case .notEqual: self != .equal
            case .less: self == .less
            case .lessOrEqual: self != .greater
            case .greater: self == .greater
            case .greaterOrEqual: self != .less
            }
        }
    }
}
