// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The header of a segment. Its layout is the same in all format versions, so that a later version
/// is not mistaken for damage.
package struct LogSegmentHeader: Hashable, Sendable {
    /// The length of a header, in bytes.
    package static let byteCount = 40
    /// The format version that this program writes. It also reads earlier versions.
    package static let formatVersion: UInt32 = 2
    private static let magic: [UInt8] = [0x53, 0x4C, 0x4A, 0x4F, 0x55, 0x52, 0x4E, 0x0A]  // "SLJOURN\n"

    /// The format version of the entries that follow.
    package var version = Self.formatVersion
    /// The identifier of the store.
    package var store: StoreIdentifier
    /// The number of the segment's first entry.
    package var first: UInt64

    /// The encoded header.
    package var encoded: [UInt8] {
        var bytes = Self.magic
        LittleEndian.append(version, to: &bytes)
        bytes += store.bytes
        LittleEndian.append(first, to: &bytes)
        LittleEndian.append(CRC32C.of(bytes), to: &bytes)
        return bytes
    }

    /// Creates a header.
    package init(store: StoreIdentifier, first: UInt64) {
        self.store = store
        self.first = first
    }

    /// Decodes a header; `nil` if the bytes are not a header.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic),
            let store = StoreIdentifier(bytes: Array(bytes[12..<28]))
        else { return nil }
        self.store = store
        (version, first) = bytes.withUnsafeBytes {
            (LittleEndian.load(UInt32.self, at: 8, from: $0), LittleEndian.load(UInt64.self, at: 28, from: $0))
        }
        guard bytes == encoded else { return nil }
    }
}
