// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import TestSupport
import Testing

@Suite("Fresh work")
struct FreshWorkTests {
    static let files = ScheduledJob.Key.files(bundle: "a")
    static let others = ScheduledJob.Key.files(bundle: "b")

    static func job(
        _ key: ScheduledJob.Key = files, isFresh: Bool = true, requested: Double = 1000
    ) -> ScheduledJob {
        var job = Bench.job(key, requested: requested)
        job.isFresh = isFresh
        return job
    }

    private static func holdsFresh(_ one: (gate: Gate, conditions: Conditions)) -> Bool {
        !one.gate.letsFreshPass || one.conditions.inhibitors.contains { $0.isOwn }
    }

    @Test("It starts with the event of the change, past other jobs and an active user")
    func passes() {
        for one in Conditions.closing where !Self.holdsFresh(one) {
            var bench = Bench(one.conditions)
            bench.send(.jobs([Self.job(), Bench.job(Bench.b)]))
            #expect(bench.steps == [.start(Self.files)], "\(one.gate)")
            let begun = bench.journal.first { $0.kind == .start }
            #expect(begun?.job == Self.files && begun?.gates == [one.gate])
            #expect(bench.scheduler.jobsUnderWay == [Self.files])
        }
        // No reading of the machine's sensors exists yet. The user waits for another job.
        var scheduler = Scheduler(now: 1000)
        _ = scheduler.handle(.personsWaiting(1), at: 1000)
        #expect(scheduler.handle(.jobs([Self.job()]), at: 1000).contains(.start(Self.files)))
    }

    @Test(
        "It waits while the machine falls asleep or lacks memory, power or space, and while Searchlight is paused"
    )
    func held() {
        let low = Conditions.idle.with { $0.power = .init(isOnBattery: true, percent: 20) }
        for one in Conditions.closing.filter(Self.holdsFresh) + [(.batteryLow, low)] {
            var bench = Bench(one.conditions)
            bench.send(.jobs([Self.job()]))
            #expect(bench.steps.isEmpty && bench.closed(Self.files) == [one.gate], "\(one.gate)")
            bench.send(.conditions(.idle), after: 1)
            #expect(bench.steps == [.start(Self.files)], "\(one.gate)")
            bench.send(.conditions(one.conditions), after: 1)
            #expect(bench.steps == [.pause(Self.files, one.gate)], "\(one.gate)")
            // The job's worker holds memory, and loses no work.
            bench.send(.tick, after: 60)
            #expect(bench.steps == [.stop(Self.files, one.gate)], "\(one.gate)")
        }
    }

    @Test(
        "The gates of its extension apply to it",
        arguments: [Gate.disabled, .throttled, .backOff, .cpuQuota, .cancelled])
    func ownGates(gate: Gate) {
        var bench = Bench()
        var job = Self.job()
        switch gate {
        case .disabled: job.refusal = .disabled
        case .throttled: bench.send(.throttled(bundle: "a", true))
        case .backOff: job.notBefore = 1100
        case .cpuQuota:
            // The quota belongs to the bundle and covers all its jobs.
            bench.send(.jobs([Bench.job()]))
            bench.send(.used(Bench.a, Usage(cpu: 590)))
            bench.send(.ended(Bench.a, .done))
        default:
            bench.send(.jobs([job]))
            bench.send(.cancel(Self.files))
            bench.send(.ended(Self.files, .stopped))
        }
        bench.send(.jobs([job]))
        #expect(bench.steps.isEmpty && bench.closed(Self.files) == [gate])
    }

