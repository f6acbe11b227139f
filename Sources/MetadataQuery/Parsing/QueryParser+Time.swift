// SPDX-License-Identifier: Apache-2.0

extension QueryParser {
    /// Parses `$time.function`, `$time.function(amount)` or `$time.iso(text)`.
    mutating func timeTerm() throws(QuerySyntaxError) -> TimeTerm {
        let start = scanner.position
        guard scanner.skip("$time.") else {
            throw scanner.error(.unknownTimeFunction, expected: Self.knownFunctions)
        }
        let name = scanner.take { $0 == "_" || ("a"..."z").contains($0) || ("A"..."Z").contains($0) }
        if name == "iso" { return .iso(try isoArgument()) }
        guard let function = TimeFunction(rawValue: name) else {
            throw scanner.error(.unknownTimeFunction, expected: Self.knownFunctions, at: start)
        }
        guard scanner.current == "(" else {
            if let next = scanner.current, QueryScanner.isBareWord(next) {
                throw scanner.error(.unknownTimeFunction, expected: Self.knownFunctions, at: start)
            }
            return .relative(function, .none(for: function))
        }
        guard function.takesArgument else {
            throw scanner.error(.invalidTimeArgument, expected: "no argument after $time.\(name)")
        }
        scanner.advance()
        return .relative(function, try shift(for: function))
    }

    private static let knownFunctions: String =
        "$time." + TimeFunction.allCases.map(\.rawValue).joined(separator: ", $time.") + " or $time.iso(…)"

    /// Parses the argument and the closing parenthesis; `()` means no shift.
    private mutating func shift(for function: TimeFunction) throws(QuerySyntaxError) -> TimeShift {
        scanner.skipSpace()
        if scanner.skip(")") { return .none(for: function) }
        let start = scanner.position
        let sign = scanner.take { $0 == "+" || $0 == "-" }
        let digits = scanner.take { ("0"..."9").contains($0) }
        let suffix = scanner.take { ("a"..."z").contains($0) || ("A"..."Z").contains($0) }
        scanner.skipSpace()
        guard sign.utf8.count <= 1, !digits.isEmpty, scanner.current == ")" else {
            let expected = "a whole number with a unit (s m h d w M y) or without, and )"
            throw scanner.error(.invalidTimeArgument, expected: expected, at: start)
        }
        guard let unit = suffix.isEmpty ? function.defaultUnit : TimeUnit(rawValue: suffix) else {
            throw scanner.error(.invalidTimeArgument, expected: "one of the units s m h d w M y", at: start)
        }
        guard let amount = Int(sign + digits), let shift = TimeShift(amount, unit) else {
            let expected = "at most \(unit.maximumAmount)\(unit.rawValue)"
            throw scanner.error(.invalidTimeArgument, expected: expected, at: start)
        }
        scanner.advance()
        return shift
    }

    private mutating func isoArgument() throws(QuerySyntaxError) -> ISOMoment {
        guard scanner.skip("(") else { throw scanner.error(.unexpected, expected: "“(” after $time.iso") }
        scanner.skipSpace()
        let start = scanner.position
        let quote = scanner.current == "\"" || scanner.current == "'" ? scanner.current : nil
        if quote != nil { scanner.advance() }
        var text = scanner.take { $0 != quote && $0 != ")" && ($0.isASCII || $0 == "\u{2212}") }
        if let quote {
            guard scanner.current == quote else {
                throw scanner.error(.unterminatedText, expected: "a closing quote", at: start)
            }
            scanner.advance()
            scanner.skipSpace()
        } else {
            while text.last == " " { text.removeLast() }
        }
        guard scanner.skip(")") else { throw scanner.error(.unexpected, expected: "“)”") }
        guard let moment = ISOMoment(text) else {
            let expected = "a moment like 2024-05-01, 2024-05-01T12:30:00 or 2024-05-01T12:30:00+02:00"
            throw scanner.error(.invalidDate, expected: expected, at: start)
        }
        return moment
    }
}
