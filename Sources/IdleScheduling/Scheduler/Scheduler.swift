// SPDX-License-Identifier: Apache-2.0

/// Decides which of the jobs that are owed runs when. A pure value: it is told what happens, and answers with what is to be
/// done; docs/SCHEDULING.md has the rules.
///
/// At most one job is under way at a time, and beside it one that is fresh, of another bundle. Equal events give equal actions. It knows no clock but the moments of the events
/// (seconds since 2001-01-01 UTC): they may jump. What was begun is carried along when they go back, so nothing lasts longer
/// for it; when they go ahead, time has passed.
public struct Scheduler: Sendable {
    /// A job that is owed, and what is remembered of it while it is.
    struct Owed: Sendable {
        var job: ScheduledJob
        /// The gates for which it was last said to wait.
        var noted: GateSet?
        /// How often it was stopped since it was last done.
        var stops = 0
        /// It ended without being done; not before this moment, whatever the list says.
        var retryAt: Double?
        /// Whether it has ended, and the next list of jobs will say what becomes of it.
        var isAwaitingList = false

        init(_ job: ScheduledJob) { self.job = job }
    }

    /// Where a job is under way.
    package enum Slot: CaseIterable, Sendable {
        /// The one job that the gates are for.
        case ordinary
        /// The fresh job beside it.
        case fresh
    }

    /// A job under way.
    package struct Run: Sendable {
        enum Phase: Hashable, Sendable { case running, paused, stopping }

        var owed: Owed
        var began: Double
        var phase = Phase.running
        /// Since when it is in this phase.
        var since: Double
        /// When it is judged anew at the latest, while it runs.
        var sliceEnd = 0.0
        /// How long it ran, without pauses, before this phase.
        var ran = 0.0
        /// Whether a person wants it now.
        package var isPersons = false
        /// Whether the last list had it; if not, nothing is owed when it ends.
        var isListed = true
        package var relaxed: GateSet = []
        /// Not to go on before, once it is quiet.
        var quietUntil = -Double.infinity
        /// What was last noted of it.
        package var noted: (kind: JournalEntry.Kind, gates: GateSet)
        /// What it has used, if anything was told.
        var usage: Usage?

        package var key: ScheduledJob.Key { owed.job.key }

        /// Goes along with a clock that was set back.
        mutating func move(by back: Double, to moment: Double) {
            owed.job.requested = min(owed.job.requested, moment)
            began += back
            since += back
            sliceEnd += back
            quietUntil += back
        }
    }

    /// The minute in which relaxed work gets its slice.
    struct RelaxedWindow: Sendable {
        /// Such work may be done until then…
        var end = -Double.infinity
        /// …and again from then on.
        var next = -Double.infinity
    }

    /// The rules' constants.
    public let policy: SchedulingPolicy
    /// What bundles have used lately.
    public internal(set) var usage: UsageHistory
    /// The jobs that a person has cancelled, and until when each is left alone. One stays here while no list has it: none
    /// does while the store is lent.
    public internal(set) var cancellations: [ScheduledJob.Key: Double]

    var now: Double
    var machine = MachineGates()
    /// The jobs that are owed and not under way, sorted by age and key.
    var owed: [Owed] = []
    /// The job under way that is not fresh, or that a person wants.
    package internal(set) var run: Run?
    /// The fresh job under way.
    package internal(set) var fresh: Run?
    var window = RelaxedWindow()
    var freshBudget = FreshBudget()
    var personsWaiting = 0
    /// The bundles that a person has throttled.
    var throttled: Set<String> = []
    /// The jobs that a person wants now.
    var wanted: Set<ScheduledJob.Key> = []
    /// When the last conditions came.
    var heard: Double?
    /// Since when conditions are waited for, if those that are known are old.
    var unwatchedSince: Double?
    /// When a job last ran.
    var lastRan = -Double.infinity
    /// What was said last.
    var sensing = SchedulerAction.Sensing.off
    var wake: Double?
    /// The part of it that is for other than fresh work.
    var look: Double?

    /// More jobs than this are not looked at: the youngest wait until others are done.
    public static let maximumJobs = 4096
    /// A moment beyond it (3,000 years) is taken for it, so that a second more is still another moment.
    static let farthestMoment = 1e11

    /// Creates a scheduler to which nothing has happened.
    ///
    /// - Parameters:
    ///   - usage: What was kept of it.
    ///   - cancellations: What was kept of them. Of one that lasts longer than any from now on, only so much is left: the clock
    ///     was set back.
    ///   - moment: The present, in seconds since 2001-01-01 UTC.
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

