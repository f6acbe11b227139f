// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import SchedulerSimulation
import TestSupport
import Testing

@Suite("The scheduler simulator")
struct SchedulerSimulatorTests {
    private func replay(_ lines: String..., policy: String = "") throws -> (replay: Replay, trace: Trace) {
        let header = TraceReaderTests.header.dropLast() + (policy.isEmpty ? "}" : ", \"policy\": \(policy)}")
        let trace = try Trace(jsonLines: Array(([String(header)] + lines).joined(separator: "\n").utf8))
        return (SchedulerSimulator.replay(trace), trace)
    }
    private static let idle = """
        {"at": "8:00", "conditions": {"presence": {"away": "7:00"}, "power": "mains", "load": 0.02}}
        """
    private func times(_ replay: Replay) -> [String] {
        let clock = TraceClock(midnight: TraceReaderTests.midnight, zone: 3600)
        return replay.journal.map { "\(clock.timeOfDay($0.moment)) \($0.kind.rawValue) \($0.gates.map(\.code))" }
    }

    @Test("A small case, computed by hand: work, the user's return, a pause, the rest of the work")
    func byHand() throws {
        // 60 s of work that uses half a processor. It runs for 20 s, and another 0.05 s until it is
        // paused. The user is active for 100 s, and is considered active for 60 s more. Then 39.95
        // s are left.
        let (replay, _) = try replay(
            Self.idle,
            #"{"at": "9:00", "job": "a", "cpu": 30, "seconds": 60, "written": 6000, "items": 7, "pages": true}"#,
            #"{"at": "9:00:20", "conditions": {"presence": "active"}}"#,
            #"{"at": "9:02", "conditions": {"presence": "away"}}"#, #"{"at": "10:00", "end": true}"#)
        #expect(
            times(replay) == [
                "09:00:00 start []", "09:00:20 pause [\"user-active\"]", "09:03:00 resume []", "09:03:39 done []",
            ])
        let job = try #require(replay.jobs.first)
        let start = TraceReaderTests.midnight + 9 * 3600
        #expect(job.requested == start && job.began == start && abs((job.finished ?? 0) - start - 219.95) < 1e-5)
        #expect(job.done == 1 && job.requests == 1 && !job.isOwed && job.items == 7)
        #expect(job.slices == 2 && job.relaxedSlices == 0 && job.pauses == 1 && job.stops == 0)
        #expect(abs(job.usage.cpu - 30) < 1e-6 && job.usage.written == 6000)
        #expect(job.longestWait == 0 && abs(job.longestRest - 159.95) < 1e-5 && abs(job.longestTime - 219.95) < 1e-5)
        #expect(job.spans.map(\.kind) == [.running, .quieting, .paused, .running])
        #expect(job.spans[2].gates == [.userActive])
        let totals = replay.totals
        #expect(abs(totals.running - 60) < 1e-5 && totals.active == 160 && totals.seconds == 7200)
        #expect(abs(totals.runningWhileActive - 0.05) < 1e-5)
        #expect(totals.returns == 1 && abs(totals.longestToQuiet - 0.05) < 1e-5)
        #expect(replay.gates.map { [$0.kind.code: $0.length] } == [["user-active": 160]])
    }

