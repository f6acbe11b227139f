// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import BusTransport
import Foundation
import Glibc
import SearchlightEngine
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import ExtensionHost
@testable import SearchIndex
@testable import SearchlightEngine

/// Background workers that must pause because the user is active.
@Suite("A paused background worker", .timeLimit(.minutes(10)))
struct PauseTests {
    private let harness: Harness

    init() throws { harness = try Harness() }

    private func begin(_ bundle: String, _ engine: SearchlightEngine, count: Int = 1) async -> Task<
        WholeReindex, any Error
    > {
        let task = Task { try await engine.host.reindexAll(bundle, origin: .background) as WholeReindex }
        await harness.wait(forMessage: "working", count: count)
        return task
    }

    /// Returns the outcome of a pause while time passes. On a machine that runs only the tests, a
    /// working process may appear to have obeyed.
    private func outcome(of pause: Task<PauseOutcome, Never>, by clock: ManualClock) async -> PauseOutcome {
        let outcome = Mutex<PauseOutcome?>(nil)
        let waiting = Task { [pause] in
            let value = await pause.value
            outcome.withLock { $0 = value }
        }
        while outcome.withLock({ $0 }) == nil {
            clock.advance(by: .milliseconds(25))
            await Task.yield()
        }
        await waiting.value
        return await pause.value
    }

    private func expectCancelled(_ task: Task<WholeReindex, any Error>) async {
        let error = await #expect(throws: (any Error).self) { try await task.value }
        #expect(error as? ExtensionError == .cancelled)
    }

    @Test(
        "pauses during any work, while the user's requests are answered, and ends at once on request",
        arguments: ["spins", "threads", "deaf", "ignoring 1000000", "cooperative 1000000"])
    func standsStill(mode: String) async throws {
        let bundle = try harness.installBackground(mode)
        try await harness.withEngine { engine async throws in
            let reindex = await begin(bundle, engine)
            let worker = harness.lastWorker
            let outcome = await engine.host.pauseBackground(bundle, .back)
            // On a busy machine, a process without processor time appears to have obeyed.
            #expect(outcome == .heeded || outcome == .frozen && !mode.hasPrefix("cooperative"))
            await worker.waitForStop()
            let before = worker.processorTime
            for _ in 0..<3 { _ = try await engine.data(of: "x", as: "public.utf8-plain-text", bundle: bundle) }
            #expect(harness.startedWorkers == 2 && worker.state == "T" && worker.processorTime == before)
            #expect(sched_getscheduler(harness.lastWorker.identifier) == SCHED_OTHER)
            #expect(await engine.host.pauseBackground(bundle, .back) == outcome)
            await engine.host.endBackground(bundle)
            await expectCancelled(reindex)
            await worker.waitForEnd()
            #expect(engine.health(of: bundle).isBlank)
        }
    }

    @Test("is notified although others need all processors: it yields no processor until it pauses")
    func hears() async throws {
        let bundle = try harness.installBackground("spins")
        let clock = ManualClock()
        try await harness.withEngine(clock: clock) { engine async throws in
            let reindex = await begin(bundle, engine)
            let worker = harness.lastWorker
            func group() -> String? {
                try? String(contentsOfFile: "/proc/\(worker.identifier)/autogroup", encoding: .utf8)
            }
            let yielding = group()
            // Without autogroups there is nothing to change.
            guard let alike = yielding?.replacing("nice 19", with: "nice 0"), alike != yielding else {
                return await end(bundle, reindex, engine, clock)
            }
            let others = try? String(contentsOfFile: "/proc/self/autogroup", encoding: .utf8)
            for _ in 0..<2 {
                let pause = Task { await engine.host.pauseBackground(bundle, .back) }
                while group() != alike { await Task.yield() }
                _ = await outcome(of: pause, by: clock)
                while group() != yielding { await Task.yield() }
                await engine.host.resumeBackground(bundle)
            }
            // A worker that resumes before it was frozen gets the lower priority too.
            let pause = Task { await engine.host.pauseBackground(bundle, .back) }
            while group() != alike { await Task.yield() }
            await engine.host.resumeBackground(bundle)
            #expect(await pause.value == .resumed)
            while group() != yielding { await Task.yield() }
            #expect((try? String(contentsOfFile: "/proc/self/autogroup", encoding: .utf8)) == others)
            await end(bundle, reindex, engine, clock)
        }
    }

