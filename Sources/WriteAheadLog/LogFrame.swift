// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The frame that precedes the payload of each entry in a segment.
///
/// The frame has its own checksum, so a damaged payload can be skipped exactly, and the search for
/// the next entry after damage reads each byte only once.
struct LogFrame: Hashable, Sendable {
    /// The length of a frame, in bytes.
    static let byteCount = 28
    /// The first four bytes of a frame, little-endian. All four bytes differ, so the marker cannot
    /// overlap itself.
    static let marker: UInt32 = 0xE51A_C09D

    /// The length of the payload, in bytes.
    var length: UInt32
    /// The number of the entry; the first entry of a store has number 1.
    var sequence: UInt64
    /// The number of preceding entries in the same group, which share one `fdatasync`.
    var groupIndex: UInt32
    /// The checksum of the payload.
    var payloadChecksum: UInt32

    /// The last entry that was known to be durable when this entry was written.
    var confirmed: UInt64 { sequence - 1 - UInt64(groupIndex) }

    /// The length of the entry including its frame, in bytes.
    var totalBytes: Int { Self.byteCount + Int(length) }

    /// Appends the encoded frame.
    ///
    /// - Parameter seed: ``StoreIdentifier/checksum`` of the store.
    func append(to bytes: inout [UInt8], seed: UInt32) {
        LittleEndian.append(Self.marker, to: &bytes)
        let start = bytes.count
        LittleEndian.append(length, to: &bytes)
        LittleEndian.append(sequence, to: &bytes)
        LittleEndian.append(groupIndex, to: &bytes)
        LittleEndian.append(payloadChecksum, to: &bytes)
        var crc = CRC32C(continuing: seed)
        bytes.withUnsafeBytes { crc.add(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        LittleEndian.append(crc.value, to: &bytes)
    }

    /// Creates a frame.
    init(length: UInt32, sequence: UInt64, groupIndex: UInt32, payloadChecksum: UInt32) {
        self.length = length
        self.sequence = sequence
        self.groupIndex = groupIndex
        self.payloadChecksum = payloadChecksum
    }

    /// Decodes a frame at the beginning of `bytes`; `nil` if it is not a frame of this store.
    init?(decoding bytes: UnsafeRawBufferPointer, seed: UInt32) {
        guard bytes.count >= Self.byteCount, LittleEndian.load(UInt32.self, at: 0, from: bytes) == Self.marker else {
            return nil
        }
        var crc = CRC32C(continuing: seed)
        crc.add(UnsafeRawBufferPointer(rebasing: bytes[4..<24]))
        guard LittleEndian.load(UInt32.self, at: 24, from: bytes) == crc.value else { return nil }
        length = LittleEndian.load(UInt32.self, at: 4, from: bytes)
        sequence = LittleEndian.load(UInt64.self, at: 8, from: bytes)
        groupIndex = LittleEndian.load(UInt32.self, at: 16, from: bytes)
        payloadChecksum = LittleEndian.load(UInt32.self, at: 20, from: bytes)
        guard Int(length) <= LogEntry.maximumBytes, sequence > UInt64(groupIndex),
            sequence <= LogFileNames.maximumSequence
        else { return nil }
    }
}
