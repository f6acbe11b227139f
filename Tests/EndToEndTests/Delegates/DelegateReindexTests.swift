// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import Foundation
import ItemRecord
import SearchIndex
import ServiceMessages
import Synchronization
import Testing

@testable import ExtensionHost
@testable import SearchlightEngine

/// An app in this process together with an extension in a real worker.
@Suite("A live delegate that is asked to reindex", .timeLimit(.minutes(10)))
struct DelegateReindexTests {
    @Test("replaces its extension; items that were not donated again are deleted at the end")
    func answers() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                try await app.send(.deleteAll)
                let found = (try? await engine.identifiers(bundle)) ?? []
                #expect(found == ["apple", "pear"], "nothing is missed while it is donated again")
                try await app.donate("pear", "plum")
                return []
            }
            // An earlier disconnection is not a failure of this reindex.
            app.lose(BusError.refused(.unavailable, "earlier"))
            try app.register()
            try await app.donate("apple", "pear")
            let pear = try await engine.item(named: "pear").number
            let count = try await engine.reindexAll(bundle)
            #expect(count == 2)
            #expect(try await engine.identifiers(bundle) == ["pear", "plum"])
            #expect(try await engine.item(named: "pear").number == pear)
            #expect(app.requests == [.reindexAll])
            #expect(app.settles > 0)
            #expect(engine.owedJobs.isEmpty)
        }
        #expect(harness.startedWorkers == 0)
    }

    @Test("reports like an extension: the caller gets the number of its donations, without others' donations")
    func donatedEvents() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let bundle = "com.example.app"
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                try await app.donate("one", "two")
                try await FakeApp(bundle, engine).donate("other")
                try await app.donate("three")
                return []
            }
            try app.register()
            try await app.donate("before")
            let donated = Mutex(0)
            let count = { @Sendable (event: ExtensionEvent) in
                if case .donated(_, let count) = event { donated.withLock { $0 += count } }
            }
            _ = try await engine.reindexAll(bundle, onEvent: count)
            #expect(donated.withLock { $0 } == 3)
            _ = try await engine.reindexItems(["one"], of: bundle, onEvent: count)
            #expect(donated.withLock { $0 } == 6)
            try await app.donate("after")
            #expect(donated.withLock { $0 } == 6)
        }
    }

    @Test("has no client state after it deleted everything, so it restarts")
    func clientState() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let bundle = "com.example.app"
            func batch(_ state: UInt8, expecting expectation: ClientStateExpectation) -> IndexRequest.Action {
                var changes = ChangeList()
                changes.append(.put(FakeApp.batch(["item \(state)"])))
                return .commitBatch(changes: changes.bytes, clientState: [state], expecting: expectation)
            }
            let again = batch(2, expecting: .exactly(nil))
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                try await app.send(.deleteAll)
                var reply = BusArguments(try await app.send(.clientState(index: nil)), of: "ClientState")
                #expect(try ClientStateReply(&reply).state == nil)
                try await app.send(again)
                return []
            }
            try app.register()
            try await app.send(batch(1, expecting: .exactly(nil)))
            _ = try await engine.reindexAll(bundle)
            #expect(try await engine.identifiers(bundle) == ["item 2"])
            #expect(try await engine.clientState(of: IndexScope(bundle: bundle)) == [2])
        }
    }

    @Test("deletes and donates in one batch as in two")
    func batchDeletingAll() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let bundle = "com.example.app"
            var changes = ChangeList()
            changes.append(.put(FakeApp.batch(["moot"])))
            changes.append(.deleteAll)
            changes.append(.put(FakeApp.batch(["pear"])))
            func commit(_ expectation: ClientStateExpectation) -> IndexRequest.Action {
                .commitBatch(changes: changes.bytes, clientState: [9], expecting: expectation)
            }
            let (first, wrong, right) = (commit(.exactly(nil)), commit(.exactly([8])), commit(.exactly([9])))
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                let error = await #expect(throws: BusError.self) { try await app.send(wrong) }
                guard case .remote(ServiceErrorName.mismatchedClientState, _)? = error else {
                    Issue.record("\(String(describing: error))")
                    return []
                }
                try await app.send(right)
                return []
            }
            try app.register()
            try await app.send(first)
            try await app.donate("apple")
            _ = try await engine.reindexAll(bundle)
            #expect(try await engine.identifiers(bundle) == ["pear"])
        }
    }

    @Test("that has ended, or ends without a change, leaves it to the extension", arguments: [true, false])
    func gone(before: Bool) async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine) { _, _ throws(BusError) in throw .disconnected }
            try app.register()
            if before { app.unregister() }
            #expect(try await engine.reindexAll(bundle) == 3)
            #expect(app.requests == (before ? [] : [.reindexAll]))
            #expect(try await engine.reindexAll(bundle) == 3)
            #expect(app.requests.count <= 1, "whose connection has ended is not asked again")
        }
        #expect(harness.retries == (before ? 0 : 1))
    }

    @Test("that ends in the middle is followed by the extension, which starts from the beginning")
    func goesInTheMiddle() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("replaces")
        try harness.list("pear", of: bundle)
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                try await app.send(.deleteAll)
                try await app.donate("half")
                // The connection ends, and its owner unregisters the app. The app's answer comes
                // too late.
                app.unregister()
                return []
            }
            try app.register()
            try await app.donate("apple", "pear")
            #expect(try await engine.reindexAll(bundle) == 2)
            #expect(try await engine.identifiers(bundle) == ["last", "pear"])
            #expect(engine.owedJobs.isEmpty)
            #expect(app.settles > 0, "what it had sent was waited for")
        }
        #expect(harness.retries == 1)
    }

    @Test("that deleted everything and ends leaves the rest to the extension, even one that deletes nothing")
    func deletionOutlivesIt() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                try await app.send(.deleteAll)
                throw .disconnected
            }
            try app.register()
            try await app.donate("apple", "alpha")
            _ = try await engine.reindexAll(bundle)
            #expect(try await engine.identifiers(bundle) == ["alpha", "beta", "gamma"])
        }
    }

    @Test("that ends after its answer is not asked again; the extension is")
    func goesAfterwards() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine)
            try app.register()
            #expect(try await engine.reindexAll(bundle) == 0)
            app.unregister()
            #expect(try await engine.reindexAll(bundle) == 3)
            #expect(app.requests.count == 1)
        }
    }

    @Test("and acknowledges although donations were not stored has failed, and the reindex stays pending")
    func loss() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                app.lose(BusError.refused(.unavailable, "the disk is full"))
                return []
            }
            try app.register()
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            guard case .extension(.failed(_, _, .unavailable, let message))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains("the disk is full"))
            #expect(engine.owedWork(for: bundle)?.failures == 1)
        }
        #expect(harness.startedWorkers == 0)
    }

    @Test("and fails leaves the reindex pending; its extension is not asked instead")
    func fails() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine) { _, _ throws(BusError) in
                throw .remote(name: ExtensionStatus.failed.errorName, message: "locked")
            }
            try app.register()
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            #expect(engine.owedWork(for: bundle)?.lastFailure?.contains("locked") == true)
        }
        #expect(harness.startedWorkers == 0)
    }
}

extension Harness {
    /// The number of started workers.
    var startedWorkers: Int { recordedEvents.count { if case .started = $0 { true } else { false } } }

    /// Sets the items that the fixture “replaces” donates, in addition to “last”.
    func list(_ words: String..., of bundle: String) throws {
        let path = marks + "/\(bundle).searchext.list"
        try Data((words.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
    }
}
