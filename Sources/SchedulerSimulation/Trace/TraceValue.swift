// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// A value of a line of a trace.
enum TraceValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([TraceValue])
    /// In the order of the line; no key comes twice.
    case object([Field])

    struct Field: Hashable, Sendable {
        var key: String
        var value: TraceValue
    }

    /// The beginning of it, for a message.
    var shown: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .number(let number): number.plain
        case .text(let text): "“\(text.cut)”"
        case .list: "a list"
        case .object: "an object"
        }
    }

    /// As JSON, numbers in the shortest form that is read as the same.
    var json: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
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

extension String {
    /// The beginning, for a message.
    var cut: String { count <= 64 ? self : prefix(64) + "…" }
}

/// Why a line cannot be used; the line's number is added by who knows it.
struct LineProblem: Error {
    var text: String
    init(_ text: String) { self.text = text }
}

/// Reads a line of JSON: strictly, within bounds, without Foundation, whose decoder takes one of two equal keys silently and
/// a hundred times as long.
struct LineScanner {
    private let bytes: ArraySlice<UInt8>
    private var place: Int
    private static let maximumDepth = 4

    /// Reads a line as an object.
    static func object(_ line: ArraySlice<UInt8>) throws(LineProblem) -> [TraceValue.Field] {
        var scanner = LineScanner(bytes: line, place: line.startIndex)
        let value = try scanner.value(depth: 0)
        scanner.skipSpaces()
        guard scanner.place == line.endIndex else { throw scanner.problem("something follows the object") }
        guard case .object(let fields) = value else { throw LineProblem("it has to be a JSON object: {\"at\": …}.") }
        return fields
    }

    private func problem(_ text: String) -> LineProblem {
        LineProblem("it is not valid JSON: \(text) at byte \(place - bytes.startIndex + 1).")
    }

    private mutating func skipSpaces() {
        while place < bytes.endIndex, [0x20, 0x09, 0x0D].contains(bytes[place]) { place += 1 }
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

    private mutating func value(depth: Int) throws(LineProblem) -> TraceValue {
        skipSpaces()
        guard place < bytes.endIndex else { throw problem("it ends too soon") }
        switch bytes[place] {
        case UInt8(ascii: "{"): return .object(try fields(depth: depth + 1))
        case UInt8(ascii: "["): return .list(try list(depth: depth + 1))
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default:
            if take(word: "true") { return .bool(true) }
            if take(word: "false") { return .bool(false) }
            if take(word: "null") { return .null }
            throw problem("no value")
        }
    }

    private mutating func fields(depth: Int) throws(LineProblem) -> [TraceValue.Field] {
        guard depth <= Self.maximumDepth else { throw problem("more than \(Self.maximumDepth) levels") }
        var fields: [TraceValue.Field] = []
        var keys: Set<String> = []
        guard take(UInt8(ascii: "{")) else { throw problem("no object") }
        if take(UInt8(ascii: "}")) { return [] }
        repeat {
            skipSpaces()
            guard place < bytes.endIndex, bytes[place] == UInt8(ascii: "\"") else { throw problem("no key in quotes") }
            let key = try text()
            guard keys.insert(key).inserted else { throw LineProblem("it has the key “\(key.cut)” twice.") }
            guard take(UInt8(ascii: ":")) else { throw problem("no colon after the key “\(key.cut)”") }
            fields.append(TraceValue.Field(key: key, value: try value(depth: depth)))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw problem("no comma or closing brace") }
        return fields
    }

    private mutating func list(depth: Int) throws(LineProblem) -> [TraceValue] {
        guard depth <= Self.maximumDepth else { throw problem("more than \(Self.maximumDepth) levels") }
        var values: [TraceValue] = []
        guard take(UInt8(ascii: "[")) else { throw problem("no list") }
        if take(UInt8(ascii: "]")) { return [] }
        repeat { values.append(try value(depth: depth)) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw problem("no comma or closing bracket") }
        return values
    }

    private mutating func number() throws(LineProblem) -> Double {
        let start = place
        while place < bytes.endIndex, Self.isOfNumber(bytes[place]) { place += 1 }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        guard let number = Double(text), number.isFinite, text.last?.isNumber == true else {
            place = start
            throw problem("no number that can be used")
        }
        return number
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private mutating func text() throws(LineProblem) -> String {
        place += 1
        var piece: [UInt8] = []
        while place < bytes.endIndex {
            let byte = bytes[place]
            switch byte {
            case UInt8(ascii: "\""):
                place += 1
                guard let text = String(validating: piece, as: UTF8.self) else {
                    throw LineProblem("it is not UTF-8.")
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

    private mutating func escape() throws(LineProblem) -> [UInt8] {
        guard place < bytes.endIndex else { throw problem("it ends too soon") }
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
                guard (0xDC00..<0xE000).contains(low) else { throw problem("half a character") }
                unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(unit) else { throw problem("half a character") }
            return Array(String(Character(scalar)).utf8)
        default: throw problem("an escape that JSON does not have")
        }
    }

    private mutating func codeUnit() throws(LineProblem) -> UInt32 {
        let end = place + 4
        guard end <= bytes.endIndex,
            bytes[place..<end].allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
            let unit = UInt32(String(decoding: bytes[place..<end], as: UTF8.self), radix: 16)
        else { throw problem("an escape without four digits") }
        place = end
        return unit
    }
}