    /// Terminates a frozen worker. The clock does not need to advance for that.
    private func end(
        _ bundle: String, _ reindex: Task<WholeReindex, any Error>, _ engine: SearchlightEngine, _ clock: ManualClock
    ) async {
        _ = await outcome(of: Task { await engine.host.pauseBackground(bundle, .back) }, by: clock)
        await engine.host.endBackground(bundle)
        await expectCancelled(reindex)
    }

    @Test("again and again loses and doubles nothing", arguments: ["cooperative", "ignoring"])
    func repeatedly(mode: String) async throws {
        let bundle = try harness.installBackground("\(mode) 300")
        var limits = WorkerConfiguration.Limits.patient
        limits.pauseGrace = .milliseconds(10)
        try await harness.withEngine(limits: limits) { engine async throws in
            let reindex = await begin(bundle, engine)
            for round in 0..<12 {
                let pause = Task { await engine.host.pauseBackground(bundle, .back) }
                // In some rounds before the worker is frozen, in others afterwards.
                if round % 3 > 0 { _ = await pause.value }
                await engine.host.resumeBackground(bundle)
                _ = await pause.value
                await engine.host.resumeBackground(bundle)
            }
            #expect(try await reindex.value == .acknowledged)
            #expect(harness.startedWorkers == 1 && harness.donatedItems == 300)
            try await engine.settle()
            #expect(try await engine.itemCounts()[bundle] == 300)
        }
    }

    @Test(
        "after all its donations has no more indexed until it continues or ends, and is done then",
        arguments: ["resumes", "ends"])
    func donatedAll(what: String) async throws {
        let bundle = try harness.installBackground("cooperative 300")
        try await harness.withEngine { engine async throws in
            try engine.owe(.reindexAll, of: bundle, cause: .asked)
            let applier = try #require(engine.index.applier)
            // The same state as for a pause at the start, except that the worker can finish.
            engine.index.hold(bundle)
            let isDone = Mutex(false)
            let reindex = Task {
                defer { isDone.withLock { $0 = true } }
                return try await engine.reindexOwed(bundle, origin: .background)
            }
            func waits() -> Bool { applier.state.withLock { $0.waiters.contains { $0.patience == .hold(bundle) } } }
            while !waits(), !isDone.withLock({ $0 }) { await Task.yield() }
            #expect(waits() && harness.donatedItems == 300)
            await withCheckedContinuation { done in applier.onQueue { done.resume() } }
            #expect(applier.state.withLock { $0.applied < $0.target && !$0.isDue })
            // A deletion now takes effect immediately, instead of only marking items.
            #expect(!engine.reindexes.marks(.worker, bundle))
            if what == "resumes" {
                await engine.resumeBackground(bundle)
                #expect(try await reindex.value == 300)
            } else {
                reindex.cancel()
                #expect(try await reindex.value == nil)
                #expect(try await engine.itemCounts()[bundle] == 300)
            }
            #expect(engine.owedWork(for: bundle) == nil && engine.health(of: bundle).isBlank)
        }
    }

    @Test("that is loaded at the end of its time limit is found, so that it does not work on")
    func loadedLate() async throws {
        let bundle = try harness.installBackground("cooperative 1")
        let files = try ExtensionBundle(at: harness.extensions + "/\(bundle).searchext")
        let pool = WorkerPool(
            try harness.workerConfiguration(), receiver: NoReceiver(), onEvent: { _ in }, onWork: { () },
            onFailure: { _, _ in })
        let loaded = try await pool.lease(files, .background).start.value.get()
        let (clock, isLoaded) = (ManualClock(), FirstOutcome<Void>())
        // The worker ignores a cancellation, because it has just been loaded.
        let start = WorkerPool.Start {
            await isLoaded.value()
            return .success(loaded)
        }
        let finding = Task { await WorkerPool.worker(of: start, within: .milliseconds(250), clock) }
        while clock.sleeperCount == 0 { await Task.yield() }
        clock.advance(by: .milliseconds(250))
        while !start.isCancelled { await Task.yield() }
        isLoaded.decide(())
        #expect(await finding.value === loaded)
        await pool.shutdown()
    }

