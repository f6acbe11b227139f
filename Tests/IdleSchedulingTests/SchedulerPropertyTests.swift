// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import TestSupport
import Testing

@Suite("Properties of the scheduler")
struct SchedulerPropertyTests {
    /// Returns the policy without bypassed gates, so that jobs run only while the gates are open,
    /// and without quotas.
    private static func strict() throws -> SchedulingPolicy {
        let never = Gate.allCases.filter(\.isRelaxable).map { "\"\($0.code)\": null" }
        let gates = (never + ["\"cpu-quota\": false", "\"write-quota\": false"]).joined(separator: ",")
        return try SchedulingPolicy(configuration: Data("{\"gates\": {\(gates)}}".utf8))
    }

    private static func work(_ random: inout SplitMix64, number: Int, seconds: Int = 400) -> [SimulatedWork] {
        (0..<number).map { index in
            let urgency = random.pick([Urgency.freshness, .expiry, .maintenance])
            var job = ScheduledJob(key: .reindex(bundle: "app.\(index)"), urgency: urgency, requested: 0)
            job.isResumable = random.below(2) == 0
            return SimulatedWork(job: job, seconds: Double(10 + random.below(seconds)))
        }
    }

    /// The upper bound. Resumable jobs need only their own cost and lose no work. A job that
    /// restarts loses its work at each stop. Its longest allowed pause starts at half an hour and
    /// doubles with each stop, so after some stops it exceeds the longest gap.
    private static func openTimeNeeded(_ work: [SimulatedWork], gap: Double) -> Double {
        let stops = max(0, log2(max(1, gap) / 1800).rounded(.up)) + 1
        return work.reduce(0) { $0 + $1.seconds * ($1.job.isResumable ? 1 : 1 + stops) + 2 }
    }

    @Test(
        "No job starves while the gates are open a tenth of the time, even if no gate is passed",
        arguments: 1...20 as ClosedRange<UInt64>)
    func noStarvation(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let trace = RandomTrace(&random, until: 20 * 86400)
        let work = Self.work(&random, number: 1 + random.below(6))
        var simulation = Simulation(policy: try Self.strict())
        simulation.trace = trace.trace
        simulation.owe(work)
        let bound = try #require(trace.moment(afterOpen: Self.openTimeNeeded(work, gap: trace.longestGap)))
        simulation.run(until: bound, whileOwed: true)
        #expect(simulation.work.isEmpty, "seed \(seed): \(simulation.work.keys) are still pending at \(bound)")
        #expect(simulation.check.faults == [])
    }

    @Test(
        "A gate is passed only by jobs that waited long enough, for less than a tenth of the time",
        arguments: 1...20 as ClosedRange<UInt64>)
    func gatesHold(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var simulation = Simulation()
        var now = 0.0
        while now < 3 * 86400 {
            simulation.trace.append((now, .random(&random, at: now)))
            now += Double(1 + random.below(1200))
        }
        var work = Self.work(&random, number: 5, seconds: 3000)
        work[0].job.urgency = .freshness
        work[0].seconds = 3000
        simulation.owe(work)
        simulation.run(until: 3 * 86400)
        #expect(simulation.check.faults == [], "seed \(seed)")
        #expect(simulation.check.mostRelaxedInAMinute <= 5 + 1e-6)
        #expect(!simulation.check.relaxedPieces.isEmpty)
    }

    @Test(
        "No bundle uses more than its quota and one slice in any window", arguments: 1...10 as ClosedRange<UInt64>)
    func quotaHolds(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var simulation = Simulation()
        simulation.trace = [(0, .idle)]
        simulation.reportInterval = Double(1 + random.below(30))
        var work = Self.work(&random, number: 3, seconds: 3000)
        for index in work.indices {
            work[index].job.isResumable = true
            work[index].rate = Double(1 + random.below(4))
            work[index].written = UInt64(random.below(8)) << 20
        }
        simulation.owe(work)
        let policy = SchedulingPolicy()
        // Each window has time for a whole quota. Usage is counted in intervals of 5 min, so usage
        // can count up to 5 min longer than the window.
        let windows = work.map { ($0.seconds * $0.rate / 570).rounded(.up) + ($0.seconds * 7 / 1900).rounded(.up) }
        simulation.run(until: (windows.max() ?? 0) * 2 * (policy.quotaWindow + 600) + 9000, whileOwed: true)
        #expect(simulation.work.isEmpty)
        #expect(simulation.check.faults == [])
        for one in work {
            let most = simulation.check.mostUsed(by: one.job.key.bundle ?? "", within: policy.quotaWindow)
            #expect(most.cpu <= policy.quotaCPU + policy.sliceFull * one.rate + 1e-6)
            #expect(Double(most.written) <= policy.quotaWritten + policy.sliceFull * Double(one.written) + 1)
        }
    }

