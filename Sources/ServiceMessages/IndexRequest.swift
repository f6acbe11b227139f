// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord

/// A request to one index of a bundle. Each case is a method of the interface
/// `com.searchlight.Index1`, which a worker calls on its host, and an app on the service. The
/// bundle is taken from the connection, never from an argument.
///
/// Requests on one connection are processed and answered in order. An answer means that the change
/// is durable.
public enum IndexRequest: ClientRequest, Hashable {
    /// Makes a batch durable. The bundle in its scope is not sent; the receiver determines it from
    /// the connection. A batch with a protection class is sent as `CommitProtected`.
    case commit(IndexBatch)
    /// Reads the client state of the last batch of an index. Answer: a ``ClientStateReply``.
    case clientState(index: String?)
    /// Reads one of the bundle's own items from any of its indexes, starting with the default
    /// index. Answer: a ``RecordReply``.
    case record(String)
    /// Lists the identifiers of an index, in byte order, at most ``maximumIdentifiers``. Answer: an
    /// array of strings. An empty `after` starts from the beginning.
    case identifiers(index: String?, after: String, limit: UInt64)

    /// The maximum number of identifiers in one answer.
    public static let maximumIdentifiers = 1_000

    /// Creates a request for one change, omitting parts that have no effect
    /// (``IndexChange/meaningful``).
    public init(_ change: EncodedChange, index: String?, protection: ProtectionClass? = nil) {
        let changes = ChangeList(change.meaningful.map { [$0] } ?? [])
        self = .commit(
            IndexBatch(scope: IndexScope(bundle: "", index: index), changes: changes, protection: protection))
    }

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Index1"
    /// The permitted clients: the index belongs to the app's own bundle.
    public static let callers: Set<Caller> = [.app, .sandboxedApp]

    /// The index; `nil` for the default index.
    public var index: String? {
        switch self {
        case .commit(let batch): batch.scope.index
        case .clientState(let index), .identifiers(let index, _, _): index
        case .record: nil
        }
    }

    /// The method of the request.
    public var member: BusMember {
        switch self {
        case .commit(let batch): BusMember(Self.interface, batch.protection == nil ? "Commit" : "CommitProtected")
        case .clientState: BusMember(Self.interface, "ClientState")
        case .record: BusMember(Self.interface, "Record")
        case .identifiers: BusMember(Self.interface, "Identifiers")
        }
    }

    /// The arguments of the method.
    public var arguments: [BusValue] {
        let index = BusValue.string(index ?? "")
        switch self {
        case .clientState: return [index]
        case .record(let identifier): return [index, .string(identifier)]
        case .identifiers(_, let after, let limit): return [index, .string(after), .unsigned(limit)]
        case .commit(let batch):
            return [index] + (batch.protection.map { [.string($0.rawValue)] } ?? [])
                + [.bytes(batch.changes.bytes)] + ClientStateReply(state: batch.clientState).arguments
                + batch.expectation.arguments
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError/malformed(_:)`` for invalid arguments;
    ///   ``BusError/remote(name:message:)`` with ``BusErrorName/unknownMethod`` for an unknown
    ///   method.
    public init(_ call: IncomingCall) throws(BusError) {
        guard call.member.interface == Self.interface else { throw .unknownMethod(call.member) }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        let index = try arguments.string().nonEmpty
        switch call.member.member {
        case "Commit", "CommitProtected":
            var batch = IndexBatch(scope: IndexScope(bundle: "", index: index))
            if call.member.member == "CommitProtected" {
                guard let protection = ProtectionClass(rawValue: try arguments.string()) else {
                    throw .malformed("the protection class is unknown")
                }
                guard index != nil || !protection.isEncrypted else {
                    throw .malformed("an index without a name cannot be encrypted")
                }
                batch.protection = protection
            }
            let bytes = try arguments.bytes()
            guard bytes.count <= ChangeList.maximumBytes else {
                throw .remote(
                    name: BusErrorName.limitsExceeded,
                    message: """
                        A donation has \(bytes.count) bytes; the limit is \(ChangeList.maximumBytes). Send smaller donations.
                        """)
            }
            do throws(ItemRecordError) { batch.changes = try ChangeList(decoding: bytes) } catch {
                throw .malformed("a batch is refused. \(error)")
            }
            batch.clientState = try ClientStateReply(&arguments).state
            batch.expectation = try ClientStateExpectation(&arguments)
            self = .commit(batch)
        case "ClientState": self = .clientState(index: index)
        case "Record": self = .record(try arguments.string())
        case "Identifiers":
            self = .identifiers(index: index, after: try arguments.string(), limit: try arguments.unsigned())
        default: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }

    /// The approximate memory use of the request while it is pending, in bytes.
    public var approximateBytes: Int {
        if case .commit(let batch) = self { batch.approximateBytes } else { byteCount }
    }

    /// The size of the request's donations in bytes.
    public var byteCount: Int {
        switch self {
        case .commit(let batch): batch.byteCount
        case .clientState: 0
        case .record(let identifier): identifier.utf8.count
        case .identifiers(_, let after, _): after.utf8.count
        }
    }
}

extension IndexRequest {
    /// Returns a page of identifiers for ``identifiers(index:after:limit:)``, given all identifiers
    /// in any order.
    public static func page(of identifiers: [String], after: String, limit: Int) -> [String] {
        let behind = identifiers.filter { after.utf8.lexicographicallyPrecedes($0.utf8) }
        return Array(behind.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(limit))
    }
}

extension ClientStateExpectation {
    /// The arguments for the expectation: `true` if there is one, `true` if it is a state, and the
    /// state.
    var arguments: [BusValue] {
        switch self {
        case .any: [.boolean(false), .boolean(false), .bytes([])]
        case .exactly(let state): [.boolean(true), .boolean(state != nil), .bytes(state ?? [])]
        }
    }

    init(_ arguments: inout BusArguments) throws(BusError) {
        let isExpected = try arguments.boolean()
        let isState = try arguments.boolean()
        let state = try arguments.clientState()
        self = isExpected ? .exactly(isState ? state : nil) : .any
    }
}

/// The client state of the last durable batch of an index.
public struct ClientStateReply: Sendable, Hashable {
    /// At most 250 bytes; `nil` if there is none. An empty state is a valid state.
    public var state: [UInt8]?

    /// Creates a reply.
    public init(state: [UInt8]?) { self.state = state }

    /// The arguments of the reply.
    public var arguments: [BusValue] { [.boolean(state != nil), .bytes(state ?? [])] }

    /// Reads a reply from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        let isState = try arguments.boolean()
        let bytes = try arguments.clientState()
        state = isState ? bytes : nil
    }
}

extension BusArguments {
    fileprivate mutating func clientState() throws(BusError) -> [UInt8] {
        let state = try bytes()
        guard state.count <= ClientState.maximumBytes else {
            throw .remote(
                name: ServiceErrorName.invalidClientState,
                message: """
                    A client state has \(state.count) bytes; the limit is \(ClientState.maximumBytes). Use a shorter state.
                    """)
        }
        return state
    }
}
