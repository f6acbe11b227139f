// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

/// The execution of the scheduler's decisions, with jobs and a machine that the test controls.
@Suite("Carrying out the scheduler's decisions", .timeLimit(.minutes(10)))
struct IdleSchedulerTests {
    private let clock = ManualClock()
    private let runner = ScriptedRunner()
    private let machine = ScriptedConditions()
    private let start = 800_000_000.0

    private static let reindex = ScheduledJob.Key.reindex(bundle: "org.example")

    private func scheduler(_ policy: SchedulingPolicy = SchedulingPolicy()) -> IdleScheduler {
        let beginning = clock.now
        let now: @Sendable () -> Double = { [clock, start] in start + (clock.now - beginning) / .seconds(1) }
        var outlets = IdleScheduler.Outlets()
        let record = notesRecorder
        outlets.note = { record.add($0) }
        outlets.cancelled = { [cancelled] in cancelled.add($0) }
        outlets.onWork = { [activity] in activity.beginRequest(of: .service) }
        return IdleScheduler(
            Scheduler(policy: policy, now: now()), runner: runner, source: machine, now: now, clock: clock,
            outlets: outlets)
    }
    private let notesRecorder = Recorder()
    private let activity = ServiceActivity {}
    private let cancelled = Kept()
    private final class Kept: Sendable {
        private let values = Mutex<[[ScheduledJob.Key: Double]]>([])
        func add(_ value: [ScheduledJob.Key: Double]) { values.withLock { $0.append(value) } }
        var all: [[ScheduledJob.Key: Double]] { values.withLock { $0 } }
    }

    @Test("A cancelled job is stored, and a request of the user removes the cancellation")
    func cancellationsAreKept() async {
        owe()
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        runner.stopsWhenAsked = true
        scheduler.post(.event(.cancel(Self.reindex)))
        #expect(await eventually { cancelled.all.map(\.count) == [1] })
        scheduler.post(.event(.runNow(Self.reindex)))
        #expect(await eventually { cancelled.all.map(\.count) == [1, 0] })
        await scheduler.end()
    }

    private func owe(_ key: ScheduledJob.Key = reindex) {
        runner.owe(ScheduledJob(key: key, urgency: .freshness, requested: start))
    }

    @Test("Pending jobs are started, and completed ones are removed and not started again")
    func begun() async {
        owe()
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        runner.finish(Self.reindex, .done)
        #expect(await eventually { notesRecorder.kinds.contains(.done) })
        let isOwed = await scheduler.ask { $0.jobsOwed(at: 0).isEmpty }
        #expect(isOwed == true)
        await scheduler.end()
        #expect(runner.calls == ["run reindex:org.example"])
    }

    @Test("Without pending jobs, no sensor is used and no timer runs")
    func nothingOwed() async {
        let scheduler = scheduler()
        _ = await scheduler.ask { _ in true }
        #expect((machine.modes.last ?? .off) == .off)
        #expect(clock.sleeperCount == 0)
        await scheduler.end()
    }

