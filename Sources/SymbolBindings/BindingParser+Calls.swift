// SPDX-License-Identifier: Apache-2.0

extension BindingParser {
    /// Parses a function with its parameters, its result and its success condition.
    mutating func call() throws(BindingError) -> BoundCall {
        let symbol = try scanner.word("the name of a function")
        let parameters = try parameters(isStructure: false)
        var returned: BoundResult?
        if scanner.take("->") {
            scanner.skipSpace()
            let place = scanner.offset
            let name = try scanner.word("a name for the function's result, a colon and a type")
            try scanner.require(":", "and the type of the function's result")
            returned = try result(name, at: place, prefix: "")
        }
        try scope.settle(in: scanner)
        var success: BoundCondition?
        if scanner.take("succeeds") { success = try condition() }
        var explanation: [BoundCall] = []
        if scanner.isNext("otherwise") {
            guard success != nil else {
                throw scanner.error(
                    "There is an “otherwise” without “succeeds”",
                    "Write the condition first, such as succeeds status == 0")
            }
            _ = scanner.take("otherwise")
            explanation = [try explaining()]
        }
        scope.endCall()
        return BoundCall(
            symbol: symbol, parameters: parameters, returned: returned, success: success, explanation: explanation)
    }

    /// Parses the function that returns the reason why a call failed.
    private mutating func explaining() throws(BindingError) -> BoundCall {
        // Names defined in the explanation are separate from the outer names.
        var inner = self
        inner.scope.beginInnerCall()
        scanner.skipSpace()
        let place = scanner.offset
        let symbol = try inner.scanner.word("the name of the function that explains the failure")
        let parameters = try inner.parameters(isStructure: false)
        try inner.scanner.require("->", "and the text it returns")
        inner.scanner.skipSpace()
        let name = try inner.scanner.word("a name for the text")
        try inner.scanner.require(":")
        var quiet = inner
        quiet.scope = BindingScope()
        let returned = try quiet.result(name, at: place, prefix: "")
        try quiet.scope.settle(in: quiet.scanner)
        guard case .pointed(let pointer) = returned.form, pointer.target == .text,
            parameters.allSatisfy({ !$0.writesBack })
        else {
            throw scanner.error(
                at: place, "\(symbol) does not return text",
                "After “otherwise”, call a function that takes values and returns text")
        }
        // Names that the explanation uses are considered used.
        var outer = scope
        for (name, entry) in inner.scope.entries where entry.isUsed && outer.entries[name] != nil {
            _ = try outer.use(name, at: place, in: scanner)
        }
        scope = outer
        (scanner, usesTypes) = (quiet.scanner, quiet.usesTypes)
        return BoundCall(symbol: symbol, parameters: parameters, returned: returned, success: nil, explanation: [])
    }

    // MARK: Repetition

    /// Parses a repetition, if one follows.
    ///
    /// - Parameter made: The number of calls before the repetition.
    mutating func repetition(after made: Int) throws(BindingError) -> BoundRepetition? {
        guard scanner.isNext("each") else { return nil }
        guard hasItem else {
            throw scanner.error(
                "“each” is not available in a binding that serves this",
                "Use it with serve data, file, preview or attributes")
        }
        _ = scanner.take("each")
        scanner.skipSpace()
        let place = scanner.offset
        let name = try scanner.word("a name for the number of the round")
        try scanner.require("below", "and the number of rounds")
        let count = try value(.integer, "the number of rounds")
        try scanner.require("{", "and the calls of a round")
        let mark = scope.mark
        try scope.add(name, .integer, at: place, in: scanner)
        scope.endCall()
        isRepeated = true
        var calls: [BoundCall] = []
        while scanner.isNext("call") || calls.isEmpty {
            guard made + calls.count < BindingLimits.calls else {
                throw scanner.error("There are too many calls", "The limit is \(BindingLimits.calls)")
            }
            guard scanner.take("call") else { throw scanner.expected("“call” and a function") }
            calls.append(try call())
        }
        var gathered: [BoundCallback.Assignment] = []
        var places: [Int] = []
        repeat {
            guard scanner.take("gather") else { throw scanner.expected("“gather”, a name and the text of a round") }
            guard gathered.count < BindingLimits.parameters else {
                throw scanner.error("There are too many “gather”", "The limit is \(BindingLimits.parameters)")
            }
            scanner.skipSpace()
            places.append(scanner.offset)
            let name = try scanner.word("a name for the gathered text")
            try scanner.require("=", "and the text of a round")
            gathered.append(.init(name: name, value: try value(.text, "the gathered text")))
        } while scanner.isNext("gather")
        try scanner.require("}", "or “gather”")
        isRepeated = false
        try scope.endBlock(from: mark, in: scanner)
        for (one, place) in zip(gathered, places) {
            try scope.add(one.name, .text, at: place, use: "Use it in the result or an attribute", in: scanner)
        }
        scope.endCall()
        return BoundRepetition(name: name, count: count, calls: calls, gathered: gathered)
    }

