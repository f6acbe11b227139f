// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// Replays a trace through the real ``Scheduler`` on a virtual clock, with simulated workers.
/// Deterministic: the same trace yields the same replay, byte for byte.
///
/// The scheduler receives the same events as in the service:
///
/// - Presence, locks, sleep, power and inhibitors: immediately.
/// - Load, pressure, heat and disks: when the scheduler reads them, at ticks while a job waits, and
///   twice a second while a job runs. If only fresh work runs, at requested ticks.
/// - No conditions at all while no job is pending.
///
/// Searchlight's own load, which the sensors subtract, and its own pressure are not simulated. No
/// ticks arrive while the machine sleeps.
public struct SchedulerSimulator: Sendable {
    private let trace: Trace
    private var scheduler: Scheduler
    private var recorder: ReplayRecorder

    private var now: Double
    /// The index of the next event in the trace.
    private var place = 0
    /// The current conditions. `told` contains the conditions that the scheduler last received.
    private var conditions = Conditions()
    private var told: Conditions?
    private var sensing = SchedulerAction.Sensing.off
    private var wake: Double?
    private var work: [ScheduledJob.Key: SimulatedWork] = [:]
    private var workers: [ScheduledJob.Key: SimulatedWorker] = [:]
    /// The events for the scheduler at the current time.
    private var pending: [SchedulerEvent] = []
    /// The last time at which a job ran, to attribute pressure to it.
    private var lastRan = -Double.infinity

    /// Creates a simulator for a trace.
    public init(_ trace: Trace) {
        self.trace = trace
        scheduler = Scheduler(policy: trace.policy, now: trace.start)
        recorder = ReplayRecorder(trace)
        now = trace.start
    }

    /// Replays a trace.
    public static func replay(_ trace: Trace) -> Replay {
        var machine = SchedulerSimulator(trace)
        return machine.run()
    }

    private mutating func run() -> Replay {
        while step() {}
        settle()
        report()
        return recorder.finish(at: now)
    }

    // MARK: Time

    /// Advances to the time of the next event, and handles one event. Returns `false` at the end of
    /// the trace.
    private mutating func step() -> Bool {
        let next = nextMoment()
        guard next <= trace.end else {
            now = trace.end
            return false
        }
        now = max(now, next)
        settle()
        recorder.judge(at: now)
        if place < trace.events.count, trace.events[place].moment <= now {
            place += 1
            return happen(trace.events[place - 1].happening)
        }
        if let key = inOrder.first(where: { $0.isWorking && (work[$0.key]?.secondsLeft ?? .infinity) <= Self.instant })?
            .key
        {
            endWork(key)
        } else if let worker = inOrder.first(where: { ($0.quiet ?? .infinity) <= now }) {
            becomeQuiet(worker)
        } else if let wake = dueTick, wake <= now {
            self.wake = nil
            recorder.noteTick()
            if nextLook == nil { report() }
            look()
            tell(.tick)
        } else if let next = nextLook, next <= now {
            lastLook = now
            look()
            report()
        }
        return true
    }

    /// The tolerance for rounding errors, in seconds.
    private static let instant = 1e-6

    private var lastLook = -Double.infinity

    /// The time at which the next tick is due; `nil` while the machine sleeps.
    private var dueTick: Double? { conditions.isAsleep ? nil : wake }

    /// The time of the next sensor reading while a job other than fresh work runs.
    private var nextLook: Double? {
        let isWorking = workers.values.contains { $0.isWorking && $0.key != scheduler.fresh?.key }
        return sensing == .running || isWorking ? lastLook + SchedulerAction.Sensing.lookInterval : nil
    }

    private var inOrder: [SimulatedWorker] { workers.values.sorted { $0.key < $1.key } }

    private func nextMoment() -> Double {
        var next = place < trace.events.count ? trace.events[place].moment : Double.infinity
        for worker in workers.values {
            if worker.isWorking, let left = work[worker.key]?.secondsLeft { next = min(next, worker.settled + left) }
            if let quiet = worker.quiet { next = min(next, quiet) }
        }
        for moment in [dueTick, nextLook, recorder.nextChange(after: now)] { next = min(next, moment ?? .infinity) }
        return next
    }

