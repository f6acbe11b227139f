// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// Reads the parts of an encoded entry; every length is checked against the bytes that are left before it is used.
struct LogEntryReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    /// The reader is used only while the buffer is valid.
    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private var left: Int { bytes.count - offset }

    /// Reads the one entry that fills the bytes.
    mutating func entry() throws(LogEntryError) -> LogEntry {
        let version = try byte()
        guard version == LogEntry.formatVersion else { throw .unknownVersion(version) }
        let flags = try byte()
        guard flags & ~LogEntry.Flag.all == 0 else { throw .malformed(offset: 1, reason: "unknown flags") }
        let bundle = try text("bytes of bundle identifier", limit: LogEntry.maximumNameBytes)
        var index: String?
        if flags & LogEntry.Flag.index != 0 {
            index = try text("bytes of index name", limit: LogEntry.maximumNameBytes)
        }
        var state: [UInt8]?
        if flags & LogEntry.Flag.clientState != 0 {
            let length = Int(try byte())
            try LogEntry.check(length, "bytes of client state", ClientState.maximumBytes)
            state = try data(length)
        }
        let moment = flags & LogEntry.Flag.moment != 0 ? try moment() : nil
        let count = try count("changes", limit: LogEntry.maximumCount)
        var changes: [EncodedChange] = []
        changes.reserveCapacity(count)
        for _ in 0..<count { changes.append(try change()) }
        guard left == 0 else { throw .malformed(offset: offset, reason: "bytes follow the last change") }
        return LogEntry(
            scope: IndexScope(bundle: bundle, index: index), changes: changes, clientState: state,
            moment: moment)
    }

    private mutating func moment() throws(LogEntryError) -> LogEntry.Moment {
        let start = offset
        let moment = LogEntry.Moment(
            wall: Double(bitPattern: try number()), boot: try number(), seconds: Double(bitPattern: try number()))
        guard moment.wall.isFinite, moment.seconds.isFinite else {
            throw .malformed(offset: start, reason: "the moment of the donation is none")
        }
        return moment
    }

    private mutating func number() throws(LogEntryError) -> UInt64 {
        guard left >= 8 else { throw .truncated(offset: offset) }
        defer { offset += 8 }
        return LittleEndian.load(UInt64.self, at: offset, from: bytes)
    }

    private mutating func change() throws(LogEntryError) -> EncodedChange {
        switch try byte() {
        case LogEntry.Tag.put: return .put(try data(count("bytes in one item", limit: LogEntry.maximumBytes)))
        case LogEntry.Tag.deleteItems: return .deleteItems(try texts())
        case LogEntry.Tag.deleteDomains: return .deleteDomains(try texts())
        case LogEntry.Tag.deleteAll: return .deleteAll
        case let tag: throw .malformed(offset: offset - 1, reason: "unknown change \(tag)")
        }
    }

    private mutating func byte() throws(LogEntryError) -> UInt8 {
        guard left >= 1 else { throw .truncated(offset: offset) }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// A count of things that take at least a byte each, so that no count makes the reader reserve more than is there.
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
        let count = try count("identifiers in one change", limit: LogEntry.maximumCount)
        var texts: [String] = []
        texts.reserveCapacity(count)
        for _ in 0..<count {
            texts.append(try text("bytes of identifier", limit: LogEntry.maximumIdentifierBytes))
        }
        return texts
    }
}
