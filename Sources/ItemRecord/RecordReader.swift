// SPDX-License-Identifier: Apache-2.0

/// Reads the fields of an item record. Checks every length against the number of remaining bytes
/// before using it.
struct RecordReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var offset: Int
    /// The number of values that may still be read. A value may take one byte in the record, but a
    /// hundred in memory.
    private var valuesLeft = ItemRecord.maximumValues

    init(bytes: UnsafeBufferPointer<UInt8>, offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    var isAtEnd: Bool { offset == bytes.count }
    private var left: Int { bytes.count - offset }

    mutating func byte() throws(ItemRecordError) -> UInt8 {
        guard left >= 1 else { throw .truncated(offset: offset) }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func unsigned() throws(ItemRecordError) -> UInt64 {
        let start = offset
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            let part = UInt64(next & 0x7F)
            guard shift < 63 || (shift == 63 && part <= 1) else {
                throw .malformed(offset: start, reason: "a number is longer than 64 bits")
            }
            value |= part << shift
            if next & 0x80 == 0 { return value }
            shift += 7
        }
    }

    mutating func signed() throws(ItemRecordError) -> Int64 {
        let raw = try unsigned()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    /// Reads a count of elements of at least one byte each, so that a count cannot cause an
    /// allocation larger than the data.
    mutating func count(_ limit: ItemLimit) throws(ItemRecordError) -> Int {
        let start = offset
        let raw = try unsigned()
        try limit.check(Int(clamping: raw))
        guard raw <= UInt64(left) else { throw .truncated(offset: start) }
        return Int(raw)
    }

    mutating func double() throws(ItemRecordError) -> Double {
        guard left >= 8 else { throw .truncated(offset: offset) }
        var pattern: UInt64 = 0
        for index in 0..<8 { pattern |= UInt64(bytes[offset + index]) << (8 * UInt64(index)) }
        offset += 8
        return Double(bitPattern: pattern)
    }

    mutating func data() throws(ItemRecordError) -> [UInt8] {
        try take(count(.recordBytes))
    }

    mutating func take(_ length: Int) throws(ItemRecordError) -> [UInt8] {
        guard length <= left else { throw .truncated(offset: offset) }
        defer { offset += length }
        return Array(bytes[offset..<(offset + length)])
    }

    /// Reads a length, and returns the range of the bytes that follow it.
    mutating func blob() throws(ItemRecordError) -> Range<Int> {
        let start = offset
        let length = try unsigned()
        guard length <= UInt64(left) else { throw .truncated(offset: start) }
        defer { offset += Int(length) }
        return offset..<(offset + Int(length))
    }

    mutating func string(_ limit: ItemLimit = .recordBytes) throws(ItemRecordError) -> String {
        try text(count(limit))
    }

    mutating func text(_ length: Int) throws(ItemRecordError) -> String {
        let start = offset
        guard length <= left else { throw .truncated(offset: start) }
        let slice = UnsafeBufferPointer(rebasing: bytes[offset..<(offset + length)])
        offset += length
        guard let text = String(validating: slice, as: UTF8.self) else {
            throw .malformed(offset: start, reason: "a text is not UTF-8")
        }
        return text
    }

    mutating func optionalString() throws(ItemRecordError) -> String? {
        switch try byte() {
        case 0: return nil
        case 1: return try string()
        default: throw .malformed(offset: offset - 1, reason: "neither 0 nor 1 before an optional text")
        }
    }

    /// Reads the traits that precede an attribute's value; `nil` if there are none.
    mutating func traits() throws(ItemRecordError) -> AttributeTraits? {
        guard left >= 1, bytes[offset] == ValueTag.traits else { return nil }
        offset += 1
        let traits = AttributeTraits(rawValue: try byte())
        guard traits.isSubset(of: .all) else {
            throw .malformed(offset: offset - 1, reason: "unknown traits \(traits.rawValue)")
        }
        return traits
    }

    mutating func value(depth: Int) throws(ItemRecordError) -> AttributeValue {
        try ItemLimit.depth.check(depth)
        let start = offset
        guard valuesLeft > 0 else { throw .tooLarge(.values, value: ItemRecord.maximumValues + 1) }
        valuesLeft -= 1
        switch try byte() {
        case ValueTag.null: return .null
        case ValueTag.string: return .string(try string())
        case ValueTag.integer: return .integer(try signed())
        case ValueTag.double: return .double(try double())
        case ValueTag.no: return .boolean(false)
        case ValueTag.yes: return .boolean(true)
        case ValueTag.date: return .date(try double())
        case ValueTag.data: return .data(try data())
        case ValueTag.url: return .url(try string())
        case ValueTag.person: return .person(try person())
        case ValueTag.localizedString: return .localizedString(try localizedString())
        case ValueTag.array:
            let length = try count(.elements)
            var values: [AttributeValue] = []
            values.reserveCapacity(length)
            for _ in 0..<length { values.append(try value(depth: depth + 1)) }
            return .array(values)
        case ValueTag.dictionary:
            var values: [String: AttributeValue] = [:]
            for _ in 0..<(try count(.elements)) {
                let name = try string()
                values[name] = try value(depth: depth + 1)
            }
            return .dictionary(values)
        case let tag: throw .malformed(offset: start, reason: "unknown kind of value \(tag)")
        }
    }

    private mutating func person() throws(ItemRecordError) -> PersonValue {
        let displayName = try optionalString()
        let handleIdentifier = try string()
        let contactIdentifier = try optionalString()
        var handles: [String] = []
        for _ in 0..<(try count(.elements)) { handles.append(try string()) }
        return PersonValue(
            displayName: displayName, handles: handles, handleIdentifier: handleIdentifier,
            contactIdentifier: contactIdentifier)
    }

    private mutating func localizedString() throws(ItemRecordError) -> [String: String] {
        var texts: [String: String] = [:]
        for _ in 0..<(try count(.elements)) {
            let language = try string()
            texts[language] = try string()
        }
        return texts
    }
}