    @Test("A job is paused when the user returns, and continues when the user is away, in this order")
    func pausedAndResumed() async {
        owe()
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        machine.change { $0.presence = .active }
        await runner.waitFor("pause reindex:org.example user-active")
        // A paused job is not considered work, so the process may exit. Neither is a sensor
        // reading.
        #expect(await eventually { activity.now.requests == 0 })
        let total = activity.now.total
        machine.change { $0.presence = .away(since: 0) }
        // The job stays paused for a moment in any case.
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .seconds(6))
        await runner.waitFor("resume reindex:org.example")
        #expect(await eventually { activity.now.requests == 1 })
        #expect(activity.now.total == total + 2, "the order and the job, not the looks")
        runner.finish(Self.reindex, .done)
        await scheduler.end()
        #expect(activity.now.requests == 0)
        #expect(
            runner.calls == [
                "run reindex:org.example", "pause reindex:org.example user-active", "resume reindex:org.example",
            ])
    }

    @Test("A job of the user runs although the user is active, and its runner is notified")
    func wanted() async {
        machine.change { $0.presence = .active }
        owe()
        let scheduler = scheduler()
        #expect(await eventually { notesRecorder.kinds == [.wait] })
        scheduler.post(.event(.runNow(Self.reindex)))
        await runner.waitFor("run reindex:org.example for the user")
        runner.finish(Self.reindex, .done)
        await scheduler.end()
    }

    @Test("The use of a job is measured at its end, and counts for its quota")
    func used() async {
        owe()
        runner.use(Usage(cpu: 3, written: 5))
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        runner.finish(Self.reindex, .failed(reason: "It broke."))
        #expect(await eventually { notesRecorder.kinds.contains(.fail) })
        let start = start
        let used = await scheduler.ask { $0.usage.used(by: "org.example", within: 3600, at: start) }
        #expect(used == Usage(cpu: 3, written: 5))
        #expect(notesRecorder.entries.last { $0.kind == .fail }?.reason == "It broke.")
        await scheduler.end()
    }

    @Test("The use until a pause is known at the pause, not at the next check")
    func usedWhenPaused() async {
        owe()
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        runner.use(Usage(cpu: 2, written: 7))
        machine.change { $0.presence = .active }
        let start = start
        var used: Usage?
        repeat {
            used = await scheduler.ask { $0.usage.used(by: "org.example", within: 3600, at: start) }
        } while used == Usage()
        #expect(used == Usage(cpu: 2, written: 7))
        runner.finish(Self.reindex, .done)
        await scheduler.end()
    }

    @Test("At the end, running work is stopped and waited for")
    func ended() async {
        owe()
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        runner.stopsWhenAsked = true
        await scheduler.end()
        #expect(runner.calls == ["run reindex:org.example", "stop reindex:org.example"])
        #expect((machine.modes.last ?? .off) == .off)
        let answer = await scheduler.ask { _ in true }
        #expect(answer == nil)
    }

    @Test("Upcoming work is checked when due, once")
    func looksAhead() async {
        runner.look(at: start + 100)
        let scheduler = scheduler()
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .seconds(99))
        _ = await scheduler.ask { _ in true }
        #expect(runner.calls.isEmpty)
        clock.advance(by: .seconds(1))
        await runner.waitFor("look ahead")
        _ = await scheduler.ask { _ in true }
        #expect(clock.sleeperCount == 0)
        await scheduler.end()
    }

    @Test("A long check for upcoming work does not delay a pause")
    func looksBesides() async {
        owe()
        runner.look(at: start + 1)
        runner.looksLong = true
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        #expect(await eventually { clock.sleeperCount == 2 })
        clock.advance(by: .seconds(1))
        await runner.waitFor("look ahead")
        machine.change { $0.presence = .active }
        let isPaused = await eventually { runner.calls.contains("pause reindex:org.example user-active") }
        #expect(isPaused)
        runner.endLook()
        runner.finish(Self.reindex, .done)
        await scheduler.end()
    }

    @Test("It is not checked before that, though no sleep exceeds an hour")
    func looksNoSooner() async {
        runner.look(at: start + 5400)
        let scheduler = scheduler()
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .seconds(3600))
        #expect(await eventually { clock.sleeperCount == 1 })
        #expect(runner.calls.isEmpty)
        clock.advance(by: .seconds(1800))
        await runner.waitFor("look ahead")
        await scheduler.end()
    }

    @Test("A job that ends during its pause leaves nothing paused")
    func endsWhenPaused() async {
        owe()
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        machine.change { $0.presence = .active }
        await runner.waitFor("pause reindex:org.example user-active")
        runner.finish(Self.reindex, .done)
        await runner.waitFor("resume reindex:org.example")
        await scheduler.end()
        #expect(runner.calls.last == "resume reindex:org.example")
    }

    @Test("A paused background job runs for the user on request")
    func wantedWhilePaused() async {
        var job = ScheduledJob(key: Self.reindex, urgency: .freshness, requested: start)
        job.isResumable = true
        runner.owe(job)
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        machine.change { $0.presence = .active }
        await runner.waitFor("pause reindex:org.example user-active")
        runner.stopsWhenAsked = true
        scheduler.post(.event(.runNow(Self.reindex)))
        await runner.waitFor("run reindex:org.example for the user")
        runner.finish(Self.reindex, .done)
        await scheduler.end()
    }

    @Test("Running work ends when another process requests the store")
    func givesWay() async {
        owe()
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        runner.stopsWhenAsked = true
        scheduler.post(.giveWay)
        await runner.waitFor("stop reindex:org.example")
        #expect(await eventually { notesRecorder.kinds.contains(.stop) })
        await scheduler.end()
    }

    @Test("A user's job that was completed elsewhere is not the user's when it is pending again")
    func wantedOnce() async {
        let other = ScheduledJob.Key.reindex(bundle: "org.example.other")
        owe()
        let scheduler = scheduler()
        await runner.waitFor("run reindex:org.example")
        scheduler.post(.event(.runNow(Self.reindex)))
        owe(other)
        scheduler.post(.jobsChanged)
        scheduler.post(.event(.runNow(other)))
        _ = await scheduler.ask { _ in true }
        runner.strike(other)
        scheduler.post(.jobsChanged)
        _ = await scheduler.ask { _ in true }
        owe(other)
        scheduler.post(.jobsChanged)
        runner.finish(Self.reindex, .done)
        #expect(await eventually { runner.calls.last?.hasPrefix("run reindex:org.example.other") == true })
        #expect(runner.calls.last == "run reindex:org.example.other")
        runner.finish(other, .done)
        await scheduler.end()
    }

    @Test("Later additions are found after a notification of a change")
    func later() async {
        let scheduler = scheduler()
        _ = await scheduler.ask { _ in true }
        owe()
        scheduler.post(.jobsChanged)
        await runner.waitFor("run reindex:org.example")
        runner.finish(Self.reindex, .done)
        await scheduler.end()
    }
}