    @Test(
        "Equal traces give equal results, byte for byte, with any order of jobs",
        arguments: 1...3 as ClosedRange<UInt64>)
    func deterministic(seed: UInt64) throws {
        func journal(shuffled: Bool) throws -> (Data, Data) {
            var random = SplitMix64(seed: seed)
            var simulation = Simulation()
            let trace = RandomTrace(&random, until: 5 * 86400)
            simulation.trace = trace.trace
            let work = Self.work(&random, number: 8)
            if shuffled { simulation.listOrder = { $0.reversed() + $0 } }
            simulation.owe(work)
            simulation.run(until: 5 * 86400)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return (try encoder.encode(simulation.actions), try encoder.encode(simulation.journal))
        }
        let (first, second, third) = (
            try journal(shuffled: false), try journal(shuffled: false), try journal(shuffled: true)
        )
        #expect(first.0 == second.0 && first.1 == second.1)
        #expect(first.0 == third.0 && first.1 == third.1)
        #expect(first.1.count > 1000)
    }

    /// Returns any event, in any order and at any time.
    private static func event(_ random: inout SplitMix64, _ now: Double) -> SchedulerEvent {
        let key = random.pick([
            ScheduledJob.Key.reindex(bundle: "a"), .reindex(bundle: "b"), .reindex(bundle: "c"), .maintenance(.vacuum),
            .files(bundle: "a"), .files(bundle: "d"),
        ])
        switch random.below(12) {
        case 0, 1, 2: return .conditions(random.below(3) == 0 ? .idle : .random(&random, at: now))
        case 3:
            var jobs: [ScheduledJob] = []
            for name in ["a", "b", "c", "a"] where random.below(2) == 0 {
                var job = ScheduledJob(
                    key: .reindex(bundle: name), urgency: random.pick(Urgency.allCases),
                    requested: random.pick([now, 0, now - 1e5, now + 1e6, .nan, -.infinity]))
                if random.below(4) == 0 { job.notBefore = random.pick([now + 50, now + 1e9, .nan]) }
                if random.below(4) == 0 { job.deadline = random.pick([now + 5000, now - 1, .nan, 1e300]) }
                if random.below(9) == 0 { job.refusal = random.pick([.disabled, .quarantined]) }
                job.isResumable = random.below(2) == 0
                jobs.append(job)
            }
            for name in ["a", "d", "a"] where random.below(2) == 0 {
                var job = ScheduledJob(
                    key: .files(bundle: name), urgency: .freshness, requested: random.pick([now, 0, .nan]))
                job.isFresh = random.below(3) > 0
                job.isResumable = true
                if random.below(9) == 0 { job.refusal = .disabled }
                jobs.append(job)
            }
            if random.below(4) == 0 {
                jobs.append(ScheduledJob(key: .maintenance(.vacuum), urgency: .maintenance, requested: 0))
            }
            return .jobs(jobs)
        case 4:
            let cpu = random.pick([1.0, 30, -5, .nan, .infinity])
            return .used(key, Usage(cpu: cpu, written: random.pick([0, 1 << 20, .max])))
        case 5: return .ended(key, random.pick([.done, .failed(reason: "x"), .stopped]))
        case 6: return .personsWaiting(random.pick([0, 0, 1, -4, .max]))
        case 7: return .throttled(bundle: random.pick(["a", "b"]), random.below(3) == 0)
        case 8: return random.below(4) == 0 ? .runNow(key) : .tick
        case 9: return random.below(4) == 0 ? .cancel(key) : .tick
        default: return .tick
        }
    }

