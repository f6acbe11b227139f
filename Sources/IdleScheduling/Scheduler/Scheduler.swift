// SPDX-License-Identifier: Apache-2.0

/// The scheduler of pending jobs. A pure value type: it receives events and returns the actions to
/// take. docs/SCHEDULING.md describes the rules.
///
/// At most one ordinary job runs at a time, alongside one fresh job of another bundle. Equal events
/// yield equal actions.
///
/// Its only clock is the times of the events (seconds since 2001-01-01 UTC), which may jump. If
/// they jump back, the times of running jobs are shifted, so that no wait gets longer. If they jump
/// ahead, the time in between is considered to have passed.
public struct Scheduler: Sendable {
    /// A pending job with its scheduling state.
    struct PendingJob: Sendable {
        var job: ScheduledJob
        /// The gates in the last logged wait.
        var noted: GateSet?
        /// The number of stops since the job was last completed.
        var stops = 0
        /// The earliest start after the job ended without completing, regardless of the job list.
        var retryAt: Double?
        /// `true` if the job has ended and the next job list determines whether it stays pending.
        var isAwaitingList = false

        init(_ job: ScheduledJob) { self.job = job }
    }

    /// A slot in which a job can run.
    package enum Slot: CaseIterable, Sendable {
        /// The slot for one job that is subject to all gates.
        case ordinary
        /// The slot for fresh work, alongside the ordinary job.
        case fresh
    }

    /// A job that has started but not ended.
    package struct Run: Sendable {
        enum Phase: Hashable, Sendable { case running, paused, stopping }

        var pending: PendingJob
        var began: Double
        var phase = Phase.running
        /// The time at which the current phase began.
        var since: Double
        /// The latest time at which the running job is evaluated again.
        var sliceEnd = 0.0
        /// The running time before the current phase, excluding pauses.
        var ran = 0.0
        /// `true` if the user wants the job now.
        package var isUserRequested = false
        /// `true` if the last job list contained the job. Otherwise, nothing stays pending when it
        /// ends.
        var isListed = true
        package var relaxed: GateSet = []
        /// The earliest time at which a paused job resumes.
        var quietUntil = -Double.infinity
        /// The last logged decision.
        package var noted: (kind: JournalEntry.Kind, gates: GateSet)
        /// The reported usage; `nil` if none was reported.
        var usage: Usage?

        package var key: ScheduledJob.Key { pending.job.key }

        /// Shifts all times after the clock was set back.
        mutating func move(by back: Double, to moment: Double) {
            pending.job.requested = min(pending.job.requested, moment)
            began += back
            since += back
            sliceEnd += back
            quietUntil += back
        }
    }

    /// The period in which jobs that pass gates get one slice.
    struct RelaxedWindow: Sendable {
        /// The end of the current slice.
        var end = -Double.infinity
        /// The start of the next slice.
        var next = -Double.infinity
    }

    /// The constants of the rules.
    public let policy: SchedulingPolicy
    /// The recent usage of each bundle.
    public internal(set) var usage: UsageHistory
    /// The jobs that the user cancelled, with the time until which each does not start. Entries are
    /// kept even if no list contains the job, because lists are empty during exclusive access to
    /// the store.
    public internal(set) var cancellations: [ScheduledJob.Key: Double]

    var now: Double
    var machine = MachineGates()
    /// The pending jobs that are not running, sorted by age and key.
    var pending: [PendingJob] = []
    /// The ordinary job, or a job that the user requested.
    package internal(set) var run: Run?
    /// The fresh job.
    package internal(set) var fresh: Run?
    var window = RelaxedWindow()
    var freshBudget = FreshBudget()
    var personsWaiting = 0
    /// The bundles that the user has throttled.
    var throttled: Set<String> = []
    /// The jobs that the user wants to run now.
    var wanted: Set<ScheduledJob.Key> = []
    /// The time at which conditions were last received.
    var heard: Double?
    /// The time since which conditions have been awaited; `nil` if the known conditions are
    /// current.
    var unwatchedSince: Double?
    /// The time at which a job last ran.
    var lastRan = -Double.infinity
    /// The last requested sensing mode. `wake` is the tick that was requested last.
    var sensing = SchedulerAction.Sensing.off
    var wake: Double?
    /// The tick that would be requested without fresh work.
    var look: Double?

    /// The maximum number of jobs. The youngest jobs in excess wait until others are done.
    public static let maximumJobs = 4096
    /// The largest absolute time (3,000 years). Up to it, adding a second still changes a `Double`.
    static let farthestMoment = 1e11