    // MARK: The trace

    /// - Returns: `true` if the trace is not at its end.
    private mutating func happen(_ happening: Trace.Happening) -> Bool {
        switch happening {
        case .conditions(let new):
            let old = conditions
            conditions = new
            let sawOwnWork = workers.values.contains(where: \.isWorking) || now - lastRan < trace.policy.ioPressureOwn
            recorder.take(new, at: now, sawOwnWork: sawOwnWork)
            if sensing != .off, new.tellsByItself(after: old) { tellConditions() }
        case .job(let job): owe(job)
        case .personsWaiting(let count):
            recorder.take(personsWaiting: count, at: now)
            tell(.personsWaiting(count))
        case .throttled(let bundle, let isThrottled):
            recorder.take(throttled: bundle, isThrottled, at: now)
            tell(.throttled(bundle: bundle, isThrottled))
        case .runNow(let key):
            if work[key] != nil { tell(.runNow(key)) }
        case .cancel(let key):
            tell(.cancel(key))
        case .end: return false
        }
        return true
    }

    private mutating func owe(_ job: TracedJob) {
        let requested = min(job.requested ?? now, now)
        recorder.noteRequest(job.key, requested: requested)
        if workers[job.key] != nil {
            // The running job may already have processed the newly requested items.
            let first = work[job.key]?.again?.requested ?? requested
            work[job.key]?.again = (job, first)
        } else if work[job.key] != nil {
            work[job.key]?.melt(job)
        } else {
            work[job.key] = SimulatedWork(job, requested: requested)
            recorder.noteOwed(job.key, requested: requested, at: now)
        }
        list()
    }

    private mutating func list() { tell(.jobs(work.values.map(\.scheduled).sorted { $0.key < $1.key })) }

    // MARK: The machine

    private mutating func look() { if sensing != .off, conditions != told { tellConditions() } }

    private mutating func tellConditions() {
        told = conditions
        tell(.conditions(conditions))
    }

    // MARK: The scheduler

    /// Sends an event to the scheduler, and performs the resulting actions.
    private mutating func tell(_ event: SchedulerEvent) {
        pending.append(event)
        // Events that result from an action are sent after the current event.
        guard pending.count == 1 else { return }
        while let event = pending.first {
            for action in scheduler.handle(event, at: now) { perform(action) }
            pending.removeFirst()
        }
        showActivity()
    }

    private mutating func perform(_ action: SchedulerAction) {
        switch action {
        case .start(let key):
            work[key]?.begin()
            workers[key] = SimulatedWorker(key: key, settled: now)
            beginSlice(key)
        case .resume(let key):
            settle()
            workers[key]?.settled = now
            workers[key]?.phase = .running
            beginSlice(key)
        case .pause(let key, _):
            recorder.notePause(key)
            quieten(key) { .quieting(until: $0) }
        case .stop(let key, _):
            recorder.noteStop(key)
            quieten(key) { .stopping(until: $0) }
        case .wake(let moment): wake = moment
        case .sense(let new):
            let old = sensing
            sensing = new
            if old == .off { tellConditions() }
        case .note(let entry): recorder.note(entry)
        }
    }

    private mutating func beginSlice(_ key: ScheduledJob.Key) {
        if scheduler.fresh?.key != key { lastLook = now }
        let isRelaxed = scheduler.run(of: key).map { !$0.relaxed.isEmpty && !$0.isUserRequested } ?? false
        recorder.noteSlice(key, isRelaxed: isRelaxed, at: now)
    }

    /// Records the current activity of each job.
    private mutating func showActivity() {
        for worker in inOrder { showActivity(worker) }
    }

