// SPDX-License-Identifier: Apache-2.0

extension BindingParser {
    /// Parses the type of a result, following its name.
    mutating func result(_ name: String, at place: Int, prefix: String) throws(BindingError) -> BoundResult {
        let full = name == "_" || prefix == "_." ? "_" : prefix + name
        scanner.skipSpace()
        let typePlace = scanner.offset
        let form: BoundResult.Form
        var kind: ValueKind
        if scanner.take("{") {
            let fields = try nested { (parser) throws(BindingError) in
                try parser.fields(prefix: full == "_" ? "_." : full + ".")
            }
            return BoundResult(name: name, form: .structure(fields))
        }
        let word = try scanner.word("a number type, borrowed or owned")
        switch word {
        case "borrowed", "owned":
            let (pointer, pointed) = try pointer(isOwned: word == "owned")
            (form, kind) = (.pointed(pointer), pointed)
        case "text", "bytes", "pointer":
            throw scanner.error(
                at: typePlace, "The owner of the \(word) is missing",
                "Write borrowed \(word), or owned(FUNCTION) \(word) with the function that frees it")
        default:
            guard let type = ScalarType(word: word) else {
                throw scanner.error(
                    at: typePlace, "“\(word)” is not a type of a result",
                    "Expected a number type, a struct in { }, borrowed or owned(FUNCTION) with text, bytes[…] or pointer"
                )
            }
            (form, kind) = (.scalar(type), type.isFloat ? .float : .integer)
        }
        try scope.add(
            full, kind, at: place, use: "Use it in the result, “succeeds” or a later call", in: scanner)
        return BoundResult(name: name, form: form)
    }

    private mutating func fields(prefix: String) throws(BindingError) -> [BoundResult] {
        var fields: [BoundResult] = []
        repeat {
            guard fields.count < BindingLimits.parameters else {
                throw scanner.error("There are too many fields", "The limit is \(BindingLimits.parameters)")
            }
            scanner.skipSpace()
            let place = scanner.offset
            let name = try scanner.word("the name of a field")
            try scanner.require(":", "and the type of the field")
            fields.append(try result(name, at: place, prefix: prefix))
        } while scanner.take(",")
        try scanner.require("}")
        return fields
    }

    /// Parses the target and the ownership of a pointer.
    private mutating func pointer(isOwned: Bool) throws(BindingError) -> (BoundPointer, ValueKind) {
        var freedBy: String?
        if isOwned {
            try scanner.require("(", "and the function that frees it")
            freedBy = try scanner.word("the name of the function that frees it")
            try scanner.require(")")
        }
        scanner.skipSpace()
        let place = scanner.offset
        let target: BoundPointer.Target
        let kind: ValueKind
        switch try scanner.word("text, bytes[…] or pointer") {
        case "text": (target, kind) = (.text, .text)
        case "pointer": (target, kind) = (.opaque, .pointer)
        case "bytes":
            try scanner.require("[", "and the number of bytes")
            (target, kind) = (.bytes(try lengthAhead()), .bytes)
            try scanner.require("]")
        case let other:
            throw scanner.error(
                at: place, "“\(other)” is not a type of a pointer's target", "Expected text, bytes[…] or pointer")
        }
        return (BoundPointer(freedBy: freedBy, target: target, isOptional: scanner.take("?")), kind)
    }

    /// Parses a length in brackets. It may use names that are only defined later.
    mutating func lengthAhead() throws(BindingError) -> BoundValue {
        let before = scope.looksAhead
        scope.looksAhead = true
        let count = try nested { (parser) throws(BindingError) in try parser.value(.integer, "the length") }
        scope.looksAhead = before
        return count
    }
}
