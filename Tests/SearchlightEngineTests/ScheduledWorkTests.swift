// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import ItemRecord
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex
@testable import SearchlightEngine

/// Work that a scheduler runs and that needs no worker.
@Suite("Scheduled work of the engine", .timeLimit(.minutes(10)))
struct ScheduledWorkTests {
    private let place: EnginePlace
    private static let day = 86400.0

    init() throws { place = try EnginePlace() }

    private func donate(
        _ names: [String], to bundle: String, expires: ItemRecord.Expiration = .standard, _ engine: SearchlightEngine
    ) async throws {
        var batch = IndexBatch(scope: IndexScope(bundle: bundle))
        batch.index(
            try names.map { try EncodedItem(ItemRecord(uniqueIdentifier: $0, expiration: expires)) })
        try await engine.commit(batch)
    }

    @Test("Very many items that expired before their request are requested as a whole")
    func late() async throws {
        let bundle = try place.install("com.example.notebook").identifier
        try await place.withEngine { engine in
            try await donate((0..<1500).map { "item \($0)" }, to: bundle, engine)
            try engine.jobStore.update { $0.remove(bundle: bundle) }
            place.time.pass(days: 40)
            try await engine.maintain(.purgeExpired)
            let owed = try #require(engine.owedWork(for: bundle))
            #expect(owed.work == .reindexAll && owed.cause == .expiry)
            #expect(try await engine.itemCounts()[bundle] == nil)
        }
    }

    @Test("Expired items are purged when due, in steps that can be stopped, and not again within an hour")
    func purge() async throws {
        try await place.withEngine { engine in
            let end = place.time.now + Self.day
            try await donate((0..<200).map { "item \($0)" }, to: "org.example.app", expires: .at(end), engine)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty && engine.nextLook == end)
            place.time.pass(days: 1)
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
            // `wear()` counts the expired items that are still in the database; other counts ignore
            // them.
            let left = try await engine.index.wear().items
            #expect((1..<200).contains(left))
            try await engine.run(job.key)
            #expect(engine.scheduledJobs().isEmpty)
            #expect(try await engine.index.wear().items == 0)
            try await donate(["x"], to: "org.example.app", expires: .at(place.time.now + 60), engine)
            place.time.pass(days: 120 / 86400)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty && engine.nextLook == end + 3600)
        }
    }

    @Test("Completed maintenance is remembered across restarts, and runs on request")
    func maintenance() async throws {
        try await place.withEngine { engine in
            try await donate(["x", "y"], to: "org.example.app", engine)
            for task in MaintenanceTask.allCases { try await engine.run(.maintenance(task)) }
            #expect(engine.nextLook == place.time.now)
        }
        try await place.withEngine { engine in
            for task in MaintenanceTask.allCases where task != .embed {
                #expect(engine.scheduleStore.state[task].last == place.time.now)
            }
            #expect(engine.scheduleStore.state[.optimize].texts == 2)
        }
    }

    @Test("Records and throttles are kept; a damaged file is renamed, and reported")
    func state() async throws {
        try await place.withEngine { engine in
            #expect(engine.scheduleRecord(.usage, as: [String: Usage].self) == nil)
            try engine.keep(["a": Usage(cpu: 1.5)], as: .usage)
            try engine.setThrottled(true, "b")
            try engine.setThrottled(true, "a")
            try engine.setThrottled(true, "a")
        }
        let path = place.store + "/schedule.json"
        try await place.withEngine { engine in
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
        try await place.withEngine { engine in
            #expect(engine.hasDamagedSchedule && engine.throttledBundles.isEmpty)
            #expect(try await engine.status(isExact: false).hasDamagedSchedule)
            try engine.setThrottled(true, "d")
        }
        #expect(try String(contentsOfFile: path + ".damaged", encoding: .utf8) == damaged)
        try await place.withEngine { #expect(!$0.hasDamagedSchedule && $0.throttledBundles == ["d"]) }
    }

    @Test("A bundle without a receiver is no work until there is one")
    func nobody() async throws {
        try await place.withEngine { engine in
            try engine.jobStore.update {
                $0.add(Job(bundle: "com.example.notebook", work: .reindexAll, requested: 1, cause: .lost))
            }
            #expect(engine.scheduledJobs().isEmpty)
            try place.install("com.example.notebook")
            await engine.refreshExtensions()
            #expect(engine.scheduledJobs().map(\.requested) == [1])
        }
    }
}
