// SPDX-License-Identifier: Apache-2.0

extension BindingParser {
    mutating func value(_ wanted: ValueKind, _ what: String) throws(BindingError) -> BoundValue {
        scanner.skipSpace()
        let place = scanner.offset
        let (value, kind) = try value()
        guard kind.fits(wanted) else {
            throw scanner.error(
                at: place, "\(what.capitalizedFirst) is \(kind.rawValue)", "Expected \(wanted.rawValue)")
        }
        return value
    }

    mutating func value() throws(BindingError) -> (BoundValue, ValueKind) {
        try operation(of: [.plus, .minus]) { (parser) throws(BindingError) in
            try parser.operation(of: [.times, .divided]) { (parser) throws(BindingError) in try parser.simpleValue() }
        }
    }

    private mutating func operation(
        of operators: [BoundValue.Operator],
        _ operand: (inout BindingParser) throws(BindingError) -> (BoundValue, ValueKind)
    ) throws(BindingError) -> (BoundValue, ValueKind) {
        scanner.skipSpace()
        var place = scanner.offset
        var (left, kind) = try operand(&self)
        var count = 0
        while let sign = operators.first(where: { scanner.isNext($0.rawValue) && !scanner.isNext("->") }) {
            try check(kind, at: place, of: sign)
            _ = scanner.take(sign.rawValue)
            scanner.skipSpace()
            place = scanner.offset
            let (right, rightKind) = try operand(&self)
            try check(rightKind, at: place, of: sign)
            count += 1
            guard count < BindingLimits.parameters else {
                throw scanner.error(
                    "There are too many operations", "The limit is \(BindingLimits.parameters)")
            }
            (left, kind) = (.arithmetic(sign, left, right), .integer)
        }
        return (left, kind)
    }

    private func check(_ kind: ValueKind, at place: Int, of sign: BoundValue.Operator) throws(BindingError) {
        guard kind != .integer else { return }
        throw scanner.error(
            at: place, "“\(sign.rawValue)” cannot be used with \(kind.rawValue)", "Use it with whole numbers"
        )
    }

    private mutating func simpleValue() throws(BindingError) -> (BoundValue, ValueKind) {
        if let number = try scanner.number() {
            if case .float = number { return (number, .float) }
            return (number, .integer)
        }
        if let text = try scanner.literal() { return (.text(text), .text) }
        if scanner.take("(") {
            let inner = try nested { (parser) throws(BindingError) in try parser.value() }
            try scanner.require(")")
            return inner
        }
        if scanner.isNext("[") { return (.texts(try list()), .texts) }
        if scanner.take("null") { return (.null, .null) }
        scanner.skipSpace()
        let place = scanner.offset
        let name = try scanner.dottedWord("a value")
        if scanner.take("(") {
            let inner = try nested { (parser) throws(BindingError) in try parser.application(of: name, at: place) }
            try scanner.require(")")
            return inner
        }
        if let source = BoundValue.Source(rawValue: name) { return (.source(source), try kind(of: source, at: place)) }
        let entry = try scope.use(name, at: place, in: scanner)
        guard scanner.isNext("[") else { return (.name(name), entry.kind) }
        guard entry.isBuffer else {
            throw scanner.error("“\(name)” is not a buffer", "Use [ ] with a buffer, to take its beginning")
        }
        _ = scanner.take("[")
        let count = try nested { (parser) throws(BindingError) in try parser.value(.integer, "the length") }
        try scanner.require("]")
        return (.slice(name, count: count), .bytes)
    }