    // MARK: Parameters

    private mutating func parameters(isStructure: Bool, prefix: String = "") throws(BindingError) -> [BoundParameter] {
        let (opening, closing) = isStructure ? ("{", "}") : ("(", ")")
        try scanner.require(opening, isStructure ? "and the fields" : "and the parameters")
        var parameters: [BoundParameter] = []
        var places: [Int] = []
        while !scanner.isNext(closing) {
            guard parameters.count < BindingLimits.parameters else {
                throw scanner.error(
                    "There are too many parameters or fields", "The limit is \(BindingLimits.parameters)")
            }
            if !parameters.isEmpty { try scanner.require(",", "or “\(closing)”") }
            scanner.skipSpace()
            places.append(scanner.offset)
            parameters.append(try parameter(isField: isStructure, prefix: prefix))
        }
        guard scanner.take(closing) else { throw scanner.expected("“\(closing)”") }
        if isStructure, parameters.isEmpty {
            throw scanner.error("A struct has no fields", "Write them as name: type = value")
        }
        if !isStructure { try checkLengths(parameters, places) }
        return parameters
    }

    private mutating func parameter(isField: Bool, prefix: String) throws(BindingError) -> BoundParameter {
        let place = scanner.offset
        let name = try scanner.word("a name, a colon and a type")
        try scanner.require(":", "and a type")
        scanner.skipSpace()
        let typePlace = scanner.offset
        let full = name == "_" ? name : prefix + name
        var kind: ValueKind?
        let form: BoundParameter.Form
        if scanner.isNext("{") {
            form = .structure(
                try nested { (parser) throws(BindingError) in
                    try parser.parameters(isStructure: true, prefix: full == "_" ? "_." : full + ".")
                })
        } else {
            let word = try scanner.word(Self.types)
            switch word {
            case "text": (form, kind) = (.text(try assigned(.text, name)), .text)
            case "texts": (form, kind) = (.texts(try assigned(.texts, name)), .texts)
            case "bytes": (form, kind) = (.bytes(try assigned(.bytes, name)), .bytes)
            case "pointer": (form, kind) = (.pointer(try assigned(.pointer, name)), .pointer)
            case "buffer", "out", "inout":
                guard !isField else {
                    throw scanner.error(
                        at: typePlace, "A field cannot be “\(word)”", "Pass it as a parameter of its own")
                }
                let form = try writtenBack(word, full, at: place)
                return BoundParameter(name: name, form: form)
            case "acknowledge", "progress", "donate":
                guard !isField, let role = BoundCallback.Role(rawValue: word) else {
                    throw scanner.error(at: typePlace, "A field cannot be a callback", "Pass it as a parameter")
                }
                guard !isRepeated else {
                    throw scanner.error(
                        at: typePlace, "A repeated call has a callback",
                        "Pass the callback in a call before “each”")
                }
                return BoundParameter(name: name, form: .callback(try callback(role, at: typePlace)))
            default:
                guard let scalar = ScalarType(word: word) else {
                    throw scanner.error(at: typePlace, "“\(word)” is not a type", "Expected \(Self.types)")
                }
                kind = scalar.isFloat ? .float : .integer
                form = .scalar(scalar, try assignedNumber(scalar, name))
            }
        }
        if let kind { try scope.add(full, kind, at: place, isParameter: true, in: scanner) }
        return BoundParameter(name: name, form: form)
    }

