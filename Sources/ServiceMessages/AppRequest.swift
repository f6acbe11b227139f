// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// What an app says about itself and asks of others. While it is registered, the service asks it what it would ask its
/// extension: every ``WorkerRequest`` but `Load`, over the same connection.
public enum AppRequest: Sendable, Hashable {
    /// `com.searchlight.Delegate1.Register`: from now on this app answers for its bundle.
    case register
    /// `com.searchlight.Delegate1.Unregister`: the extension answers again.
    case unregister
    /// `com.searchlight.Promise1.FetchData`: an item of any bundle as data. Answer: a ``Payload``.
    case fetchData(bundle: String, item: String, type: String)

    private static let registerMember = BusMember("com.searchlight.Delegate1", "Register")
    private static let unregisterMember = BusMember("com.searchlight.Delegate1", "Unregister")
    private static let fetchDataMember = BusMember("com.searchlight.Promise1", "FetchData")

    /// The method that carries the request.
    public var member: BusMember {
        switch self {
        case .register: Self.registerMember
        case .unregister: Self.unregisterMember
        case .fetchData: Self.fetchDataMember
        }
    }

    /// The arguments of the method.
    public var arguments: [BusValue] {
        switch self {
        case .register, .unregister: []
        case .fetchData(let bundle, let item, let type): [.string(bundle), .string(item), .string(type)]
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch call.member {
        case Self.registerMember: self = .register
        case Self.unregisterMember: self = .unregister
        case Self.fetchDataMember:
            self = .fetchData(
                bundle: try arguments.string(), item: try arguments.string(), type: try arguments.string())
        default: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }
}
