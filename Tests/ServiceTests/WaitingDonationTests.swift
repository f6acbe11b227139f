// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import Dispatch
import Foundation
import ItemRecord
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex
@testable import SearchlightEngine
@testable import SearchlightService

/// Donations that arrive while the store has no room for them: nothing is applied until the test
/// allows it.
@Suite("Donations that wait for room", .timeLimit(.minutes(10)))
struct WaitingDonationTests {
    /// A service whose applier is blocked.
    private final class Held: Sendable {
        let service: TestService
        private let gate = DispatchSemaphore(value: 0)
        private let isOpen = Mutex(false)
        private let applier: LogApplier
        /// The number of pending bytes at which donors start to wait.
        static let limit = 100_000

        init() async throws {
            service = try await TestService { configuration in
                configuration.engine.storeHooks.maximumPendingBytes = Self.limit
            }
            applier = try #require(service.service.engine?.index.applier)
            let gate = gate
            applier.onQueue { gate.wait() }
        }

        deinit { open() }

        /// The number of donations that wait for room.
        var waiting: Int {
            // The service itself may wait for another event.
            applier.state.withLock { state in
                state.waiters.count { if case .room = $0.patience { true } else { false } }
            }
        }

        /// Returns an app with a pending donation of this size.
        func flood(bytes: Int) async throws -> TestClient {
            let client = try await service.app("com.example.flood")
            let first = try Donation(client, "first", bytes: bytes)
            #expect(await eventually { first.isKept })
            return client
        }

        /// Applies the pending donations.
        func open() {
            let isFirst = isOpen.withLock { isOpen in
                defer { isOpen = true }
                return !isOpen
            }
            if isFirst { gate.signal() }
        }

        func stop() async {
            open()
            await service.stop()
        }
    }

    /// A donation in progress.
    private final class Donation: Sendable {
        private let result = Mutex<Result<[BusValue], BusError>?>(nil)
        var isAnswered: Bool { result.withLock { $0 != nil } }
        var isKept: Bool { result.withLock { (try? $0?.get()) != nil } }

        convenience init(_ client: TestClient, _ identifier: String, title: String = "a title", bytes: Int) throws {
            var batch: [UInt8] = []
            // An item has at most 16 MiB, so the bytes are divided into several items.
            for part in 0...bytes / (8 << 20) {
                let text = String(repeating: "x", count: min(8 << 20, bytes - (part << 23)))
                let name = part == 0 ? identifier : "\(identifier) \(part)"
                RecordBatch.append(
                    try record(name, title: title, attributes: ["textContent": .string(text)]), to: &batch)
            }
            self.init(client, .put(batch))
        }

        init(_ client: TestClient, _ change: EncodedChange) {
            let request = IndexRequest(change, index: nil)
            client.connection.call(request.member, request.arguments) { answer in
                self.result.withLock { $0 = answer }
            }
        }
    }

    private func title(_ client: TestClient, _ identifier: String) async throws -> String? {
        let record = try #require(try await client.item(identifier).record)
        return try ItemRecord(decoding: record).attributes["title"]?.text
    }

    @Test("A large donation that waits for room delays no other app's", arguments: [1_500_000, 9 << 20])
    func otherApp(bytes: Int) async throws {
        let held = try await Held()
        let flood = try await held.flood(bytes: Held.limit * 3 / 2)
        // A size that fits into a receive budget. Otherwise the rest of the budget would not be
        // left for other clients.
        let waiting = try Donation(flood, "second", bytes: bytes > 2 << 20 ? 30 << 20 : bytes)
        let other = try await held.service.app("com.example.notes")
        #expect(await eventually { held.waiting == 1 })
        #expect(held.service.service.flow.waiting["store"] == 1)
        let large = try Donation(other, "large", bytes: bytes)
        #expect(await eventually { large.isAnswered })
        #expect(large.isKept && !waiting.isAnswered)
        held.open()
        #expect(await eventually { waiting.isAnswered })
        #expect(waiting.isKept)
        await held.stop()
    }

    @Test("A small donation does not wait for the room of its app's large ones")
    func small() async throws {
        let held = try await Held()
        let flood = try await held.flood(bytes: Held.limit * 3 / 2)
        let waiting = try Donation(flood, "second", bytes: 1_500_000)
        #expect(await eventually { held.waiting == 1 })
        let other = try await held.service.app("com.example.flood")
        let small = try Donation(other, "small", bytes: 1000)
        #expect(await eventually { small.isAnswered || held.waiting == 2 })
        #expect(small.isKept && !waiting.isAnswered)
        held.open()
        #expect(await eventually { waiting.isAnswered })
        #expect(held.service.service.flow.waiting.isEmpty)
        await held.stop()
    }

    @Test("A deletion of many short names is as large as its pending size, and does not count as a small donation")
    func manyNames() async throws {
        let held = try await Held()
        let flood = try await held.flood(bytes: Held.limit * 11 / 10)
        defer { withExtendedLifetime(flood) {} }
        let app = try await held.service.app()
        let names = Array(repeating: "x", count: 1030)
        let deletion = Donation(app, .deleteItems(names))
        #expect(await eventually { deletion.isKept })
        let next = Donation(app, .deleteItems(names))
        #expect(await eventually { held.waiting == 1 || next.isAnswered })
        #expect(!next.isAnswered)
        held.open()
        #expect(await eventually { next.isKept })
        await held.stop()
    }

    @Test("The last donation of an ended app does not follow its successor's acknowledged ones")
    func successor() async throws {
        let held = try await Held()
        let flood = try await held.flood(bytes: Held.limit * 3 / 2)
        let waiting = try Donation(flood, "second", bytes: 1_500_000)
        #expect(await eventually { held.waiting == 1 })
        let app = try await held.service.app()
        let sessions = held.service.service.sessionCount
        let old = try Donation(app, "item", title: "old", bytes: 1_500_000)
        #expect(await eventually { held.service.service.heldBytes > 3_000_000 || old.isAnswered })
        app.connection.close()
        #expect(await eventually { held.service.service.sessionCount == sessions - 1 })
        let next = try await held.service.app()
        let new = try Donation(next, "item", title: "new", bytes: 10)
        #expect(await eventually { new.isAnswered || held.waiting == 2 })
        held.open()
        #expect(await eventually { waiting.isAnswered && new.isAnswered })
        #expect(new.isKept)
        try await held.service.service.engine?.settle()
        #expect(try await title(next, "item") == "new")
        await held.stop()
    }

    @Test("An app that ends while its donation waits for room frees its position and its room at once")
    func gone() async throws {
        let held = try await Held()
        // Enough bytes to make all donors wait.
        let flood = try await held.flood(bytes: Held.limit * 5 / 2)
        defer { withExtendedLifetime(flood) {} }
        let app = try await held.service.app()
        // The small donation is read. The large donation is not even read.
        let donations = try [10_000, 1_500_000].map { try Donation(app, "old \($0)", bytes: $0) }
        #expect(await eventually { held.waiting == 2 })
        #expect(!donations.contains { $0.isAnswered })
        #expect(held.service.service.heldBytes > 10_000 && held.service.service.heldBytes < 1_500_000)
        app.connection.close()
        #expect(await eventually { held.service.service.sessionCount == 1 && held.service.service.heldBytes == 0 })
        #expect(held.service.service.load.connections == 1 && held.waiting == 0)
        held.open()
        let next = try await held.service.app()
        try await next.donate(["new"])
        #expect(try await next.query("title == 'a title'").identifiers.isEmpty)
        await held.stop()
    }
}