    private mutating func showActivity(_ worker: SimulatedWorker) {
        let run = scheduler.run(of: worker.key)
        switch worker.phase {
        case .running:
            let isWanted = run?.isUserRequested == true
            let passed = run?.relaxed.gates ?? []
            let activity: Replay.Activity =
                if isWanted { .wanted } else if scheduler.fresh?.key == worker.key { .fresh } else {
                    passed.isEmpty ? .running : .relaxed
                }
            recorder.set(worker.key, activity, isWanted ? [] : passed, at: now)
        case .quieting, .stopping: recorder.set(worker.key, .quieting, [], at: now)
        case .paused: recorder.set(worker.key, .paused, run?.noted.gates.gates ?? [], at: now)
        }
    }

    // MARK: The worker

    /// Advances running workers to the current time.
    private mutating func settle() {
        for worker in inOrder where worker.isWorking && now > worker.settled {
            let left = work[worker.key]?.secondsLeft ?? 0
            let passed = now - worker.settled
            work[worker.key]?.run(passed, isAll: passed >= left - Self.instant)
            workers[worker.key]?.settled = now
            lastRan = now
        }
    }

    private mutating func report() { for key in workers.keys.sorted() { report(key) } }

    private mutating func report(_ key: ScheduledJob.Key) {
        guard let usage = work[key]?.report(), usage != Usage() else { return }
        recorder.note(usage, of: key)
        tell(.used(key, usage))
    }

    private mutating func quieten(_ key: ScheduledJob.Key, _ phase: (Double) -> SimulatedWorker.Phase) {
        settle()
        guard var worker = workers[key] else { return }
        let isCooperative = work[worker.key]?.job.isCooperative ?? true
        let delay = isCooperative ? SimulatedWorker.cooperativeDelay : SimulatedWorker.forcedDelay
        // A paused worker stops immediately. A worker that is about to pause keeps its earlier
        // time.
        let until = worker.phase == .paused ? now : min(worker.quiet ?? .infinity, now + delay)
        worker.wasPaused = worker.phase == .paused
        worker.settled = now
        worker.phase = phase(until)
        workers[key] = worker
    }

    private mutating func becomeQuiet(_ quiet: SimulatedWorker) {
        report(quiet.key)
        guard let worker = workers[quiet.key], worker.quiet != nil else { return }
        if !worker.wasPaused { recorder.noteQuiet(quiet.key, at: now) }
        if case .stopping = worker.phase {
            workers[quiet.key] = nil
            recorder.set(quiet.key, .waiting, [], at: now)
            tell(.ended(quiet.key, .stopped))
            leave(quiet.key)
        } else {
            workers[quiet.key]?.phase = .paused
            showActivity()
        }
    }

    /// Ends a run at its completion or failure.
    private mutating func endWork(_ key: ScheduledJob.Key) {
        work[key]?.run(0, isAll: true)
        // The report may cause a pause, but the run is over in any case.
        report(key)
        let isDone = work[key]?.end(at: now) ?? true
        workers[key] = nil
        recorder.noteQuiet(key, at: now)
        if isDone {
            recorder.noteDone(key, items: work[key]?.job.items ?? 0, at: now)
            let again = work[key]?.again
            work[key] = nil
            tell(.ended(key, .done))
            if let again {
                work[key] = SimulatedWork(again.job, requested: again.requested)
                recorder.noteOwed(key, requested: again.requested, at: now)
                recorder.set(key, .waiting, [], at: now)
            }
        } else {
            recorder.noteFailure(key)
            recorder.set(key, .waiting, [], at: now)
            tell(.ended(key, .failed(reason: "the trace makes it fail here")))
            leave(key)
        }
        list()
    }

    /// Merges a request that arrived during a run into the job, once the job has left its worker.
    private mutating func leave(_ key: ScheduledJob.Key) {
        guard workers[key] == nil, let again = work[key]?.again else { return }
        work[key]?.again = nil
        work[key]?.melt(again.job)
        list()
    }
}

extension Conditions {
    /// Returns `true` if a condition changed that sensors report immediately. Other conditions must
    /// be read.
    fileprivate func tellsByItself(after old: Conditions) -> Bool {
        presence != old.presence || isLocked != old.isLocked || isAsleep != old.isAsleep || resumed != old.resumed
            || inhibitors != old.inhibitors || power != old.power || isSavingPower != old.isSavingPower
    }
}
