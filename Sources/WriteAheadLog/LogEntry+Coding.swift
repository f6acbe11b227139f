// SPDX-License-Identifier: Apache-2.0
import ItemRecord

// docs/WRITE-AHEAD-LOG.md describes the format; keep it in sync.

extension LogEntry {
    /// The format version that this program writes, the first byte of every encoded entry. It also
    /// reads the earlier version (``FirstLogEntryReader``).
    package static let formatVersion: UInt8 = 2

    /// Set if the entry contains clock values.
    static let momentFlag: UInt8 = 4

    /// Returns the encoding of an entry up to the changes of its batch, which are appended
    /// unchanged. Equal entries have equal encodings.
    ///
    /// - Throws: ``LogEntryError/tooLarge(what:value:limit:)``.
    package func encodedHead() throws(LogEntryError) -> [UInt8] {
        var bytes = [Self.formatVersion, moment == nil ? 0 : Self.momentFlag]
        if let moment {
            LittleEndian.append(moment.wall.bitPattern, to: &bytes)
            LittleEndian.append(moment.boot, to: &bytes)
            LittleEndian.append(moment.seconds.bitPattern, to: &bytes)
        }
        do throws(IndexBatch.TooLarge) { bytes += try batch.encodedHead() } catch {
            throw .tooLarge(what: error.what, value: error.value, limit: error.limit)
        }
        try Self.check(batch.changes.count, "changes", ChangeList.maximumChanges)
        try Self.check(bytes.count + batch.changes.bytes.count, "bytes", Self.maximumBytes)
        return bytes
    }

    /// Returns the encoded entry.
    ///
    /// - Throws: ``LogEntryError/tooLarge(what:value:limit:)``.
    package func encoded() throws(LogEntryError) -> [UInt8] { try encodedHead() + batch.changes.bytes }

    /// Decodes an entry that fills `bytes` exactly.
    ///
    /// - Throws: ``LogEntryError``. Never traps, for any bytes.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(LogEntryError) {
        try Self.check(bytes.count, "bytes", Self.maximumBytes)
        guard let version = bytes.first else { throw .truncated(offset: 0) }
        switch version {
        case Self.formatVersion: break
        case 1:
            var reader = FirstLogEntryReader(bytes: bytes)
            self = try reader.entry()
            return
        default: throw .unknownVersion(version)
        }
        guard bytes.count >= 2 else { throw .truncated(offset: 1) }
        guard bytes[1] & ~Self.momentFlag == 0 else { throw .malformed(offset: 1, reason: "unknown flags") }
        let hasMoment = bytes[1] != 0
        let start = hasMoment ? 2 + Moment.byteCount : 2
        guard bytes.count >= start else { throw .truncated(offset: 2) }
        moment = hasMoment ? try Moment(at: 2, in: bytes) : nil
        do throws(ItemRecordError) {
            batch = try IndexBatch(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[start...]), maximumBytes: Self.maximumBytes)
        } catch {
            throw .malformed(offset: start, reason: error.description)
        }
        guard batch.expectation == .any else { throw .malformed(offset: start, reason: "unknown flags") }
    }

    /// Decodes an entry that fills `bytes` exactly.
    ///
    /// - Throws: ``LogEntryError``. Never traps, for any bytes.
    package init(decoding bytes: [UInt8]) throws(LogEntryError) {
        self = try bytes.withUnsafeBytes { buffer in
            Result { () throws(LogEntryError) in try LogEntry(decoding: buffer) }
        }.get()
    }

    static func check(_ value: Int, _ what: String, _ limit: Int) throws(LogEntryError) {
        guard value <= limit else { throw .tooLarge(what: what, value: value, limit: limit) }
    }
}

extension LogEntry.Moment {
    /// The length of encoded clock values, in bytes.
    static let byteCount = 24

    /// Decodes clock values. The caller guarantees that their bytes are within the buffer.
    init(at offset: Int, in bytes: UnsafeRawBufferPointer) throws(LogEntryError) {
        let numbers = [0, 8, 16].map { LittleEndian.load(UInt64.self, at: offset + $0, from: bytes) }
        wall = Double(bitPattern: numbers[0])
        boot = numbers[1]
        seconds = Double(bitPattern: numbers[2])
        guard wall.isFinite, seconds.isFinite else {
            throw .malformed(offset: offset, reason: "the time of the donation is not valid")
        }
    }
}
