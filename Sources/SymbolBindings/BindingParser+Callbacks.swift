// SPDX-License-Identifier: Apache-2.0

extension BindingParser {
    /// Parses a callback, following the word for its role.
    mutating func callback(_ role: BoundCallback.Role, at place: Int) throws(BindingError) -> BoundCallback {
        guard isReindex || role == .progress else {
            throw scanner.error(
                at: place, "“\(role.rawValue)” is not available in a binding that serves this",
                "Use it with serve files, reindexAll or reindexItems")
        }
        if role == .acknowledge {
            guard !hasAcknowledgement else {
                throw scanner.error(at: place, "Two callbacks acknowledge the request", "Keep one of them")
            }
            hasAcknowledgement = true
        }
        // A callback may be called at any time and on any thread, so it can only use its own
        // parameters.
        var inner = self
        inner.scope = BindingScope()
        inner.sources = [.bundlePath]
        inner.hasItem = false
        let parameters = try inner.callbackParameters()
        var returned: BoundCallback.Returned?
        if inner.scanner.take("->") { returned = try inner.constant() }
        var condition: BoundCondition?
        if inner.scanner.take(role == .acknowledge ? "succeeds" : "when") { condition = try inner.condition() }
        let assignments = try inner.assignments(of: role)
        (scanner, usesTypes) = (inner.scanner, inner.usesTypes)
        return BoundCallback(
            role: role, parameters: parameters, returned: returned, condition: condition, assignments: assignments)
    }

    private mutating func callbackParameters() throws(BindingError) -> [BoundResult] {
        try scanner.require("(", "and the parameters of the callback")
        var parameters: [BoundResult] = []
        while !scanner.isNext(")") {
            guard parameters.count < BindingLimits.parameters else {
                throw scanner.error("There are too many parameters", "The limit is \(BindingLimits.parameters)")
            }
            if !parameters.isEmpty { try scanner.require(",", "or “)”") }
            scanner.skipSpace()
            let place = scanner.offset
            let name = try scanner.word("a name, a colon and a type")
            try scanner.require(":", "and a type")
            parameters.append(try callbackParameter(name, at: place))
        }
        try scanner.require(")")
        try scope.settle(in: scanner)
        return parameters
    }

    /// Parses a parameter of a callback: a number, or a pointer that is valid during the callback.
    private mutating func callbackParameter(_ name: String, at place: Int) throws(BindingError) -> BoundResult {
        scanner.skipSpace()
        let typePlace = scanner.offset
        let word = try scanner.word("a number type, text, bytes[…] or pointer")
        let form: BoundResult.Form
        let kind: ValueKind
        switch word {
        case "text":
            (form, kind) = (.pointed(.init(freedBy: nil, target: .text, isOptional: scanner.take("?"))), .text)
        case "pointer":
            (form, kind) = (.pointed(.init(freedBy: nil, target: .opaque, isOptional: scanner.take("?"))), .pointer)
        case "bytes":
            try scanner.require("[", "and the number of bytes")
            let count = try lengthAhead()
            try scanner.require("]")
            (form, kind) = (.pointed(.init(freedBy: nil, target: .bytes(count), isOptional: scanner.take("?"))), .bytes)
        default:
            guard let type = ScalarType(word: word) else {
                throw scanner.error(
                    at: typePlace, "“\(word)” is not a type for a parameter of a callback",
                    "Expected a number type, text, bytes[…] or pointer")
            }
            (form, kind) = (.scalar(type), type.isFloat ? .float : .integer)
        }
        try scope.add(name, kind, at: place, in: scanner)
        return BoundResult(name: name, form: form)
    }

