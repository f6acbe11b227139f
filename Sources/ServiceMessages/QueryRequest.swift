// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord

/// A query from an app for its own items. Each case is a method of the interface
/// `com.searchlight.Query1`.
///
/// The client requests each page, so a slow client does not delay others. The client chooses the
/// number of a request, which is used only to cancel it. A page with other classes than the default
/// is requested with another method, such as `QueryClasses`, because earlier services do not know
/// the argument.
public enum QueryRequest: ClientRequest, Hashable {
    /// Finds the items that satisfy a metadata query. Answer: a ``QueryPageReply``.
    case query(number: UInt64, QueryPageRequest)
    /// Finds the items that match the words of a text, best first. Answer: a ``QueryPageReply``.
    case search(number: UInt64, QueryPageRequest)
    /// Finds the items that match the words of a text like ``search(number:_:)``, but without
    /// comparing meanings. Answer: a ``QueryPageReply``.
    case searchWords(number: UInt64, QueryPageRequest)
    /// Prepares for searches by meaning, so that the first one is faster. The answer has no
    /// arguments.
    case prepare(number: UInt64)
    /// Suggests completions of a text that the user is typing. Answer: an array of strings, best
    /// first.
    case suggest(number: UInt64, text: String, limit: UInt64)
    /// Reports a use of an item of the app: `select` or `focus`. Answer: `true` if the use was
    /// counted.
    case engaged(number: UInt64, item: String, text: String, kind: String)
    /// Cancels a request; has no answer. The cancelled request is answered with
    /// ``ExtensionStatus/cancelled``, unless it has already been answered.
    case cancel(number: UInt64)

    /// The name of the D-Bus interface.
    public static let interface = "com.searchlight.Query1"
    /// The permitted clients: the items belong to the app's own bundle.
    public static let callers: Set<Caller> = [.app, .sandboxedApp]
    /// The maximum number of suggestions.
    public static let maximumSuggestions: UInt64 = 10

    /// The methods of the interface.
    enum Method: String, CaseIterable {
        case query = "Query"
        case search = "Search"
        case searchWords = "SearchWords"
        case queryClasses = "QueryClasses"
        case searchClasses = "SearchClasses"
        case searchWordsClasses = "SearchWordsClasses"
        case prepare = "Prepare"
        case suggest = "Suggest"
        case engaged = "Engaged"
        case cancel = "Cancel"
    }

    /// The method of the request.
    public var member: BusMember { BusMember(Self.interface, call.method.rawValue) }
    /// The arguments of the method.
    public var arguments: [BusValue] { call.arguments }

    private var call: (method: Method, arguments: [BusValue]) {
        switch self {
        case .query(let number, let page):
            (page.hasDefaultClasses ? .query : .queryClasses, [.unsigned(number)] + page.arguments)
        case .search(let number, let page):
            (page.hasDefaultClasses ? .search : .searchClasses, [.unsigned(number)] + page.arguments)
        case .searchWords(let number, let page):
            (page.hasDefaultClasses ? .searchWords : .searchWordsClasses, [.unsigned(number)] + page.arguments)
        case .prepare(let number): (.prepare, [.unsigned(number)])
        case .suggest(let number, let text, let limit):
            (.suggest, [.unsigned(number), .string(text: text), .unsigned(limit)])
        case .engaged(let number, let item, let text, let kind):
            (.engaged, [.unsigned(number), .string(item), .string(text: text), .string(kind)])
        case .cancel(let number): (.cancel, [.unsigned(number)])
        }
    }

    /// Reads a request from a call.
    ///
    /// - Throws: ``BusError``, like ``WorkerRequest/init(_:)``.
    public init(_ call: IncomingCall) throws(BusError) {
        guard let method = Method(call.member, of: Self.interface) else { throw .unknownMethod(call.member) }
        var arguments = BusArguments(call.arguments, of: call.member.member)
        let number = try arguments.unsigned()
        switch method {
        case .query: self = .query(number: number, try QueryPageRequest(&arguments))
        case .search: self = .search(number: number, try QueryPageRequest(&arguments))
        case .searchWords: self = .searchWords(number: number, try QueryPageRequest(&arguments))
        case .queryClasses: self = .query(number: number, try QueryPageRequest(&arguments, hasClasses: true))
        case .searchClasses: self = .search(number: number, try QueryPageRequest(&arguments, hasClasses: true))
        case .searchWordsClasses:
            self = .searchWords(number: number, try QueryPageRequest(&arguments, hasClasses: true))
        case .prepare: self = .prepare(number: number)
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

/// A request for one page of a query's results.
public struct QueryPageRequest: Sendable, Hashable {
    /// A metadata query, or words.
    public var text: String
    /// Metadata queries that items must satisfy as well.
    public var filters: [String]
    /// The attributes to return for found items. Identifier, domain and expiry are always included.
    public var attributes: [String]
    /// The cursor of the previous page; empty for the first page.
    public var cursor: [UInt8]
    /// The maximum number of items, at least 1. A page may have fewer even if it is not the last.
    public var limit: UInt64
    /// The protection classes of the indexes to query, by their raw values; empty for all.
    public var classes: [String]

    /// The default of ``classes``: the class of unencrypted indexes.
    public static let defaultClasses = [ProtectionClass.completeUntilFirstUserAuthentication.rawValue]
    fileprivate var hasDefaultClasses: Bool { classes == Self.defaultClasses }

    /// Creates a request for a page.
    public init(
        text: String, filters: [String], attributes: [String], cursor: [UInt8], limit: UInt64,
        classes: [String] = defaultClasses
    ) {
        self.classes = classes
        self.text = text
        self.filters = filters
        self.attributes = attributes
        self.cursor = cursor
        self.limit = limit
    }

    var arguments: [BusValue] {
        [.string(text: text), .strings(filters), .strings(attributes), .bytes(cursor), .unsigned(limit)]
            + (hasDefaultClasses ? [] : [.strings(classes)])
    }

    init(_ arguments: inout BusArguments, hasClasses: Bool = false) throws(BusError) {
        text = try arguments.string()
        filters = try arguments.strings()
        attributes = try arguments.strings()
        cursor = try arguments.bytes()
        limit = try arguments.unsigned()
        classes = hasClasses ? try arguments.strings() : Self.defaultClasses
    }
}

/// A page of found items.
public struct QueryPageReply: Sendable, Hashable {
    /// The items as a ``RecordBatch``: best first for a search, in donation order for a query.
    public var records: [UInt8]
    /// The cursor of the next page; empty on the last page.
    public var next: [UInt8]

    /// Creates a page.
    public init(records: [UInt8], next: [UInt8]) {
        self.records = records
        self.next = next
    }

    /// The arguments of the page.
    public var arguments: [BusValue] { [.bytes(records), .bytes(next)] }

    /// Reads a page from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        records = try arguments.bytes()
        next = try arguments.bytes()
        try arguments.finish()
    }
}
