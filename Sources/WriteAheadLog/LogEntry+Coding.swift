// SPDX-License-Identifier: Apache-2.0
import ItemRecord

// The format is described in docs/WRITE-AHEAD-LOG.md; keep both in step.

extension LogEntry {
    /// The version this program writes and reads, the first byte of every encoded entry.
    package static let formatVersion: UInt8 = 1

    package enum Flag {
        static let index: UInt8 = 1
        static let clientState: UInt8 = 2
        static let moment: UInt8 = 4
        static let all: UInt8 = 7
    }

    package enum Tag {
        static let put: UInt8 = 1
        static let deleteItems: UInt8 = 2
        static let deleteDomains: UInt8 = 3
        static let deleteAll: UInt8 = 4
    }

    /// Encodes the entry; equal entries give equal bytes.
    ///
    /// - Throws: ``LogEntryError/tooLarge(what:value:limit:)``.
    package func encoded() throws(LogEntryError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encodedSizeEstimate)
        bytes.append(Self.formatVersion)
        bytes.append(
            (scope.index == nil ? 0 : Flag.index) | (clientState == nil ? 0 : Flag.clientState)
                | (moment == nil ? 0 : Flag.moment))
        try Self.append(scope.bundle, "bytes of bundle identifier", limit: Self.maximumNameBytes, to: &bytes)
        if let index = scope.index {
            try Self.append(index, "bytes of index name", limit: Self.maximumNameBytes, to: &bytes)
        }
        if let clientState {
            try Self.check(clientState.count, "bytes of client state", ClientState.maximumBytes)
            bytes.append(UInt8(clientState.count))
            bytes.append(contentsOf: clientState)
        }
        if let moment {
            LittleEndian.append(moment.wall.bitPattern, to: &bytes)
            LittleEndian.append(moment.boot, to: &bytes)
            LittleEndian.append(moment.seconds.bitPattern, to: &bytes)
        }
        try Self.check(changes.count, "changes", Self.maximumCount)
        LittleEndian.append(UInt32(changes.count), to: &bytes)
        for change in changes { try Self.append(change, to: &bytes) }
        try Self.check(bytes.count, "bytes", Self.maximumBytes)
        return bytes
    }

    /// Decodes an entry that fills `bytes` exactly.
    ///
    /// - Throws: ``LogEntryError``; never traps, whatever the bytes are.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(LogEntryError) {
        try Self.check(bytes.count, "bytes", Self.maximumBytes)
        var reader = LogEntryReader(bytes: bytes)
        self = try reader.entry()
    }

    /// Decodes an entry that fills `bytes` exactly.
    ///
    /// - Throws: ``LogEntryError``; never traps, whatever the bytes are.
    package init(decoding bytes: [UInt8]) throws(LogEntryError) {
        self = try bytes.withUnsafeBytes { buffer in
            Result { () throws(LogEntryError) in try LogEntry(decoding: buffer) }
        }.get()
    }

    private var encodedSizeEstimate: Int {
        changes.reduce(64 + scope.bundle.utf8.count) { sum, change in
            if case .put(let record) = change { sum + record.count + 5 } else { sum + 64 }
        }
    }

    private static func append(_ change: EncodedChange, to bytes: inout [UInt8]) throws(LogEntryError) {
        switch change {
        case .put(let record):
            try check(record.count, "bytes in one item", maximumBytes)
            bytes.append(Tag.put)
            LittleEndian.append(UInt32(record.count), to: &bytes)
            bytes.append(contentsOf: record)
        case .deleteItems(let identifiers):
            bytes.append(Tag.deleteItems)
            try append(identifiers, to: &bytes)
        case .deleteDomains(let domains):
            bytes.append(Tag.deleteDomains)
            try append(domains, to: &bytes)
        case .deleteAll:
            bytes.append(Tag.deleteAll)
        }
    }

    private static func append(_ texts: [String], to bytes: inout [UInt8]) throws(LogEntryError) {
        try check(texts.count, "identifiers in one change", maximumCount)
        LittleEndian.append(UInt32(texts.count), to: &bytes)
        for text in texts {
            try append(text, "bytes of identifier", limit: maximumIdentifierBytes, to: &bytes)
        }
    }

    private static func append(
        _ text: String, _ what: String, limit: Int, to bytes: inout [UInt8]
    ) throws(LogEntryError) {
        let count = text.utf8.count
        try check(count, what, limit)
        LittleEndian.append(UInt32(count), to: &bytes)
        bytes.append(contentsOf: text.utf8)
    }

    package static func check(_ value: Int, _ what: String, _ limit: Int) throws(LogEntryError) {
        guard value <= limit else { throw .tooLarge(what: what, value: value, limit: limit) }
    }
}
