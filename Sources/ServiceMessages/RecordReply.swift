// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// An item of the one who asks.
public struct RecordReply: Sendable, Hashable {
    /// Its record; `nil` if there is no such item.
    public var record: [UInt8]?
    /// The type of its content and all that it conforms to, as the answering process knows types; in no order.
    public var types: [String]

    /// Creates a reply.
    public init(record: [UInt8]?, types: [String] = []) {
        self.record = record
        self.types = types
    }

    /// The arguments that carry the reply.
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
