// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// What an app says about itself. While it is registered, the service asks it what it would ask its extension: every
/// ``WorkerRequest`` but `Load`, over the same connection.
public enum DelegateRequest: ClientRequest, Hashable {
    /// From now on this app answers for its bundle.
    case register
    /// The extension answers again.
    case unregister

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Delegate1"
    /// Apps alone have a bundle to answer for.
    public static let callers: Set<Caller> = [.app, .sandboxedApp]

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case register = "Register"
        case unregister = "Unregister"
    }

    /// The method that carries the request; it has no arguments.
    public var member: BusMember {
        switch self {
        case .register: BusMember(Self.interface, Method.register.rawValue)
        case .unregister: BusMember(Self.interface, Method.unregister.rawValue)
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        switch Method(call.member, of: Self.interface) {
        case .register: self = .register
        case .unregister: self = .unregister
        case nil: throw .unknownMethod(call.member)
        }
        try BusArguments(call.arguments, of: call.member.member).finish()
    }
}