    /// Creates a scheduler that has not received any events.
    ///
    /// - Parameters:
    ///   - usage: The stored usage.
    ///   - cancellations: The stored cancellations. Each lasts at most
    ///     ``SchedulingPolicy/cancelPause`` from now, because the clock may have been set back.
    ///   - moment: The current time, in seconds since 2001-01-01 UTC.
    public init(
        policy: SchedulingPolicy = SchedulingPolicy(), usage: UsageHistory = UsageHistory(),
        cancellations: [ScheduledJob.Key: Double] = [:], now moment: Double
    ) {
        self.policy = policy
        self.usage = usage
        let now = moment.isFinite ? moment.clamped(to: -Self.farthestMoment...Self.farthestMoment) : 0
        self.now = now
        self.usage.settle(now: now)
        self.cancellations =
            cancellations.count > Self.maximumJobs
            ? [:]
            : cancellations
                .filter { $0.value > now }.mapValues { min($0, now + policy.cancelPause) }
    }

    /// The started jobs, including paused and stopping jobs.
    public var jobsUnderWay: [ScheduledJob.Key] { [run, fresh].compactMap { $0?.key } }

    /// Returns `true` if the job has started and the user wants it.
    public func isUnderWayForPerson(_ key: ScheduledJob.Key) -> Bool { run(of: key)?.isUserRequested == true }

    /// Returns a job that has started.
    package func run(of key: ScheduledJob.Key) -> Run? { slot(of: key).flatMap { self[$0] } }

    /// Returns the slot of a job that has started.
    func slot(of key: ScheduledJob.Key) -> Slot? { Slot.allCases.first { self[$0]?.key == key } }

    subscript(slot: Slot) -> Run? {
        get { slot == .ordinary ? run : fresh }
        set { if slot == .ordinary { run = newValue } else { fresh = newValue } }
    }

    /// Returns all pending jobs: started jobs first, then by descending score.
    public func jobsOwed(at moment: Double) -> [ScheduledJob] {
        [run, fresh].compactMap { $0?.pending.job } + pending.sorted { precedes($0, $1) }.map(\.job)
    }

    /// Handles an event.
    ///
    /// - Parameter moment: The time of the event, in seconds since 2001-01-01 UTC. A value that is
    ///   not finite is replaced with the time of the last event.
    /// - Returns: The actions to take now, in this order.
    public mutating func handle(_ event: SchedulerEvent, at moment: Double) -> [SchedulerAction] {
        move(to: moment)
        var actions: [SchedulerAction] = []
        take(event, &actions)
        watchAgain()
        decide(&actions)
        noteWaits(&actions)
        tell(event, &actions)
        return actions
    }

    // MARK: Time

    /// Advances to a time. Shifts stored times if the clock was set back.
    mutating func move(to moment: Double) {
        guard moment.isFinite else { return }
        let moment = moment.clamped(to: -Self.farthestMoment...Self.farthestMoment)
        defer { now = moment }
        let back = moment - now
        guard back < 0 else { return }
        window.end += back
        window.next += back
        lastRan += back
        heard? += back
        unwatchedSince? += back
        for index in pending.indices {
            pending[index].retryAt? += back
            pending[index].job.requested = min(pending[index].job.requested, moment)
        }
        cancellations = cancellations.mapValues { $0 + back }
        for slot in Slot.allCases { self[slot]?.move(by: back, to: moment) }
        freshBudget.move(by: back)
        usage.settle(now: moment)
    }

    // MARK: Events

    private mutating func take(_ event: SchedulerEvent, _ actions: inout [SchedulerAction]) {
        switch event {
        case .conditions(let conditions):
            let isRunning = Slot.allCases.contains { self[$0]?.phase == .running }
            let sawOwnWork = isRunning || now - lastRan < policy.ioPressureOwn
            machine.take(conditions, policy, sawOwnWork: sawOwnWork)
            heard = now
            unwatchedSince = nil
        case .jobs(let jobs): take(jobs)
        case .used(let key, let usage): take(usage, of: key)
        case .ended(let key, let outcome): take(outcome, of: key, &actions)
        case .personsWaiting(let count): personsWaiting = max(0, count)
        case .throttled(let bundle, let isThrottled):
            if !isThrottled {
                throttled.remove(bundle)
            } else if throttled.count < Self.maximumJobs {
                throttled.insert(bundle)
            }
        case .runNow(let key): want(key)
        case .cancel(let key): cancel(key, &actions)
        case .tick: break
        }
    }

