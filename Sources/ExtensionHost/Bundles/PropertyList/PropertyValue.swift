// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A value of a property list.
enum PropertyValue: Hashable, Sendable {
    case dictionary([String: PropertyValue])
    case array([PropertyValue])
    case string(String)
    case integer(Int)
    case real(Double)
    case boolean(Bool)
    /// Seconds since 2001-01-01 UTC.
    case date(Double)
    case data([UInt8])

    /// The value in the types that Foundation's parser returns: dictionaries, arrays, strings,
    /// numbers.
    var any: Any {
        switch self {
        case .dictionary(let values): values.mapValues(\.any)
        case .array(let values): values.map(\.any)
        case .string(let text): text
        case .integer(let number): number
        case .real(let number): number
        case .boolean(let truth): truth
        case .date(let moment): Date(timeIntervalSinceReferenceDate: moment)
        case .data(let bytes): Data(bytes)
        }
    }

    /// The error for bytes that are not a valid value.
    struct Malformed: Error {}

    private enum Tag {
        static let dictionary: UInt8 = 0
        static let array: UInt8 = 1
        static let string: UInt8 = 2
        static let integer: UInt8 = 3
        static let real: UInt8 = 4
        static let no: UInt8 = 5
        static let yes: UInt8 = 6
        static let date: UInt8 = 7
        static let data: UInt8 = 8
    }

    /// Appends the value in the format that ``init(decoding:)`` reads: a byte for the kind, then
    /// lengths of 4 bytes and numbers of 8 bytes, little-endian. Dictionaries are sorted by key, so
    /// that equal values have equal bytes.
    func encode(to bytes: inout [UInt8]) {
        switch self {
        case .dictionary(let values):
            bytes.append(Tag.dictionary)
            bytes.append(length: values.count)
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                bytes.append(counted: key.utf8)
                value.encode(to: &bytes)
            }
        case .array(let values):
            bytes.append(Tag.array)
            bytes.append(length: values.count)
            for value in values { value.encode(to: &bytes) }
        case .string(let text):
            bytes.append(Tag.string)
            bytes.append(counted: text.utf8)
        case .integer(let number):
            bytes.append(Tag.integer)
            bytes.append(number: UInt64(bitPattern: Int64(number)))
        case .real(let number):
            bytes.append(Tag.real)
            bytes.append(number: number.bitPattern)
        case .boolean(let truth): bytes.append(truth ? Tag.yes : Tag.no)
        case .date(let moment):
            bytes.append(Tag.date)
            bytes.append(number: moment.bitPattern)
        case .data(let content):
            bytes.append(Tag.data)
            bytes.append(counted: content)
        }
    }

    /// Decodes a value that fills the bytes. The time is bounded for any input: depth and count
    /// have the same bounds as in a manifest, and no memory is reserved for declared lengths.
    init(decoding bytes: ArraySlice<UInt8>) throws(Malformed) {
        var reader = ByteReader(bytes)
        var count = 0
        self = try Self.read(&reader, depth: 0, &count)
        guard reader.isAtEnd else { throw Malformed() }
    }

    private static func read(
        _ reader: inout ByteReader, depth: Int, _ count: inout Int
    ) throws(Malformed) -> PropertyValue {
        count += 1
        guard depth < PropertyListReader.maximumDepth, count <= PropertyListReader.maximumValues else {
            throw Malformed()
        }
        switch try reader.byte() {
        case Tag.dictionary:
            var values: [String: PropertyValue] = [:]
            for _ in 0..<(try reader.length()) {
                let key = try reader.text()
                guard values.updateValue(try read(&reader, depth: depth + 1, &count), forKey: key) == nil else {
                    throw Malformed()
                }
            }
            return .dictionary(values)
        case Tag.array:
            var values: [PropertyValue] = []
            for _ in 0..<(try reader.length()) { values.append(try read(&reader, depth: depth + 1, &count)) }
            return .array(values)
        case Tag.string: return .string(try reader.text())
        case Tag.integer: return .integer(Int(Int64(bitPattern: try reader.number())))
        case Tag.real: return .real(try finite(&reader))
        case Tag.no: return .boolean(false)
        case Tag.yes: return .boolean(true)
        case Tag.date: return .date(try finite(&reader))
        case Tag.data: return .data(Array(try reader.counted()))
        default: throw Malformed()
        }
    }

    private static func finite(_ reader: inout ByteReader) throws(Malformed) -> Double {
        let number = Double(bitPattern: try reader.number())
        guard number.isFinite else { throw Malformed() }
        return number
    }
}

extension [UInt8] {
    mutating func append(number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    /// - Parameter length: Less than 2³². All lengths here have much smaller bounds.
    mutating func append(length: Int) {
        for shift in stride(from: 0, to: 32, by: 8) { append(UInt8(truncatingIfNeeded: length >> shift)) }
    }

    mutating func append(counted bytes: some Collection<UInt8>) {
        append(length: bytes.count)
        append(contentsOf: bytes)
    }
}

/// A reader of little-endian numbers and counted bytes that never reads beyond the end.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var place: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        place = bytes.startIndex
    }

    var isAtEnd: Bool { place == bytes.endIndex }

    mutating func byte() throws(PropertyValue.Malformed) -> UInt8 {
        guard place < bytes.endIndex else { throw PropertyValue.Malformed() }
        defer { place += 1 }
        return bytes[place]
    }

    mutating func take(_ count: Int) throws(PropertyValue.Malformed) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.endIndex - place else { throw PropertyValue.Malformed() }
        defer { place += count }
        return bytes[place..<place + count]
    }

    mutating func number() throws(PropertyValue.Malformed) -> UInt64 {
        try take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func length() throws(PropertyValue.Malformed) -> Int {
        try take(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func counted() throws(PropertyValue.Malformed) -> ArraySlice<UInt8> { try take(try length()) }

    mutating func text() throws(PropertyValue.Malformed) -> String {
        guard let text = String(validating: try counted(), as: UTF8.self) else { throw PropertyValue.Malformed() }
        return text
    }
}
