// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// What a shell asks of the service as a whole.
public enum ShellRequest: Sendable, Hashable {
    /// `com.searchlight.Store1.Borrow`: give the store back until ``returnStore`` or the end of this connection.
    case borrowStore
    /// `com.searchlight.Store1.Return`.
    case returnStore

    /// One of the calls of an engine: a name, JSON, and a ``Payload`` where the call has one. Answer: JSON, and a payload or
    /// a file where the call has one. Read and answered by the engine's own module, which knows the names.
    public static let performMember = BusMember("com.searchlight.Engine1", "Perform")
    private static let borrowMember = BusMember("com.searchlight.Store1", "Borrow")
    private static let giveBackMember = BusMember("com.searchlight.Store1", "Return")
    /// Called by the service while it performs a call: JSON about its progress. An answer asks for more.
    public static let eventMember = BusMember("com.searchlight.Engine1", "Event")

    /// The method that carries the request.
    public var member: BusMember {
        switch self {
        case .borrowStore: Self.borrowMember
        case .returnStore: Self.giveBackMember
        }
    }

    /// The arguments of the method.
    public var arguments: [BusValue] { [] }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        let arguments = BusArguments(call.arguments, of: call.member.member)
        switch call.member {
        case Self.borrowMember: self = .borrowStore
        case Self.giveBackMember: self = .returnStore
        default: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }
}
