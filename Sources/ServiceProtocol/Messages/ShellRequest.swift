// SPDX-License-Identifier: Apache-2.0

/// What a shell asks of the service as a whole.
public enum ShellRequest: Sendable, Hashable {
    /// `com.searchlight.Engine1.Perform`: one of the calls of an engine, by name, with JSON in and out. What is more than
    /// JSON (a payload, a file) follows it in the answer.
    case perform(name: String, json: [UInt8])
    /// `com.searchlight.Store1.Borrow`: give the store back until ``returnStore`` or the end of this connection.
    case borrowStore
    /// `com.searchlight.Store1.Return`.
    case returnStore

    private static let performMember = BusMember("com.searchlight.Engine1", "Perform")
    private static let borrowMember = BusMember("com.searchlight.Store1", "Borrow")
    private static let giveBackMember = BusMember("com.searchlight.Store1", "Return")
    /// Posted by the service while it performs a call: JSON about its progress.
    public static let eventMember = BusMember("com.searchlight.Engine1", "Event")

    /// The method that carries the request.
    public var member: BusMember {
        switch self {
        case .perform: Self.performMember
        case .borrowStore: Self.borrowMember
        case .returnStore: Self.giveBackMember
        }
    }

    /// The arguments of the method.
    public var arguments: [BusValue] {
        switch self {
        case .perform(let name, let json): [.string(name), .bytes(json)]
        case .borrowStore, .returnStore: []
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch call.member {
        case Self.performMember: self = .perform(name: try arguments.string(), json: try arguments.bytes())
        case Self.borrowMember: self = .borrowStore
        case Self.giveBackMember: self = .returnStore
        default: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }
}
