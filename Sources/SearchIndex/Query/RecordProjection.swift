// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import ServiceProtocol

/// Decodes of an item record only what a query asks for: identifier, domain and the attributes it names.
struct RecordProjection: Sendable {
    private let names: Set<String>
    private let plainNames: [[UInt8]]
    /// Further attributes, for `**`.
    private let isWanted: (@Sendable (String) -> Bool)?

    /// What the evaluation of a query may look at.
    init(_ expression: QueryExpression, context: QueryContext) {
        var names: Set<String> = []
        var hasWildcard = false
        var rest = [expression]
        func note(_ attribute: AttributeSelector) {
            switch attribute {
            case .anyAttribute: hasWildcard = true
            case .named(AttributeKind.typeTree): names.formUnion([AttributeKind.typeTree, AttributeKind.type])
            case .named(let name): names.insert(name)
            }
        }
        while let next = rest.popLast() {
            switch next {
            case .comparison(let comparison): note(comparison.attribute)
            case .range(let range): note(range.attribute)
            case .and(let operands), .or(let operands): rest += operands
            case .not(let operand): rest.append(operand)
            }
        }
        if hasWildcard, context.isSearchableByDefault(AttributeKind.typeTree) { names.insert(AttributeKind.type) }
        self.names = names
        plainNames = names.map { Array($0.utf8) }
        isWanted = hasWildcard ? context.isSearchableByDefault : nil
    }

    /// The item, with the wanted attributes alone.
    ///
    /// - Throws: ``ItemRecordError`` for bytes that are no record; what is wrong inside an attribute that is not wanted
    ///   may pass.
    func record(decoding bytes: some Collection<UInt8>) throws(ItemRecordError) -> ItemRecord {
        let reduced: [UInt8]?? = bytes.withContiguousStorageIfAvailable { self.reduced($0) }
        // Bytes that cannot be cut up are not a record; decoding all of them says why.
        if case .some(.some(let reduced)) = reduced { return try ItemRecord(decoding: reduced) }
        return try ItemRecord(decoding: bytes)
    }

    /// A record of the wanted attributes; `nil` when the bytes cannot be cut up.
    private func reduced(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var scanner = RecordScanner(bytes)
        guard let header = scanner.skipHeader(), let count = scanner.count() else { return nil }
        var kept: [Range<Int>] = []
        for _ in 0..<count {
            let start = scanner.offset
            guard let name = scanner.text(), scanner.skipValue(depth: 0) else { return nil }
            if wants(UnsafeBufferPointer(rebasing: bytes[name])) { kept.append(start..<scanner.offset) }
        }
        guard scanner.isAtEnd else { return nil }
        var reduced: [UInt8] = []
        reduced.reserveCapacity(kept.reduce(header.count + 2) { $0 + $1.count })
        reduced += bytes[header]
        var rest = kept.count
        while rest >= 0x80 {
            reduced.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        reduced.append(UInt8(rest))
        for range in kept { reduced += bytes[range] }
        return reduced
    }

    private func wants(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        if plainNames.contains(where: { $0.elementsEqual(name) }) { return true }
        // Other spellings of a name are canonically equivalent, and not of ASCII.
        if isWanted == nil, name.allSatisfy({ $0 < 0x80 }) { return false }
        let text = String(decoding: name, as: UTF8.self)
        return names.contains(text) || (isWanted?(text) ?? false)
    }
}

/// Walks over the fields of a record (docs/ITEM-RECORD.md) without decoding them; every length is checked.
private struct RecordScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var offset = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    /// Version, flags, identifier, domain and expiration.
    mutating func skipHeader() -> Range<Int>? {
        guard byte() == ItemRecord.formatVersion, let flags = byte(), text() != nil else { return nil }
        if flags & 2 != 0, text() == nil { return nil }
        if flags & 4 != 0, !skip(8) { return nil }
        return 0..<offset
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

    /// A count of things that take a byte each at least.
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

    private mutating func skipTexts(_ perElement: Int) -> Bool {
        guard let length = count() else { return false }
        for _ in 0..<(length * perElement) where text() == nil { return false }
        return true
    }

    private mutating func skipOptionalText() -> Bool {
        switch byte() {
        case 0: true
        case 1: text() != nil
        default: false
        }
    }

    mutating func skipValue(depth: Int) -> Bool {
        guard depth <= ItemRecord.maximumDepth, let kind = byte() else { return false }
        switch kind {
        case 0, 4, 5: return true
        case 1, 7, 8: return text() != nil
        case 2:
            // A number of up to 64 bits.
            for _ in 0..<10 {
                guard let next = byte() else { return false }
                if next & 0x80 == 0 { return true }
            }
            return false
        case 3, 6: return skip(8)
        case 9: return skipOptionalText() && text() != nil && skipOptionalText() && skipTexts(1)
        case 10: return skipTexts(2)
        case 11:
            guard let length = count() else { return false }
            for _ in 0..<length where !skipValue(depth: depth + 1) { return false }
            return true
        case 12:
            guard let length = count() else { return false }
            for _ in 0..<length where text() == nil || !skipValue(depth: depth + 1) { return false }
            return true
        default: return false
        }
    }
}