    @Test("A large change waits for the gates like a reindex, and never passes one")
    func large() {
        for one in Conditions.closing {
            var bench = Bench(one.conditions)
            bench.send(.jobs([Self.job(isFresh: false)]))
            #expect(bench.steps.isEmpty && bench.closed(Self.files) == [one.gate])
        }
        var bench = Bench()
        bench.send(.jobs([Bench.job(Bench.b), Self.job(isFresh: false)]))
        #expect(bench.steps == [.start(Bench.b)] && bench.closed(Self.files) == [.busy])
        // Only jobs for changed files are fresh.
        var reindex = Bench.job()
        reindex.isFresh = true
        bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.jobs([reindex]))
        #expect(bench.steps.isEmpty && bench.closed() == [.userActive])
    }

    @Test("It runs beside the scheduled work, one at a time, and each event finds its job")
    func beside() {
        var bench = Bench()
        bench.send(.jobs([Bench.job(Bench.b)]))
        let vacuum = ScheduledJob.Key.files(bundle: "c")
        bench.send(.jobs([Bench.job(Bench.b), Self.job(), Self.job(vacuum, requested: 1001)]), after: 5)
        #expect(bench.steps == [.start(Self.files)] && bench.closed(vacuum) == [.busy])
        #expect(bench.scheduler.jobsUnderWay == [Bench.b, Self.files])
        bench.send(.used(Self.files, Usage(cpu: 0.1)))
        bench.send(.used(Bench.b, Usage(cpu: 3)))
        bench.send(.ended(Self.files, .done), after: 1)
        #expect(bench.steps == [.start(vacuum)])
        #expect(bench.journal.last { $0.kind == .done }?.usage?.cpu == 0.1)
        bench.send(.cancel(vacuum))
        #expect(bench.steps == [.stop(vacuum, .cancelled)])
        bench.send(.ended(vacuum, .stopped))
        #expect(bench.scheduler.jobsUnderWay == [Bench.b])
        // The user returns: fresh work is not paused.
        bench.send(.jobs([Bench.job(Bench.b), Self.job()]))
        #expect(bench.steps == [.start(Self.files)])
        bench.send(.conditions(.idle.with { $0.presence = .active }))
        #expect(bench.steps == [.pause(Bench.b, .userActive)])
        bench.send(.ended(Bench.b, .done))
        #expect(bench.scheduler.jobsUnderWay == [Self.files])
    }

    @Test("Two jobs of a bundle never run together: one waits, and the other yields when it is paused")
    func sameBundle() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.jobs([Bench.job(), Self.job()]))
        #expect(bench.steps.isEmpty && bench.closed(Self.files) == [.busy])
        bench.send(.conditions(.idle.with { $0.presence = .active }))
        #expect(bench.steps == [.pause(Bench.a, .userActive)])
        bench.send(.tick)
        #expect(bench.steps == [.stop(Bench.a, .busy)])
        bench.send(.ended(Bench.a, .stopped))
        #expect(bench.steps == [.start(Self.files)])
        bench.send(.conditions(.idle), after: 1)
        #expect(bench.steps.isEmpty && bench.closed() == [.busy])
        bench.send(.ended(Self.files, .done))
        #expect(bench.steps == [.start(Bench.a)])
        // Both jobs could start. The shorter job starts first.
        bench = Bench()
        bench.send(.jobs([Bench.job(), Self.job()]))
        #expect(bench.steps == [.start(Self.files)])
    }

    @Test("A reindex that cannot resume yields after its patience, and one that can after its slot's time")
    func sameBundlePatience() {
        let reindex = Bench.job(isResumable: false)
        var bench = Bench()
        bench.send(.jobs([reindex]))
        bench.send(.jobs([reindex, Self.job()]))
        bench.send(.conditions(.idle.with { $0.presence = .active }))
        #expect(bench.wake == bench.now + 60)
        bench.send(.tick, after: 60)
        #expect(bench.steps == [.stop(Bench.a, .busy)] || bench.steps == [.stop(Bench.a, .userActive)])
        bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.jobs([Bench.job(), Self.job()]))
        for _ in 0..<9 {
            bench.send(.tick, after: 30)
            #expect(bench.steps.isEmpty)
        }
        bench.send(.tick, after: 30)
        #expect(bench.steps == [.stop(Bench.a, .busy)])
    }

    @Test("A change that grew continues by the rules of large ones, and one that shrank at once")
    func sizes() {
        var bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.jobs([Self.job()]))
        bench.send(.jobs([Self.job(isFresh: false)]), after: 1)
        #expect(bench.steps == [.pause(Self.files, .userActive)])
        bench.send(.jobs([Self.job()]), after: 6)
        #expect(bench.steps == [.resume(Self.files)])
        // If another job holds the slot, that job is stopped.
        bench = Bench()
        bench.send(.jobs([Bench.job(Bench.b), Self.job()]))
        bench.send(.jobs([Bench.job(Bench.b), Self.job(isFresh: false)]), after: 1)
        #expect(bench.steps == [.stop(Self.files, .busy)])
        bench.send(.ended(Self.files, .stopped))
        #expect(bench.steps.isEmpty && bench.closed(Self.files) == [.busy])
        bench.send(.jobs([Bench.job(Bench.b), Self.job()]))
        #expect(bench.steps == [.start(Self.files)])
    }

    @Test("A user's request stops fresh work of the bundle, and runs by the rules for users")
    func persons() {
        var bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.jobs([Self.job()]))
        bench.send(.runNow(Self.files))
        #expect(bench.steps == [.stop(Self.files, .busy)])
        bench.send(.ended(Self.files, .stopped))
        #expect(bench.steps == [.start(Self.files)] && bench.scheduler.isUnderWayForPerson(Self.files))
        bench.send(.used(Self.files, Usage(cpu: 9)), after: 1)
        #expect(bench.steps.isEmpty)

        bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.jobs([Self.job(), Bench.job()]))
        bench.send(.runNow(Bench.a))
        #expect(bench.steps == [.stop(Self.files, .busy)])
        bench.send(.ended(Self.files, .stopped))
        #expect(bench.steps == [.start(Bench.a)] && bench.closed(Self.files) == [.busy])
        bench.send(.ended(Bench.a, .done))
        #expect(bench.steps == [.start(Self.files)])
    }

    // MARK: The rate

    @Test(
        "While the user is active it pauses when its processor time is used up, and continues when there is more"
    )
    func rate() {
        var bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.jobs([Self.job()]))
        #expect(bench.wake == bench.now + 0.4)
        bench.send(.used(Self.files, Usage(cpu: 0.4)), after: 0.4)
        #expect(bench.steps == [.pause(Self.files, .freshPace)] && bench.closed(Self.files) == [.freshPace])
        // Work resumes after a quarter of the 0.4 s burst is available again, at 0.02 s per second:
        // in 5 s.
        let opens = bench.scheduler.explanation(of: Self.files, at: bench.now).gates
            .first { $0.gate == .freshPace }?.opens
        #expect(bench.wake.map { abs($0 - bench.now - 5) < 1e-6 } == true && opens == bench.wake)
        bench.now = bench.wake ?? 0
        bench.send(.tick)
        #expect(bench.steps == [.resume(Self.files)])
        // Conditions that appear and disappear quickly cause no log lines.
        #expect(bench.journal.map(\.kind) == [.start])
        // Another job finds the same bucket.
        bench.send(.used(Self.files, Usage(cpu: 0.1)), after: 0.2)
        bench.send(.ended(Self.files, .done))
        bench.send(.jobs([Self.job(Self.others)]))
        #expect(bench.steps.isEmpty && bench.closed(Self.others) == [.freshPace])
        bench.send(.conditions(.idle))
        #expect(bench.steps == [.start(Self.others)])
    }

    @Test("Without activity there is no rate, and earlier use does not count")
    func noRate() {
        var bench = Bench()
        bench.send(.jobs([Self.job()]))
        for _ in 0..<20 {
            bench.send(.used(Self.files, Usage(cpu: 1)), after: 1)
            bench.send(.tick)
            #expect(bench.steps.isEmpty && bench.wake == bench.now + 1)
        }
        bench.send(.conditions(.idle.with { $0.presence = .active }))
        #expect(bench.steps.isEmpty && bench.wake == bench.now + 0.4)
        bench.send(.used(Self.files, Usage(cpu: 0.4)), after: 0.4)
        #expect(bench.steps == [.pause(Self.files, .freshPace)])
        bench.send(.conditions(.idle))
        #expect(bench.steps == [.resume(Self.files)])
    }

    @Test("Impossible numbers and a changed clock hold it for an hour at most")
    func clocks() {
        for cpu in [1e300, .infinity, .nan, -4] {
            var bench = Bench(.idle.with { $0.presence = .active })
            bench.send(.jobs([Self.job()]))
            bench.send(.used(Self.files, Usage(cpu: cpu)), after: 1)
            bench.send(.tick, after: -1e6)
            bench.send(.tick, after: 61)
            if bench.scheduler.jobsUnderWay.contains(Self.files), cpu == 1e300 {
                bench.send(.ended(Self.files, .stopped))
            }
            bench.send(.tick, after: 3600)
            #expect(!bench.closed(Self.files).contains(.freshPace), "\(cpu)")
        }
    }

    @Test("Without pending work no sensor is read and no timer runs; during work sensors with events are used")
    func sensing() {
        var bench = Bench()
        bench.send(.jobs([Self.job()]), after: 3600)
        #expect(bench.last.contains(.start(Self.files)) && bench.last.contains(.sense(.waiting)))
        bench.send(.conditions(.idle))
        bench.send(.ended(Self.files, .done), after: 0.1)
        bench.send(.jobs([]))
        #expect(bench.all.last { if case .sense = $0 { true } else { false } } == .sense(.off))
        #expect(bench.wake == nil)
    }

    @Test("With an old reading of the machine the rate applies until the next reading")
    func unwatched() {
        var bench = Bench()
        bench.send(.jobs([Self.job()]), after: 3600)
        bench.send(.used(Self.files, Usage(cpu: 0.4)), after: 0.4)
        #expect(bench.steps == [.pause(Self.files, .freshPace)])
        bench.send(.conditions(.idle))
        #expect(bench.steps == [.resume(Self.files)])
    }

    @Test("The reason to run or wait is reported, with the passed gates")
    func explained() {
        var bench = Bench(.idle.with { $0.presence = .active })
        let before = bench.scheduler.explanation(of: Self.files, at: bench.now)
        #expect(before.decision == .nothingOwed && !before.gates.contains { $0.state == .closed })
        bench.send(.jobs([Self.job()]))
        let running = bench.scheduler.explanation(of: Self.files, at: bench.now)
        #expect(running.decision == .running && running.job?.isFresh == true && running.nextLook == bench.wake)
        #expect(running.gates.filter { $0.state == .relaxed }.map(\.gate) == [.userActive])
        #expect(running.quota != nil)
        #expect(bench.scheduler.jobsOwed(at: bench.now).map(\.key) == [Self.files])
        // A reindex of the bundle would wait for both gates.
        #expect(bench.closed() == [.busy, .userActive])
    }

    // MARK: Invariants

    /// Several hours with saved files in several bundles and with reindexes.
    private static func history(_ seed: UInt64) -> Simulation {
        var random = SplitMix64(seed: seed)
        var simulation = Simulation()
        let end = 6 * 3600.0
        var now = 0.0
        while now < end {
            simulation.trace.append((now, .random(&random, at: now)))
            now += Double(1 + random.below(1200))
        }
        let reindexes = (0..<3).map { index in
            var job = ScheduledJob(key: .reindex(bundle: "app.\(index)"), urgency: .freshness, requested: 0)
            job.isResumable = random.below(2) == 0
            return SimulatedWork(job: job, seconds: Double(10 + random.below(3000)))
        }
        simulation.owe(reindexes)
        while simulation.now < end {
            let key = ScheduledJob.Key.files(bundle: "app.\(random.below(4))")
            switch random.below(8) {
            case 0: simulation.set(isFresh: random.below(2) == 0, key)
            case 1: simulation.send(.personsWaiting(random.below(2)))
            case 2: simulation.send(.throttled(bundle: "app.0", random.below(2) == 0))
            case 3 where random.below(9) == 0: simulation.send(.runNow(random.pick([key, .reindex(bundle: "app.1")])))
            case 4 where random.below(9) == 0: simulation.send(.cancel(key))
            default:
                guard simulation.work[key] == nil else { break }
                var job = ScheduledJob(key: key, urgency: .freshness, requested: simulation.now)
                job.isResumable = true
                job.isFresh = random.below(8) > 0
                let rate = random.pick([0.02, 0.3, 1, 1])
                simulation.owe([SimulatedWork(job: job, seconds: 0.05 * Double(1 + random.below(60)), rate: rate)])
            }
            simulation.run(until: simulation.now + Double(random.below(100)) * random.pick([0.01, 0.1, 1, 1]))
        }
        return simulation
    }

    @Test(
        "In any history no minute of activity has more than 3 % of a processor, and no rule is broken",
        arguments: 1...8 as ClosedRange<UInt64>)
    func histories(seed: UInt64) {
        let simulation = Self.history(seed)
        #expect(simulation.check.faults == [], "seed \(seed)")
        #expect(simulation.check.mostFreshInAMinute <= 1.8 + 1e-6, "seed \(seed)")
        #expect(simulation.check.mostFreshInAMinute > 0.3 && simulation.check.freshPasses > 0, "seed \(seed)")
    }

    @Test("Equal histories give equal actions", arguments: 1...3 as ClosedRange<UInt64>)
    func deterministic(seed: UInt64) {
        let (one, other) = (Self.history(seed), Self.history(seed))
        #expect(one.actions == other.actions && one.actions.count > 1000)
    }
}
