// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery

/// Decodes only part of an item record: identifier, domain and some attributes.
struct RecordProjection: Sendable {
    private let names: Set<String>
    private let plainNames: [[UInt8]]
    /// Selects additional attributes, for `**`.
    private let isWanted: (@Sendable (String) -> Bool)?

    /// Creates a projection onto the attributes that the evaluation of a query may read.
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

    /// Creates a projection onto some attributes.
    init(of names: [String]) {
        self.names = Set(names)
        plainNames = names.map { Array($0.utf8) }
        isWanted = nil
    }

    /// Returns the item with the selected attributes only.
    ///
    /// - Throws: ``ItemRecordError`` for bytes that are not a record. Errors inside an attribute
    ///   that is not selected may go unnoticed.
    func record(decoding bytes: some Collection<UInt8>) throws(ItemRecordError) -> ItemRecord {
        let reduced: [UInt8]?? = bytes.withContiguousStorageIfAvailable { self.reduced($0) }
        // Bytes that cannot be scanned are not a record; decoding all of them reports the reason.
        if case .some(.some(let reduced)) = reduced { return try ItemRecord(decoding: reduced) }
        return try ItemRecord(decoding: bytes)
    }

    /// Returns a record that contains only the selected attributes; `nil` if the bytes cannot be
    /// scanned.
    private func reduced(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var scanner = RecordScanner(bytes)
        guard let header = scanner.skipHeader(), let count = scanner.count() else { return nil }
        var kept: [Range<Int>] = []
        for _ in 0..<count {
            let start = scanner.offset
            guard let name = scanner.text(), let traits = scanner.traits(), scanner.skipValue(depth: 0) else {
                return nil
            }
            if (traits.contains(.searchableByDefault) && isWanted != nil)
                || wants(UnsafeBufferPointer(rebasing: bytes[name]))
            {
                kept.append(start..<scanner.offset)
            }
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
        // Alternative spellings of a name are canonically equivalent and not ASCII.
        if isWanted == nil, name.allSatisfy({ $0 < 0x80 }) { return false }
        let text = String(decoding: name, as: UTF8.self)
        return names.contains(text) || (isWanted?(text) ?? false)
    }
}
