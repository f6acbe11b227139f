// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The requests of an interface with which an app registers at the service, and ends its
/// registration. The service then calls the app over the same connection.
public protocol RegistrationRequest: ClientRequest, Equatable {
    /// Registers the app.
    static var register: Self { get }
    /// Ends the registration.
    static var unregister: Self { get }
}

/// The methods of an interface for registration. They have no arguments.
private enum RegistrationMethod: String, CaseIterable {
    case register = "Register"
    case unregister = "Unregister"
}

extension RegistrationRequest {
    /// The permitted clients: only apps have a bundle.
    public static var callers: Set<Caller> { [.app, .sandboxedApp] }

    /// The method of the request; it has no arguments.
    public var member: BusMember {
        let method: RegistrationMethod = self == .register ? .register : .unregister
        return BusMember(Self.interface, method.rawValue)
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, like ``WorkerRequest/init(_:)``.
    public init(_ call: IncomingCall) throws(BusError) {
        switch RegistrationMethod(call.member, of: Self.interface) {
        case .register: self = .register
        case .unregister: self = .unregister
        case nil: throw .unknownMethod(call.member)
        }
        try BusArguments(call.arguments, of: call.member.member).finish()
    }
}