    private mutating func constant() throws(BindingError) -> BoundCallback.Returned {
        scanner.skipSpace()
        let place = scanner.offset
        let word = try scanner.word("the type of the callback's result")
        guard let type = ScalarType(word: word), !type.isFloat else {
            throw scanner.error(
                at: place, "A callback cannot return “\(word)”", "Expected a whole number type such as int")
        }
        try scanner.require("=", "and the number it returns")
        scanner.skipSpace()
        let valuePlace = scanner.offset
        guard case .integer(let value) = try scanner.number(), type.range.contains(value) else {
            throw scanner.error(
                at: valuePlace, "The callback returns something other than a constant of its type",
                "Write a number that \(type.rawValue) can hold")
        }
        return BoundCallback.Returned(type: type, value: value)
    }

    /// Parses the value of an attribute.
    private mutating func attributeValue(_ name: String, at place: Int) throws(BindingError) -> BoundValue {
        let (value, kind) = try self.value()
        guard ![.pointer, .null, .file].contains(kind) else {
            throw scanner.error(
                at: place, "\(name) is \(kind.rawValue)", "An attribute is text, a number, bytes, a URL or a date")
        }
        return value
    }

    /// Parses the attributes set by a binding with `serve attributes`.
    mutating func setAttributes() throws(BindingError) -> [BoundCallback.Assignment] {
        try scanner.require("set", "and the attributes")
        var assignments: [BoundCallback.Assignment] = []
        repeat {
            scanner.skipSpace()
            let place = scanner.offset
            let name = try scanner.word("the name of an attribute")
            guard name != "identifier", name != "domain" else {
                throw scanner.error(
                    at: place, "“\(name)” cannot be set here",
                    "Leave it out; the item keeps the \(name) from its donation"
                )
            }
            guard !assignments.contains(where: { $0.name == name }) else {
                throw scanner.error(at: place, "\(name) is set twice", "Keep one of them")
            }
            guard assignments.count < BindingLimits.parameters else {
                throw scanner.error(
                    at: place, "There are too many attributes", "The limit is \(BindingLimits.parameters)")
            }
            try scanner.require("=", "and its value")
            assignments.append(.init(name: name, value: try attributeValue(name, at: place)))
        } while scanner.take(",")
        return assignments
    }

    private mutating func assignments(of role: BoundCallback.Role) throws(BindingError) -> [BoundCallback.Assignment] {
        guard role != .acknowledge else { return [] }
        try scanner.require("{", role == .donate ? "and the item's attributes" : "and completed = with a value")
        scanner.skipSpace()
        let place = scanner.offset
        var assignments: [BoundCallback.Assignment] = []
        repeat {
            scanner.skipSpace()
            let place = scanner.offset
            let name = try scanner.word("the name of an attribute")
            guard !assignments.contains(where: { $0.name == name }) else {
                throw scanner.error(at: place, "\(name) is set twice", "Keep one of them")
            }
            guard assignments.count < BindingLimits.parameters else {
                throw scanner.error(
                    at: place, "There are too many attributes", "The limit is \(BindingLimits.parameters)")
            }
            try scanner.require("=", "and its value")
            let value: BoundValue
            switch (role, name) {
            case (.progress, "completed"), (.progress, "total"): value = try self.value(.integer, name)
            case (.progress, _):
                throw scanner.error(
                    at: place, "A progress report has no “\(name)”", "Set completed, and total if it is known"
                )
            case (_, "identifier"), (_, "domain"):
                value = try self.value(.text, name)
                guard name == "identifier", donatesFiles else { break }
                guard case .name = value else {
                    throw scanner.error(
                        at: place, "The identifier of a file is not its path",
                        "Write identifier = and the parameter that holds the path")
                }
            default: value = try attributeValue(name, at: place)
            }
            assignments.append(.init(name: name, value: value))
        } while scanner.take(",")
        try scanner.require("}")
        let needed = role == .donate ? "identifier" : "completed"
        guard assignments.contains(where: { $0.name == needed }) else {
            throw scanner.error(at: place, "\(needed) is not set", "Write \(needed) = and a value")
        }
        return assignments
    }
}
