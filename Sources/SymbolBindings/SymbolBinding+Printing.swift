// SPDX-License-Identifier: Apache-2.0

extension SymbolBinding: CustomStringConvertible {
    /// The binding as text. Parsing the text yields an equal binding.
    public var description: String {
        var lines = ["serve \(purpose)", "library " + libraries.map(quoted).joined(separator: ", ")]
        lines += calls.map { "call \($0)" }
        if let repetition { lines.append("\(repetition)") }
        if !attributes.isEmpty {
            lines.append("set " + attributes.map { "\($0.name) = \($0.value)" }.joined(separator: ", "))
        }
        if let result { lines.append("result \(result)") }
        if let title { lines.append("title \(title)") }
        return lines.joined(separator: "\n")
    }
}

extension SymbolBinding.Purpose: CustomStringConvertible {
    /// The text in the binding language.
    public var description: String {
        switch self {
        case .data(let type, let types): "data \(type) of \(types.joined(separator: ", "))"
        case .file(let type, let types): "file \(type) of \(types.joined(separator: ", "))"
        case .preview(let type, let types): "preview \(type) of \(types.joined(separator: ", "))"
        case .attributes(let types): "attributes of \(types.joined(separator: ", "))"
        case .reindexAll: "reindexAll"
        case .files(let folder): "files \(quoted(folder))"
        case .reindexItems: "reindexItems"
        case .throttle: "throttle"
        }
    }
}

extension BoundRepetition: CustomStringConvertible {
    /// The text in the binding language.
    public var description: String {
        let lines = calls.map { "    call \($0)" } + gathered.map { "    gather \($0.name) = \($0.value)" }
        return "each \(name) below \(count) {\n\(lines.joined(separator: "\n"))\n}"
    }
}

extension BoundCall: CustomStringConvertible {
    /// The text in the binding language.
    public var description: String {
        var text = "\(symbol)(\(parameters.map(\.description).joined(separator: ", ")))"
        if let returned { text += " -> \(returned)" }
        if let success { text += " succeeds \(success)" }
        for call in explanation { text += " otherwise \(call)" }
        return text
    }
}

extension BoundParameter: CustomStringConvertible {
    /// The text in the binding language.
    public var description: String {
        let form =
            switch form {
            case .scalar(let type, let value): "\(type.rawValue) = \(value)"
            case .text(let value): "text = \(value)"
            case .texts(let value): "texts = \(value)"
            case .bytes(let value): "bytes = \(value)"
            case .pointer(let value): "pointer = \(value)"
            case .buffer(let length): "buffer[\(length)]"
            case .out(let form): "out \(form)"
            case .inOut(let type, let value): "inout \(type.rawValue) = \(value)"
            case .structure(let fields): "{ \(fields.map(\.description).joined(separator: ", ")) }"
            case .callback(let callback): "\(callback)"
            }
        return "\(name): \(form)"
    }
}

extension BoundResult: CustomStringConvertible {
    /// The text in the binding language.
    public var description: String { "\(name): \(form)" }
}

extension BoundResult.Form: CustomStringConvertible {
    /// The text in the binding language.
    public var description: String {
        switch self {
        case .scalar(let type): type.rawValue
        case .pointed(let pointer): (pointer.freedBy.map { "owned(\($0)) " } ?? "borrowed ") + "\(pointer)"
        case .structure(let fields): "{ \(fields.map(\.description).joined(separator: ", ")) }"
        }
    }
}

extension BoundPointer: CustomStringConvertible {
    /// The text in the binding language, without the ownership.
    public var description: String {
        let target =
            switch target {
            case .text: "text"
            case .bytes(let count): "bytes[\(count)]"
            case .opaque: "pointer"
            }
        return target + (isOptional ? "?" : "")
    }
}

extension BoundCallback: CustomStringConvertible {
    /// The text in the binding language.
    public var description: String {
        let parameters = parameters.map { parameter in
            // A callback's parameters are always borrowed, so the keyword is omitted.
            if case .pointed(let pointer) = parameter.form { "\(parameter.name): \(pointer)" } else { "\(parameter)" }
        }
        var text = "\(role.rawValue)(\(parameters.joined(separator: ", ")))"
        if let returned { text += " -> \(returned.type.rawValue) = \(returned.value)" }
        if let condition { text += (role == .acknowledge ? " succeeds " : " when ") + "\(condition)" }
        if !assignments.isEmpty {
            text += " { " + assignments.map { "\($0.name) = \($0.value)" }.joined(separator: ", ") + " }"
        }
        return text
    }
}

extension BoundCondition: CustomStringConvertible {
    /// The text in the binding language.
    public var description: String {
        comparisons.map { "\($0.left) \($0.relation.rawValue) \($0.right)" }.joined(separator: isAny ? " or " : " and ")
    }
}

extension BoundValue: CustomStringConvertible {
    /// The text in the binding language.
    public var description: String {
        switch self {
        case .integer(let number): "\(number)"
        case .float(let number): "\(number)"
        case .text(let text): quoted(text)
        case .texts(let texts): "[" + texts.map(quoted).joined(separator: ", ") + "]"
        case .null: "null"
        case .source(let source): source.rawValue
        case .attribute(let form, let name, let fallback):
            "\(form.rawValue)(\(quoted(name))" + (fallback.map { ", \($0)" } ?? "") + ")"
        case .name(let name): name
        case .slice(let name, let count): "\(name)[\(count)]"
        case .function(let function, let value): "\(function.rawValue)(\(value))"
        case .arithmetic(let sign, let left, let right):
            left.operand(binding: sign.strength) + " \(sign.rawValue) " + right.operand(binding: sign.strength + 1)
        }
    }

    /// Returns the value as an operand. Uses parentheses only where they are needed, because their
    /// depth is limited.
    private func operand(binding strength: Int) -> String {
        guard case .arithmetic(let sign, _, _) = self, sign.strength < strength else { return description }
        return "(\(self))"
    }
}

extension BoundValue.Operator {
    fileprivate var strength: Int { self == .plus || self == .minus ? 0 : 1 }
}

private func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": result += "\\\(scalar)"
        case "\n": result += "\\n"
        case "\t": result += "\\t"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}
