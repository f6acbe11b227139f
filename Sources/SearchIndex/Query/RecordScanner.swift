// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// Scans the fields of a record (docs/ITEM-RECORD.md) without decoding them. Checks every length.
struct RecordScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var offset = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    /// Skips version, flags, identifier, domain and expiration, and returns their range.
    mutating func skipHeader() -> Range<Int>? { header().map { 0..<$0.end } }

    /// Skips version, flags, identifier, domain and expiration. Returns the range of the identifier
    /// and the end of the header.
    mutating func header() -> (identifier: Range<Int>, end: Int)? {
        guard byte() == ItemRecord.formatVersion, let flags = byte(), let identifier = text() else { return nil }
        if flags & 2 != 0, text() == nil { return nil }
        if flags & 4 != 0, !skip(8) { return nil }
        return (identifier, offset)
    }

    mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, count <= bytes.count - offset else { return false }
        offset += count
        return true
    }

    /// Reads a count of elements that have at least one byte each.
    mutating func count() -> Int? {
        var value: UInt64 = 0
        for shift in stride(from: 0 as UInt64, to: 35, by: 7) {
            guard let next = byte() else { return nil }
            value |= UInt64(next & 0x7F) << shift
            if next & 0x80 == 0 { return value <= UInt64(bytes.count - offset) ? Int(value) : nil }
        }
        return nil
    }

    mutating func text() -> Range<Int>? {
        guard let length = count() else { return nil }
        let start = offset
        return skip(length) ? start..<offset : nil
    }

    private mutating func skipTexts(_ perElement: Int, _ visit: (Range<Int>) -> Void) -> Bool {
        guard let length = count() else { return false }
        for _ in 0..<(length * perElement) where !skipText(visit) { return false }
        return true
    }

    private mutating func skipText(_ visit: (Range<Int>) -> Void) -> Bool {
        guard let range = text() else { return false }
        visit(range)
        return true
    }

    private mutating func skipOptionalText(_ visit: (Range<Int>) -> Void) -> Bool {
        switch byte() {
        case 0: true
        case 1: skipText(visit)
        default: false
        }
    }

    /// Reads the traits before an attribute's value; ``AttributeTraits/standard`` if there are
    /// none, `nil` for invalid traits.
    mutating func traits() -> AttributeTraits? {
        guard offset < bytes.count, bytes[offset] == 13 else { return .standard }
        guard skip(1), let traits = byte().map({ AttributeTraits(rawValue: $0) }), traits.isSubset(of: .all) else {
            return nil
        }
        return traits
    }

    // MARK: Plain values

    /// Reads a date; returns `nil` without advancing if the value is not a date.
    mutating func date() -> Double? {
        guard offset < bytes.count, bytes[offset] == 6, bytes.count - offset > 8 else { return nil }
        offset += 1
        return double()
    }

    /// Reads a number or a Boolean; `nil` if the value is neither.
    mutating func number() -> Double? {
        switch byte() {
        case 2:
            var value: UInt64 = 0
            for shift in stride(from: 0 as UInt64, to: 63, by: 7) {
                guard let next = byte() else { return nil }
                value |= UInt64(next & 0x7F) << shift
                if next & 0x80 == 0 { return Double(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)) }
            }
            return nil
        case 3:
            guard bytes.count - offset >= 8 else { return nil }
            let value = double()
            return value.isNaN ? nil : value
        case 4: return 0
        case 5: return 1
        default: return nil
        }
    }

    private mutating func double() -> Double {
        var pattern: UInt64 = 0
        for index in 0..<8 { pattern |= UInt64(bytes[offset + index]) << (8 * UInt64(index)) }
        offset += 8
        return Double(bitPattern: pattern)
    }

    /// Calls `visit` with the ranges of a value's texts, in the order of `AttributeValue.texts`.
    ///
    /// - Returns: `false` for values whose texts are not stored in that order: texts in several
    ///   languages, and dictionaries.
    mutating func forEachText(_ visit: (Range<Int>) -> Void) -> Bool { forEachText(depth: 0, visit) }

    private mutating func forEachText(depth: Int, _ visit: (Range<Int>) -> Void) -> Bool {
        guard depth <= ItemRecord.maximumDepth, offset < bytes.count else { return false }
        switch bytes[offset] {
        case 1, 8: return skip(1) && skipText(visit)
        case 9:
            return skip(1) && skipOptionalText(visit) && text() != nil && skipOptionalText({ _ in })
                && skipTexts(1, visit)
        case 10, 12: return false
        case 11:
            offset += 1
            guard let length = count() else { return false }
            for _ in 0..<length where !forEachText(depth: depth + 1, visit) { return false }
            return true
        default: return skipValue(depth: depth)
        }
    }

    /// Skips a value.
    ///
    /// - Parameter visit: Called with the ranges of the value's texts.
    mutating func skipValue(depth: Int, visit: (Range<Int>) -> Void = { _ in }) -> Bool {
        guard depth <= ItemRecord.maximumDepth, let kind = byte() else { return false }
        switch kind {
        case 0, 4, 5: return true
        case 1, 7, 8: return skipText(visit)
        case 2:
            // An integer of at most 64 bits.
            for _ in 0..<10 {
                guard let next = byte() else { return false }
                if next & 0x80 == 0 { return true }
            }
            return false
        case 3, 6: return skip(8)
        case 9: return skipOptionalText(visit) && skipText(visit) && skipOptionalText(visit) && skipTexts(1, visit)
        case 10: return skipTexts(2, visit)
        case 11:
            guard let length = count() else { return false }
            for _ in 0..<length where !skipValue(depth: depth + 1, visit: visit) { return false }
            return true
        case 12:
            guard let length = count() else { return false }
            for _ in 0..<length where text() == nil || !skipValue(depth: depth + 1, visit: visit) { return false }
            return true
        default: return false
        }
    }
}
