// SPDX-License-Identifier: Apache-2.0

/// The first bytes of a segment. Its layout is the same in all versions of the format, so that a later version is told
/// from a damaged one.
struct JournalSegmentHeader: Hashable, Sendable {
    /// Its length, in bytes.
    static let byteCount = 40
    /// The format this program writes and reads.
    static let formatVersion: UInt32 = 1
    private static let magic: [UInt8] = [0x53, 0x4C, 0x4A, 0x4F, 0x55, 0x52, 0x4E, 0x0A]  // "SLJOURN\n"

    /// The version of the entries that follow.
    var version = Self.formatVersion
    /// Whose journal this is.
    var store: JournalStoreIdentifier
    /// The sequence number of the segment's first entry.
    var first: UInt64

    /// The header as bytes.
    var encoded: [UInt8] {
        var bytes = Self.magic
        JournalBytes.append(version, to: &bytes)
        bytes += store.bytes
        JournalBytes.append(first, to: &bytes)
        JournalBytes.append(CRC32C.of(bytes), to: &bytes)
        return bytes
    }

    /// Creates a header.
    init(store: JournalStoreIdentifier, first: UInt64) {
        self.store = store
        self.first = first
    }

    /// Reads a header; `nil` if the bytes are none.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic),
            let store = JournalStoreIdentifier(bytes: Array(bytes[12..<28]))
        else { return nil }
        self.store = store
        (version, first) = bytes.withUnsafeBytes {
            (JournalBytes.load(UInt32.self, at: 8, from: $0), JournalBytes.load(UInt64.self, at: 28, from: $0))
        }
        guard bytes == encoded else { return nil }
    }
}
