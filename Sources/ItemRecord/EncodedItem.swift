// SPDX-License-Identifier: Apache-2.0

/// An item together with its encoding: decoded once where it enters, so that nobody further in has to.
public struct EncodedItem: Hashable, Sendable {
    /// What the record says.
    public let record: ItemRecord
    /// The record as its donor encoded it; this is what is stored.
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
