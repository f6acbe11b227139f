// SPDX-License-Identifier: Apache-2.0

/// The changes of a batch in one byte array, in order; docs/ITEM-RECORD.md describes the format.
/// The log stores these bytes as the app sent them.
public struct ChangeList: Sendable {
    /// The encoded changes.
    public private(set) var bytes: [UInt8] = []
    /// The number of changes and names in the list, added together.
    public private(set) var count = 0
    /// The position of the last change's length, if it is a put to which records can be added.
    private var openPut: Int?

    /// The largest list in one message, in bytes: one put with the largest batch of records.
    public static let maximumBytes = RecordBatch.maximumBytes + 6
    /// The largest list that is committed together with a client state in one message, in bytes.
    public static let maximumBatchBytes = RecordBatch.maximumBytes - ClientState.maximumBytes
    /// The largest number of changes and names. Each uses more memory than its shortest encoding
    /// does.
    public static let maximumChanges = 1 << 20

    fileprivate enum Tag {
        static let items: UInt8 = 1
        static let deleteItems: UInt8 = 2
        static let deleteDomains: UInt8 = 3
        static let deleteAll: UInt8 = 4
        static let renameItems: UInt8 = 5
    }

    /// Creates a list of changes.
    public init(_ changes: [EncodedChange] = []) {
        for change in changes { append(change) }
    }

    /// Decodes a list.
    ///
    /// - Parameter maximumBytes: The largest size of the list, in bytes.
    /// - Throws: ``ItemRecordError`` for invalid bytes. The records of items are not decoded; see
    ///   ``IndexBatch/checkItems()``.
    public init(decoding bytes: [UInt8], maximumBytes: Int = maximumBytes) throws(ItemRecordError) {
        guard bytes.count <= maximumBytes else {
            throw .malformed(offset: maximumBytes, reason: "a batch has more than \(maximumBytes) bytes")
        }
        var changes = Changes(bytes: bytes)
        while let change = try changes.read() {
            count += change.count
            guard count <= Self.maximumChanges else {
                throw .malformed(offset: changes.offset, reason: "a batch has more than \(Self.maximumChanges) changes")
            }
        }
        self.bytes = bytes
    }

    /// Appends a change.
    public mutating func append(_ change: EncodedChange) {
        var writer = RecordWriter()
        openPut = nil
        count += change.count
        switch change {
        case .put(let batch):
            writer.byte(Tag.items)
            writer.count(batch.count)
            bytes.append(contentsOf: writer.bytes)
            bytes.append(contentsOf: batch)
            return
        case .deleteItems(let names): writer.names(names, Tag.deleteItems)
        case .deleteDomains(let names): writer.names(names, Tag.deleteDomains)
        case .deleteAll: writer.byte(Tag.deleteAll)
        case .renameItems(let renames): writer.renames(renames)
        }
        bytes.append(contentsOf: writer.bytes)
    }

    /// Appends the put of one encoded item. Consecutive puts are combined.
    public mutating func append(record: [UInt8]) {
        let position: Int
        if let openPut {
            position = openPut
        } else {
            bytes.append(Tag.items)
            position = bytes.count
            bytes += [0, 0, 0, 0, 0]
            count += 1
            openPut = position
        }
        RecordBatch.append(record, to: &bytes)
        // Always uses five bytes, so that the length can be increased in place.
        let length = bytes.count - position - 5
        for index in 0..<4 { bytes[position + index] = UInt8(truncatingIfNeeded: length >> (7 * index)) | 0x80 }
        bytes[position + 4] = UInt8(truncatingIfNeeded: length >> 28) & 0x7F
    }

    /// Appends changes, unless the list would become too large to be committed with a client state.
    ///
    /// - Throws: ``TooLarge``; in that case nothing is appended.
    public mutating func appendToBatch(_ changes: [EncodedChange]) throws(TooLarge) {
        let size = TooLarge(
            bytes: changes.reduce(bytes.count) { $0 + $1.largestEncoding },
            count: changes.reduce(count) { $0 + $1.count })
        guard size.bytes <= Self.maximumBatchBytes, size.count <= Self.maximumChanges else { throw size }
        for change in changes { append(change) }
    }

    /// The size that a rejected list would have had.
    public struct TooLarge: Error, Hashable, Sendable {
        /// The upper bound of the list's size, in bytes.
        public let bytes: Int
        /// The number of changes and names in the list.
        public let count: Int
    }