    /// The jobs under way, also while they are quiet or about to end.
    public var jobsUnderWay: [ScheduledJob.Key] { [run, fresh].compactMap { $0?.key } }

    /// Whether a job is under way for which a person waits.
    public func isUnderWayForPerson(_ key: ScheduledJob.Key) -> Bool { run(of: key)?.isPersons == true }

    /// A job, if it is under way.
    package func run(of key: ScheduledJob.Key) -> Run? { slot(of: key).flatMap { self[$0] } }

    /// Where a job is under way.
    func slot(of key: ScheduledJob.Key) -> Slot? { Slot.allCases.first { self[$0]?.key == key } }

    subscript(slot: Slot) -> Run? {
        get { slot == .ordinary ? run : fresh }
        set { if slot == .ordinary { run = newValue } else { fresh = newValue } }
    }

    /// All jobs that are owed, what is under way first, then those that press more.
    public func jobsOwed(at moment: Double) -> [ScheduledJob] {
        [run, fresh].compactMap { $0?.owed.job } + owed.sorted { precedes($0, $1) }.map(\.job)
    }

    /// Takes in what has happened.
    ///
    /// - Parameter moment: When, in seconds since 2001-01-01 UTC. What is no number counts as the last moment.
    /// - Returns: What is to be done now, in this order.
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

    /// Goes to a moment; when the clock was set back, takes along what was begun.
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
        for index in owed.indices {
            owed[index].retryAt? += back
            owed[index].job.requested = min(owed[index].job.requested, moment)
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
        var known = Dictionary(owed.map { ($0.job.key, $0) }, uniquingKeysWith: { one, _ in one })
        var keys: Set<ScheduledJob.Key> = []
        owed = []
        let jobs = jobs.map { job in
            let before = (run(of: job.key)?.owed ?? known[job.key])?.job
            return job.sane.aging(since: before, now)
        }
        for job in jobs.sorted(by: { ($0.requested, $0.key) < ($1.requested, $1.key) })
        where keys.count < Self.maximumJobs && keys.insert(job.key).inserted {
            if let slot = slot(of: job.key) {
                self[slot]?.owed.job = job
                continue
            }
            var one = known.removeValue(forKey: job.key) ?? Owed(job)
            one.job = job
            one.isAwaitingList = false
            owed.append(one)
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
        guard slot != nil || owed.contains(where: { $0.job.key == key }) else { return }
        if cancellations[key] != nil || cancellations.count < Self.maximumJobs {
            cancellations[key] = now + policy.cancelPause
        }
        guard let slot else { return }
        self[slot]?.isPersons = false
        stop(.cancelled, slot, &actions)
    }

    private mutating func take(
        _ outcome: SchedulerEvent.Outcome, of key: ScheduledJob.Key, _ actions: inout [SchedulerAction]
    ) {
        guard let slot = slot(of: key), let ended = self[slot] else { return }
        if ended.phase == .running { lastRan = now }
        self[slot] = nil
        var owed = ended.owed
        owed.noted = nil
        var entry = JournalEntry(moment: now, kind: .done, job: key, score: policy.score(of: owed.job, at: now))
        entry.usage = ended.usage
        switch outcome {
        case .done:
            owed.stops = 0
            cancellations[key] = nil
            owed.isAwaitingList = true
        case .failed(let reason):
            entry.kind = .fail
            entry.reason = String(decoding: reason.utf8.prefix(2000), as: UTF8.self)
            owed.isAwaitingList = true
            owed.retryAt = now + Backoff.firstDelay
        case .stopped:
            // It was noted when it was asked for; unless it was not.
            if ended.phase == .stopping {
                if ended.isListed { self.owed.insertInOrder(owed) }
                return
            }
            entry.kind = .stop
            owed.retryAt = now + Backoff.firstDelay
        }
        wanted.remove(key)
        if ended.isListed { self.owed.insertInOrder(owed) }
        actions.append(.note(entry))
    }
}

extension [Scheduler.Owed] {
    /// Puts a job back in its place by age and key.
    fileprivate mutating func insertInOrder(_ one: Element) {
        let place = firstIndex { ($0.job.requested, $0.job.key) > (one.job.requested, one.job.key) } ?? endIndex
        insert(one, at: place)
    }
}

extension ScheduledJob {
    /// The same with an age that grows: what seems to be asked for in time to come was so under a clock that was set back
    /// since, and would have none until that moment.
    ///
    /// - Parameter before: The job as it was known.
    fileprivate func aging(since before: ScheduledJob?, _ now: Double) -> ScheduledJob {
        guard requested > now else { return self }
        var job = self
        job.requested = min(before?.requested ?? now, now)
        return job
    }

    /// The same without numbers that are none.
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
