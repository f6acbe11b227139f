// SPDX-License-Identifier: Apache-2.0

/// An argument or result of a call between the host and an extension.
package enum BoundaryValue: Sendable, Hashable {
    /// NULL, or no result.
    case null
    /// An integer. Unsigned values are represented by their bits.
    case integer(Int64)
    /// A floating-point number, represented by its bits, so that NaN equals itself.
    case double(bits: UInt64)
    /// A C string, which may be invalid UTF-8.
    case text([UInt8])
    case bytes([UInt8])
    /// A host object, identified by its number in the order of creation; 0 for the host itself.
    case object(BoundaryFunction.ObjectKind?, UInt32)
    /// A pointer that does not refer to an object.
    case unknownPointer
    /// An array, or the fields of a struct.
    case list([BoundaryValue])
    /// A function or a table that is not NULL.
    case present
    /// Bytes or elements that the host does not read, because their number or an earlier argument
    /// is invalid.
    case unread(count: Int64, isNull: Bool)

    package init(_ text: String) { self = .text(Array(text.utf8)) }
    package init(_ value: Double) { self = .double(bits: value.bitPattern) }

    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var number: Double? { if case .double(let bits) = self { Double(bitPattern: bits) } else { nil } }
    /// The text, with bytes that are not UTF-8 replaced.
    package var string: String? {
        if case .text(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
    }
    package var list: [BoundaryValue]? { if case .list(let values) = self { values } else { nil } }
}

extension BoundaryValue: CustomStringConvertible {
    private static let shownBytes = 60
    private static let shownElements = 5

    /// The value for a report, shortened if it is long.
    package var description: String {
        switch self {
        case .null: return "NULL"
        case .integer(let value): return "\(value)"
        case .double(let bits): return "\(Double(bitPattern: bits))"
        case .text(let bytes):
            let shown = String(decoding: bytes.prefix(Self.shownBytes), as: UTF8.self).debugDescription
            return bytes.count > Self.shownBytes ? shown + "… (\(bytes.count) bytes)" : shown
        case .bytes(let bytes):
            let digits = bytes.prefix(16).map { byte in
                let text = String(byte, radix: 16)
                return text.count < 2 ? "0" + text : text
            }
            return "\(bytes.count) bytes" + (bytes.isEmpty ? "" : " (\(digits.joined(separator: " "))…)")
        case .object(let kind, let number): return kind.map { "\($0) \(number)" } ?? "host"
        case .unknownPointer: return "an unknown pointer"
        case .list(let values):
            let shown = values.prefix(Self.shownElements).map(\.description).joined(separator: ", ")
            return "[\(shown)\(values.count > Self.shownElements ? ", … (\(values.count))" : "")]"
        case .present: return "not NULL"
        case .unread(let count, let isNull): return "\(count) elements at \(isNull ? "NULL" : "an address")"
        }
    }
}

/// The error for a file that is not a recording.
package struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position of the error in the file, in bytes.
    package let offset: Int
    package let reason: String
    /// `true` if the file has a later format version.
    package let isNewer: Bool

    package init(offset: Int, reason: String, isNewer: Bool = false) {
        self.offset = offset
        self.reason = reason
        self.isNewer = isNewer
    }

    /// The error, with a remedy.
    package var description: String {
        isNewer
            ? "The recording cannot be read: \(reason). Use the newer Searchlight that recorded it."
            : "The recording is damaged at byte \(offset): \(reason). Record it again."
    }
}

