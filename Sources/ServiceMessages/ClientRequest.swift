// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request from a client to the service: the calls of one D-Bus interface, and the clients that
/// may make them. Based on this declaration, the service rejects other calls before it reads their
/// arguments.
///
/// To add an interface, declare its type and list it in ``ClientInterface/all``.
public protocol ClientRequest: Sendable {
    /// The name of the D-Bus interface.
    static var interface: String { get }
    /// The clients that may call the interface.
    static var callers: Set<Caller> { get }
    /// `true` if a program on the session bus may call the interface without ``Hello``. The program
    /// then has the rights of a shell.
    static var isOpenToBus: Bool { get }
    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError/malformed(_:)`` for invalid arguments;
    ///   ``BusError/remote(name:message:)`` with ``BusErrorName/unknownMethod`` for an unknown
    ///   method.
    init(_ call: IncomingCall) throws(BusError)
}

extension ClientRequest {
    /// By default, clients must identify themselves before making calls.
    public static var isOpenToBus: Bool { false }
}

/// The kinds of clients with different rights.
public enum Caller: Hashable, Sendable, CaseIterable {
    /// An app outside a sandbox.
    case app
    /// An app in a sandbox. It has no access to other bundles.
    case sandboxedApp
    /// One of the user's programs, which may access the whole index.
    case shell
}

/// The D-Bus interfaces of the service, except the interface of ``Hello``.
public enum ClientInterface {
    /// The request types, one for each interface.
    public static let all: [any ClientRequest.Type] = [
        IndexRequest.self, QueryRequest.self, DelegateRequest.self, ActivityRequest.self, PromiseRequest.self,
        LauncherRequest.self, ShellSearchRequest.self, RunnerRequest.self, AdminRequest.self,
    ]

    private static let byName = Dictionary(all.map { ($0.interface, $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns the request type for a call; `nil` for an unknown interface.
    public static func kind(of call: BusMember) -> (any ClientRequest.Type)? { byName[call.interface] }
}
