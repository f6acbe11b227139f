// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import MetadataQuery
import SearchIndex
import SearchlightEngine
import Testing

/// The engine of a service, called from another process.
@Suite("An engine over a connection", .timeLimit(.minutes(10)))
struct RemoteEngineTests {
    private static let scope = IndexScope(bundle: "org.example.app")

    private func withRemote(_ body: (RemoteEngine) async throws -> Void) async throws {
        let harness = try Harness()
        let host = try ServiceHost(harness)
        let remote = try await RemoteEngine.connect(
            storeDirectory: harness.store, program: "test", patience: .seconds(60))
        try await body(try #require(remote))
        await remote?.close()
        await host.close()
    }

    @Test("Batches and pages that are too large for one message arrive completely")
    func large() async throws {
        try await withRemote { remote in
            var batch = IndexBatch(scope: Self.scope)
            for number in 0..<3 {
                var record = ItemRecord(uniqueIdentifier: "item \(number)")
                record.attributes["title"] = .string("Large \(number)")
                record.attributes["thumbnailData"] = .data(
                    [UInt8](repeating: UInt8(number), count: 13 << 20))
                batch.index([try EncodedItem(record)])
            }
            try await remote.commit(batch)
            let page = try await remote.items(matching: .and([]), limit: 10)
            #expect(page.items.map(\.record.uniqueIdentifier) == ["item 0", "item 1", "item 2"])
            #expect(page.next == nil)
            let first = try await remote.items(matching: .and([]), limit: 2)
            #expect(first.items.count == 2 && first.next == first.items.last.map { QueryCursor(after: $0.number) })
            var search = ItemSearch("large")
            search.attributes = ["thumbnailData"]
            let found = try await remote.find(search)
            #expect(Set(found.hits.map(\.item.record.uniqueIdentifier)) == ["item 0", "item 1", "item 2"])
            #expect(found.next == nil)
        }
    }

    @Test("A cancelled call ends, and the connection stays open")
    func cancelled() async throws {
        try await withRemote { remote in
            let call = Task { try await remote.items(matching: .and([]), limit: 10) }
            call.cancel()
            // The call may have been answered before it was cancelled.
            _ = try? await call.value
            let counts = try await remote.perform(ItemCountsCall())
            #expect(counts.isEmpty)
        }
    }

    @Test("A connection that ends fails its calls")
    func ended() async throws {
        try await withRemote { remote in
            await remote.close()
            await #expect(throws: EngineError.self) { try await remote.perform(ItemCountsCall()) }
        }
    }

    @Test("If a service exits before it acknowledges a stop, the stop has succeeded")
    func stopped() async throws {
        let harness = try Harness()
        let host = try ServiceHost(harness)
        let remote = try #require(
            try await RemoteEngine.connect(storeDirectory: harness.store, program: "test", patience: .seconds(60)))
        await host.close()
        try await remote.stopService()
        await #expect(throws: EngineError.self) { try await remote.perform(ItemCountsCall()) }
        await remote.close()
    }
}
