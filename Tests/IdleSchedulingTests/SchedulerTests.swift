// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import Testing

/// A scheduler with its current time, and its last actions.
struct Bench {
    static let a = ScheduledJob.Key.reindex(bundle: "a")
    static let b = ScheduledJob.Key.reindex(bundle: "b")

    var scheduler: Scheduler
    var now = 1000.0
    var last: [SchedulerAction] = []
    var all: [SchedulerAction] = []

    init(policy: SchedulingPolicy = SchedulingPolicy(), _ conditions: Conditions = .idle) {
        scheduler = Scheduler(policy: policy, now: now)
        send(.conditions(conditions))
    }

    static func job(
        _ key: ScheduledJob.Key = Bench.a, _ urgency: Urgency = .freshness, requested: Double = 1000,
        isResumable: Bool = true
    ) -> ScheduledJob {
        var job = ScheduledJob(key: key, urgency: urgency, requested: requested)
        job.isResumable = isResumable
        return job
    }

    @discardableResult
    mutating func send(_ event: SchedulerEvent, after seconds: Double = 0) -> [SchedulerAction] {
        now += seconds
        last = scheduler.handle(event, at: now)
        all += last
        return last
    }

    /// The steps among the last actions.
    var steps: [SchedulerAction] {
        last.filter {
            switch $0 {
            case .start, .pause, .resume, .stop: true
            default: false
            }
        }
    }
    /// The time of the last requested tick.
    var wake: Double? {
        all.reduce(nil) { before, action in if case .wake(let moment) = action { moment } else { before } }
    }
    /// The lines of the decision log.
    var journal: [JournalEntry] { all.compactMap { if case .note(let entry) = $0 { entry } else { nil } } }

    func closed(_ key: ScheduledJob.Key = Bench.a) -> [Gate] {
        scheduler.explanation(of: key, at: now).gates.filter { $0.state == .closed }.map(\.gate)
    }
}

