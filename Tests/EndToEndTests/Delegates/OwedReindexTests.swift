// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import Foundation
import IdleScheduling
import ItemRecord
import ServiceMessages
import Testing

@testable import ExtensionHost
@testable import SearchlightEngine

@Suite("A pending reindex", .timeLimit(.minutes(10)))
struct OwedReindexTests {
    private let bundle = "com.example.app"

    private func loseJobs(_ harness: Harness) throws {
        try Data("garbage".utf8).write(to: URL(filePath: harness.store + "/jobs.json"))
    }

    @Test("of an app without extension is shown, and delivered when the app registers")
    func deliveredAtRegistration() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            try await FakeApp(bundle, engine).donate("one")
            #expect(engine.donors == [bundle])
        }
        try loseJobs(harness)
        try await harness.withEngine { engine async throws in
            #expect(engine.donors == [bundle], "the index knows them too")
            #expect(engine.owedWork(for: bundle)?.work == .reindexAll)
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexOwed(bundle) }
            guard case .extension(.notFound)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        let status = try Command(harness: harness)("status")
        let owed = "Pending: a reindex of \(bundle), since items may have been lost\n"
        #expect(status.output.contains(owed), "\(status.output)")
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                try await app.donate("two")
                return []
            }
            try app.register()
            #expect(engine.owedWork(for: bundle)?.work == .reindexAll)
            #expect(try await engine.reindexOwed(bundle) == 2)
            #expect(app.requests == [.reindexAll])
            #expect(engine.owedWork(for: bundle) == nil)
            #expect(try await engine.reindexOwed(bundle) == nil)
            #expect(app.requests.count == 1)
        }
    }

    @Test("of every donor is created when the index is lost")
    func lostIndex() async throws {
        let harness = try Harness()
        let installed = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            try await FakeApp(bundle, engine).donate("one")
            try await FakeApp("com.example.other", engine).send(.deleteItems(["nothing"]))
        }
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "journal"] {
            try? FileManager.default.removeItem(atPath: harness.store + "/" + name)
        }
        try await harness.withEngine { engine async throws in
            #expect(engine.recovery.lostDonations)
            #expect(engine.owedJobs.map(\.bundle).sorted() == [bundle, installed].sorted())
        }
    }

    @Test(
        "absorbs a request of the user for items; without a possible receiver the request is rejected"
    )
    func items() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            await #expect(throws: EngineError.self) { try await engine.reindexItems(["x"], of: bundle) }
            #expect(engine.owedJobs.isEmpty, "the bundle is unknown")
            let app = FakeApp(bundle, engine) { _, _ throws(BusError) in
                throw .remote(name: ExtensionStatus.failed.errorName, message: "not now")
            }
            try await app.donate("one")
            await #expect(throws: EngineError.self) { try await engine.reindexItems(["w"], of: bundle) }
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            #expect(engine.owedJobs.isEmpty, "the app does not run, and has no extension")
            try app.register()
            await #expect(throws: EngineError.self) { try await engine.reindexItems(["x"], of: bundle) }
            await #expect(throws: EngineError.self) { try await engine.reindexItems(["y"], of: bundle) }
            #expect(app.requests == [.reindexItems(["x"]), .reindexItems(["x", "y"])])
            #expect(engine.owedWork(for: bundle)?.work == .reindexItems(["x", "y"]))
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            await #expect(throws: EngineError.self) { try await engine.reindexItems(["z"], of: bundle) }
            #expect(app.requests.dropFirst(2) == [.reindexAll, .reindexAll])
            let willing = FakeApp(bundle, engine)
            try willing.register()
            #expect(try await engine.reindexOwed(bundle) == 1)
            #expect(willing.requests == [.reindexAll])
            #expect(engine.owedJobs.isEmpty)
            let many = Set((0...JobQueue.maximumItems).map { "item \($0)" })
            _ = try await engine.reindexItems(many, of: bundle)
            _ = try await engine.reindexItems(["", String(repeating: "x", count: 4097)], of: bundle)
            #expect(willing.requests == [.reindexAll, .reindexAll])
        }
    }

    @Test("for items during a reindex of the bundle is delivered later")
    func itemsMeanwhile() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let bundle = bundle
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                guard app.requests.count == 1 else { return [] }
                let error = await #expect(throws: EngineError.self) {
                    try await engine.reindexItems(["late"], of: bundle)
                }
                guard case .alreadyReindexing(bundle)? = error else {
                    Issue.record("\(String(describing: error))")
                    return []
                }
                return []
            }
            try app.register()
            _ = try await engine.reindexAll(bundle)
            #expect(engine.owedWork(for: bundle)?.work == .reindexItems(["late"]))
            try await engine.reindexOwed(bundle)
            #expect(app.requests == [.reindexAll, .reindexItems(["late"])])
        }
    }

    @Test("is removed with its bundle: items, client states, names and all")
    func forget() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                await #expect(throws: EngineError.self) { try await engine.forget("com.example.app") }
                throw .remote(name: ExtensionStatus.failed.errorName, message: "not now")
            }
            var changes = ChangeList()
            changes.append(.put(FakeApp.batch(["one", "two"])))
            let commit = IndexRequest.Action.commitBatch(
                changes: changes.bytes, clientState: [1], expecting: .exactly(nil))
            try await app.send(commit)
            try await app.send(commit, index: "second")
            try await FakeApp("com.example.other", engine).donate("one")
            try app.register()
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            #expect(engine.owedJobs.count == 1)
            #expect(try await engine.forget(bundle) == 4)
            #expect(engine.owedJobs.isEmpty)
            #expect(engine.donors == ["com.example.other"])
            #expect(try await engine.itemCounts() == ["com.example.other": 1])
            #expect(try await engine.forget(bundle) == 0)
            // No client states of the app are left.
            try await app.send(commit)
            #expect(engine.donors == [bundle, "com.example.other"])
            #expect(try await engine.forget(bundle) == 2)
        }
        try await harness.withEngine { engine async throws in
            #expect(engine.donors == ["com.example.other"])
        }
    }
}
