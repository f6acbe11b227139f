// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import ItemRecord
import ServiceMessages
import Synchronization
import SystemSupport
import Testing

/// A client's end of a connection to a service.
final class TestClient: Sendable {
    let connection: BusConnection
    private let answers: Answers

    /// The client's answers to requests.
    final class Answers: Sendable {
        let handler = Mutex<@Sendable (IncomingCall) -> Void>({ $0.refuse(name: BusErrorName.failed, message: "") })
    }
    private final class Flag: Sendable { let value = Mutex(false) }
    private let flag: Flag

    init(store: String) throws {
        let flag = Flag()
        let answers = Answers()
        connection = try BusConnection(
            adopting: try ServiceSocket.connect(inFolder: store), side: .client, name: "test-client",
            onCall: { call in answers.handler.withLock { $0 }(call) },
            onDisconnect: { _ in flag.value.withLock { $0 = true } })
        self.flag = flag
        self.answers = answers
    }

    var isConnected: Bool { !flag.value.withLock { $0 } }

    /// Makes the client answer the service's calls.
    func onCall(_ handler: @escaping @Sendable (IncomingCall) -> Void) { answers.handler.withLock { $0 = handler } }

    @discardableResult
    func hello(
        _ role: Hello.Role, bundle: String?, version: UInt64 = Hello.currentVersion
    ) async throws -> Welcome {
        let hello = Hello(role: role, bundle: bundle, program: "test", version: version)
        var arguments = BusArguments(
            try await connection.call(Hello.member, hello.arguments), of: Hello.member.member)
        return try Welcome(&arguments)
    }

    func index(_ change: EncodedChange, in index: String? = nil) async throws {
        try await self.index(.change(change), in: index)
    }

    func index(_ action: IndexRequest.Action, in index: String? = nil) async throws {
        let request = IndexRequest(action, index: index)
        _ = try await connection.call(request.member, request.arguments)
    }

    func clientState(in index: String? = nil) async throws -> [UInt8]? {
        let request = IndexRequest.clientState(index: index)
        var arguments = BusArguments(try await connection.call(request.member, request.arguments), of: "ClientState")
        return try ClientStateReply(&arguments).state
    }

    func item(_ identifier: String) async throws -> RecordReply {
        let request = IndexRequest.record(identifier)
        var arguments = BusArguments(try await connection.call(request.member, request.arguments), of: "Record")
        return try RecordReply(&arguments)
    }

    /// Donates items with these identifiers, each with its identifier as its title.
    func donate(_ identifiers: [String], title: String? = nil) async throws {
        var batch: [UInt8] = []
        for identifier in identifiers { RecordBatch.append(try record(identifier, title: title), to: &batch) }
        try await index(.put(batch))
    }

    /// Returns a page of a query: the identifiers, and the start of the next page.
    func query(
        _ text: String, filters: [String] = [], cursor: [UInt8] = [], limit: UInt64 = 100, number: UInt64 = 1
    ) async throws -> (identifiers: [String], next: [UInt8]) {
        try await page(
            .query(
                number: number,
                QueryPageRequest(text: text, filters: filters, attributes: ["title"], cursor: cursor, limit: limit)))
    }

    func search(
        _ text: String, cursor: [UInt8] = [], limit: UInt64 = 100
    ) async throws -> (identifiers: [String], next: [UInt8]) {
        try await page(
            .search(
                number: 1, QueryPageRequest(text: text, filters: [], attributes: [], cursor: cursor, limit: limit)))
    }

    func suggestions(_ text: String, limit: UInt64 = 10) async throws -> [String] {
        let request = QueryRequest.suggest(number: 1, text: text, limit: limit)
        var arguments = BusArguments(try await connection.call(request.member, request.arguments), of: "Suggest")
        return try arguments.strings()
    }

    private func page(_ request: QueryRequest) async throws -> (identifiers: [String], next: [UInt8]) {
        let reply = try await reply(request)
        let records = try RecordBatch.split(reply.records).map { try ItemRecord(decoding: $0) }
        return (records.map(\.uniqueIdentifier), reply.next)
    }

    func reply(_ request: QueryRequest) async throws -> QueryPageReply {
        var arguments = BusArguments(try await connection.call(request.member, request.arguments), of: "Query")
        return try QueryPageReply(&arguments)
    }
}

func record(_ identifier: String, title: String? = nil, attributes: [String: AttributeValue] = [:]) throws -> [UInt8] {
    try ItemRecord(
        uniqueIdentifier: identifier,
        attributes: attributes.merging(["title": .string(title ?? identifier)]) { first, _ in first }
    ).encoded()
}

/// Returns the error name of a rejected call; `nil` if the call succeeds.
func refusal(_ body: () async throws -> Void) async -> String? {
    do {
        try await body()
        return nil
    } catch BusError.remote(let name, _) {
        return name
    } catch {
        return "\(error)"
    }
}
