// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The reply to a request for one of the calling bundle's items.
public struct RecordReply: Sendable, Hashable {
    /// The record; `nil` if the item does not exist.
    public var record: [UInt8]?
    /// The item's content type and all its supertypes, in no particular order, as known to the
    /// answering process.
    public var types: [String]

    /// Creates a reply.
    public init(record: [UInt8]?, types: [String] = []) {
        self.record = record
        self.types = types
    }

    /// The arguments of the reply.
    public var arguments: [BusValue] { [.boolean(record != nil), .bytes(record ?? []), .strings(types)] }

    /// Reads a reply from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        let isThere = try arguments.boolean()
        let bytes = try arguments.bytes()
        record = isThere ? bytes : nil
        types = try arguments.strings()
    }
}
