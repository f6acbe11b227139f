// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// What an app asks about its own items. Each case is one method of the interface `com.searchlight.Query1`.
///
/// Pages are pulled, so a client that is slow holds up nobody. The number of a request is chosen by the client and is only
/// for cancelling it.
public enum QueryRequest: ClientRequest, Hashable {
    /// The items that satisfy a metadata query. Answer: a ``QueryPageReply``.
    case query(number: UInt64, QueryPageRequest)
    /// The items that contain the words of a text, best first. Answer: a ``QueryPageReply``.
    case search(number: UInt64, QueryPageRequest)
    /// Texts that may take the place of a text that is being typed. Answer: an array of texts, best first.
    case suggest(number: UInt64, text: String, limit: UInt64)
    /// The user did something with an item of the app: `select` or `focus`. Answer: whether it was counted.
    case engaged(number: UInt64, item: String, text: String, kind: String)
    /// Stop working on a request; has no answer, and the request is answered with ``ExtensionStatus/cancelled`` unless it
    /// was already.
    case cancel(number: UInt64)

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Query1"
    /// The items are those of the app's own bundle.
    public static let callers: Set<Caller> = [.app, .sandboxedApp]
    /// The most suggestions.
    public static let maximumSuggestions: UInt64 = 10

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case query = "Query"
        case search = "Search"
        case suggest = "Suggest"
        case engaged = "Engaged"
        case cancel = "Cancel"
    }

    /// The method that carries the request.
    public var member: BusMember { BusMember(Self.interface, call.method.rawValue) }
    /// The arguments of the method.
    public var arguments: [BusValue] { call.arguments }

    private var call: (method: Method, arguments: [BusValue]) {
        switch self {
        case .query(let number, let page): (.query, [.unsigned(number)] + page.arguments)
        case .search(let number, let page): (.search, [.unsigned(number)] + page.arguments)
        case .suggest(let number, let text, let limit):
            (.suggest, [.unsigned(number), .string(text), .unsigned(limit)])
        case .engaged(let number, let item, let text, let kind):
            (.engaged, [.unsigned(number), .string(item), .string(text), .string(kind)])
        case .cancel(let number): (.cancel, [.unsigned(number)])
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, as ``WorkerRequest/init(_:)`` does.
    public init(_ call: IncomingCall) throws(BusError) {
        guard let method = Method(call.member, of: Self.interface) else { throw .unknownMethod(call.member) }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        let number = try arguments.unsigned()
        switch method {
        case .query: self = .query(number: number, try QueryPageRequest(&arguments))
        case .search: self = .search(number: number, try QueryPageRequest(&arguments))
        case .suggest: self = .suggest(number: number, text: try arguments.string(), limit: try arguments.unsigned())
        case .engaged:
            self = .engaged(
                number: number, item: try arguments.string(), text: try arguments.string(), kind: try arguments.string()
            )
        case .cancel: self = .cancel(number: number)
        }
        try arguments.finish()
    }
}

/// One page of what a query finds.
public struct QueryPageRequest: Sendable, Hashable {
    /// A metadata query, or words.
    public var text: String
    /// Metadata queries that must be satisfied as well.
    public var filters: [String]
    /// The attributes that found items carry; identifier, domain and expiry are always there.
    public var attributes: [String]
    /// Where the page before ended, as the service said; empty for the first.
    public var cursor: [UInt8]
    /// At most so many items, at least 1; the service may give fewer on a page that is not the last.
    public var limit: UInt64

    /// Creates a request for a page.
    public init(text: String, filters: [String], attributes: [String], cursor: [UInt8], limit: UInt64) {
        self.text = text
        self.filters = filters
        self.attributes = attributes
        self.cursor = cursor
        self.limit = limit
    }

    var arguments: [BusValue] {
        [.string(text), .strings(filters), .strings(attributes), .bytes(cursor), .unsigned(limit)]
    }

    init(_ arguments: inout BusArguments) throws(BusError) {
        text = try arguments.string()
        filters = try arguments.strings()
        attributes = try arguments.strings()
        cursor = try arguments.bytes()
        limit = try arguments.unsigned()
    }
}

/// A page of found items.
public struct QueryPageReply: Sendable, Hashable {
    /// The items, a ``RecordBatch``; best first for a search, in the order of their donation for a query.
    public var records: [UInt8]
    /// What to ask the next page with; empty if this is the last.
    public var next: [UInt8]

    /// Creates a page.
    public init(records: [UInt8], next: [UInt8]) {
        self.records = records
        self.next = next
    }

    /// The arguments that carry it.
    public var arguments: [BusValue] { [.bytes(records), .bytes(next)] }

    /// Reads it from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        records = try arguments.bytes()
        next = try arguments.bytes()
        try arguments.finish()
    }
}
