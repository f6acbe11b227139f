// SPDX-License-Identifier: Apache-2.0

extension BindingParser {
    /// Parses a comparison, or several comparisons joined by `and` or by `or`.
    mutating func condition() throws(BindingError) -> BoundCondition {
        var comparisons = [try comparison()]
        let isAny = scanner.isNext("or")
        while scanner.take(isAny ? "or" : "and") {
            guard comparisons.count < BindingLimits.parameters else {
                throw scanner.error("There are too many comparisons", "The limit is \(BindingLimits.parameters)")
            }
            comparisons.append(try comparison())
        }
        if scanner.isNext("or") || scanner.isNext("and") {
            throw scanner.error("“and” and “or” are mixed", "Use one of them")
        }
        return BoundCondition(comparisons: comparisons, isAny: isAny)
    }

    private mutating func comparison() throws(BindingError) -> BoundCondition.Comparison {
        scanner.skipSpace()
        let place = scanner.offset
        let (left, leftKind) = try value()
        guard let relation = BoundCondition.Relation.allCases.first(where: { scanner.take($0.rawValue) }) else {
            throw scanner.expected("==, !=, > or >= (swap the two values for less)")
        }
        let (right, rightKind) = try value()
        let numbers: Set<ValueKind> = [.integer, .float]
        let isOrder = relation == .greater || relation == .atLeast
        let fits =
            numbers.contains(leftKind) && numbers.contains(rightKind)
            || !isOrder && leftKind == .text && [.text, .null].contains(rightKind)
            || !isOrder && leftKind == .pointer && rightKind == .null
        guard fits else {
            throw scanner.error(
                at: place,
                "\(leftKind.rawValue.capitalizedFirst) cannot be compared with \(rightKind.rawValue) by \(relation.rawValue)",
                "Compare two numbers, or with == and != two texts, or a text or pointer with null")
        }
        return BoundCondition.Comparison(left: left, relation: relation, right: right)
    }
}
