// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import ServiceMessages
import TestSupport
import Testing

@testable import ExtensionHost
@testable import SearchlightEngine

/// Delegates that answer too late, according to a clock that the test advances.
@Suite("A live delegate that is slow", .timeLimit(.minutes(10)))
struct DelegateTimingTests {
    private static let limit = WorkerConfiguration.Limits.patient.progress

    @Test("and never answers is skipped until it works again")
    func neverAnswers() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        let clock = ManualClock()
        try await harness.withEngine(clock: clock) { engine async throws in
            let end = FirstOutcome<Void>()
            defer { end.decide(()) }
            let app = FakeApp(bundle, engine) { _, request async throws(BusError) in
                if request == .reindexAll { await end.value() }
                return []
            }
            try app.register()
            async let count = engine.reindexAll(bundle)
            await clock.waitForSleepers()
            clock.advance(by: Self.limit)
            #expect(try await count == 3)
            #expect(app.requests == [.reindexAll])
            // The app is skipped, because again it would not answer in time.
            #expect(try await engine.reindexAll(bundle) == 3)
            #expect(app.requests == [.reindexAll])
            try await app.donate("alive")
            try await engine.reindexItems(["alive"], of: bundle)
            #expect(app.requests == [.reindexAll, .reindexItems(["alive"])])
        }
        #expect(harness.retries == 1)
    }

    @Test("and donates restarts its time limit; without an acknowledgement the extension is asked in the end")
    func donatesWithoutEnd() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        let clock = ManualClock()
        try await harness.withEngine(clock: clock) { engine async throws in
            let mayDonate = FirstOutcome<Void>()
            let hasDonated = FirstOutcome<Void>()
            let end = FirstOutcome<Void>()
            defer { end.decide(()) }
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                await mayDonate.value()
                try await app.donate("half")
                hasDonated.decide(())
                await end.value()
                return []
            }
            try app.register()
            async let count = engine.reindexAll(bundle)
            await clock.waitForSleepers()
            mayDonate.decide(())
            await hasDonated.value()
            clock.advance(by: Self.limit)
            // The app is still watched, so the engine did not give up on it.
            await clock.waitForSleepers()
            #expect(harness.startedWorkers == 0)
            clock.advance(by: Self.limit)
            #expect(try await count == 4)
            #expect(try await engine.identifiers(bundle) == ["alpha", "beta", "gamma", "half"])
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("and has no extension fails, leaves the reindex pending, and is asked again despite its silence")
    func withoutExtension() async throws {
        let harness = try Harness()
        let clock = ManualClock()
        try await harness.withEngine(clock: clock) { engine async throws in
            let bundle = "com.example.app"
            let isFirst = FirstOutcome<Void>()
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                if app.requests.count == 1 { await isFirst.value() }
                return []
            }
            try app.register()
            let first = Task { try await engine.reindexAll(bundle) }
            await clock.waitForSleepers()
            clock.advance(by: Self.limit)
            let error = await #expect(throws: EngineError.self) { _ = try await first.value }
            guard case .extension(.delegateUnavailable(bundle, "reindex everything", let reason))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("did not answer or make progress"))
            #expect(engine.owedWork(for: bundle)?.work == .reindexAll)
            #expect(try await engine.reindexOwed(bundle) == 0)
            #expect(engine.owedJobs.isEmpty)
            isFirst.decide(())
        }
    }

    @Test("and answers a promise too late is replaced by the extension, and asked again after an answer")
    func latePromise() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        let clock = ManualClock()
        try await harness.withEngine(clock: clock) { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 3)
            let mayAnswer = FirstOutcome<Void>()
            let app = FakeApp(bundle, engine) { app, _ async throws(BusError) in
                if app.requests.count == 1 { await mayAnswer.value() }
                return Payload.inline(Array("from the app".utf8)).arguments
            }
            try app.register()
            let item = try await engine.item(named: "alpha")
            let path = harness.folder + "/drop.txt"
            async let dropped = engine.drag(item, accepted: ["public.plain-text"], to: .file(path: path))
            await clock.waitForSleepers()
            clock.advance(by: WorkerConfiguration.Limits.patient.answer)
            _ = try await dropped
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "alpha as public.utf8-plain-text")
            mayAnswer.decide(())
            // Waits until the late answer has arrived.
            while engine.delegates.newest(for: bundle, excluding: [], includingSilent: false) == nil {
                await Task.yield()
            }
            let other = harness.folder + "/drop2.txt"
            _ = try await engine.drag(item, accepted: ["public.plain-text"], to: .file(path: other))
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "from the app")
        }
    }

    @Test("does not delay the closing of the engine")
    func closing() async throws {
        let harness = try Harness()
        let engine = try harness.engine()
        let isAsked = FirstOutcome<Void>()
        let end = FirstOutcome<Void>()
        defer { end.decide(()) }
        let app = FakeApp("com.example.app", engine) { _, _ async throws(BusError) in
            isAsked.decide(())
            await end.value()
            return []
        }
        try app.register()
        let count = Task { try await engine.reindexAll("com.example.app") }
        await isAsked.value()
        await engine.close()
        await #expect(throws: EngineError.self) { _ = try await count.value }
        #expect(throws: EngineError.self) { try app.register() }
    }
}
