// SPDX-License-Identifier: Apache-2.0

/// An item together with its encoding. The item is decoded once at the boundary, so that inner
/// layers need not decode it again.
public struct EncodedItem: Hashable, Sendable {
    /// The decoded record.
    public let record: ItemRecord
    /// The record as encoded by its donor, which is how it is stored.
    public let bytes: [UInt8]

    /// Encodes an item.
    public init(_ record: ItemRecord) throws(ItemRecordError) {
        self.record = record
        bytes = try record.encoded()
    }

    /// Decodes an item.
    public init(decoding bytes: [UInt8]) throws(ItemRecordError) {
        record = try ItemRecord(decoding: bytes)
        self.bytes = bytes
    }
}