    private mutating func take(_ jobs: [ScheduledJob]) {
        cancellations = cancellations.filter { $0.value > now }
        var known = Dictionary(pending.map { ($0.job.key, $0) }, uniquingKeysWith: { one, _ in one })
        var keys: Set<ScheduledJob.Key> = []
        pending = []
        let jobs = jobs.map { job in
            let before = (run(of: job.key)?.pending ?? known[job.key])?.job
            return job.sane.aging(since: before, now)
        }
        for job in jobs.sorted(by: { ($0.requested, $0.key) < ($1.requested, $1.key) })
        where keys.count < Self.maximumJobs && keys.insert(job.key).inserted {
            if let slot = slot(of: job.key) {
                self[slot]?.pending.job = job
                continue
            }
            var one = known.removeValue(forKey: job.key) ?? PendingJob(job)
            one.job = job
            one.isAwaitingList = false
            pending.append(one)
        }
        for slot in Slot.allCases {
            if let key = self[slot]?.key { self[slot]?.isListed = keys.contains(key) }
        }
        wanted.formIntersection(keys)
    }

    private mutating func take(_ more: Usage, of key: ScheduledJob.Key) {
        guard let slot = slot(of: key) else { return }
        let all = (self[slot]?.usage ?? Usage()) + more.sane
        self[slot]?.usage = all
        if slot == .fresh, !passedByFresh.isEmpty { freshBudget.take(more.sane.cpu, policy, at: now) }
        if let bundle = key.bundle { usage.add(more, of: bundle, at: now) }
    }

    private mutating func want(_ key: ScheduledJob.Key) {
        guard wanted.count < Self.maximumJobs else { return }
        wanted.insert(key)
        cancellations[key] = nil
    }

    private mutating func cancel(_ key: ScheduledJob.Key, _ actions: inout [SchedulerAction]) {
        wanted.remove(key)
        let slot = slot(of: key)
        guard slot != nil || pending.contains(where: { $0.job.key == key }) else { return }
        if cancellations[key] != nil || cancellations.count < Self.maximumJobs {
            cancellations[key] = now + policy.cancelPause
        }
        guard let slot else { return }
        self[slot]?.isUserRequested = false
        stop(.cancelled, slot, &actions)
    }

    private mutating func take(
        _ outcome: SchedulerEvent.Outcome, of key: ScheduledJob.Key, _ actions: inout [SchedulerAction]
    ) {
        guard let slot = slot(of: key), let ended = self[slot] else { return }
        if ended.phase == .running { lastRan = now }
        self[slot] = nil
        var pending = ended.pending
        pending.noted = nil
        var entry = JournalEntry(moment: now, kind: .done, job: key, score: policy.score(of: pending.job, at: now))
        entry.usage = ended.usage
        switch outcome {
        case .done:
            pending.stops = 0
            cancellations[key] = nil
            pending.isAwaitingList = true
        case .failed(let reason):
            entry.kind = .fail
            entry.reason = String(decoding: reason.utf8.prefix(2000), as: UTF8.self)
            pending.isAwaitingList = true
            pending.retryAt = now + Backoff.firstDelay
        case .stopped:
            // A requested stop was already logged when it was requested.
            if ended.phase == .stopping {
                if ended.isListed { self.pending.insertInOrder(pending) }
                return
            }
            entry.kind = .stop
            pending.retryAt = now + Backoff.firstDelay
        }
        wanted.remove(key)
        if ended.isListed { self.pending.insertInOrder(pending) }
        actions.append(.note(entry))
    }
}

extension [Scheduler.PendingJob] {
    /// Inserts a job at its position by age and key.
    fileprivate mutating func insertInOrder(_ one: Element) {
        let place = firstIndex { ($0.job.requested, $0.job.key) > (one.job.requested, one.job.key) } ?? endIndex
        insert(one, at: place)
    }
}

extension ScheduledJob {
    /// Returns the job with a request time that is not in the future. A future time results from a
    /// clock that was set back; the job's age would stay 0 until that time.
    ///
    /// - Parameter before: The job as previously known.
    fileprivate func aging(since before: ScheduledJob?, _ now: Double) -> ScheduledJob {
        guard requested > now else { return self }
        var job = self
        job.requested = min(before?.requested ?? now, now)
        return job
    }

    /// The job with infinite and invalid numbers replaced.
    fileprivate var sane: ScheduledJob {
        let far = -Scheduler.farthestMoment...Scheduler.farthestMoment
        var job = self
        job.requested = requested.isFinite ? requested.clamped(to: far) : 0
        job.deadline = deadline?.finite?.clamped(to: far)
        job.notBefore = notBefore?.finite?.clamped(to: far)
        if case .files = key {} else { job.isFresh = false }
        return job
    }
}