    @Test("is notified, and notified of the end of the pause, once each")
    func told() async throws {
        let bundle = try harness.installBackground("cooperative 100000")
        try await harness.withEngine { engine async throws in
            let reindex = await begin(bundle, engine)
            #expect(await engine.host.pauseBackground(bundle, .back) == .heeded)
            // No other notice reaches the extension during that time.
            #expect(await engine.throttle(bundle, nil) == false)
            await engine.host.resumeBackground(bundle)
            await engine.host.resumeBackground(bundle)
            await harness.wait(forMessage: "unthrottled")
            #expect(harness.messages.filter { $0.contains("throttled") } == ["throttled", "unthrottled"])
            #expect(await engine.throttle(bundle, .back))
            await harness.wait(forMessage: "throttled", count: 2)
            await engine.host.endBackground(bundle)
            await expectCancelled(reindex)
        }
    }

    @Test(
        "and holds a lock that others may wait for is ended, without a failure",
        arguments: ["flock", "posix"])
    func locks(mode: String) async throws {
        let bundle = try harness.installBackground(mode)
        try await harness.withEngine { engine async throws in
            let reindex = await begin(bundle, engine)
            #expect(await engine.host.pauseBackground(bundle, .back) == .ended)
            await expectCancelled(reindex)
            let file = open(harness.marks + "/lock", O_RDWR)
            #expect(flock(file, LOCK_EX | LOCK_NB) == 0)
            close(file)
            #expect(engine.health(of: bundle).isBlank && harness.retries == 0)
            await engine.host.resumeBackground(bundle)
            #expect(await engine.host.workerCount == 0)
        }
    }

    @Test(
        "and returns its lock in time, or holds one of its own, is frozen",
        arguments: ["yields", "private"])
    func harmlessLocks(mode: String) async throws {
        let bundle = try harness.installBackground(mode)
        try await harness.withEngine { engine async throws in
            let reindex = await begin(bundle, engine)
            #expect([.frozen, .heeded].contains(await engine.host.pauseBackground(bundle, .back)))
            await harness.lastWorker.waitForStop()
            await engine.host.endBackground(bundle)
            await expectCancelled(reindex)
        }
    }

