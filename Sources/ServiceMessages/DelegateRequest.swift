// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request from an app to become the delegate of its bundle. While the app is registered, the
/// service sends it the requests for its extension over the same connection: every
/// ``WorkerRequest`` except `Load`.
public enum DelegateRequest: ClientRequest, Hashable {
    /// Registers the app as the delegate of its bundle.
    case register
    /// Ends the registration; the extension then receives the requests again.
    case unregister

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Delegate1"
    /// The permitted clients: only apps have a bundle.
    public static let callers: Set<Caller> = [.app, .sandboxedApp]

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case register = "Register"
        case unregister = "Unregister"
    }

    /// The method of the request; it has no arguments.
    public var member: BusMember {
        switch self {
        case .register: BusMember(Self.interface, Method.register.rawValue)
        case .unregister: BusMember(Self.interface, Method.unregister.rawValue)
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, like ``WorkerRequest/init(_:)``.
    public init(_ call: IncomingCall) throws(BusError) {
        switch Method(call.member, of: Self.interface) {
        case .register: self = .register
        case .unregister: self = .unregister
        case nil: throw .unknownMethod(call.member)
        }
        try BusArguments(call.arguments, of: call.member.member).finish()
    }
}
