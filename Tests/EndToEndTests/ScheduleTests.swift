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

/// What an engine tells a scheduler, and does for it.
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
        try await engine.commit(batch, clientState: nil, expecting: .any)
    }

    @Test("What is owed comes with its cause, its back-off and what keeps its extension from being asked")
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

    @Test("While a bundle is paused, what it has donated waits to be found, until it goes on or somebody wants it")
    func held() async throws {
        let bundle = try harness.installFixture("notebook")
        try await with { engine in
            func held() -> String? { engine.index.applier?.state.withLock { $0.heldBundle } }
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

    @Test("Of a bundle that is forgotten no day is kept, nor up to where it was asked for what expires")
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

    @Test("A bundle that nobody can be asked about is no work, until somebody is there")
    func nobody() async throws {
        try await with { engine in
            try engine.jobStore.update {
                $0.add(Job(bundle: "com.example.notebook", work: .reindexAll, requested: 1, cause: .lost))
            }
            #expect(engine.scheduledJobs().isEmpty)
            _ = try harness.installFixture("notebook")
            await engine.refreshExtensions()
            #expect(engine.scheduledJobs().map(\.requested) == [1])
        }
    }

    @Test("What fails waits, whatever the reason, and counts as a failure of the bundle")
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

    @Test("Whoever follows is told of jobs, of health and of extensions, and holds no lock then")
    func following() async throws {
        let bundle = try harness.installFixture("notebook")
        try await with { engine in
            let (changes, changed) = AsyncStream.makeStream(of: [ScheduledJob].self)
            var told = changes.makeAsyncIterator()
            // Asks for everything that is locked meanwhile.
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

    @Test("Items are asked for a week before they expire, once for each date, and their job has that for a deadline")
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
                Issue.record("everything is owed")
                return
            }
            #expect(items.count == 3)
            // Nobody has donated them again.
            try engine.jobStore.update { queue in if let owed = queue[bundle] { queue.complete(owed) } }
            time.pass(days: 1)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty)
        }
        // Nor after another start.
        try await with { engine in
            #expect(engine.nextLook == time.now)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty)
        }
    }

    @Test("Of very many only so many are asked for at a time, the others once these are done, and never everything")
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

    @Test("What has expired in great number before it could be asked for is asked for as a whole")
    func late() async throws {
        let bundle = try harness.installFixture("notebook")
        try await with { engine in
            try await donate((0..<1500).map { "item \($0)" }, to: bundle, engine)
            try engine.jobStore.update { $0.remove(bundle: bundle) }
            time.pass(days: 40)
            try await engine.maintain(.purgeExpired)
            let owed = try #require(engine.owedWork(for: bundle))
            #expect(owed.work == .reindexAll && owed.cause == .expiry)
            #expect(try await engine.itemCounts()[bundle] == nil)
        }
    }

    @Test("Expired items are purged when it is time, in steps that can be stopped, and not again within an hour")
    func purge() async throws {
        try await with { engine in
            let end = time.now + Self.day
            try await donate((0..<200).map { "item \($0)" }, to: "org.example.app", expires: .at(end), engine)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty && engine.nextLook == end)
            time.pass(days: 1)
            try await engine.lookAhead()
            let job = try #require(engine.scheduledJobs().first)
            #expect(job.key == .maintenance(.purgeExpired) && job.urgency == .maintenance && job.requested == end)
            let steps = Mutex(0)
            await #expect(throws: EngineError.extension(.cancelled)) {
                try await engine.run(job.key) {
                    steps.withLock { steps in
                        steps += 1
                        return steps < 2
                    }
                }
            }
            #expect(engine.scheduledJobs().map(\.key) == [job.key])
            // What has expired is not counted otherwise.
            let left = try await engine.index.wear().items
            #expect((1..<200).contains(left))
            try await engine.run(job.key)
            #expect(engine.scheduledJobs().isEmpty)
            #expect(try await engine.index.wear().items == 0)
            try await donate(["x"], to: "org.example.app", expires: .at(time.now + 60), engine)
            time.pass(days: 120 / 86400)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty && engine.nextLook == end + 3600)
        }
    }

    @Test("Maintenance that is done is remembered over a start, and runs though it is not due")
    func maintenance() async throws {
        try await with { engine in
            try await donate(["x", "y"], to: "org.example.app", engine)
            for task in MaintenanceTask.allCases { try await engine.run(.maintenance(task)) }
            #expect(engine.nextLook == time.now)
        }
        try await with { engine in
            for task in MaintenanceTask.allCases { #expect(engine.scheduleStore.state[task].last == time.now) }
            #expect(engine.scheduleStore.state[.optimize].texts == 2)
        }
    }

    @Test("Records and throttles are kept; a damaged file is set aside, and told of")
    func state() async throws {
        try await with { engine in
            #expect(engine.scheduleRecord(.usage, as: [String: Usage].self) == nil)
            try engine.keep(["a": Usage(cpu: 1.5)], as: .usage)
            try engine.setThrottled(true, "b")
            try engine.setThrottled(true, "a")
            try engine.setThrottled(true, "a")
        }
        let path = harness.store + "/schedule.json"
        try await with { engine in
            #expect(engine.scheduleRecord(.usage, as: [String: Usage].self) == ["a": Usage(cpu: 1.5)])
            #expect(engine.scheduleRecord(.days, as: [String: Usage].self) == nil)
            #expect(engine.throttledBundles == ["a", "b"] && !engine.hasDamagedSchedule)
            try engine.setThrottled(false, "b")
            #expect(throws: EngineError.self) {
                try engine.keep([String](repeating: "12345678", count: 1 << 20), as: .days)
            }
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let damaged = text.replacing("[\"a\"]", with: "[\"c\"]")
        try #require(damaged != text)
        try Data(damaged.utf8).write(to: URL(filePath: path))
        try await with { engine in
            #expect(engine.hasDamagedSchedule && engine.throttledBundles.isEmpty)
            #expect(try await engine.status(isExact: false).hasDamagedSchedule)
            try engine.setThrottled(true, "d")
        }
        #expect(try String(contentsOfFile: path + ".damaged", encoding: .utf8) == damaged)
        try await with { #expect(!$0.hasDamagedSchedule && $0.throttledBundles == ["d"]) }
    }
}
