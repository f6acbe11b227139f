// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import ItemRecord
import SearchIndex
import SearchlightEngine
import Synchronization
import TestSupport
import Testing

/// Requests for encrypted items to an extension in Swift, in a real worker.
@Suite("Encrypted items of an extension in Swift", .timeLimit(.minutes(10)))
struct EncryptedItemsInSwiftTests {
    private static let bundle = "com.example.provides"
    private static let scope = IndexScope(bundle: bundle, index: "health")

    private final class Time: Sendable {
        private let moment = Mutex(1_000_000.0)
        var now: Double { moment.withLock { $0 } }
        func pass(days: Double) { moment.withLock { $0 += days * 86400 } }
    }

    private func titles(_ engine: SearchlightEngine) async throws -> [String: AttributeValue] {
        let page = try await engine.items(
            matching: .and([]), bundle: Self.bundle, limit: 10, after: nil, place: .current)
        return page.items.reduce(into: [:]) { $0[$1.record.uniqueIdentifier] = $1.record.attributes["title"] }
    }

    @Test("are provided with the class of their index, and those that are not provided are reindexed there")
    func provided() async throws {
        let harness = try Harness()
        let time = Time()
        try harness.install(
            Self.bundle, library: try SwiftFixture.library(),
            principalClass: "\(SwiftFixture.module).ProvidesEncryptedItems")
        let engine = try harness.engine(configuring: { $0.now = { time.now } })
        _ = try await engine.unlock(passphrase: Array("correct horse".utf8), creates: true)
        var batch = IndexBatch(scope: Self.scope, protection: .complete)
        batch.index(
            try ["a", "gone"].map {
                try EncodedItem(ItemRecord(uniqueIdentifier: $0, attributes: ["title": .string("old")]))
            })
        try await engine.commit(batch)
        time.pass(days: 24)
        try await engine.lookAhead()
        #expect(engine.scheduledJobs().map(\.key) == [.encrypted(bundle: Self.bundle)])
        #expect(try await engine.run(.encrypted(bundle: Self.bundle)) == 1)
        #expect(try await titles(engine) == ["a": .string("provided NSFileProtectionComplete")])
        #expect(engine.protectionStatus.indexes.map(\.scope) == [Self.scope])
        await engine.close()
    }
}
