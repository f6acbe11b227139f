// SPDX-License-Identifier: Apache-2.0

/// The changes of a batch in one byte array, in order: for each a byte that says which, then what it is about. Lengths and
/// counts are LEB128, as in an item record.
public struct ChangeList: Sendable, Hashable {
    /// The encoded changes.
    public private(set) var bytes: [UInt8] = []
    /// How many changes and names the list has.
    public private(set) var count = 0

    /// The largest list, in bytes; it travels in one message.
    public static let maximumBytes = RecordBatch.maximumBytes
    /// The largest list that is committed with a client state, in bytes: both travel in one message.
    public static let maximumBatchBytes = maximumBytes - ClientState.maximumBytes
    /// The most changes and names: each costs more memory than its shortest form.
    public static let maximumChanges = 1 << 20

    private enum Tag {
        static let items: UInt8 = 1
        static let deleteItems: UInt8 = 2
        static let deleteDomains: UInt8 = 3
        static let deleteAll: UInt8 = 4
    }

    /// An empty list.
    public init() {}

    /// Adds a change at the end.
    public mutating func append(_ change: EncodedChange) {
        var writer = RecordWriter()
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
        }
        bytes.append(contentsOf: writer.bytes)
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

    /// Reads a list.
    ///
    /// - Throws: ``ItemRecordError`` for bytes that are none. The records of items are not looked into.
    public static func changes(in bytes: [UInt8]) throws(ItemRecordError) -> [EncodedChange] {
        let result: Result<[EncodedChange], ItemRecordError> = bytes.withUnsafeBufferPointer { buffer in
            Result { () throws(ItemRecordError) in try changes(in: buffer) }
        }
        return try result.get()
    }

    private static func changes(in buffer: UnsafeBufferPointer<UInt8>) throws(ItemRecordError) -> [EncodedChange] {
        guard buffer.count <= maximumBytes else {
            throw .malformed(offset: maximumBytes, reason: "a batch has more than \(maximumBytes) bytes")
        }
        var reader = RecordReader(bytes: buffer)
        var changes: [EncodedChange] = []
        var names = 0
        while !reader.isAtEnd {
            guard changes.count + names < maximumChanges else {
                throw .malformed(offset: reader.offset, reason: "a batch has more than \(maximumChanges) changes")
            }
            let start = reader.offset
            switch try reader.byte() {
            case Tag.items: changes.append(.put(try reader.blob()))
            case Tag.deleteItems: changes.append(.deleteItems(try reader.names(&names)))
            case Tag.deleteDomains: changes.append(.deleteDomains(try reader.names(&names)))
            case Tag.deleteAll: changes.append(.deleteAll)
            case let tag: throw .malformed(offset: start, reason: "unknown change \(tag)")
            }
        }
        return changes
    }
}

extension RecordWriter {
    fileprivate mutating func names(_ names: [String], _ tag: UInt8) {
        byte(tag)
        count(names.count)
        for name in names { string(name) }
    }
}

extension RecordReader {
    fileprivate mutating func names(_ total: inout Int) throws(ItemRecordError) -> [String] {
        let start = offset
        let count = try unsigned()
        guard count <= UInt64(ChangeList.maximumChanges - total) else {
            throw .malformed(offset: start, reason: "a batch has more than \(ChangeList.maximumChanges) changes")
        }
        total += Int(count)
        var names: [String] = []
        for _ in 0..<count { names.append(try string(.identifierBytes)) }
        return names
    }
}
