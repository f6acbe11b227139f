// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// A request from an app to receive the activities that the user continues in it. While the app is
/// registered, the service sends it ``ContinuedActivity`` over the same connection.
public enum ActivityRequest: RegistrationRequest, Hashable {
    /// Registers the app. The service then sends the activities for which the app was started.
    case register
    /// Ends the registration.
    case unregister

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Activity1"
}

/// An activity that the service passes to a registered app. Answer: `true` if the app accepted it.
public enum ContinuedActivity: Sendable, Hashable {
    /// The user opened an item. The value is the item's identifier, as given by the app.
    case item(String)
    /// The user is continuing a search. The value is the search text.
    case search(String)

    /// The methods of the interface that an app implements.
    enum Method: String, CaseIterable {
        case continueItem = "ContinueItem"
        case continueSearch = "ContinueSearch"
    }

    /// The method of the call.
    public var member: BusMember {
        let method: Method =
            switch self {
            case .item: .continueItem
            case .search: .continueSearch
            }
        return BusMember(ActivityRequest.interface, method.rawValue)
    }

    /// The arguments of the method.
    public var arguments: [BusValue] {
        switch self {
        case .item(let text), .search(let text): [.string(text)]
        }
    }

    /// Reads an activity from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        var arguments = BusArguments(call.arguments, of: call.member.member)
        switch Method(call.member, of: ActivityRequest.interface) {
        case .continueItem: self = .item(try arguments.string())
        case .continueSearch: self = .search(try arguments.string())
        case nil: throw .unknownMethod(call.member)
        }
        try arguments.finish()
    }
}
