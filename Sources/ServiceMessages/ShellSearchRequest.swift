// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request from GNOME Shell, whose overview searches while the user types. Each case is a method
/// of GNOME's interface `org.gnome.Shell.SearchProvider2`. Texts and identifiers are passed on from
/// the caller without checks.
public enum ShellSearchRequest: ClientRequest, Hashable {
    /// Finds results for a typed text, which the shell splits at white space. Answer: identifiers.
    case initialResults(terms: [String])
    /// Finds results after the user has typed more text. Answer: identifiers.
    case subsearchResults(previous: [String], terms: [String])
    /// Describes results. Answer: `aa{sv}`, in the order of the identifiers.
    case metas(identifiers: [String])
    /// Opens a result. Answer: none.
    case activate(identifier: String, terms: [String], timestamp: UInt32)
    /// Shows all results of a text. Answer: none.
    case launchSearch(terms: [String], timestamp: UInt32)

    /// The name of the D-Bus interface.
    public static let interface = "org.gnome.Shell.SearchProvider2"
    /// The permitted clients: a search can access the whole index.
    public static let callers: Set<Caller> = [.shell]
    /// The shell never sends ``Hello``.
    public static let isOpenToBus = true

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case initialResults = "GetInitialResultSet"
        case subsearchResults = "GetSubsearchResultSet"
        case metas = "GetResultMetas"
        case activate = "ActivateResult"
        case launchSearch = "LaunchSearch"
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, like ``WorkerRequest/init(_:)``.
    public init(_ call: IncomingCall) throws(BusError) {
        guard let method = Method(call.member, of: Self.interface) else { throw .unknownMethod(call.member) }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch method {
        case .initialResults: self = .initialResults(terms: try arguments.strings())
        case .subsearchResults:
            self = .subsearchResults(previous: try arguments.strings(), terms: try arguments.strings())
        case .metas: self = .metas(identifiers: try arguments.strings())
        case .activate:
            self = .activate(
                identifier: try arguments.string(), terms: try arguments.strings(),
                timestamp: try arguments.unsigned32())
        case .launchSearch:
            self = .launchSearch(terms: try arguments.strings(), timestamp: try arguments.unsigned32())
        }
        try arguments.finish()
    }
}