    static let types = """
        a number (i8 … u64, f32, f64, int, long, usize, bool), text, texts, bytes, buffer, pointer, out, inout, a struct in \
        { }, acknowledge, progress or donate
        """

    private mutating func assigned(_ kind: ValueKind, _ name: String) throws(BindingError) -> BoundValue {
        try scanner.require("=", "and a value for \(name)")
        return try value(kind, name)
    }

    private mutating func assignedNumber(_ type: ScalarType, _ name: String) throws(BindingError) -> BoundValue {
        try scanner.require("=", "and a value for \(name)")
        scanner.skipSpace()
        let place = scanner.offset
        let value = try value(type.isFloat ? .float : .integer, name)
        if case .integer(let number) = value, !type.range.contains(number) {
            throw scanner.error(
                at: place, "\(number) does not fit into \(type.rawValue)",
                "It holds \(type.range.lowerBound) to \(type.range.upperBound)")
        }
        return value
    }

    private mutating func writtenBack(
        _ word: String, _ name: String, at place: Int
    ) throws(BindingError) -> BoundParameter.Form {
        switch word {
        case "buffer":
            try scanner.require("[", "and the number of bytes")
            scanner.skipSpace()
            let lengthPlace = scanner.offset
            let length = try value(.integer, "the length of the buffer")
            try scanner.require("]")
            if case .integer(let count) = length, !(1...Int128(BindingLimits.valueBytes)).contains(count) {
                throw scanner.error(
                    at: lengthPlace, "A buffer has \(count) bytes", "Use 1 to \(BindingLimits.valueBytes)")
            }
            try scope.add(
                name, .bytes, at: place, use: "Use the written value in the result or a later call",
                isBuffer: true, in: scanner)
            return .buffer(length)
        case "inout":
            let type = try scalar()
            let value = try assignedNumber(type, name)
            try scope.add(
                name, type.isFloat ? .float : .integer, at: place,
                use: "Use the written value in the result, “succeeds” or a later call", in: scanner)
            return .inOut(type, value)
        default: return .out(try result(name, at: place, prefix: "").form)
        }
    }

    private mutating func scalar() throws(BindingError) -> ScalarType {
        scanner.skipSpace()
        let place = scanner.offset
        let word = try scanner.word("a number type such as u64")
        guard let type = ScalarType(word: word) else {
            throw scanner.error(
                at: place, "“\(word)” is not a number type", "Expected a type such as i32, u64, f64, int or usize")
        }
        return type
    }

    /// Checks that a length is passed for each buffer and bytes parameter, because the function has
    /// no other way to determine it.
    private func checkLengths(_ parameters: [BoundParameter], _ places: [Int]) throws(BindingError) {
        let told = parameters.flatMap(\.lengths)
        for (parameter, place) in zip(parameters, places) {
            let own: BoundValue
            switch parameter.form {
            case .buffer(.integer), .bytes(.null): continue
            case .bytes(let value): own = value
            case .buffer: own = .name(parameter.name)
            default: continue
            }
            guard !told.contains(own), !told.contains(.name(parameter.name)) else { continue }
            throw scanner.error(
                at: place, "The function does not get the length of \(parameter.name)",
                "Pass length(\(parameter.name)) too, or pass text, which ends with a NUL")
        }
    }
}

extension BoundParameter {
    /// The values whose lengths are passed through the parameter.
    fileprivate var lengths: [BoundValue] {
        switch form {
        case .scalar(_, let value), .inOut(_, let value): value.lengths
        case .structure(let fields): fields.flatMap(\.lengths)
        default: []
        }
    }

    fileprivate var writesBack: Bool {
        switch form {
        case .scalar, .text, .texts, .bytes, .pointer: false
        case .structure(let fields): fields.contains(where: \.writesBack)
        case .buffer, .out, .inOut, .callback: true
        }
    }
}

extension BoundValue {
    fileprivate var lengths: [BoundValue] {
        switch self {
        case .function(.length, let value): [value]
        case .function(_, let value): value.lengths
        case .arithmetic(_, let left, let right): left.lengths + right.lengths
        default: []
        }
    }
}
