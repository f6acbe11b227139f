// SPDX-License-Identifier: Apache-2.0

extension QueryExpression {
    /// Parses the text of a query.
    ///
    /// - Complexity: Linear in the length of the text; ``QueryLimits/maximumDepth`` bounds the
    ///   stack.
    /// - Throws: ``QuerySyntaxError`` for the first error. Never traps, for any text.
    public init(parsing text: String, limits: QueryLimits = .standard) throws(QuerySyntaxError) {
        guard text.utf8.count <= limits.maximumBytes else {
            throw QueryScanner("").error(.limitExceeded, expected: "at most \(limits.maximumBytes) bytes")
        }
        var parser = QueryParser(scanner: QueryScanner(text), limits: limits)
        self = try parser.query()
    }
}

/// A recursive descent parser for the grammar `query = or`, `or = and ("||" and)*`, `and = unary
/// ("&&" unary)*`, `unary = "!" unary | "(" or ")" | range | comparison`.
struct QueryParser {
    var scanner: QueryScanner
    let limits: QueryLimits
    private var depth = 0
    private var terms = 0

    init(scanner: QueryScanner, limits: QueryLimits) {
        self.scanner = scanner
        self.limits = limits
    }

    mutating func query() throws(QuerySyntaxError) -> QueryExpression {
        let expression = try disjunction()
        guard scanner.isAtEnd else {
            throw scanner.error(.unexpected, expected: "&&, || or the end of the query")
        }
        return expression
    }

    private mutating func disjunction() throws(QuerySyntaxError) -> QueryExpression {
        var operands = [try conjunction()]
        while scanner.skip("||") { operands.append(try conjunction()) }
        return operands.count == 1 ? operands[0] : .or(operands)
    }

    private mutating func conjunction() throws(QuerySyntaxError) -> QueryExpression {
        var operands = [try unary()]
        while scanner.skip("&&") { operands.append(try unary()) }
        return operands.count == 1 ? operands[0] : .and(operands)
    }

    /// Parses an operand and the surrounding space.
    private mutating func unary() throws(QuerySyntaxError) -> QueryExpression {
        scanner.skipSpace()
        let expression: QueryExpression
        switch scanner.current {
        case "!":
            try descend()
            scanner.advance()
            expression = .not(try unary())
            depth -= 1
        case "(":
            try descend()
            scanner.advance()
            expression = try disjunction()
            guard scanner.skip(")") else { throw scanner.error(.unexpected, expected: "&&, || or )") }
            depth -= 1
        default:
            expression = try predicate()
        }
        scanner.skipSpace()
        return expression
    }

    private mutating func descend() throws(QuerySyntaxError) {
        depth += 1
        guard depth <= limits.maximumDepth else {
            throw scanner.error(.limitExceeded, expected: "at most \(limits.maximumDepth) levels of parentheses and !")
        }
    }

    private mutating func predicate() throws(QuerySyntaxError) -> QueryExpression {
        terms += 1
        guard terms <= limits.maximumTerms else {
            throw scanner.error(.limitExceeded, expected: "at most \(limits.maximumTerms) comparisons")
        }
        let start = scanner.position
        let attribute = try self.attribute()
        let afterName = scanner.position
        scanner.skipSpace()
        if scanner.current == "(", case .named(let name) = attribute, isRangeFunction(name) {
            scanner.advance()
            return .range(try range())
        }
        if scanner.current == "(" {
            scanner.back(to: start)
            throw scanner.error(.unexpected, expected: "InRange( or an attribute")
        }
        guard let operation = comparisonOperator() else {
            // A name that is not followed by anything is most likely a value without an attribute.
            if scanner.isAtEnd { scanner.back(to: afterName) }
            throw scanner.error(.unexpected, expected: "an operator (== != < <= > >=)")
        }
        scanner.skipSpace()
        var options = try bracketedOptions()
        scanner.skipSpace()
        let valueStart = scanner.position
        let (value, more) = try self.value()
        options.formUnion(more)
        if operation.isOrdering, case .text(let pattern) = value, pattern.number == nil {
            throw scanner.error(
                .textHasNoOrder, expected: "a number or a date after an ordering operator", at: valueStart)
        }
        return .comparison(Comparison(attribute: attribute, operation: operation, value: value, options: options))
    }

    /// Returns `true` for the name of the range function, in upper or lower case. No attribute is
    /// followed by a parenthesis.
    private func isRangeFunction(_ name: String) -> Bool { name.lowercased() == "inrange" }

    mutating func attribute() throws(QuerySyntaxError) -> AttributeSelector {
        let start = scanner.position
        if scanner.skip("**") || scanner.skip("*") { return .anyAttribute }
        let name = scanner.take(while: AttributeNames.isNameScalar)
        guard !name.isEmpty else {
            throw scanner.error(.unexpected, expected: "an attribute, *, **, InRange(…), ! or (")
        }
        guard name.unicodeScalars.count <= AttributeNames.maximumLength else {
            let limit = "an attribute of at most \(AttributeNames.maximumLength) characters"
            throw scanner.error(.limitExceeded, expected: limit, at: start)
        }
        return .named(AttributeNames.propertyName(for: name))
    }

    private mutating func comparisonOperator() -> ComparisonOperator? {
        if scanner.skip("==") || scanner.skip("=") { return .equal }
        if scanner.skip("!=") { return .notEqual }
        if scanner.skip("<=") { return .lessOrEqual }
        if scanner.skip("<") { return .less }
        if scanner.skip(">=") { return .greaterOrEqual }
        if scanner.skip(">") { return .greater }
        return nil
    }

    private mutating func range() throws(QuerySyntaxError) -> RangePredicate {
        scanner.skipSpace()
        let attribute = try self.attribute()
        try separator(",")
        let minimum = try bound()
        try separator(",")
        let maximum = try bound()
        try separator(")")
        return RangePredicate(attribute: attribute, minimum: minimum, maximum: maximum)
    }

    private mutating func separator(_ sign: Unicode.Scalar) throws(QuerySyntaxError) {
        scanner.skipSpace()
        guard scanner.current == sign else { throw scanner.error(.unexpected, expected: "“\(sign)”") }
        scanner.advance()
        scanner.skipSpace()
    }

    private mutating func bound() throws(QuerySyntaxError) -> RangeBound {
        let start = scanner.position
        let (value, options) = try self.value()
        switch value {
        case .number(let number): return .number(number)
        case .time(let term): return .time(term)
        case .text(let pattern):
            guard let number = pattern.number, options.isEmpty else {
                throw scanner.error(.textHasNoOrder, expected: "a number or a date in InRange", at: start)
            }
            return .number(number)
        }
    }
}
