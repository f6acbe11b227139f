// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request for the data of an item.
public enum PromiseRequest: ClientRequest, Hashable {
    /// Fetches the data of an item of any bundle. Answer: a ``Payload``.
    case fetchData(bundle: String, item: String, type: String)

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Promise1"
    /// The permitted clients: a sandboxed app has no access to other bundles.
    public static let callers: Set<Caller> = [.app, .shell]

    private static let fetchDataMember = BusMember(interface, "FetchData")

    /// The method of the request.
    public var member: BusMember { Self.fetchDataMember }
    /// The arguments of the method.
    public var arguments: [BusValue] {
        switch self {
        case .fetchData(let bundle, let item, let type): [.string(bundle), .string(item), .string(type)]
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, like ``WorkerRequest/init(_:)``.
    public init(_ call: IncomingCall) throws(BusError) {
        guard call.member == Self.fetchDataMember else { throw .unknownMethod(call.member) }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        self = .fetchData(
            bundle: try arguments.string(), item: try arguments.string(), type: try arguments.string())
        try arguments.finish()
    }
}
