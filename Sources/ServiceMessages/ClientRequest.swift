// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request of a client to the service: the calls of one D-Bus interface, and the clients that may make them. The service
/// learns from this declaration alone which calls it refuses, and refuses them before it reads their arguments.
///
/// To add an interface: declare its type, and name it in ``ClientInterface/all``.
public protocol ClientRequest: Sendable {
    /// The name of the D-Bus interface.
    static var interface: String { get }
    /// The clients that may make the calls of the interface.
    static var callers: Set<Caller> { get }
    /// Whether a program on the session bus may make the calls without ``Hello``. It has the rights of a shell then.
    static var isOpenToBus: Bool { get }
    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError/malformed(_:)`` for wrong arguments, ``BusError/remote(name:message:)`` with
    ///   ``BusErrorName/unknownMethod`` for a method that the interface does not have.
    init(_ call: IncomingCall) throws(BusError)
}

extension ClientRequest {
    /// Most interfaces are for clients that said who they are.
    public static var isOpenToBus: Bool { false }
}

/// A client as rights distinguish it.
public enum Caller: Hashable, Sendable, CaseIterable {
    /// An app outside of a sandbox.
    case app
    /// An app in a sandbox: nothing of other bundles is shown to it.
    case sandboxedApp
    /// A program of the user's that sees the whole index.
    case shell
}

/// The D-Bus interfaces of the service, but for that of ``Hello``.
public enum ClientInterface {
    /// The kinds of requests, one for each interface.
    public static let all: [any ClientRequest.Type] = [
        IndexRequest.self, QueryRequest.self, DelegateRequest.self, PromiseRequest.self, LauncherRequest.self,
        AdminRequest.self,
    ]

    private static let byName = Dictionary(all.map { ($0.interface, $0) }, uniquingKeysWith: { first, _ in first })

    /// The kind of request that a call is; `nil` for an interface that the service does not have.
    public static func kind(of call: BusMember) -> (any ClientRequest.Type)? { byName[call.interface] }
}
