// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import Foundation
import Glibc
import ItemRecord
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightService

/// `true` in a torture run.
private let isTorture = ProcessInfo.processInfo.environment["SEARCHLIGHT_TORTURE_ROUNDS"] != nil

@Suite("Donations over a socket", .timeLimit(.minutes(10)))
struct DonationTests {
    @Test("Fifty concurrent clients: nothing is lost, each client's order is kept, and waiting data is bounded")
    func manyClients() async throws {
        let service = try await TestService()
        let clients = 50
        let batches = isTorture ? 1000 : 20
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<clients {
                group.addTask {
                    let client = try await service.app("com.example.app\(number)")
                    try await Self.donate(batches, over: client)
                }
            }
            try await group.waitForAll()
        }
        #expect(service.service.peakHeldBytes <= ServiceLimits().heldBytes)
        #expect(await eventually { service.service.heldBytes == 0 })
        for number in 0..<clients {
            let client = try await service.app("com.example.app\(number)")
            // Every batch wrote the same item, so the item shows which batch was last.
            let last = try await client.query("title == 'batch \(batches - 1)'").identifiers
            #expect(last == ["last"], "client \(number)")
            let state = try await client.clientState()
            #expect(state == Array("\(batches - 1)".utf8))
            var count = 0
            var cursor: [UInt8] = []
            repeat {
                let page = try await client.query("keywords == 'kept'", cursor: cursor, limit: 1000)
                count += page.identifiers.count
                cursor = page.next
            } while !cursor.isEmpty
            #expect(count == batches)
        }
        await service.stop()
    }

    @Test("Donations that fifty clients send at once do not accumulate in the service's memory")
    func memory() async throws {
        // A separate program, so that memory used by other tests in this process is not counted.
        let program = try await Program(folder: try TemporaryFolder())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let client = try await program.app("com.example.app\(number)")
                    try await Self.donate(isTorture ? 1000 : 20, over: client)
                }
            }
            try await group.waitForAll()
        }
        // The limit for pending bytes, plus the caches of SQLite and of the allocator.
        let most = try #require(peakBytes(of: program.process))
        #expect(most < ServiceLimits().heldBytes + (256 << 20))
        program.send(SIGTERM)
        #expect(await program.wait() == 0)
    }

    /// Sends batches, eight at a time. Each expects the client state of its predecessor.
    private static func donate(_ count: Int, over client: TestClient) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The calls are made in order on the connection. Only the waits are in tasks.
            var states: [UInt8]?
            for batch in 0..<count {
                var records: [UInt8] = []
                RecordBatch.append(try record("last", title: "batch \(batch)"), to: &records)
                RecordBatch.append(
                    try record("item \(batch)", attributes: ["keywords": .array([.string("kept")])]), to: &records)
                var changes = ChangeList()
                changes.append(.put(records))
                let state = Array("\(batch)".utf8)
                let request = IndexRequest(
                    .commitBatch(changes: changes.bytes, clientState: state, expecting: .exactly(states)), index: nil)
                states = state
                let answer = Answer()
                client.connection.call(request.member, request.arguments) { answer.set($0) }
                group.addTask { try await answer.value() }
                if batch >= 8 { try await group.next() }
            }
            try await group.waitForAll()
        }
    }

    @Test("At the bound of all bytes donations are rejected, and accepted again later")
    func budget() async throws {
        var limits = ServiceLimits()
        limits.heldBytes = 100_000
        let service = try await TestService(limits: limits)
        let client = try await service.app()
        let large = await refusal { try await client.donate(["a"], title: String(repeating: "x", count: 200_000)) }
        #expect(large == BusErrorName.limitsExceeded)
        #expect(service.service.heldBytes == 0)
        for number in 0..<20 { try await client.donate(["\(number)"], title: String(repeating: "x", count: 20_000)) }
        #expect(service.service.peakHeldBytes <= 100_000)
        await service.stop()
    }

    @Test("A client that ends with waiting donations frees their room")
    func clientGoes() async throws {
        let service = try await TestService()
        let client = try await service.app()
        let request = IndexRequest(
            .put(try batch("a", title: String(repeating: "x", count: 1 << 20))), index: nil)
        for _ in 0..<20 { client.connection.call(request.member, request.arguments) { _ in } }
        client.connection.close()
        #expect(await eventually { service.service.sessionCount == 0 && service.service.heldBytes == 0 })
        let other = try await service.app()
        try await other.donate(["b"])
        await service.stop()
    }

    @Test("A malformed donation is rejected with the reason, and the connection continues")
    func malformed() async throws {
        let service = try await TestService()
        let client = try await service.app()
        let bytes = await refusal { try await client.index(.put([1, 2, 3])) }
        #expect(bytes == ServiceErrorName.invalidItem)
        let state = await refusal {
            try await client.index(
                .commitBatch(changes: [], clientState: Array(repeating: 1, count: 251), expecting: .any))
        }
        #expect(state == ServiceErrorName.invalidClientState)
        let mismatch = await refusal {
            try await client.index(.commitBatch(changes: [], clientState: [1], expecting: .exactly([9])))
        }
        #expect(mismatch == ServiceErrorName.mismatchedClientState)
        let member = BusMember(IndexRequest.interface, "Commit")
        let arguments = await refusal { _ = try await client.connection.call(member, [.unsigned(1)]) }
        #expect(arguments == BusErrorName.invalidArguments)
        let unknown = await refusal {
            _ = try await client.connection.call(BusMember(IndexRequest.interface, "Format"), [.string("")])
        }
        #expect(unknown == BusErrorName.unknownMethod)
        try await client.donate(["a"])
        await service.stop()
    }
}

private func batch(_ identifier: String, title: String) throws -> [UInt8] {
    var batch: [UInt8] = []
    RecordBatch.append(try record(identifier, title: title), to: &batch)
    return batch
}

/// Returns the peak resident memory of a process.
func peakBytes(of process: pid_t) -> Int? {
    let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
}
