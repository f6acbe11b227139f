// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord

/// What is done to one index of a bundle. Each action is one method of the interface `com.searchlight.Index1`, spoken by
/// a worker to its host and by an app to the service. The connection says whose index it is; no argument does.
///
/// Requests of one connection are carried out, and answered, in the order in which they were sent. An answer means
/// durable.
public struct IndexRequest: Sendable, Hashable {
    /// What to do.
    public enum Action: Sendable, Hashable {
        /// Make one change; items are a ``RecordBatch``.
        case change(EncodedChange)
        /// Make all changes of a ``ChangeList`` durable together with a client state, or none.
        case commitBatch(changes: [UInt8], clientState: [UInt8], expecting: ClientStateExpectation)
        /// Read the client state of the last batch. Answer: a ``ClientStateReply``.
        case clientState
        /// Read one of the bundle's own items, in whichever of its indexes it is, the default one first. Only asked of the
        /// default index. Answer: a ``RecordReply``.
        case record(String)
    }
    /// The index; `nil` is the default one.
    public var index: String?
    /// What to do with it.
    public var action: Action

    /// Creates a request.
    public init(_ action: Action, index: String?) {
        self.index = index
        self.action = action
    }

    /// Creates a request for one change.
    public init(_ change: EncodedChange, index: String?) { self.init(.change(change), index: index) }

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Index1"

    /// The method that carries the request.
    public var member: BusMember { BusMember(Self.interface, name) }

    private var name: String {
        switch action {
        case .change(.put): "IndexRecords"
        case .change(.deleteItems): "DeleteItems"
        case .change(.deleteDomains): "DeleteDomains"
        case .change(.deleteAll): "DeleteAll"
        case .commitBatch: "CommitBatch"
        case .clientState: "ClientState"
        case .record: "Record"
        }
    }

    /// The arguments of the method.
    public var arguments: [BusValue] {
        let index = BusValue.string(index ?? "")
        switch action {
        case .change(.put(let batch)): return [index, .bytes(batch)]
        case .change(.deleteItems(let names)), .change(.deleteDomains(let names)): return [index, .strings(names)]
        case .change(.deleteAll), .clientState: return [index]
        case .record(let identifier): return [index, .string(identifier)]
        case .commitBatch(let changes, let state, let expectation):
            return [index, .bytes(changes), .bytes(state)] + expectation.arguments
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError/malformed(_:)`` for wrong arguments, ``BusError/remote(name:message:)`` with
    ///   ``BusErrorName/unknownMethod`` for a method that is not one.
    public init(_ call: IncomingCall) throws(BusError) {
        guard call.member.interface == Self.interface else { throw .unknownMethod(call.member) }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        index = try arguments.string().nonEmpty
        switch call.member.member {
        case "IndexRecords": action = .change(.put(try arguments.bytes()))
        case "DeleteItems": action = .change(.deleteItems(try arguments.strings()))
        case "DeleteDomains": action = .change(.deleteDomains(try arguments.strings()))
        case "DeleteAll": action = .change(.deleteAll)
        case "CommitBatch":
            action = .commitBatch(
                changes: try arguments.bytes(), clientState: try arguments.bytes(),
                expecting: try ClientStateExpectation(&arguments))
        case "ClientState": action = .clientState
        case "Record": action = .record(try arguments.string())
        default: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }

    /// About how much memory the request takes, in bytes.
    public var byteCount: Int {
        switch action {
        case .change(let change): change.byteCount
        case .clientState: 0
        case .record(let identifier): identifier.utf8.count
        case .commitBatch(let changes, let state, _): changes.count + state.count
        }
    }
}

extension ClientStateExpectation {
    /// The arguments that carry the expectation: whether there is one, whether it is a state, and that.
    var arguments: [BusValue] {
        switch self {
        case .any: [.boolean(false), .boolean(false), .bytes([])]
        case .exactly(let state): [.boolean(true), .boolean(state != nil), .bytes(state ?? [])]
        }
    }

    init(_ arguments: inout BusArguments) throws(BusError) {
        let isExpected = try arguments.boolean()
        let isState = try arguments.boolean()
        let state = try arguments.bytes()
        self = isExpected ? .exactly(isState ? state : nil) : .any
    }
}

/// The client state of the last durable batch of an index.
public struct ClientStateReply: Sendable, Hashable {
    /// At most 250 bytes; `nil` if there is none. Empty is a state.
    public var state: [UInt8]?

    /// Creates a reply.
    public init(state: [UInt8]?) { self.state = state }

    /// The arguments that carry the reply.
    public var arguments: [BusValue] { [.boolean(state != nil), .bytes(state ?? [])] }

    /// Reads a reply from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        let isState = try arguments.boolean()
        let bytes = try arguments.bytes()
        state = isState ? bytes : nil
    }
}
