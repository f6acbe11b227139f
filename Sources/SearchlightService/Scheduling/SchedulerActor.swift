// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// Deals with what an ``IdleScheduler`` is told. One task uses it, so that everything has its order: a job is never resumed
/// before it was paused, and what a decision rests on is not older than what was told before.
actor SchedulerActor {
    /// A job under way.
    private struct Running {
        /// What is wanted of it, in order.
        var orders: AsyncStream<(Order, any Sendable)>.Continuation
        /// Does the job.
        var work: Task<Void, Never>
        /// Carries out the orders.
        var conductor: Task<Void, Never>
        /// Whether a person waits for it.
        var isWanted: Bool
        /// Whether it was last told to be quiet.
        var isQuiet = false
        /// Counts it as work of the service, unless it stands still.
        var token: (any Sendable)?
    }
    private enum Order: Sendable {
        case pause(Gate)
        case resume
        case stop
    }

    private var scheduler: Scheduler
    private let runner: any JobRunner
    private let source: any ConditionSource
    private let now: @Sendable () -> Double
    private let clock: any Clock<Duration>
    private let outlets: IdleScheduler.Outlets
    private let post: @Sendable (IdleScheduler.Input) -> Void
    private var running: [ScheduledJob.Key: Running] = [:]
    private var sensing = SchedulerAction.Sensing.off
    private var timer: Task<Void, Never>?
    /// The timer of the next look ahead, and for when it is.
    private var look: (moment: Double, timer: Task<Void, Never>)?
    /// The look ahead under way.
    private var looking: Task<Void, Never>?

    /// The longest that is slept at once: the clock on the wall may be set meanwhile.
    private static let longestSleep = 3600.0

    init(
        _ scheduler: Scheduler, runner: any JobRunner, source: any ConditionSource,
        now: @escaping @Sendable () -> Double,
        clock: any Clock<Duration>, outlets: IdleScheduler.Outlets,
        post: @escaping @Sendable (IdleScheduler.Input) -> Void
    ) {
        self.scheduler = scheduler
        self.runner = runner
        self.source = source
        self.now = now
        self.clock = clock
        self.outlets = outlets
        self.post = post
    }

    func take(_ input: IdleScheduler.Input) async {
        switch input {
        case .event(let event):
            handle(event)
        case .jobsChanged: await takeJobs()
        case .lookAhead:
            let moment = look?.moment ?? now()
            look = nil
            // It sleeps no longer than an hour at once, so this may be before the time.
            if moment <= now() { beginLook() } else { await takeJobs() }
        case .hasLooked:
            looking = nil
            await takeJobs()
        case .giveWay: for key in running.keys.sorted() { stop(key) }
        case .ended(let key, let outcome): await noteEnd(of: key, outcome)
        // Now rather than at the next look, which is to find nothing that has to be kept.
        case .standsStill(let key): if running[key] != nil { await noteUse(of: key) }
        case .due:
            timer = nil
            await measure()
            if sensing != .off { handle(.conditions(source.look())) }
            handle(.tick)
        case .question(let answer): answer(scheduler)
        }
    }

    /// Stops all that is under way, and waits for its end.
    func end() async {
        timer?.cancel()
        look?.timer.cancel()
        for key in running.keys.sorted() { stop(key) }
        for one in running.values { await one.work.value }
        await looking?.value
        for (key, one) in running {
            await noteUse(of: key)
            outlets.ended(key, scheduler.usage)
            one.orders.finish()
        }
        running = [:]
        noteWorking()
        // What was used has the scheduler think about what comes next.
        timer?.cancel()
    }

    /// Looks beside everything else: it takes as long as the index is busy, and whoever comes back does not wait for that.
    private func beginLook() {
        guard looking == nil else { return }
        let token = outlets.onWork()
        looking = Task { [runner, post] in
            await runner.lookAhead()
            post(.hasLooked)
            withExtendedLifetime(token) {}
        }
    }

    private func takeJobs() async {
        let jobs = await runner.jobs()
        handle(.jobs(jobs))
        outlets.owing(jobs.contains { $0.refusal == nil })
        scheduleLook(await runner.nextLook())
    }

    private func handle(_ event: SchedulerEvent) {
        let before = scheduler.cancellations
        for action in scheduler.handle(event, at: now()) { carryOut(action) }
        noteWanted()
        // Those that are over are dropped, which need not be kept.
        switch event {
        case .cancel, .runNow, .ended:
            if scheduler.cancellations != before { outlets.cancelled(scheduler.cancellations) }
        default: break
        }
    }

    private func carryOut(_ action: SchedulerAction) {
        switch action {
        case .start(let key): start(key)
        case .pause(let key, let gate):
            order(.pause(gate), key)
            running[key]?.isQuiet = true
            running[key]?.token = nil
            noteWorking()
        case .resume(let key):
            if running[key] != nil { running[key]?.token = outlets.onWork() }
            running[key]?.isQuiet = false
            noteWorking()
            order(.resume, key)
        case .stop(let key, _): stop(key)
        case .wake(let moment): wake(at: moment)
        case .sense(let mode):
            sensing = mode
            source.sense(mode)
            // What was known is from before nobody watched.
            if mode != .off { post(.event(.conditions(source.look()))) }
        case .note(let entry): outlets.note(entry)
        }
    }

    private func wake(at moment: Double?) {
        timer?.cancel()
        timer = nil
        guard let moment else { return }
        timer = sleep(until: moment, then: .due)
    }

    private func scheduleLook(_ moment: Double?) {
        guard moment != look?.moment else { return }
        look?.timer.cancel()
        look = moment.map { ($0, sleep(until: $0, then: .lookAhead)) }
    }

    private func sleep(until moment: Double, then input: IdleScheduler.Input) -> Task<Void, Never> {
        let wait = min(max(0, moment - now()), Self.longestSleep)
        return clock.timer(after: .seconds(wait)) { [post] in post(input) }
    }

    // MARK: Jobs

    private func start(_ key: ScheduledJob.Key) {
        guard running[key] == nil else { return }
        let isWanted = scheduler.isUnderWayForPerson(key)
        let (orders, continuation) = AsyncStream.makeStream(of: (Order, any Sendable).self)
        let work = Task { [runner, post] in
            let outcome = await runner.run(key, isWanted: isWanted)
            continuation.finish()
            post(.ended(key, outcome))
        }
        let conductor = Task { [runner, post] in
            for await (order, token) in orders {
                switch order {
                case .pause(let gate):
                    await runner.pause(key, because: gate)
                    post(.standsStill(key))
                case .resume: await runner.resume(key)
                case .stop:
                    await runner.stop(key)
                    work.cancel()
                }
                withExtendedLifetime(token) {}
            }
        }
        running[key] = Running(
            orders: continuation, work: work, conductor: conductor, isWanted: isWanted, token: outlets.onWork())
        noteWorking()
    }

    /// Until it has ended it is work of the service, though it stood still.
    private func stop(_ key: ScheduledJob.Key) {
        if running[key] != nil { running[key]?.token = outlets.onWork() }
        order(.stop, key)
    }

    /// A person may want what was begun in the background.
    private func noteWanted() {
        let wanted = running.keys.filter { running[$0]?.isWanted == false && scheduler.isUnderWayForPerson($0) }
        guard !wanted.isEmpty else { return }
        for key in wanted { running[key]?.isWanted = true }
        noteWorking()
    }

    private func noteWorking() { outlets.working(running.values.contains { !$0.isWanted && !$0.isQuiet }) }

    /// Until it is carried out it counts as work.
    private func order(_ order: Order, _ key: ScheduledJob.Key) {
        guard let one = running[key] else { return }
        one.orders.yield((order, outlets.onWork()))
    }

    private func noteEnd(of key: ScheduledJob.Key, _ outcome: SchedulerEvent.Outcome) async {
        guard let one = running.removeValue(forKey: key) else { return }
        await one.conductor.value
        noteWorking()
        // It may have ended before it was paused; whoever does the next job must find nothing paused.
        if one.isQuiet { await runner.resume(key) }
        await noteUse(of: key)
        handle(.ended(key, outcome))
        outlets.ended(key, scheduler.usage)
        await takeJobs()
    }

    private func measure() async {
        for key in running.keys.sorted() { await noteUse(of: key) }
    }

    private func noteUse(of key: ScheduledJob.Key) async {
        guard let usage = await runner.used(key), usage != Usage() else { return }
        handle(.used(key, usage))
        outlets.used(key, usage, scheduler.usage)
    }
}
