// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import Foundation
import Glibc
import IdleScheduling
import ItemRecord
import SearchIndex
import SearchlightEngine
import TestSupport
import Testing

/// An app that donates over another connection while its bundle is reindexed.
@Suite("Changes by an app during its reindex", .timeLimit(.minutes(10)))
struct MeanwhileTests {
    private let bundle = "com.example.app"

    /// Reindexes an app that has “old” and “apple”. The reindex first deletes everything and then
    /// donates “apple” again. Another connection makes a change before or after the deletion.
    private func reindex(
        _ engine: SearchlightEngine, isBefore: Bool, _ meanwhile: @escaping @Sendable () async throws(BusError) -> Void
    ) async throws {
        let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
            if isBefore { try await meanwhile() }
            try await app.send(.deleteAll)
            if !isBefore { try await meanwhile() }
            try await app.donate("apple")
            return []
        }
        try app.register()
        try await app.donate("apple", "old")
        _ = try await engine.reindexAll(bundle)
        app.unregister()
    }

    @Test("A donation stays, before and after the deletion", arguments: [true, false])
    func donation(isBefore: Bool) async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let other = engine.receiver(for: .app)
            try await reindex(engine, isBefore: isBefore) { () async throws(BusError) in
                _ = try await FakeApp.send(.put(FakeApp.batch(["old", "new"])), bundle, other)
            }
            #expect(try await engine.identifiers(bundle) == ["apple", "new", "old"])
            #expect(engine.owedJobs.isEmpty)
            // The change was kept only for that reindex.
            try await reindex(engine, isBefore: true) { () async throws(BusError) in }
            #expect(try await engine.identifiers(bundle) == ["apple"])
        }
    }

    @Test("A donation to an index of another name stays, in that index only", arguments: [true, false])
    func otherIndex(isBefore: Bool) async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let other = engine.receiver(for: .app)
            try await reindex(engine, isBefore: isBefore) { () async throws(BusError) in
                _ = try await FakeApp.send(.put(FakeApp.batch(["old"])), index: "second", bundle, other)
            }
            let items = try await engine.items(matching: .and([]), bundle: bundle).items
            #expect(
                Set(items.map { "\($0.scope.index ?? "-") \($0.record.uniqueIdentifier)" })
                    == ["- apple", "second old"])
        }
    }

    @Test("A deletion of everything is applied at once, and the reindex is pending again")
    func deletion() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let other = engine.receiver(for: .app)
            let bundle = bundle
            try await reindex(engine, isBefore: false) { () async throws(BusError) in
                _ = try await FakeApp.send(.deleteAll, bundle, other)
                let found = (try? await engine.identifiers(bundle)) ?? ["?"]
                #expect(found == [])
            }
            #expect(try await engine.identifiers(bundle) == ["apple"])
            #expect(engine.owedWork(for: bundle)?.work == .reindexAll)
            #expect(engine.owedWork(for: bundle)?.failures == 0)
        }
    }

    @Test("Items that it deletes without a reindex are gone, and nothing is pending")
    func deletionOtherwise() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine)
            try app.register()
            try await app.donate("one")
            _ = try await engine.reindexItems(["one"], of: bundle)
            try await app.send(.deleteAll)
            #expect(try await engine.identifiers(bundle) == [])
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("A donation during a request to the extension stays")
    func besideTheExtension() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("replaces")
        // The fixture deletes everything and then waits for the list of items that it donates.
        let pipe = harness.marks + "/\(bundle).searchext.list"
        #expect(mkfifo(pipe, 0o600) == 0)
        try await harness.withEngine { engine async throws in
            try await engine.commit(try batch(["old", "new"], of: bundle))
            async let count = engine.reindexAll(bundle)
            // Opening the pipe blocks until the fixture has opened it, so this must not use the
            // threads that tasks share.
            let number = await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: open(pipe, O_WRONLY | O_CLOEXEC)) }
            }
            try #require(number >= 0)
            try await engine.commit(try batch(["new"], of: bundle))
            #expect(write(number, "pear\n", 5) == 5)
            close(number)
            #expect(try await count == 3)
            #expect(try await engine.identifiers(bundle) == ["last", "new", "pear"])
        }
    }

    @Test("A late deletion by a delegate that was given up makes the reindex pending again")
    func lateDeletion() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        let clock = ManualClock()
        try await harness.withEngine(clock: clock) { engine async throws in
            let (end, ending) = AsyncStream.makeStream(of: Void.self)
            defer { ending.finish() }
            let app = FakeApp(bundle, engine) { _, _ async throws(BusError) in
                for await _ in end {}
                return []
            }
            try app.register()
            async let count = engine.reindexAll(bundle)
            await clock.waitForSleepers()
            clock.advance(by: .seconds(60))
            #expect(try await count == 3)
            #expect(engine.owedJobs.isEmpty)
            // The app starts the requested work, and exits before it has finished.
            try await app.send(.deleteAll)
            app.unregister()
            #expect(try await engine.reindexOwed(bundle) == 3)
            #expect(engine.owedJobs.isEmpty)
        }
    }

    private func batch(_ names: [String], of bundle: String) throws -> IndexBatch {
        var batch = IndexBatch(scope: IndexScope(bundle: bundle))
        batch.index(try names.map { try EncodedItem(ItemRecord(uniqueIdentifier: $0)) })
        return batch
    }
}