    /// Parses the contents of one nesting level.
    mutating func nested<Value>(
        _ body: (inout BindingParser) throws(BindingError) -> Value
    ) throws(BindingError) -> Value {
        guard depth < BindingLimits.depth else {
            throw scanner.error("The value is nested too deeply", "The limit is \(BindingLimits.depth) levels")
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func list() throws(BindingError) -> [String] {
        try scanner.require("[")
        var texts: [String] = []
        repeat {
            guard let text = try scanner.literal() else { throw scanner.expected("a text in quotes") }
            guard texts.count < BindingLimits.parameters else {
                throw scanner.error("There are too many texts", "The limit is \(BindingLimits.parameters)")
            }
            texts.append(text)
        } while scanner.take(",")
        try scanner.require("]")
        return texts
    }

    private func kind(of source: BoundValue.Source, at place: Int) throws(BindingError) -> ValueKind {
        guard sources.contains(source) else {
            let known = sources.map(\.rawValue).sorted().joined(separator: ", ")
            throw scanner.error(
                at: place, "\(source.rawValue) is not available in a binding that serves this", "Use one of \(known)")
        }
        switch source {
        case .contents: return .bytes
        case .identifiers: return .texts
        case .inPlace, .reason: return .integer
        case .rate: return .float
        case .identifier, .path, .type, .query, .destination, .filePath, .bundlePath: return .text
        }
    }

    /// Parses the contents of the parentheses that follow a name.
    private mutating func application(of name: String, at place: Int) throws(BindingError) -> (BoundValue, ValueKind) {
        if let form = BoundValue.AttributeForm(rawValue: name) { return try attribute(form, at: place) }
        guard let function = BoundValue.Function(rawValue: name) else {
            let known = BoundValue.Function.allCases.map(\.rawValue).joined(separator: ", ")
            throw scanner.error(at: place, "There is no function “\(name)”", "Use one of \(known), item.attribute")
        }
        if function == .type { usesTypes = true }
        switch function {
        case .length:
            scanner.skipSpace()
            let place = scanner.offset
            let (inner, kind) = try value()
            guard kind == .bytes || kind == .text || kind == .texts else {
                throw scanner.error(
                    at: place, "\(kind.rawValue.capitalizedFirst) has no length", "Use length with text or bytes")
            }
            return (.function(function, inner), .integer)
        case .path, .name, .suffix, .type: return (.function(function, try value(.text, "the path")), .text)
        case .hidden: return (.function(function, try value(.text, "the path")), .integer)
        case .contents: return (.function(function, try value(.text, "the path")), .bytes)
        case .text: return (.function(function, try value(.bytes, "the argument of text( )")), .text)
        case .url: return (.function(function, try value(.text, "the path")), .url)
        case .date: return (.function(function, try value(.float, "the time")), .date)
        case .file: return (.function(function, try value(.text, "the path")), .file)
        }
    }

    private mutating func attribute(
        _ form: BoundValue.AttributeForm, at place: Int
    ) throws(BindingError) -> (BoundValue, ValueKind) {
        guard hasItem else {
            throw scanner.error(
                at: place, "item.attribute is not available in a binding that serves this",
                "Use it with serve data, file, preview or attributes")
        }
        guard let name = try scanner.literal(), !name.isEmpty else {
            throw scanner.expected("the name of an attribute")
        }
        let kind: ValueKind = form == .text ? .text : form == .integer ? .integer : .float
        var fallback: BoundValue?
        if scanner.take(",") {
            scanner.skipSpace()
            let place = scanner.offset
            let literal: BoundValue?
            if scanner.take("null") {
                literal = .null
            } else if let text = try scanner.literal() {
                literal = .text(text)
            } else {
                literal = try scanner.number()
            }
            let literalKind: ValueKind? =
                switch literal {
                case .null: .null
                case .text: .text
                case .integer: .integer
                case .float: .float
                default: nil
                }
            guard literalKind?.fits(kind) == true else {
                throw scanner.error(
                    at: place, "The default of the attribute is not \(kind.rawValue)", "Write a constant of that type")
            }
            fallback = literal
        }
        return (.attribute(form, name, default: fallback), kind)
    }
}

extension String {
    /// The text with its first letter capitalized, for use at the start of a sentence.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