    @Test("Impossible events in any order break no rule", arguments: 1...40 as ClosedRange<UInt64>)
    func impossibleEvents(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var (now, last) = (0.0, 0.0)
        var scheduler = Scheduler(now: now)
        var check = OrderCheck()
        for _ in 0..<3000 {
            switch random.below(40) {
            case 0: now -= Double(random.below(1_000_000))
            case 1: now += Double(random.below(1_000_000))
            default: now += Double(random.below(90))
            }
            let moment = random.below(60) == 0 ? random.pick([.nan, .infinity, now]) : now
            let event = Self.event(&random, now)
            let actions = scheduler.handle(event, at: moment)
            if moment.isFinite { last = moment }
            check.take(event, actions, at: last)
            for key in [ScheduledJob.Key.reindex(bundle: "a"), .files(bundle: "a"), .files(bundle: "unknown")]
            where random.below(20) == 0 {
                let explanation = scheduler.explanation(of: key, at: now)
                #expect(explanation.gates.map(\.gate) == Gate.allCases)
                _ = try JSONEncoder().encode(explanation)
            }
            _ = try JSONEncoder().encode(actions)
        }
        #expect(check.faults == [], "seed \(seed)")
        #expect(check.starts > 0)
    }

    /// The rules that hold even if the events are inconsistent: at most two jobs at a time, never
    /// of the same bundle; steps in order; no early steps.
    private struct OrderCheck {
        var faults: [String] = []
        var starts = 0
        private var underWay: [ScheduledJob.Key: SchedulerCheck.Phase] = [:]

        private var hasFiles = false

        private func isOfFiles(_ key: ScheduledJob.Key) -> Bool { if case .files = key { true } else { false } }

        mutating func take(_ event: SchedulerEvent, _ actions: [SchedulerAction], at now: Double) {
            if case .jobs(let jobs) = event { hasFiles = jobs.contains { isOfFiles($0.key) } }
            if case .ended(let key, _) = event { underWay[key] = nil }
            for action in actions {
                switch action {
                case .start(let key):
                    starts += 1
                    let others = underWay.keys.map { isOfFiles($0) }
                    if others.count > 1 || (others.contains(false) && !isOfFiles(key)) {
                        faults.append("start beside another")
                    }
                    if underWay.keys.contains(where: { $0.bundle != nil && $0.bundle == key.bundle }) {
                        faults.append("start beside another of the bundle")
                    }
                    underWay[key] = .running
                case .pause(let key, _):
                    if underWay[key] != .running { faults.append("pause of what does not run") }
                    underWay[key] = .paused
                case .resume(let key):
                    if underWay[key] != .paused { faults.append("resume of what is not quiet") }
                    underWay[key] = .running
                case .stop(let key, _):
                    if underWay[key] == nil || underWay[key] == .stopping { faults.append("stop of what has ended") }
                    underWay[key] = .stopping
                case .wake(let moment):
                    // Earlier while the usage of fresh work is measured.
                    let shortest = underWay.keys.contains(where: isOfFiles) || hasFiles ? 0.001 : 1
                    if let moment, moment < now + shortest - 1e-3 {
                        faults.append("wake at \(moment), now \(now)")
                    }
                case .sense, .note: break
                }
            }
        }
    }

    @Test("While work waits there is at most one tick a minute, and none without pending work")
    func wakeUps() {
        for (gate, conditions) in Conditions.closing {
            var simulation = Simulation()
            simulation.trace = [(0, conditions)]
            simulation.run(until: 600)
            #expect(simulation.ticks == 0)
            simulation.owe([
                SimulatedWork(
                    job: ScheduledJob(key: .reindex(bundle: "a"), urgency: .maintenance, requested: 600), seconds: 10)
            ])
            simulation.run(until: 600 + 3600)
            #expect(simulation.ticks <= 60, "\(gate)")
            #expect(simulation.done.isEmpty)
            #expect(simulation.journal.map(\.kind) == [.wait], "\(gate)")
            #expect(simulation.check.faults == [])
        }
    }
}