    /// `true` if there are no changes.
    public var isEmpty: Bool { bytes.isEmpty }

    /// The changes, in order. The items of a put are a slice of ``bytes`` in the format of
    /// ``RecordBatch``.
    public var changes: Changes { Changes(bytes: bytes) }

    /// The changes that follow the last deletion of everything; `nil` if there is no such deletion.
    public var afterDeletingAll: ChangeList? {
        var (rest, passed, changes) = (ChangeList?.none, 0, changes)
        while let change = changes.next() {
            passed += change.count
            guard case .deleteAll = change else { continue }
            var list = ChangeList()
            (list.bytes, list.count) = (Array(bytes[changes.offset...]), count - passed)
            rest = list
        }
        return rest
    }

    /// Decodes changes one after another.
    public struct Changes: Sequence, IteratorProtocol, Sendable {
        private let bytes: [UInt8]
        /// The position of the next change.
        fileprivate private(set) var offset = 0

        fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

        /// Returns the next change; `nil` at the end.
        public mutating func next() -> IndexChange<ArraySlice<UInt8>>? {
            // The list has been decoded before, or was created from changes, so it is valid.
            (try? read()) ?? nil
        }

        fileprivate mutating func read() throws(ItemRecordError) -> IndexChange<ArraySlice<UInt8>>? {
            let start = offset
            let result = bytes.withUnsafeBufferPointer { buffer in
                Result { () throws(ItemRecordError) in try Self.change(in: buffer, from: start) }
            }
            guard let (change, end) = try result.get() else { return nil }
            offset = end
            return change.withRecords { bytes[$0] }
        }

        private static func change(
            in buffer: UnsafeBufferPointer<UInt8>, from start: Int
        ) throws(ItemRecordError) -> (IndexChange<Range<Int>>, end: Int)? {
            var reader = RecordReader(bytes: buffer, offset: start)
            guard !reader.isAtEnd else { return nil }
            let change: IndexChange<Range<Int>>
            switch try reader.byte() {
            case Tag.items: change = .put(try reader.blob())
            case Tag.deleteItems: change = .deleteItems(try reader.names())
            case Tag.deleteDomains: change = .deleteDomains(try reader.names())
            case Tag.deleteAll: change = .deleteAll
            case Tag.renameItems: change = .renameItems(try reader.renames())
            case let tag: throw .malformed(offset: start, reason: "unknown change \(tag)")
            }
            return (change, reader.offset)
        }
    }
}

extension ChangeList: Hashable {
    /// Returns `true` if the bytes are equal.
    public static func == (one: ChangeList, other: ChangeList) -> Bool { one.bytes == other.bytes }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension RecordWriter {
    fileprivate mutating func names(_ names: [String], _ tag: UInt8) {
        byte(tag)
        count(names.count)
        for name in names { string(name) }
    }

    fileprivate mutating func renames(_ renames: [ItemRename]) {
        byte(ChangeList.Tag.renameItems)
        count(renames.count)
        for rename in renames {
            string(rename.identifier)
            string(rename.newIdentifier)
        }
    }
}

extension RecordReader {
    fileprivate mutating func names() throws(ItemRecordError) -> [String] {
        var names: [String] = []
        for _ in 0..<(try count(ofNames: 1)) { names.append(try string(.identifierBytes)) }
        return names
    }

    fileprivate mutating func renames() throws(ItemRecordError) -> [ItemRename] {
        var renames: [ItemRename] = []
        for _ in 0..<(try count(ofNames: 2)) {
            let identifier = try string(.identifierBytes)
            let start = offset
            let newIdentifier = try string(.identifierBytes)
            guard !newIdentifier.isEmpty else {
                throw .malformed(offset: start, reason: "the new identifier of an item is empty")
            }
            renames.append(ItemRename(identifier, to: newIdentifier))
        }
        return renames
    }

    /// Reads a number of entries with a given number of names each. A list contains at most
    /// ``ChangeList/maximumChanges`` names.
    private mutating func count(ofNames namesOfEach: UInt64) throws(ItemRecordError) -> UInt64 {
        let start = offset
        let count = try unsigned()
        guard count < UInt64(ChangeList.maximumChanges) / namesOfEach else {
            throw .malformed(offset: start, reason: "a batch has more than \(ChangeList.maximumChanges) changes")
        }
        return count
    }
}
