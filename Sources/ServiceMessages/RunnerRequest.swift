// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request from KDE's KRunner, which searches while the user types. Each case is a method of
/// KDE's interface `org.kde.krunner1`. Texts and identifiers are passed on from the caller without
/// checks.
///
/// `Config` is not included: KRunner calls it only for plugins that declare `X-Plasma-API=DBus2`.
public enum RunnerRequest: ClientRequest, Hashable {
    /// Finds results for a typed text. Answer: `a(sssida{sv})`.
    case match(text: String)
    /// Lists the actions other than opening. Answer: `a(sss)`.
    case actions
    /// Opens a result, or performs another action on it. Answer: none.
    case run(identifier: String, action: String)
    /// Ends a series of searches. Answer: none.
    case teardown

    /// The name of the D-Bus interface.
    public static let interface = "org.kde.krunner1"
    /// The permitted clients: a search can access the whole index.
    public static let callers: Set<Caller> = [.shell]
    /// KRunner never sends ``Hello``.
    public static let isOpenToBus = true

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case match = "Match"
        case actions = "Actions"
        case run = "Run"
        case teardown = "Teardown"
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, like ``WorkerRequest/init(_:)``.
    public init(_ call: IncomingCall) throws(BusError) {
        guard let method = Method(call.member, of: Self.interface) else { throw .unknownMethod(call.member) }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch method {
        case .match: self = .match(text: try arguments.string())
        case .actions: self = .actions
        case .run: self = .run(identifier: try arguments.string(), action: try arguments.string())
        case .teardown: self = .teardown
        }
        try arguments.finish()
    }
}
