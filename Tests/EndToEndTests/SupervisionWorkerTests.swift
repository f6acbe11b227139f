// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import TestSupport
import Testing

@testable import SearchlightEngine

/// The lifetime and the number of workers.
@Suite("A worker", .timeLimit(.minutes(10)))
struct SupervisionWorkerTests {
    private let harness: Harness
    private let clock = ManualClock()

    init() throws { harness = try Harness() }

    private func install(_ count: Int) throws -> [String] {
        try (0..<count).map { number in
            let identifier = "com.example.number-\(number)"
            try harness.install(identifier, library: try CFixture.library("by-name"))
            return identifier
        }
    }

    private func ask(_ bundle: String, _ engine: SearchlightEngine, item: String = "good") async throws {
        _ = try await engine.data(of: item, as: "public.utf8-plain-text", bundle: bundle)
    }

    private var lingering: WorkerConfiguration.Limits {
        var limits = WorkerConfiguration.Limits.patient
        limits.linger = .seconds(30)
        return limits
    }

    @Test("without requests is ended after a while, and then no timer runs")
    func linger() async throws {
        let bundle = try install(1)[0]
        try await harness.withEngine(limits: lingering, clock: clock) { engine async throws in
            try await ask(bundle, engine)
            try await ask(bundle, engine)
            #expect(harness.startedWorkers == 1)
            await clock.waitForSleepers()
            clock.advance(by: .seconds(30))
            await engine.wait(forWorkers: 0)
            #expect(clock.sleeperCount == 0)
            try await ask(bundle, engine)
            #expect(harness.startedWorkers == 2)
        }
    }

    @Test("with a new request is kept for the same time again")
    func lingerAnew() async throws {
        let bundles = try install(2)
        try await harness.withEngine(limits: lingering, clock: clock) { engine async throws in
            try await ask(bundles[0], engine)
            await clock.waitForSleepers()
            clock.advance(by: .seconds(20))
            try await ask(bundles[0], engine)
            try await ask(bundles[1], engine)
            clock.advance(by: .seconds(10))
            // The time after the first use is over. The wait is now for the time after the last
            // use.
            await clock.waitForSleepers()
            #expect(await engine.host.workerCount == 2)
            clock.advance(by: .seconds(20))
            await engine.wait(forWorkers: 0)
            #expect(harness.startedWorkers == 2)
        }
    }

    @Test("is started at the beginning of a drag, used by it, and ended if no drop follows")
    func prewarm() async throws {
        let bundle = try install(1)[0]
        try await harness.withEngine(limits: lingering, clock: clock) { engine async throws in
            await engine.prewarm(bundle)
            await engine.prewarm(bundle)
            try await ask(bundle, engine)
            #expect(harness.startedWorkers == 1)
            await clock.waitForSleepers()
            clock.advance(by: .seconds(60))
            await engine.wait(forWorkers: 0)
            await engine.prewarm(bundle)
            await engine.prewarm("com.example.nobody")
            #expect(await engine.host.workerCount == 1)
        }
        #expect(harness.startedWorkers == 2)
    }

    @Test("above the limit replaces the least recently used one")
    func leastRecentlyUsed() async throws {
        let bundles = try install(3)
        var limits = WorkerConfiguration.Limits.patient
        limits.workers = 2
        try await harness.withEngine(limits: limits) { engine async throws in
            for bundle in [bundles[0], bundles[1], bundles[0], bundles[2]] { try await ask(bundle, engine) }
            #expect(await engine.host.workerCount == 2)
            // The first worker is still running.
            try await ask(bundles[0], engine)
            #expect(harness.startedWorkers == 3)
            #expect(!FileManager.default.fileExists(atPath: "/proc/\(harness.workers[1])"))
            try await ask(bundles[1], engine)
            #expect(harness.startedWorkers == 4)
        }
    }

    @Test("above the limit is refused in the background while all are in use, but not to the user")
    func allInUse() async throws {
        let bundles = try install(3)
        var limits = WorkerConfiguration.Limits.patient
        (limits.workers, limits.reserve, limits.backgroundWorkers) = (1, 1, 0)
        (limits.cancelGrace, limits.endGrace) = (.milliseconds(10), .milliseconds(10))
        try await harness.withEngine(limits: limits) { engine async throws in
            let busy = Task { try await ask(bundles[0], engine, item: "hang") }
            await harness.wait(forMessage: "hanging")
            let error = await #expect(throws: EngineError.self) {
                try await engine.reindexItems(["good"], of: bundles[1], origin: .background)
            }
            guard case .extension(.workerUnavailable)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(engine.owedWork(for: bundles[1]) != nil && engine.health(of: bundles[1]).isBlank)
            try await ask(bundles[1], engine)
            // The reserve has another worker now, but an idle one.
            try await ask(bundles[2], engine)
            #expect(await engine.host.workerCount == 2)
            busy.cancel()
            await #expect(throws: (any Error).self) { try await busy.value }
        }
    }

    @Test("of a disabled bundle completes its request")
    func retired() async throws {
        let bundle = try install(1)[0]
        try await harness.withEngine(clock: clock) { engine async throws in
            let busy = Task { try await ask(bundle, engine, item: "hang") }
            await harness.wait(forMessage: "hanging")
            try await engine.setEnabled(false, bundle)
            #expect(await engine.host.workerCount == 1)
            await #expect(throws: EngineError.self) { try await ask(bundle, engine) }
            await clock.waitForSleepers()
            busy.cancel()
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(2))
            await #expect(throws: (any Error).self) { try await busy.value }
            #expect(await engine.host.workerCount == 0)
        }
    }

    @Test("that is being started does not delay the shutdown of the host")
    func shutdownWhileLoading() async throws {
        let bundle = try harness.installFixture("hang-at-load")
        let engine = try harness.engine(clock: clock)
        let asking = Task { try await ask(bundle, engine) }
        await clock.waitForSleepers()
        await engine.close()
        let error = await #expect(throws: EngineError.self) { try await asking.value }
        #expect(error == .extension(.cancelled))
        #expect(harness.workers.allSatisfy { !FileManager.default.fileExists(atPath: "/proc/\($0)") })
    }
}