/// Appends the fields of events.
struct BoundaryWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    mutating func unsigned(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func signed(_ value: Int64) { unsigned(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    mutating func block(_ block: [UInt8]) {
        unsigned(UInt64(block.count))
        bytes += block
    }

    mutating func value(_ value: BoundaryValue) {
        switch value {
        case .null: byte(0)
        case .integer(let value):
            byte(1)
            signed(value)
        case .double(let bits):
            byte(2)
            for shift in stride(from: 0, to: 64, by: 8) { byte(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
        case .text(let text):
            byte(3)
            block(text)
        case .bytes(let bytes):
            byte(4)
            block(bytes)
        case .object(let kind, let number):
            byte(5)
            byte(kind?.rawValue ?? 0)
            unsigned(UInt64(number))
        case .unknownPointer: byte(6)
        case .list(let values):
            byte(7)
            list(values)
        case .present: byte(8)
        case .unread(let count, let isNull):
            byte(isNull ? 9 : 10)
            signed(count)
        }
    }

    mutating func list(_ values: [BoundaryValue]) {
        unsigned(UInt64(values.count))
        for value in values { self.value(value) }
    }
}

/// Reads the fields of events, within the bounds of the bytes.
struct BoundaryReader {
    private let bytes: ArraySlice<UInt8>
    private(set) var offset: Int
    /// The number of values that may still be read. A one-byte value takes more memory than its
    /// encoding.
    private(set) var values: Int
    private static let maximumDepth = 4

    init(_ bytes: ArraySlice<UInt8>, values: Int = CallRecording.maximumValues) {
        self.bytes = bytes
        offset = bytes.startIndex
        self.values = values
    }

    var isAtEnd: Bool { offset == bytes.endIndex }
    var remaining: Int { bytes.endIndex - offset }

    func error(_ reason: String) -> RecordingError { RecordingError(offset: offset, reason: reason) }

    mutating func byte() throws(RecordingError) -> UInt8 {
        guard offset < bytes.endIndex else { throw error("it ends within an event") }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func unsigned() throws(RecordingError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, through: 63, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { break }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        throw error("a number has more than 64 bits")
    }

    mutating func number32() throws(RecordingError) -> UInt32 {
        guard let number = UInt32(exactly: try unsigned()) else { throw error("a number has more than 32 bits") }
        return number
    }

    mutating func signed() throws(RecordingError) -> Int64 {
        let bits = try unsigned()
        return Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1)
    }

    mutating func block() throws(RecordingError) -> ArraySlice<UInt8> {
        let count = try unsigned()
        guard count <= UInt64(remaining) else { throw error("\(count) bytes are announced, and \(remaining) are left") }
        defer { offset += Int(count) }
        return bytes[offset..<offset + Int(count)]
    }

    mutating func value(depth: Int = 0) throws(RecordingError) -> BoundaryValue {
        guard values > 0 else { throw error("there are too many values") }
        values -= 1
        switch try byte() {
        case 0: return .null
        case 1: return .integer(try signed())
        case 2:
            var bits: UInt64 = 0
            for shift in stride(from: 0, to: 64, by: 8) { bits |= UInt64(try byte()) << UInt64(shift) }
            return .double(bits: bits)
        case 3: return .text(Array(try block()))
        case 4: return .bytes(Array(try block()))
        case 5:
            let kind = try byte()
            guard kind == 0 || BoundaryFunction.ObjectKind(rawValue: kind) != nil else {
                throw error("there is no object of kind \(kind)")
            }
            return .object(BoundaryFunction.ObjectKind(rawValue: kind), try number32())
        case 6: return .unknownPointer
        case 7:
            guard depth < Self.maximumDepth else { throw error("lists are nested too deeply") }
            return .list(try list(depth: depth + 1))
        case 8: return .present
        case 9: return .unread(count: try signed(), isNull: true)
        case 10: return .unread(count: try signed(), isNull: false)
        case let tag: throw error("there is no value of kind \(tag)")
        }
    }

    mutating func list(depth: Int = 0) throws(RecordingError) -> [BoundaryValue] {
        let count = try unsigned()
        guard count <= UInt64(remaining) else {
            throw error("\(count) values are announced, and \(remaining) bytes are left")
        }
        guard count <= UInt64(values) else { throw error("there are too many values") }
        var list: [BoundaryValue] = []
        for _ in 0..<Int(count) { list.append(try value(depth: depth)) }
        return list
    }
}
