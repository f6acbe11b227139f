// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// Decodes entries of format version 1, in which each put has one item. Checks every length against
/// the number of remaining bytes before using it.
struct FirstLogEntryReader {
    private enum Flag {
        static let index: UInt8 = 1
        static let clientState: UInt8 = 2
        static let all: UInt8 = 7
    }
    private static let maximumCount = 1 << 20
    private static let maximumIdentifierBytes = 4096

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    /// Creates a reader, which is valid only as long as the buffer is.
    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private var left: Int { bytes.count - offset }

    /// Decodes the single entry that makes up the bytes.
    mutating func entry() throws(LogEntryError) -> LogEntry {
        _ = try byte()
        let flags = try byte()
        guard flags & ~Flag.all == 0 else { throw .malformed(offset: 1, reason: "unknown flags") }
        let bundle = try text("bytes of bundle identifier", limit: IndexBatch.maximumNameBytes)
        var index: String?
        if flags & Flag.index != 0 {
            index = try text("bytes of index name", limit: IndexBatch.maximumNameBytes)
        }
        var state: [UInt8]?
        if flags & Flag.clientState != 0 {
            let length = Int(try byte())
            try LogEntry.check(length, "bytes of client state", ClientState.maximumBytes)
            state = try data(length)
        }
        let moment = flags & LogEntry.momentFlag != 0 ? try moment() : nil
        let count = try count("changes", limit: Self.maximumCount)
        var changes = ChangeList()
        for _ in 0..<count {
            let start = offset
            switch try byte() {
            case 1: changes.append(record: try data(self.count("bytes in one item", limit: LogEntry.maximumBytes)))
            case 2: changes.append(.deleteItems(try texts()))
            case 3: changes.append(.deleteDomains(try texts()))
            case 4: changes.append(.deleteAll)
            case let tag: throw .malformed(offset: start, reason: "unknown change \(tag)")
            }
        }
        guard left == 0 else { throw .malformed(offset: offset, reason: "bytes follow the last change") }
        let batch = IndexBatch(scope: IndexScope(bundle: bundle, index: index), changes: changes, clientState: state)
        return LogEntry(batch, moment: moment)
    }

    private mutating func moment() throws(LogEntryError) -> LogEntry.Moment {
        guard left >= LogEntry.Moment.byteCount else { throw .truncated(offset: offset) }
        defer { offset += LogEntry.Moment.byteCount }
        return try LogEntry.Moment(at: offset, in: bytes)
    }

    private mutating func byte() throws(LogEntryError) -> UInt8 {
        guard left >= 1 else { throw .truncated(offset: offset) }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Reads a count of elements of at least one byte each, so that a count cannot cause an
    /// allocation larger than the data.
    private mutating func count(_ what: String, limit: Int) throws(LogEntryError) -> Int {
        let start = offset
        guard left >= 4 else { throw .truncated(offset: start) }
        let value = Int(LittleEndian.load(UInt32.self, at: offset, from: bytes))
        offset += 4
        try LogEntry.check(value, what, limit)
        guard value <= left else { throw .truncated(offset: start) }
        return value
    }

    private mutating func data(_ length: Int) throws(LogEntryError) -> [UInt8] {
        guard length <= left else { throw .truncated(offset: offset) }
        defer { offset += length }
        return Array(UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)]))
    }

    private mutating func text(_ what: String, limit: Int) throws(LogEntryError) -> String {
        let start = offset
        let length = try count(what, limit: limit)
        let slice = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
        offset += length
        guard let text = String(validating: slice, as: UTF8.self) else {
            throw .malformed(offset: start, reason: "a text is not UTF-8")
        }
        return text
    }

    private mutating func texts() throws(LogEntryError) -> [String] {
        let count = try count("identifiers in one change", limit: Self.maximumCount)
        var texts: [String] = []
        texts.reserveCapacity(count)
        for _ in 0..<count {
            texts.append(try text("bytes of identifier", limit: Self.maximumIdentifierBytes))
        }
        return texts
    }
}
