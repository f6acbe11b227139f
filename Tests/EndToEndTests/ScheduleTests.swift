// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import ItemRecord
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex
@testable import SearchlightEngine

/// The messages of an engine to a scheduler, and the engine's work for it.
@Suite("Work for a scheduler", .timeLimit(.minutes(10)))
struct ScheduleTests {
    private let harness: Harness
    private let time = Time()
    private static let day = 86400.0

    private final class Time: Sendable {
        private let moment = Mutex(1_000_000.0)
        var now: Double { moment.withLock { $0 } }
        func pass(days: Double) { moment.withLock { $0 += days * 86400 } }
    }

    init() throws { harness = try Harness() }

    private func engine() throws -> SearchlightEngine {
        let time = time
        var configuration = EngineConfiguration(
            storeDirectory: harness.store, access: .readWrite, extensionSearchPath: [harness.extensions],
            worker: try harness.workerConfiguration(), now: { time.now })
        configuration.tracksExtensions = true
        return try SearchlightEngine(configuration)
    }

    private func with(_ body: (SearchlightEngine) async throws -> Void) async throws {
        let engine = try engine()
        do { try await body(engine) } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    private func donate(
        _ names: [String], to bundle: String, expires: ItemRecord.Expiration = .standard, _ engine: SearchlightEngine
    ) async throws {
        var batch = IndexBatch(scope: IndexScope(bundle: bundle))
        batch.index(
            try names.map { try EncodedItem(ItemRecord(uniqueIdentifier: $0, expiration: expires)) })
        try await engine.commit(batch)
    }

    @Test("Pending work has a cause, a back-off and the reason why its extension is not asked")
    func jobs() async throws {
        let bundle = try harness.installFixture("notebook")
        try await with { engine in
            var job = try #require(engine.scheduledJobs().first)
            #expect(job.key == .reindex(bundle: bundle) && job.urgency == .freshness && job.refusal == nil)
            #expect(engine.owedWork(for: bundle)?.cause == .added)
            try await engine.setEnabled(false, bundle)
            job = try #require(engine.scheduledJobs().first)
            #expect(job.refusal == .disabled)
            await #expect(throws: EngineError.self) { try await engine.run(job.key) }
            try await engine.setEnabled(true, bundle)
            try engine.jobStore.update { $0.fail(bundle: bundle, reason: "it failed", now: time.now) }
            #expect(engine.scheduledJobs().first?.notBefore == time.now + 30)
            try await engine.release(bundle)
            #expect(engine.scheduledJobs().first?.notBefore == nil)
            let items = try await engine.run(job.key)
            #expect(items == 3 && engine.scheduledJobs().isEmpty)
            #expect(engine.takeActivity()[bundle]?.items == 3 && engine.takeActivity().isEmpty)
            #expect(try await engine.run(job.key) == nil)
        }
    }

    @Test("While a bundle is paused, its donations are not found until it continues or the user needs it")
    func held() async throws {
        let bundle = try harness.installFixture("notebook")
        try await with { engine in
            func held() -> String? { engine.index.applier?.state.withLock { $0.deferredBundle } }
            _ = await engine.pauseBackground(bundle, ThrottleNotice(reason: .userActive))
            #expect(held() == bundle)
            await engine.resumeBackground(bundle)
            #expect(held() == nil)
            _ = await engine.pauseBackground(bundle, ThrottleNotice(reason: .userActive))
            await engine.endBackground(bundle)
            #expect(held() == bundle)
            _ = try await engine.run(.reindex(bundle: bundle), origin: .person)
            #expect(held() == nil)
        }
    }

    @Test("A forgotten bundle leaves no times of use and no position of expiry requests")
    func forgotten() async throws {
        let bundle = try harness.installFixture("notebook")
        try await with { engine in
            _ = try await engine.run(.reindex(bundle: bundle))
            var days = DayLedger()
            for name in [bundle, "org.other"] { days.add(items: 3, of: name, day: 1) }
            try engine.keep(days, as: .days)
            try engine.scheduleStore.update { $0.marks[bundle] = ExpiryMark(expires: 5) }
            try await engine.forget(bundle)
            #expect(engine.scheduleRecord(.days, as: DayLedger.self)?.bundles == ["org.other"])
            #expect(engine.scheduleStore.state.marks.isEmpty)
            #expect(engine.takeActivity().isEmpty)
            #expect(engine.takeForgotten() == [bundle] && engine.takeForgotten().isEmpty)
        }
    }

    @Test("Failed work waits, for any reason, and counts as a failure of the bundle")
    func failure() async throws {
        let bundle = try harness.installFixture("create-fails")
        try await with { engine in
            let key = ScheduledJob.Key.reindex(bundle: bundle)
            await #expect(throws: EngineError.self) { try await engine.run(key) }
            let job = try #require(engine.scheduledJobs().first)
            #expect((job.notBefore ?? 0) > time.now)
            #expect(engine.takeActivity()[bundle]?.failures == 1)
            #expect(engine.owedWork(for: bundle)?.failures == 1)
        }
    }

    @Test("Observers are notified of jobs, health and extensions, without a held lock")
    func following() async throws {
        let bundle = try harness.installFixture("notebook")
        try await with { engine in
            let (changes, changed) = AsyncStream.makeStream(of: [ScheduledJob].self)
            var told = changes.makeAsyncIterator()
            // Requests everything that is locked at that time.
            engine.onJobsChange { [weak engine] in
                guard let engine else { return }
                _ = (engine.health(of: bundle), engine.owedJobs, engine.registry, engine.nextLook)
                changed.yield(engine.scheduledJobs())
            }
            func wait(until isRight: ([ScheduledJob]) -> Bool) async {
                while let jobs = await told.next() { if isRight(jobs) { return } }
            }
            try await engine.setEnabled(false, bundle)
            await wait { $0.first?.refusal == .disabled }
            try await engine.setEnabled(true, bundle)
            await wait { $0.first.map { $0.refusal == nil } == true }
            try await engine.run(.reindex(bundle: bundle))
            await wait { $0.isEmpty }
            try engine.jobStore.update { $0.add(Job(bundle: bundle, work: .reindexItems(["x"]), requested: 5)) }
            await wait { $0.first?.requested == 5 }
        }
    }

    @Test("Items are requested a week before they expire, once for each date, which is their job's deadline")
    func expiry() async throws {
        let bundle = try harness.installFixture("notebook")
        try await with { engine in
            try await engine.run(.reindex(bundle: bundle))
            try await donate(["app's own"], to: "org.example.app", engine)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty)
            let expires = time.now + 30 * Self.day
            #expect(engine.nextLook == expires - 7 * Self.day)
            time.pass(days: 23)
            try await engine.lookAhead()
            let job = try #require(engine.scheduledJobs().first)
            #expect(job.urgency == .expiry && job.deadline == expires && job.key.bundle == bundle)
            guard case .reindexItems(let items)? = engine.owedWork(for: bundle)?.work else {
                Issue.record("everything is pending")
                return
            }
            #expect(items.count == 3)
            // The items were not donated again.
            try engine.jobStore.update { queue in if let owed = queue[bundle] { queue.complete(owed) } }
            time.pass(days: 1)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty)
        }
        // The same after another start.
        try await with { engine in
            #expect(engine.nextLook == time.now)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty)
        }
    }

    @Test("Only a limited number of items is requested at a time, the others afterwards, and never everything")
    func many() async throws {
        let bundle = try harness.installFixture("notebook")
        try await with { engine in
            try await engine.run(.reindex(bundle: bundle))
            try await donate((0..<2500).map { "item \($0)" }, to: bundle, engine)
            time.pass(days: 25)
            var asked: [Int] = []
            try await engine.lookAhead()
            while case .reindexItems(let items)? = engine.owedWork(for: bundle)?.work {
                asked.append(items.count)
                try await engine.lookAhead()
                #expect(
                    engine.owedWork(for: bundle)?.work == .reindexItems(items), "it asks for more before these are done"
                )
                #expect(engine.nextLook.map { $0 > time.now } != false)
                try engine.jobStore.update { queue in if let owed = queue[bundle] { queue.complete(owed) } }
                engine.noteAcknowledged(bundle)
                #expect(engine.nextLook == time.now || asked.count == 3)
                try await engine.lookAhead()
            }
            #expect(asked == [1000, 1000, 503])
        }
    }
}