@Suite("Decisions of the scheduler")
struct SchedulerTests {
    @Test(
        "A cancelled job stays idle after it left the list, and with the next scheduler; stored state is checked"
    )
    func cancelled() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [.start(Bench.a)])
        bench.send(.cancel(Bench.a))
        bench.send(.ended(Bench.a, .stopped))
        // Another process has exclusive access to the store, so no work is pending.
        bench.send(.jobs([]))
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps.isEmpty && bench.closed() == [.cancelled])
        let kept = bench.scheduler.cancellations
        let pause = bench.scheduler.policy.cancelPause
        #expect(kept == [Bench.a: 1000 + pause])
        let wanted: [ScheduledJob.Key: Double] = [Bench.a: .nan, Bench.b: 1e300]
        let checked = Scheduler(cancellations: wanted, now: 1000)
        #expect(checked.cancellations == [Bench.b: 1000 + pause])
        bench.scheduler = Scheduler(cancellations: kept, now: bench.now)
        bench.send(.conditions(.idle))
        bench.send(.jobs([Bench.job()]), after: pause - 1)
        #expect(bench.steps.isEmpty)
        bench.send(.conditions(.idle), after: 1)
        #expect(bench.steps == [.start(Bench.a)])
        // A job that is not pending cannot be cancelled, and a completed job is forgotten.
        bench.send(.cancel(Bench.b))
        #expect(bench.scheduler.cancellations[Bench.b] == nil)
        bench.send(.cancel(Bench.a))
        bench.send(.ended(Bench.a, .done))
        #expect(bench.scheduler.cancellations.isEmpty)
    }

    @Test("A request from before the clock was set back still ages")
    func requestedAhead() {
        var bench = Bench(Conditions.idle.with { $0.presence = .active })
        let ahead = Bench.job(requested: 1e9)
        bench.send(.jobs([ahead]))
        bench.send(.jobs([ahead]), after: 4 * 300 - 1)
        #expect(bench.steps.isEmpty)
        bench.send(.tick, after: 1)
        #expect(bench.steps == [.start(Bench.a)])
        // The same for a job from before the clock was set back.
        var other = Bench(Conditions.idle.with { $0.presence = .active })
        other.send(.jobs([Bench.job()]))
        other.send(.tick, after: -900)
        other.send(.tick, after: 4 * 300)
        #expect(other.steps == [.start(Bench.a)])
    }

    @Test("The user's own inhibitor holds a gate that the configuration has switched off; others do not")
    func ownInhibitorAlways() throws {
        let policy = try SchedulingPolicy(configuration: Data(#"{"gates": {"inhibited": false}}"#.utf8))
        let other = Conditions.Inhibitor(who: "Film", why: "", isOwn: false)
        let own = Conditions.Inhibitor(who: "make", why: "", isOwn: true)
        var bench = Bench(policy: policy, Conditions.idle.with { $0.inhibitors = [own, other] })
        bench.send(.jobs([Bench.job(requested: -86400)]))
        #expect(bench.steps.isEmpty && bench.closed() == [.inhibited])
        let states = bench.scheduler.explanation(of: Bench.a, at: bench.now).gates
        #expect(states.first { $0.gate == .inhibited }?.remedy?.contains("Film") == false)
        bench.send(.conditions(Conditions.idle.with { $0.inhibitors = [other] }))
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test("On an idle machine a job starts at once, and ticks stop with its end")
    func idle() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [.start(Bench.a)])
        #expect(bench.last.contains(.sense(.running)) && bench.wake == 1030)
        bench.send(.ended(Bench.a, .done), after: 10)
        #expect(bench.last.contains(.sense(.off)) && bench.wake == nil)
        #expect(bench.journal.map(\.kind) == [.start, .done])
        bench.send(.jobs([]))
        #expect(bench.last == [])
    }

    @Test(
        "Each gate of the machine holds a new job, and no other does",
        arguments: 0..<Conditions.closing.count)
    func gate(index: Int) {
        let (gate, conditions) = Conditions.closing[index]
        var bench = Bench(conditions)
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [] && bench.closed() == [gate])
        #expect(bench.journal.map(\.gates) == [[gate]])
        bench.send(.conditions(.idle), after: 5)
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test(
        "Each closing gate pauses a running job at once, and it continues when the gate opens",
        arguments: 0..<Conditions.closing.count)
    func closing(index: Int) {
        let (gate, conditions) = Conditions.closing[index]
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.conditions(conditions), after: 3)
        #expect(bench.steps == [.pause(Bench.a, gate)])
        bench.send(.conditions(.idle), after: 10)
        #expect(bench.steps == [.resume(Bench.a)])
        #expect(bench.journal.map(\.kind) == [.start, .pause, .resume])
    }

    @Test("Its use is reported at its end, and nothing if the use is unknown")
    func usage() throws {
        for usage in [Usage(cpu: 2, written: 3, wakeUps: 4), nil] {
            var bench = Bench()
            bench.send(.jobs([Bench.job()]))
            if let usage {
                bench.send(.used(Bench.a, Usage(cpu: 1, written: 3)), after: 1)
                bench.send(.used(Bench.a, Usage(cpu: usage.cpu - 1, wakeUps: usage.wakeUps)), after: 1)
            }
            bench.send(.ended(Bench.a, .done), after: 1)
            let end = try #require(bench.journal.last { $0.kind == .done })
            #expect(end.usage == usage)
        }
    }

    @Test("Unknown conditions close no gate")
    func unknown() {
        var bench = Bench(Conditions())
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test("The user counts as active for a minute, and the next check is exactly then")
    func away() {
        var bench = Bench(.idle.with { $0.presence = .away(since: 990) })
        bench.send(.jobs([Bench.job()]))
        #expect(bench.closed() == [.userActive] && bench.wake == 1050)
        bench.send(.tick, after: 50)
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test("A locked screen means that the user is away")
    func locked() {
        var bench = Bench(
            .idle.with {
                $0.presence = .active; $0.isLocked = true
            })
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test("After waking no job starts for a minute")
    func resumed() {
        var bench = Bench(.idle.with { $0.resumed = 1000 })
        bench.send(.jobs([Bench.job()]))
        #expect(bench.closed() == [.justResumed] && bench.wake == 1060)
        bench.send(.tick, after: 60)
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test("A nearly empty battery holds even a job that has waited for a year")
    func batteryLow() {
        var bench = Bench(.idle.with { $0.power = .init(isOnBattery: true, percent: 20) })
        bench.send(.jobs([Bench.job(requested: -3e7)]))
        #expect(bench.steps == [] && bench.closed() == [.batteryLow])
        bench.send(.conditions(.idle.with { $0.power = .init(isOnBattery: true, percent: 33) }), after: 60)
        #expect(bench.steps == [], "a little more than the limit is not enough to open it again")
        bench.send(.conditions(.idle.with { $0.power = .init(isOnBattery: true, percent: 36) }), after: 60)
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test("A load near the limit does not flap")
    func hysteresis() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        for load in [0.35, 0.39, 0.41, 0.39, 0.35, 0.41, 0.31, 0.29, 0.35] {
            bench.send(.conditions(.idle.with { $0.otherLoad = load }), after: 6)
        }
        #expect(bench.journal.map(\.kind) == [.start, .pause, .resume])
    }

    @Test("A load that alternates each second pauses the job for five seconds at a time")
    func stutter() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        for second in 0..<60 {
            bench.send(.conditions(.idle.with { $0.otherLoad = second % 2 == 0 ? 0.9 : 0 }), after: 1)
        }
        #expect(bench.journal.count { $0.kind == .pause } <= 12)
        #expect(bench.journal.count { $0.kind == .resume } >= 5)
    }

    @Test("A job's own pressure on processors and disks does not stop it")
    func ownPressure() {
        var bench = Bench()
        bench.send(.jobs([Bench.job()]))
        bench.send(.conditions(.idle.with { $0.pressure = .init(cpu: 0.86, io: 0.5, memory: 0) }), after: 5)
        #expect(bench.steps == [])
    }

    @Test("The machine is checked before a job starts, for a minute at most")
    func unwatched() {
        var bench = Bench()
        bench.send(.jobs([Bench.job(requested: 4600)]), after: 3600)
        #expect(bench.steps == [] && bench.last.contains(.sense(.waiting)) && bench.closed() == [.unknownConditions])
        var silent = bench
        bench.send(.conditions(.idle.with { $0.presence = .active }), after: 0.1)
        #expect(bench.closed() == [.userActive])
        silent.send(.tick, after: 60)
        #expect(silent.steps == [.start(Bench.a)])
    }

    @Test("A job that waited four times its tolerance runs beside the user, for 5 s of each minute")
    func relaxed() {
        var bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [])
        bench.send(.tick, after: 1200)
        #expect(bench.steps == [.start(Bench.a)] && bench.journal.last?.gates == [.userActive])
        #expect(bench.wake == 2205)
        bench.send(.tick, after: 5)
        #expect(bench.steps == [.pause(Bench.a, .dutyCycle)] && bench.wake == 2260)
        bench.send(.tick, after: 55)
        #expect(bench.steps == [.resume(Bench.a)])
        #expect(bench.journal.count == 2, "the pace is no decision")
        // The user has left: the job continues at full speed.
        bench.send(.tick, after: 5)
        bench.send(.conditions(.idle), after: 1)
        #expect(bench.steps == [.resume(Bench.a)] && bench.wake == bench.now + 30)
    }

    @Test("The user's return pauses all work at once, even a job that may pass")
    func comesBack() {
        var bench = Bench()
        bench.send(.jobs([Bench.job(requested: -3000)]))
        bench.send(.conditions(.idle.with { $0.presence = .active }), after: 2)
        #expect(bench.steps == [.pause(Bench.a, .userActive)])
        #expect(bench.wake == bench.now + 55)
        bench.send(.tick, after: 55)
        #expect(bench.steps == [.resume(Bench.a)])
    }

    @Test("The user's own inhibitor holds a job of any age, another's for a while")
    func inhibitors() {
        for (isOwn, begins) in [(true, false), (false, true)] {
            var bench = Bench(.idle.with { $0.inhibitors = [.init(who: "x", why: "y", isOwn: isOwn)] })
            bench.send(.jobs([Bench.job(requested: 1000 - 48 * 300)]))
            #expect(bench.steps == (begins ? [.start(Bench.a)] : []))
        }
    }

    @Test("A deadline that approaches lets a young job pass gates")
    func deadline() {
        var job = Bench.job(Bench.a, .expiry)
        job.deadline = 1000 + 43200
        var bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.jobs([job]))
        #expect(bench.steps == [.start(Bench.a)])
        job.deadline = 1000 + 43200 * 2
        bench = Bench(.idle.with { $0.presence = .active })
        bench.send(.jobs([job]))
        #expect(bench.steps == [])
    }
}
