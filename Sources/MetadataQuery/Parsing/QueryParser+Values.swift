// SPDX-License-Identifier: Apache-2.0

extension QueryParser {
    /// Parses a value and the modifiers that follow it.
    mutating func value() throws(QuerySyntaxError) -> (QueryValue, MatchOptions) {
        switch scanner.current {
        case "\"", "'":
            let pattern = try quotedText()
            return (.text(pattern), try attachedOptions())
        case "$":
            return (.time(try timeTerm()), [])
        default:
            let value = try bareValue()
            return (value, detachedOptions())
        }
    }

    // MARK: Modifiers

    /// Parses `[cd]` between the operator and the value.
    mutating func bracketedOptions() throws(QuerySyntaxError) -> MatchOptions {
        guard scanner.skip("[") else { return [] }
        let options = optionLetters()
        guard scanner.skip("]") else { throw unknownModifier("one of the modifiers c d w t, or ]") }
        return options
    }

    /// Parses letters that directly follow the closing quote.
    private mutating func attachedOptions() throws(QuerySyntaxError) -> MatchOptions {
        let options = optionLetters()
        if let next = scanner.current, QueryScanner.isBareWord(next) || next == "\"" || next == "'" {
            throw unknownModifier("one of the modifiers c d w t, &&, || or the end")
        }
        return options
    }

    /// Parses a word of modifiers after an unquoted value and a space. They are accepted only where
    /// nothing else could follow.
    private mutating func detachedOptions() -> MatchOptions {
        let start = scanner.position
        scanner.skipSpace()
        if scanner.position > start {
            let options = optionLetters()
            let endsHere = scanner.current.map { !QueryScanner.isBareWord($0) } ?? true
            if !options.isEmpty, endsHere { return options }
        }
        scanner.back(to: start)
        return []
    }

    private mutating func optionLetters() -> MatchOptions {
        var options: MatchOptions = []
        while let scalar = scanner.current {
            guard let known = MatchOptions.letters.first(where: { $0.letter == scalar }) else { break }
            options.insert(known.option)
            scanner.advance()
        }
        return options
    }

    private func unknownModifier(_ expected: String) -> QuerySyntaxError {
        scanner.error(.unknownModifier, expected: expected)
    }

    // MARK: Texts and numbers

    private mutating func quotedText() throws(QuerySyntaxError) -> TextPattern {
        let start = scanner.position
        let quote = scanner.current
        scanner.advance()
        var builder = PatternBuilder(limit: limits.maximumValueLength)
        while let scalar = scanner.current, scalar != quote {
            try read(scalar, into: &builder, from: start)
        }
        guard scanner.current == quote else {
            throw scanner.error(.unterminatedText, expected: "a closing quote", at: start)
        }
        scanner.advance()
        return builder.pattern()
    }

    /// Parses a number or an unquoted word, with wildcards and escapes.
    private mutating func bareValue() throws(QuerySyntaxError) -> QueryValue {
        let start = scanner.position
        var builder = PatternBuilder(limit: limits.maximumValueLength)
        while let scalar = scanner.current, QueryScanner.isBareWord(scalar) {
            try read(scalar, into: &builder, from: start)
        }
        guard scanner.position > start else {
            throw scanner.error(.unexpected, expected: "a value: a quoted text, a number, $time or a word")
        }
        let pattern = builder.pattern()
        if !builder.hasEscapes, let number = pattern.number { return .number(number) }
        return .text(pattern)
    }

    private mutating func read(
        _ scalar: Unicode.Scalar, into builder: inout PatternBuilder, from start: Int
    ) throws(QuerySyntaxError) {
        scanner.advance()
        if scalar == "\\" {
            guard let escaped = scanner.current else {
                throw scanner.error(.unterminatedText, expected: "a character after the backslash")
            }
            scanner.advance()
            builder.literal(escaped)
            builder.hasEscapes = true
        } else {
            builder.add(scalar)
        }
        guard builder.count <= builder.limit else {
            let expected = "a value of at most \(builder.limit) characters"
            throw scanner.error(.limitExceeded, expected: expected, at: start)
        }
    }
}

/// Collects the parts of a pattern, so that long texts take linear time.
private struct PatternBuilder {
    let limit: Int
    var hasEscapes = false
    private(set) var count = 0
    private var elements: [TextPattern.Element] = []
    private var text = String.UnicodeScalarView()

    init(limit: Int) { self.limit = limit }

    mutating func literal(_ scalar: Unicode.Scalar) {
        text.append(scalar)
        count += 1
    }

    mutating func add(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "*": wildcard(.anyText)
        case "?": wildcard(.anyCharacter)
        default: literal(scalar)
        }
    }

    private mutating func wildcard(_ element: TextPattern.Element) {
        elements.append(.literal(String(text)))
        elements.append(element)
        text = String.UnicodeScalarView()
        count += 1
    }

    func pattern() -> TextPattern { TextPattern(elements + [.literal(String(text))]) }
}