    @Test("has its time limits paused too")
    func limits() async throws {
        let bundle = try harness.installBackground("spins")
        let clock = ManualClock()
        try await harness.withEngine(clock: clock) { engine async throws in
            let reindex = await begin(bundle, engine)
            await clock.waitForSleepers()
            let pause = Task { await engine.host.pauseBackground(bundle, .back) }
            #expect([.frozen, .heeded].contains(await outcome(of: pause, by: clock)))
            await harness.lastWorker.waitForStop()
            clock.advance(by: .seconds(3600))
            #expect(harness.lastWorker.state == "T")
            await engine.host.resumeBackground(bundle)
            await harness.wait(forMessage: "unthrottled")
            // The wait for the remaining work starts now.
            await clock.waitForSleepers()
            clock.advance(by: .seconds(59))
            #expect(await engine.host.workerCount == 1)
            clock.advance(by: .seconds(61))
            await clock.waitForSleepers()
            clock.advance(by: .seconds(120))
            await clock.waitForSleepers()
            clock.advance(by: .seconds(2))
            let error = await #expect(throws: (any Error).self) { try await reindex.value }
            guard case .timedOut? = error as? ExtensionError else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test("and killed from outside is noticed; the request is repeated once it may continue")
    func killed() async throws {
        let bundle = try harness.installBackground("cooperative 50")
        try await harness.withEngine { engine async throws in
            try Data("spins\n".utf8).write(to: URL(filePath: harness.marks + "/\(bundle).searchext.mode"))
            let reindex = await begin(bundle, engine)
            #expect([.frozen, .heeded].contains(await engine.host.pauseBackground(bundle, .back)))
            kill(harness.lastWorker.identifier, SIGKILL)
            while harness.retries == 0 { await Task.yield() }
            #expect(engine.health(of: bundle).failures.map(\.kind) == [.crashed])
            while engine.host.paused.waitingCount == 0 { await Task.yield() }
            #expect(harness.startedWorkers == 1)
            try Data("cooperative 50\n".utf8).write(to: URL(filePath: harness.marks + "/\(bundle).searchext.mode"))
            await engine.host.resumeBackground(bundle)
            #expect(try await reindex.value == .acknowledged)
            #expect(harness.startedWorkers == 2 && harness.donatedItems == 50)
        }
    }

    @Test("and whose request is cancelled, or whose host shuts down, ends at once", arguments: [false, true])
    func ends(byShutdown: Bool) async throws {
        let bundle = try harness.installBackground("deaf")
        let clock = ManualClock()
        let engine = try harness.engine(clock: clock)
        let reindex = await begin(bundle, engine)
        let worker = harness.lastWorker
        await clock.waitForSleepers()
        let pause = Task { await engine.host.pauseBackground(bundle, .back) }
        #expect([.frozen, .heeded].contains(await outcome(of: pause, by: clock)))
        // The clock does not advance from here on.
        if byShutdown { await engine.close() } else { reindex.cancel() }
        _ = await reindex.result
        await worker.waitForEnd()
        if !byShutdown { await engine.close() }
        #expect(engine.health(of: bundle).isBlank)
    }

    @Test("does not outlive a host that is killed")
    func hostKilled() async throws {
        let bundle = try harness.installBackground("threads")
        let output = Pipe()
        let host = try ChildProcess(
            BuiltProducts.program("TortureDonor"),
            ["frozen", harness.folder, harness.extensions, try BuiltProducts.program("searchlight-worker"), bundle],
            environment: ProcessInfo.processInfo.environment.merging(["HOME": harness.folder]) { $1 },
            output: .pipe(output))
        let line = try #require(String(data: output.fileHandleForReading.availableData, encoding: .utf8))
        let worker = ProcessFacts(identifier: try #require(pid_t(line.trimmingCharacters(in: .newlines)), "\(line)"))
        await worker.waitForStop()
        host.send(SIGKILL)
        #expect(host.wait() == .killed(SIGKILL))
        await worker.waitForEnd()
    }

    @Test("A worker is not started while its bundle is paused")
    func notBegun() async throws {
        let bundle = try harness.installBackground("cooperative 10")
        try await harness.withEngine { engine async throws in
            #expect(await engine.host.pauseBackground(bundle, .back) == .notRunning)
            let waiting = Task { try await engine.host.reindexAll(bundle, origin: .background) as WholeReindex }
            while engine.host.paused.waitingCount == 0 { await Task.yield() }
            #expect(harness.workers.isEmpty)
            let other = Task { try await engine.host.reindexAll(bundle, origin: .background) as WholeReindex }
            while engine.host.paused.waitingCount < 2 { await Task.yield() }
            other.cancel()
            await expectCancelled(other)
            await engine.host.resumeBackground(bundle)
            #expect(try await waiting.value == .acknowledged)
            _ = await engine.host.pauseBackground(bundle, .back)
            let ended = Task { try await engine.host.reindexAll(bundle, origin: .background) as WholeReindex }
            while engine.host.paused.waitingCount == 0 { await Task.yield() }
            await engine.host.endBackground(bundle)
            await expectCancelled(ended)
        }
    }
}

/// This receiver rejects all donations.
private struct NoReceiver: DonationReceiver {
    func receive(_ batch: IndexBatch) async throws(BusError) {}
    func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]? { nil }
    func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String] { [] }
    func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply {
        RecordReply(record: nil)
    }
}
