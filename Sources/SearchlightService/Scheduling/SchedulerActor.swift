// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// Processes the inputs to an ``IdleScheduler``. A single task uses it, so that inputs are handled
/// in order. A job is never resumed before it was paused, and a decision always uses the latest
/// input.
actor SchedulerActor {
    /// A running job.
    private struct Running {
        /// The queue of orders for the job.
        var orders: AsyncStream<(Order, any Sendable)>.Continuation
        /// The task that runs the job.
        var work: Task<Void, Never>
        /// The task that executes the orders.
        var conductor: Task<Void, Never>
        /// `true` if the user requested the job.
        var isWanted: Bool
        /// `true` if the last order was a pause.
        var isQuiet = false
        /// Counts the job as work for the service, unless it is paused.
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
    /// The timer for the next look-ahead, and its time.
    private var look: (moment: Double, timer: Task<Void, Never>)?
    private var looking: Task<Void, Never>?

    /// The maximum duration of a timer in seconds, since the wall clock may be set while it runs.
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
            // A timer runs for at most an hour, so it may expire before the time of the look-ahead.
            if moment <= now() { beginLook() } else { await takeJobs() }
        case .hasLooked:
            looking = nil
            await takeJobs()
        case .giveWay: for key in running.keys.sorted() { stop(key) }
        case .ended(let key, let outcome): await noteEnd(of: key, outcome)
        // Usage is recorded now rather than at the next timer, so that the timer has nothing left
        // to record.
        case .standsStill(let key): if running[key] != nil { await noteUse(of: key) }
        case .due:
            timer = nil
            await measure()
            if sensing != .off { handle(.conditions(source.look())) }
            handle(.tick)
        case .question(let answer): answer(scheduler)
        }
    }

    /// Stops all running jobs and waits until they have ended.
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
        // Recording the usage made the scheduler arm a timer again.
        timer?.cancel()
    }

    /// Runs a look-ahead in a separate task. It may wait for a busy index, and other inputs, such
    /// as user activity, must not wait.
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
        // Expired cancellations do not have to be written.
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
            // The known conditions date from before the sensors were active.
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

    /// Counts the job as work until it has ended, even if it was paused.
    private func stop(_ key: ScheduledJob.Key) {
        if running[key] != nil { running[key]?.token = outlets.onWork() }
        order(.stop, key)
    }

    /// Marks the background jobs that the user has now requested.
    private func noteWanted() {
        let wanted = running.keys.filter { running[$0]?.isWanted == false && scheduler.isUnderWayForPerson($0) }
        guard !wanted.isEmpty else { return }
        for key in wanted { running[key]?.isWanted = true }
        noteWorking()
    }

    private func noteWorking() { outlets.working(running.values.contains { !$0.isWanted && !$0.isQuiet }) }

    /// Queues an order, which counts as work until it is executed.
    private func order(_ order: Order, _ key: ScheduledJob.Key) {
        guard let one = running[key] else { return }
        one.orders.yield((order, outlets.onWork()))
    }

    private func noteEnd(of key: ScheduledJob.Key, _ outcome: SchedulerEvent.Outcome) async {
        guard let one = running.removeValue(forKey: key) else { return }
        await one.conductor.value
        noteWorking()
        // The job may have ended before its pause took effect; the next job must not find its
        // bundle paused.
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
