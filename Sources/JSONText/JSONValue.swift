// SPDX-License-Identifier: Apache-2.0

/// A JSON value.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without a decimal point or exponent that fits into 64 bits.
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([JSONValue])
    /// An object with its fields in text order. No key occurs twice.
    case object([Field])

    package struct Field: Hashable, Sendable {
        package var key: String
        package var value: JSONValue

        package init(key: String, value: JSONValue) { (self.key, self.value) = (key, value) }
    }

    /// The numeric value of an integer or a number; `nil` for other values.
    package var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    /// The fields of an object, by key; `nil` for other values.
    package var members: [String: JSONValue]? {
        guard case .object(let fields) = self else { return nil }
        return Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.value) })
    }

    /// A short form for messages.
    package var shown: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .integer(let number): "\(number)"
        case .number(let number): number.plain
        case .text(let text): "“\(text.cut)”"
        case .list: "a list"
        case .object: "an object"
        }
    }

    /// The value as JSON text. Numbers have the shortest form that reads back as the same number.
    package var json: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .integer(let number): "\(number)"
        case .number(let number): number.plain
        case .text(let text): Self.quoted(text)
        case .list(let values): "[" + values.map(\.json).joined(separator: ",") + "]"
        case .object(let fields):
            "{" + fields.map { Self.quoted($0.key) + ":" + $0.value.json }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case let control where control.value < 0x20:
                let digits = String(control.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension Double {
    /// The number in decimal form, without a decimal point if it is an integer.
    package var plain: String {
        self == rounded() && abs(self) < 1e15 ? "\(Int64(self))" : "\(self)"
    }
}

extension String {
    /// The first 64 characters, for messages.
    package var cut: String { count <= 64 ? self : prefix(64) + "…" }
}

/// The reason why JSON is rejected, as a sentence that begins in lower case. The caller adds the
/// location.
package struct JSONProblem: Error {
    package var text: String
    package init(_ text: String) { self.text = text }
}

extension JSONValue {
    /// Reads one value. Accepts only strict JSON within the limits, and rejects repeated keys.
    /// Foundation's decoder silently drops one of two equal keys, describes most errors without a
    /// reason or position, and takes a hundred times as long.
    ///
    /// - Parameter maximumDepth: The maximum nesting depth of lists and objects.
    package init(reading bytes: ArraySlice<UInt8>, maximumDepth: Int) throws(JSONProblem) {
        var scanner = JSONScanner(bytes: bytes, place: bytes.startIndex, maximumDepth: maximumDepth)
        self = try scanner.whole()
    }
}

private struct JSONScanner {
    let bytes: ArraySlice<UInt8>
    var place: Int
    let maximumDepth: Int

    mutating func whole() throws(JSONProblem) -> JSONValue {
        guard !bytes.starts(with: "\u{FEFF}".utf8) else {
            throw JSONProblem("it begins with a byte order mark (EF BB BF). Save it as UTF-8 without one.")
        }
        let value = try value(depth: 0)
        skipSpaces()
        guard place == bytes.endIndex else { throw problem("there is more text after the value") }
        return value
    }

    private func problem(_ text: String) -> JSONProblem { refusal("it is not valid JSON: \(text)") }

    private func refusal(_ text: String) -> JSONProblem {
        JSONProblem("\(text) at byte \(place - bytes.startIndex + 1).")
    }

    private mutating func skipSpaces() {
        while place < bytes.endIndex, [0x20, 0x0A, 0x09, 0x0D].contains(bytes[place]) { place += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpaces()
        guard place < bytes.endIndex, bytes[place] == byte else { return false }
        place += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let end = place + word.utf8CodeUnitCount
        guard end <= bytes.endIndex else { return false }
        let isIt = word.withUTF8Buffer { $0.elementsEqual(bytes[place..<end]) }
        if isIt { place = end }
        return isIt
    }

    private mutating func value(depth: Int) throws(JSONProblem) -> JSONValue {
        skipSpaces()
        guard place < bytes.endIndex else { throw problem("it is incomplete") }
        switch bytes[place] {
        case UInt8(ascii: "{"): return .object(try fields(depth: depth + 1))
        case UInt8(ascii: "["): return .list(try list(depth: depth + 1))
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default:
            if take(word: "true") { return .bool(true) }
            if take(word: "false") { return .bool(false) }
            if take(word: "null") { return .null }
            throw problem("no value")
        }
    }

    private mutating func fields(depth: Int) throws(JSONProblem) -> [JSONValue.Field] {
        guard depth <= maximumDepth else { throw refusal("it nests deeper than \(maximumDepth) levels") }
        var fields: [JSONValue.Field] = []
        var keys: Set<String> = []
        guard take(UInt8(ascii: "{")) else { throw problem("no object") }
        if take(UInt8(ascii: "}")) { return [] }
        repeat {
            skipSpaces()
            guard place < bytes.endIndex, bytes[place] == UInt8(ascii: "\"") else { throw problem("no key in quotes") }
            let key = try text()
            guard keys.insert(key).inserted else { throw refusal("it has the key “\(key.cut)” twice") }
            guard take(UInt8(ascii: ":")) else { throw problem("no colon after the key “\(key.cut)”") }
            fields.append(JSONValue.Field(key: key, value: try value(depth: depth)))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw problem("no comma or closing brace") }
        return fields
    }

    private mutating func list(depth: Int) throws(JSONProblem) -> [JSONValue] {
        guard depth <= maximumDepth else { throw refusal("it nests deeper than \(maximumDepth) levels") }
        var values: [JSONValue] = []
        guard take(UInt8(ascii: "[")) else { throw problem("no list") }
        if take(UInt8(ascii: "]")) { return [] }
        repeat { values.append(try value(depth: depth)) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw problem("no comma or closing bracket") }
        return values
    }

    private mutating func number() throws(JSONProblem) -> JSONValue {
        let start = place
        guard takeNumber() else {
            place = start
            throw problem("no valid number")
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw refusal("it has a number that is out of range")
        }
        return .number(number)
    }

    /// Skips a number in JSON's grammar.
    private mutating func takeNumber() -> Bool {
        _ = take(oneOf: "-")
        guard take(oneOf: "0") || takeDigits() else { return false }
        if take(oneOf: "."), !takeDigits() { return false }
        guard take(oneOf: "eE") else { return true }
        _ = take(oneOf: "+-")
        return takeDigits()
    }

    private mutating func take(oneOf others: String) -> Bool {
        guard place < bytes.endIndex, others.utf8.contains(bytes[place]) else { return false }
        place += 1
        return true
    }

    private mutating func takeDigits() -> Bool {
        let start = place
        while place < bytes.endIndex, (0x30...0x39).contains(bytes[place]) { place += 1 }
        return place > start
    }

    private mutating func text() throws(JSONProblem) -> String {
        place += 1
        var piece: [UInt8] = []
        while place < bytes.endIndex {
            let byte = bytes[place]
            switch byte {
            case UInt8(ascii: "\""):
                place += 1
                guard let text = String(validating: piece, as: UTF8.self) else {
                    throw JSONProblem("it is not UTF-8.")
                }
                return text
            case UInt8(ascii: "\\"):
                place += 1
                piece += try escape()
            case 0..<0x20: throw problem("a control character in a text")
            default:
                piece.append(byte)
                place += 1
            }
        }
        throw problem("a text without its closing quote")
    }

    private mutating func escape() throws(JSONProblem) -> [UInt8] {
        guard place < bytes.endIndex else { throw problem("it is incomplete") }
        let byte = bytes[place]
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "u"):
            var unit = try codeUnit()
            if (0xD800..<0xDC00).contains(unit), take(word: "\\u") {
                let low = try codeUnit()
                guard (0xDC00..<0xE000).contains(low) else { throw halfCharacter(unit) }
                unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(unit) else { throw halfCharacter(unit) }
            return Array(String(Character(scalar)).utf8)
        default: throw problem("an unknown escape")
        }
    }

    /// Returns the error for an unpaired surrogate. The JSON grammar allows its escape, but valid
    /// text cannot contain it.
    private func halfCharacter(_ unit: UInt32) -> JSONProblem {
        refusal("it has an unpaired surrogate \\u\(String(unit, radix: 16))")
    }

    private mutating func codeUnit() throws(JSONProblem) -> UInt32 {
        let end = place + 4
        guard end <= bytes.endIndex,
            bytes[place..<end].allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
            let unit = UInt32(String(decoding: bytes[place..<end], as: UTF8.self), radix: 16)
        else { throw problem("an escape without four digits") }
        place = end
        return unit
    }
}
