// SPDX-License-Identifier: Apache-2.0

// The printed text is the canonical form of a query: equal trees have equal texts, and parsing the
// text yields the tree again. This requires that every `and` and `or` has at least two operands,
// and that ordering operators precede numbers and dates, as in all parsed trees. No other text of
// the same tree is nested less deeply.

extension QueryExpression: CustomStringConvertible {
    /// The query as text, in canonical form.
    public var description: String {
        switch self {
        case .comparison(let comparison): return comparison.description
        case .range(let range): return range.description
        case .not(let operand): return "!" + operand.asOperand
        case .and(let operands):
            if operands.isEmpty { return #"(** == "*" || ** != "*")"# }
            return operands.map { operands.count == 1 ? $0.description : $0.asOperand }.joined(separator: " && ")
        case .or(let operands):
            if operands.isEmpty { return #"(** == "*" && ** != "*")"# }
            // `&&` binds tighter, so its lists need no parentheses here.
            return operands.map(\.asAlternative).joined(separator: " || ")
        }
    }

    private var asAlternative: String {
        if case .and(let operands) = self, operands.count > 1 { return description }
        return asOperand
    }

    /// The operand, in parentheses if it is a list, so that parsing restores the grouping.
    private var asOperand: String {
        switch self {
        case .comparison, .range, .not: description
        case .and, .or: "(" + description + ")"
        }
    }
}

extension Comparison: CustomStringConvertible {
    /// The comparison as text.
    public var description: String {
        let letters = MatchOptions.letters.filter { options.contains($0.option) }.map { Character($0.letter) }
        switch value {
        case .text(let pattern):
            return "\(attribute) \(operation.rawValue) \"\(pattern)\"" + String(letters)
        // Modifiers of a number are significant if the attribute is a text. Only the bracket form
        // can express them.
        case .number(let number):
            let bracket = letters.isEmpty ? "" : "[" + String(letters) + "]"
            return "\(attribute) \(operation.rawValue)\(bracket) \(number.spelling)"
        case .time(let term):
            let bracket = letters.isEmpty ? "" : "[" + String(letters) + "]"
            return "\(attribute) \(operation.rawValue)\(bracket) \(term)"
        }
    }
}

extension RangePredicate: CustomStringConvertible {
    /// The range test as text.
    public var description: String { "InRange(\(attribute), \(minimum), \(maximum))" }
}

extension RangeBound: CustomStringConvertible {
    /// The bound as text.
    public var description: String {
        switch self {
        case .number(let number): number.spelling
        case .time(let term): term.description
        }
    }
}

extension AttributeSelector: CustomStringConvertible {
    /// The name, or `**`.
    public var description: String {
        switch self {
        case .named(let name): name
        case .anyAttribute: "**"
        }
    }
}

extension TextPattern: CustomStringConvertible {
    /// The pattern with escapes, without quotes.
    public var description: String {
        var text = String.UnicodeScalarView()
        for element in elements {
            switch element {
            case .anyText: text.append("*")
            case .anyCharacter: text.append("?")
            case .literal(let literal):
                for scalar in literal.unicodeScalars {
                    if scalar == "\\" || scalar == "\"" || scalar == "*" || scalar == "?" { text.append("\\") }
                    text.append(scalar)
                }
            }
        }
        return String(text)
    }

    /// Returns the text with all characters escaped that have a special meaning within quotes. Use
    /// it to build queries from user input.
    public static func escaped(_ text: String) -> String { TextPattern(literal: text).description }
}

extension TimeTerm: CustomStringConvertible {
    /// The term as text.
    public var description: String {
        switch self {
        case .iso(let moment): return "$time.iso(\(moment.spelling))"
        case .relative(let function, let shift):
            if shift == .none(for: function) { return "$time.\(function.rawValue)" }
            let suffix = shift.unit == function.defaultUnit ? "" : shift.unit.rawValue
            return "$time.\(function.rawValue)(\(shift.amount)\(suffix))"
        }
    }
}
