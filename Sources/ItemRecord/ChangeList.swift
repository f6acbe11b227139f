// SPDX-License-Identifier: Apache-2.0

/// The changes of a batch in one byte array, in order; docs/ITEM-RECORD.md has the format. The log stores the bytes that an app
/// sent.
public struct ChangeList: Sendable {
    /// The encoded changes.
    public private(set) var bytes: [UInt8] = []
    /// How many changes and names the list has.
    public private(set) var count = 0
    /// The position of the length of the last change, if that is a put which takes more records.
    private var openPut: Int?

    /// The largest list that travels in one message, in bytes: one put of the largest batch of records.
    public static let maximumBytes = RecordBatch.maximumBytes + 6
    /// The largest list that is committed with a client state, in bytes: both travel in one message.
    public static let maximumBatchBytes = RecordBatch.maximumBytes - ClientState.maximumBytes
    /// The most changes and names: each costs more memory than its shortest form.
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

    /// Reads a list.
    ///
    /// - Parameter maximumBytes: The most bytes that it may have.
    /// - Throws: ``ItemRecordError`` for bytes that are none. The records of items are not read; see
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

    /// Adds a change at the end.
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

    /// Adds the put of one encoded item at the end; puts that follow each other become one.
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
        // Always five bytes, so that the length can grow in place.
        let length = bytes.count - position - 5
        for index in 0..<4 { bytes[position + index] = UInt8(truncatingIfNeeded: length >> (7 * index)) | 0x80 }
        bytes[position + 4] = UInt8(truncatingIfNeeded: length >> 28) & 0x7F
    }

    /// Adds changes at the end, unless the list would then be too large to be committed with a client state.
    ///
    /// - Throws: ``TooLarge``; nothing is added then.
    public mutating func appendToBatch(_ changes: [EncodedChange]) throws(TooLarge) {
        let size = TooLarge(
            bytes: changes.reduce(bytes.count) { $0 + $1.largestEncoding },
            count: changes.reduce(count) { $0 + $1.count })
        guard size.bytes <= Self.maximumBatchBytes, size.count <= Self.maximumChanges else { throw size }
        for change in changes { append(change) }
    }

    /// The size that a list would have had.
    public struct TooLarge: Error, Hashable, Sendable {
        /// The most bytes that it could have taken.
        public let bytes: Int
        /// The changes and names.
        public let count: Int
    }

    /// Whether there are none.
    public var isEmpty: Bool { bytes.isEmpty }

    /// The changes, in order; those of items are slices of ``bytes``, a ``RecordBatch`` each.
    public var changes: Changes { Changes(bytes: bytes) }

    /// What comes after the last deletion of everything; `nil` if there is none.
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

    /// Reads changes one after the other.
    public struct Changes: Sequence, IteratorProtocol, Sendable {
        private let bytes: [UInt8]
        /// The position of the next change.
        fileprivate private(set) var offset = 0

        fileprivate init(bytes: [UInt8]) { self.bytes = bytes }

        /// The next change; `nil` at the end.
        public mutating func next() -> IndexChange<ArraySlice<UInt8>>? {
            // A list has been read before, or was made from changes.
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
    /// Compares the bytes.
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

    /// A count of entries that have so many names each; a list has no more names than ``ChangeList/maximumChanges``.
    private mutating func count(ofNames namesOfEach: UInt64) throws(ItemRecordError) -> UInt64 {
        let start = offset
        let count = try unsigned()
        guard count < UInt64(ChangeList.maximumChanges) / namesOfEach else {
            throw .malformed(offset: start, reason: "a batch has more than \(ChangeList.maximumChanges) changes")
        }
        return count
    }
}