/// Records the decisions.
private final class Recorder: Sendable {
    private let all = Mutex<[JournalEntry]>([])
    var entries: [JournalEntry] { all.withLock { $0 } }
    var kinds: [JournalEntry.Kind] { entries.map(\.kind) }
    func add(_ entry: JournalEntry) { all.withLock { $0.append(entry) } }
}

/// Executes jobs as a test requires.
private final class ScriptedRunner: JobRunner {
    private struct State {
        var jobs: [ScheduledJob] = []
        var calls: [String] = []
        var running: [ScheduledJob.Key: CheckedContinuation<SchedulerEvent.Outcome, Never>] = [:]
        var usage = Usage()
        var stops = false
        var nextLook: Double?
        var looksLong = false
        var looking: CheckedContinuation<Void, Never>?
        var waiters: [(call: String, waiter: CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    var calls: [String] { state.withLock { $0.calls } }
    var stopsWhenAsked: Bool {
        get { state.withLock { $0.stops } }
        set { state.withLock { $0.stops = newValue } }
    }

    /// `true` if a lookahead lasts until ``endLook()``.
    var looksLong: Bool {
        get { state.withLock { $0.looksLong } }
        set { state.withLock { $0.looksLong = newValue } }
    }
    func endLook() {
        let looking = state.withLock { state in
            defer { state.looking = nil }
            return state.looking
        }
        looking?.resume()
    }

    func owe(_ job: ScheduledJob) { state.withLock { $0.jobs.append(job) } }
    func strike(_ key: ScheduledJob.Key) { state.withLock { $0.jobs.removeAll { $0.key == key } } }
    func look(at moment: Double) { state.withLock { $0.nextLook = moment } }
    func use(_ usage: Usage) { state.withLock { $0.usage = usage } }

    /// Ends a running job.
    func finish(_ key: ScheduledJob.Key, _ outcome: SchedulerEvent.Outcome) {
        let waiting = state.withLock { state in
            if outcome == .done { state.jobs.removeAll { $0.key == key } }
            return state.running.removeValue(forKey: key)
        }
        waiting?.resume(returning: outcome)
    }

    /// Returns when a request has been made.
    func waitFor(_ call: String) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isThere = state.withLock { state in
                guard !state.calls.contains(call) else { return true }
                state.waiters.append((call, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func note(_ call: String) {
        let waiters = state.withLock { state in
            state.calls.append(call)
            defer { state.waiters.removeAll { $0.call == call } }
            return state.waiters.filter { $0.call == call }
        }
        for one in waiters { one.waiter.resume() }
    }

    func jobs() async -> [ScheduledJob] { state.withLock { $0.jobs } }
    func nextLook() async -> Double? { state.withLock { $0.nextLook } }
    func lookAhead() async {
        state.withLock { $0.nextLook = nil }
        guard looksLong else { return note("look ahead") }
        await withCheckedContinuation { continuation in
            state.withLock { $0.looking = continuation }
            note("look ahead")
        }
    }
    func run(_ key: ScheduledJob.Key, isWanted: Bool) async -> SchedulerEvent.Outcome {
        await withCheckedContinuation { continuation in
            state.withLock { $0.running[key] = continuation }
            note("run \(key.name)" + (isWanted ? " for the user" : ""))
        }
    }
    func pause(_ key: ScheduledJob.Key, because gate: Gate) async { note("pause \(key.name) \(gate.code)") }
    func resume(_ key: ScheduledJob.Key) async { note("resume \(key.name)") }
    func stop(_ key: ScheduledJob.Key) async {
        note("stop \(key.name)")
        if stopsWhenAsked { finish(key, .stopped) }
    }
    func used(_ key: ScheduledJob.Key) async -> Usage? {
        state.withLock { state in
            defer { state.usage = Usage() }
            return state.usage
        }
    }
}
