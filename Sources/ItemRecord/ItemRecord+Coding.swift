// SPDX-License-Identifier: Apache-2.0

// docs/ITEM-RECORD.md describes the format for other languages; keep it in sync.

extension ItemRecord {
    /// The format version that this program reads and writes: the first byte of every record.
    public static let formatVersion: UInt8 = 1

    private enum Flag {
        static let update: UInt8 = 1
        static let domain: UInt8 = 2
        static let expires: UInt8 = 4
        static let never: UInt8 = 8
        static let all: UInt8 = 15
    }

    /// Encodes the item. Attributes are written in name order, so equal items have equal encodings.
    ///
    /// - Throws: ``ItemRecordError/tooLarge(_:value:)`` if a limit of the format is exceeded, and
    ///   ``ItemRecordError/malformed(offset:reason:)`` for an empty identifier.
    public func encoded() throws(ItemRecordError) -> [UInt8] {
        guard !uniqueIdentifier.isEmpty else { throw .malformed(offset: 2, reason: "the unique identifier is empty") }
        try ItemLimit.identifierBytes.check(uniqueIdentifier.utf8.count)
        try ItemLimit.attributes.check(attributes.count)
        var writer = RecordWriter()
        var flags: UInt8 = isUpdate ? Flag.update : 0
        if let domainIdentifier {
            try ItemLimit.domainBytes.check(domainIdentifier.utf8.count)
            flags |= Flag.domain
        }
        switch expiration {
        case .standard: break
        case .never: flags |= Flag.never
        case .at: flags |= Flag.expires
        }
        writer.byte(Self.formatVersion)
        writer.byte(flags)
        writer.string(uniqueIdentifier)
        if let domainIdentifier { writer.string(domainIdentifier) }
        if case .at(let moment) = expiration { writer.double(moment) }
        writer.count(attributes.count)
        for (name, value) in attributes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            try ItemLimit.attributeNameBytes.check(name.utf8.count)
            writer.string(name)
            if let traits = traits[name], traits != .standard { writer.traits(traits) }
            try writer.value(value, depth: 0)
        }
        try ItemLimit.recordBytes.check(writer.bytes.count)
        return writer.bytes
    }

    /// Decodes one record that makes up all of `bytes`.
    ///
    /// - Throws: ``ItemRecordError``. Never traps, for any bytes.
    public init(decoding bytes: some Collection<UInt8>) throws(ItemRecordError) {
        try ItemLimit.recordBytes.check(bytes.count)
        let decoded: Result<ItemRecord, ItemRecordError>? = bytes.withContiguousStorageIfAvailable { buffer in
            Result { () throws(ItemRecordError) in try ItemRecord(reading: buffer) }
        }
        if let decoded {
            self = try decoded.get()
        } else {
            self = try ItemRecord(decoding: Array(bytes))
        }
    }

    /// Returns the identifier and the domain of an encoded item, without decoding its attributes.
    ///
    /// - Throws: ``ItemRecordError``.
    public static func names(
        in record: ArraySlice<UInt8>
    ) throws(ItemRecordError) -> (identifier: String, domain: String?) {
        let result: Result<(identifier: String, domain: String?), ItemRecordError> = record.withUnsafeBufferPointer {
            buffer in
            Result { () throws(ItemRecordError) in
                var reader = RecordReader(bytes: buffer)
                let (item, _) = try head(&reader)
                return (item.uniqueIdentifier, item.domainIdentifier)
            }
        }
        return try result.get()
    }

    private static func head(
        _ reader: inout RecordReader
    ) throws(ItemRecordError) -> (item: ItemRecord, flags: UInt8) {
        let version = try reader.byte()
        guard version == Self.formatVersion else { throw .unknownVersion(version) }
        let flags = try reader.byte()
        guard flags & ~Flag.all == 0, flags & (Flag.never | Flag.expires) != Flag.never | Flag.expires else {
            throw .malformed(offset: 1, reason: "unknown flags \(flags)")
        }
        let identifier = try reader.string(.identifierBytes)
        guard !identifier.isEmpty else { throw .malformed(offset: 2, reason: "the unique identifier is empty") }
        var item = ItemRecord(uniqueIdentifier: identifier, isUpdate: flags & Flag.update != 0)
        if flags & Flag.domain != 0 { item.domainIdentifier = try reader.string(.domainBytes) }
        return (item, flags)
    }

    private init(reading buffer: UnsafeBufferPointer<UInt8>) throws(ItemRecordError) {
        var reader = RecordReader(bytes: buffer)
        let flags: UInt8
        (self, flags) = try Self.head(&reader)
        if flags & Flag.never != 0 { expiration = .never }
        if flags & Flag.expires != 0 { expiration = .at(try reader.double()) }
        let count = try reader.count(.attributes)
        attributes.reserveCapacity(count)
        for _ in 0..<count {
            let start = reader.offset
            let name = try reader.string(.attributeNameBytes)
            if let traits = try reader.traits(), traits != .standard { self.traits[name] = traits }
            let value = try reader.value(depth: 0)
            guard attributes.updateValue(value, forKey: name) == nil else {
                throw .malformed(offset: start, reason: "attribute \(name) is given twice")
            }
        }
        guard reader.isAtEnd else { throw .malformed(offset: reader.offset, reason: "bytes after the last attribute") }
    }
}

/// Functions for several records in one byte array. Each record is preceded by its length: four
/// bytes, little-endian.
public enum RecordBatch {
    /// The largest batch in one message, in bytes.
    public static let maximumBytes = 32 << 20

    /// Appends one encoded record to a batch.
    public static func append(_ record: [UInt8], to batch: inout [UInt8]) {
        let length = UInt32(record.count)
        for shift in [0, 8, 16, 24] as [UInt32] { batch.append(UInt8(truncatingIfNeeded: length >> shift)) }
        batch.append(contentsOf: record)
    }

    /// Splits a batch into records, without decoding them.
    ///
    /// - Throws: ``ItemRecordError`` if a length does not match the bytes that follow.
    public static func split(_ batch: [UInt8]) throws(ItemRecordError) -> [ArraySlice<UInt8>] {
        try split(batch[...])
    }

    /// Splits a slice of bytes into records, without decoding them.
    ///
    /// - Throws: ``ItemRecordError`` if a length does not match the bytes that follow.
    public static func split(_ batch: ArraySlice<UInt8>) throws(ItemRecordError) -> [ArraySlice<UInt8>] {
        var records: [ArraySlice<UInt8>] = []
        var offset = batch.startIndex
        while offset < batch.endIndex {
            guard batch.endIndex - offset >= 4 else { throw .truncated(offset: offset) }
            var length = 0
            for index in 0..<4 { length |= Int(batch[offset + index]) << (8 * index) }
            try ItemLimit.recordBytes.check(length)
            let start = offset + 4
            guard batch.endIndex - start >= length else { throw .truncated(offset: start) }
            records.append(batch[start..<(start + length)])
            offset = start + length
        }
        return records
    }
}