    @Test("Fresh work is done at once beside a reindex, slowly while the user is active; a large change waits")
    func fresh() throws {
        let lines = [
            Self.idle, #"{"at": "9:00", "job": "a", "cpu": 600, "pages": true}"#,
            #"{"at": "9:00:10", "job": "files:b", "cpu": 0.2, "fresh": true}"#,
            #"{"at": "9:01", "conditions": {"presence": "active"}}"#,
            #"{"at": "9:02", "job": "files:b", "cpu": 0.3, "fresh": true}"#,
            #"{"at": "9:05", "job": "files:b", "cpu": 2, "fresh": true}"#,
            #"{"at": "9:06", "job": "files:c", "cpu": 20}"#, #"{"at": "9:10", "end": true}"#,
        ]
        let trace = try Trace(jsonLines: Array(([TraceReaderTests.header] + lines).joined(separator: "\n").utf8))
        let replay = SchedulerSimulator.replay(trace)
        let job = try #require(replay.jobs.first { $0.key == .files(bundle: "b") })
        #expect(job.requests == 3 && job.done == 3 && job.longestWait == 0)
        let runs = job.spans.filter { $0.kind == .fresh }
        #expect(runs.prefix(2).map { ($0.length * 1000).rounded() } == [200, 300])
        #expect(runs[0].gates.isEmpty && runs.dropFirst().allSatisfy { $0.gates == [.userActive] })
        // Two seconds of work at 0.02 s per second. The first 0.4 s are available immediately.
        #expect((40...90).contains(job.longestTime) && job.pauses > 3)
        for run in runs.dropFirst() {
            let minute = runs.filter { $0.start >= run.start && $0.end < run.start + 60 }.reduce(0) { $0 + $1.length }
            #expect(minute <= 1.8)
        }
        let large = try #require(replay.jobs.first { $0.key == .files(bundle: "c") })
        #expect(large.began == nil && large.isOwed)
        // The reindex ran during that time, and is the job that was interrupted.
        #expect(replay.jobs[0].spans.map(\.kind) == [.running, .quieting, .paused] && replay.totals.returns == 1)
        #expect(replay.totals.longestToQuiet < 0.06)
        #expect(SchedulerSimulator.replay(try Trace(jsonLines: Array(trace.jsonLines.utf8))) == replay)
        #expect(
            TimelinePlot(replay, of: trace).svg.contains("runs at once: changed files, although the user is active"))
    }

    @Test("An uncooperative extension is frozen after half a second")
    func forced() throws {
        let (replay, _) = try replay(
            Self.idle, #"{"at": "9:00", "job": "a", "cpu": 60, "cooperative": false}"#,
            #"{"at": "9:00:20", "conditions": {"presence": "active"}}"#, #"{"at": "9:10", "end": true}"#)
        #expect(replay.totals.longestToQuiet == 0.5)
        #expect(replay.jobs[0].isOwed && replay.jobs[0].spans.map(\.kind) == [.running, .quieting, .paused])
    }

    @Test("A failed job is repeated after its back-off: half, half of the rest, then the end")
    func failures() throws {
        let (replay, _) = try replay(
            Self.idle, #"{"at": "9:00", "job": "a", "cpu": 40, "pages": true, "fails": 2}"#,
            #"{"at": "10:00", "end": true}"#)
        #expect(
            times(replay).filter { !$0.contains("wait") } == [
                "09:00:00 start []", "09:00:20 fail []", "09:00:50 start []", "09:01:00 fail []", "09:02:00 start []",
                "09:02:10 done []",
            ])
        #expect(replay.jobs[0].failures == 2 && abs(replay.jobs[0].usage.cpu - 40) < 1e-6)
    }

    @Test("A job without pages restarts after a failure")
    func anew() throws {
        let (replay, _) = try replay(
            Self.idle, #"{"at": "9:00", "job": "a", "cpu": 40, "fails": 1}"#, #"{"at": "10:00", "end": true}"#)
        #expect(abs(replay.jobs[0].usage.cpu - 60) < 1e-6 && replay.jobs[0].done == 1)
    }

    @Test("A request for a pending job is merged into it; for a running job it runs once more")
    func melting() throws {
        let (replay, _) = try replay(
            #"{"at": "8:00", "conditions": {"presence": "active"}}"#, #"{"at": "8:00", "job": "a", "cpu": 10}"#,
            #"{"at": "8:05", "job": "a", "cpu": 30}"#, #"{"at": "8:10", "conditions": {"presence": "away"}}"#,
            #"{"at": "8:11:10", "job": "a", "cpu": 5}"#, #"{"at": "9:00", "end": true}"#)
        #expect(
            times(replay).filter { !$0.contains("wait") } == [
                "08:11:00 start []", "08:11:30 done []", "08:11:30 start []", "08:11:35 done []",
            ])
        #expect(replay.jobs[0].requests == 3 && replay.jobs[0].done == 2 && abs(replay.jobs[0].usage.cpu - 35) < 1e-6)
    }

    @Test("A user's request, a throttle, a cancellation and a waiting user reach the scheduler")
    func persons() throws {
        let (replay, _) = try replay(
            Self.idle, #"{"at": "9:00", "throttle": "a"}"#, #"{"at": "9:00", "job": "a", "cpu": 30}"#,
            #"{"at": "9:01", "run": "a"}"#, #"{"at": "9:05", "unthrottle": "a"}"#,
            #"{"at": "9:10", "job": "b", "cpu": 100}"#, #"{"at": "9:10:10", "waiting": 1}"#,
            #"{"at": "9:10:30", "waiting": 0}"#, #"{"at": "9:10:40", "cancel": "b"}"#, #"{"at": "10:00", "end": true}"#)
        #expect(
            times(replay) == [
                "09:00:00 wait [\"throttled\"]", "09:01:00 start []", "09:01:30 done []", "09:10:00 start []",
                "09:10:10 pause [\"person-waiting\"]", "09:10:30 resume []", "09:10:40 stop [\"cancelled\"]",
                "09:10:40 wait [\"cancelled\"]",
            ])
        #expect(replay.jobs[0].spans.map(\.kind) == [.waiting, .wanted])
        #expect(replay.throttled.map(\.length) == [300] && replay.personsWaiting.map(\.length) == [20])
        #expect(replay.jobs[1].stops == 1 && replay.jobs[1].isOwed)
    }

    @Test("Slices that pass gates are marked, and are no lines of the decision log")
    func relaxed() throws {
        let (replay, _) = try replay(
            #"{"at": "8:00", "conditions": {"presence": "active"}}"#,
            #"{"at": "8:00", "job": "a", "cpu": 30, "pages": true}"#,
            #"{"at": "9:00", "end": true}"#)
        #expect(
            times(replay) == [
                "08:00:00 wait [\"user-active\"]", "08:20:00 start [\"user-active\"]", "08:25:04 done []",
            ])
        #expect(replay.jobs[0].relaxedSlices == 6 && replay.jobs[0].slices == 6)
        #expect(abs(replay.totals.runningWhileActive - 30) < 1e-5)
    }

    @Test("The rules of the header are used")
    func policy() throws {
        let lines = [
            #"{"at": "8:00", "conditions": {"presence": "active"}}"#, #"{"at": "8:00", "job": "a", "cpu": 30}"#,
        ]
        let (replay, _) = try replay(
            lines[0], lines[1], #"{"at": "8:10", "end": true}"#, policy: #"{"gates": {"user-active": false}}"#)
        #expect(times(replay) == ["08:00:00 start []", "08:00:30 done []"])
        #expect(replay.gates.isEmpty)
    }

    @Test("A sleeping machine is not woken")
    func sleeping() throws {
        let (replay, _) = try replay(
            #"{"at": "8:00", "conditions": {"presence": "active"}}"#, #"{"at": "8:00", "job": "vacuum", "cpu": 30}"#,
            #"{"at": "8:00:30", "conditions": {"asleep": true}}"#, #"{"at": "20:00", "conditions": {"asleep": false}}"#,
            #"{"at": "20:00:30", "end": true}"#)
        #expect(replay.totals.ticks <= 2)
    }

    @Test("The same trace gives the same replay and plot, byte for byte", arguments: ShippedTrace.all.map(\.name))
    func deterministic(name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var results: Set<Data> = []
        var pictures: Set<String> = []
        for _ in 0..<3 {
            let trace = try #require(ShippedTrace(name: name)).trace()
            let replay = SchedulerSimulator.replay(trace)
            results.insert(try encoder.encode(replay))
            pictures.insert(TimelinePlot(replay, of: trace).svg)
        }
        #expect(results.count == 1 && pictures.count == 1)
    }

    @Test(
        "Jobs run alone except for fresh work, never two of one bundle, and spans neither overlap nor run backwards",
        arguments: 1...25 as ClosedRange<UInt64>)
    func invariants(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var trace = Trace(name: "random", midnight: 0)
        var now = 0.0
        for _ in 0..<400 {
            now += Double(random.below(600_000)) / 1000
            let bundle = "app.\(random.below(5))"
            let key = random.below(2) == 0 ? ScheduledJob.Key.reindex(bundle: bundle) : .files(bundle: bundle)
            let happening: Trace.Happening =
                switch random.below(12) {
                case 0: .personsWaiting(random.below(2))
                case 1: .throttled(bundle: key.bundle ?? "", random.below(2) == 0)
                case 2: .runNow(key)
                case 3: .cancel(key)
                case 4, 5:
                    .job(
                        {
                            var job = TracedJob(
                                key: key, urgency: random.pick(Urgency.allCases), cpu: Double(random.below(400)))
                            job.isResumable = random.below(2) == 0
                            if case .files = key { job.isFresh = random.below(3) > 0 }
                            job.isCooperative = random.below(2) == 0
                            job.failures = random.below(3)
                            return job
                        }())
                default: .conditions(.random(&random, at: now))
                }
            trace.events.append(Trace.Event(now, happening))
        }
        let replay = SchedulerSimulator.replay(trace)
        for job in replay.jobs {
            for (one, next) in zip(job.spans, job.spans.dropFirst()) { #expect(one.end <= next.start) }
            #expect(job.spans.allSatisfy { $0.start < $0.end } && job.done <= job.requests)
            #expect(job.slices >= job.relaxedSlices)
        }
        func work(_ jobs: [Replay.JobSummary]) -> [Replay.Span<Replay.Activity>] {
            jobs.flatMap(\.spans).filter { ![.waiting, .paused].contains($0.kind) }.sorted { $0.start < $1.start }
        }
        func apart(_ jobs: [Replay.JobSummary]) -> Bool {
            let spans = work(jobs)
            return zip(spans, spans.dropFirst()).allSatisfy { $0.end <= $1.start + 1e-9 }
        }
        let isReindex = { (job: Replay.JobSummary) in if case .reindex = job.key { true } else { false } }
        #expect(apart(replay.jobs.filter(isReindex)), "seed \(seed)")
        for bundle in Set(replay.jobs.compactMap(\.key.bundle)) {
            #expect(apart(replay.jobs.filter { $0.key.bundle == bundle }), "seed \(seed): \(bundle)")
        }
        let work = work(replay.jobs)
        for one in work {
            #expect(work.count { $0.start <= one.start && $0.end > one.start + 1e-9 } <= 2, "seed \(seed)")
        }
        #expect(abs(work.reduce(0) { $0 + $1.length } - replay.totals.running) < 1e-3)
        #expect(replay.totals.longestToQuiet <= 0.5 + 1e-6)
        #expect(zip(replay.journal, replay.journal.dropFirst()).allSatisfy { $0.moment <= $1.moment })
    }
}
