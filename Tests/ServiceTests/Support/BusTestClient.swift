// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import ItemRecord
import ServiceMessages
import Synchronization
import TestSupport

@testable import SearchlightService

/// A client on a test bus that calls the service.
final class BusTestClient: Sendable {
    let bus: MessageBus
    let service: String

    /// Connects, and waits until the service is available.
    init(
        _ bus: PrivateBus,
        onCall: @escaping BusConnection.CallHandler = { $0.refuse(name: "com.example.No", message: "") }
    ) async throws {
        self.bus = try MessageBus(address: bus.address, name: "test-bus", onCall: onCall, onDisconnect: { _ in })
        let deadline = ContinuousClock.now + .seconds(100)
        while true {
            if let owner = try? await self.bus.owner(of: MessageBus.serviceName) {
                service = owner
                return
            }
            guard ContinuousClock.now < deadline else { throw BusError.disconnected }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    func call(_ member: BusMember, _ arguments: [BusValue]) async throws -> [BusValue] {
        try await bus.call(service, member, arguments)
    }

    @discardableResult
    func hello(_ role: Hello.Role, bundle: String?) async throws -> Welcome {
        let hello = Hello(role: role, bundle: bundle, program: "test")
        var arguments = BusArguments(try await call(Hello.member, hello.arguments), of: "Hello")
        return try Welcome(&arguments)
    }

    func donate(_ identifiers: [String]) async throws {
        var batch: [UInt8] = []
        for identifier in identifiers { RecordBatch.append(try record(identifier), to: &batch) }
        let request = IndexRequest(.put(batch), index: nil)
        _ = try await call(request.member, request.arguments)
    }

    func query(_ text: String) async throws -> [String] {
        let page = QueryPageRequest(text: text, filters: [], attributes: ["title"], cursor: [], limit: 100)
        let request = QueryRequest.query(number: 1, page)
        var arguments = BusArguments(try await call(request.member, request.arguments), of: "Query")
        return try RecordBatch.split(try QueryPageReply(&arguments).records).map {
            try ItemRecord(decoding: $0).uniqueIdentifier
        }
    }

    /// Returns the answer of `Search1.Suggest`.
    func suggest(_ text: String, _ options: [String: BusValue] = [:]) async throws -> [[String: BusValue]] {
        let member = BusMember(LauncherRequest.interface, "Suggest")
        var arguments = BusArguments(try await call(member, [.string(text), .dictionary(options)]), of: "Suggest")
        return try arguments.dictionaries()
    }

    /// Returns the results of `Search1.Search`.
    func search(_ text: String, _ options: [String: BusValue] = [:]) async throws -> [[String: BusValue]] {
        let member = BusMember(LauncherRequest.interface, "Search")
        var arguments = BusArguments(try await call(member, [.string(text), .dictionary(options)]), of: "Search")
        return try arguments.dictionaries()
    }
}
