// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import IdleScheduling
import SearchlightEngine
import Synchronization

/// The service's scheduling: connects the scheduler, the sensors and the stored records, and
/// handles the user's requests.
final class ScheduleHandler: ScheduleService {
    private let core: ServiceCore
    private let now: @Sendable () -> Double
    private let records: ScheduleRecords
    private let log: DecisionLog
    private let source: InhibitedConditions
    private let monitor: ConditionMonitor?
    private let scheduler: IdleScheduler
    private let priority: SessionPriority?
    /// The throttled bundles that the scheduler knows about.
    private let throttled = Mutex<Set<String>>([])

    /// Starts scheduling the engine's pending jobs.
    ///
    /// - Parameter source: Supplies the machine's conditions.
    init(_ core: ServiceCore, _ configuration: ServiceConfiguration, _ source: any ConditionSource) {
        self.core = core
        let now = configuration.engine.now
        self.now = now
        let trouble = core.log.allowance()
        let records = ScheduleRecords(
            core.holder, now: now, onWork: { [activity = core.activity] in activity.beginRequest(of: .service) },
            onTrouble: { core.log.write(.warning, trouble, $0.description) })
        self.records = records
        let log = DecisionLog(storeDirectory: configuration.engine.storeDirectory)
        self.log = log
        monitor = source as? ConditionMonitor
        let inhibited = InhibitedConditions(source)
        self.source = inhibited
        var outlets = IdleScheduler.Outlets()
        outlets.note = { log.append($0) }
        outlets.used = { key, usage, all in records.note(usage, of: key, all) }
        outlets.ended = { key, all in records.noteEnd(of: key, all) }
        outlets.cancelled = { records.note(cancellations: $0) }
        let priority = configuration.setYielding.map {
            SessionPriority(clock: core.clock, set: $0) { [holder = core.holder] in holder.inUse?.isIndexing ?? false }
        }
        self.priority = priority
        outlets.working = { priority?.noteWork($0) }
        outlets.owing = { [activity = core.activity] in activity.noteOwing($0) }
        outlets.onWork = { [activity = core.activity] in activity.beginRequest(of: .service) }
        scheduler = IdleScheduler(
            Scheduler(
                policy: configuration.policy, usage: records.usage, cancellations: records.cancellations, now: now()),
            runner: EngineJobRunner(core), source: inhibited, now: now,
            clock: core.clock, outlets: outlets)
        core.activity.followClients { priority?.noteClients($0) }
        core.persons.follow { [scheduler] count in scheduler.post(.event(.personsWaiting(count))) }
        if let engine = core.holder.current { take(engine) }
    }

    /// Connects to an engine that was just opened.
    func take(_ engine: SearchlightEngine) {
        engine.onJobsChange { [weak self, weak engine] in
            guard let self, let engine else { return }
            takeChanges(of: engine)
        }
        takeChanges(of: engine)
    }

    private func takeChanges(of engine: SearchlightEngine) {
        let present = engine.throttledBundles
        throttled.withLock { known in
            for bundle in known.subtracting(present).sorted() {
                scheduler.post(.event(.throttled(bundle: bundle, false)))
            }
            for bundle in present.subtracting(known).sorted() {
                scheduler.post(.event(.throttled(bundle: bundle, true)))
            }
            known = present
        }
        scheduler.post(.jobsChanged)
    }

    /// Ends the running jobs, since the store is about to be closed.
    func giveWay() { scheduler.post(.giveWay) }

    /// Ends the running jobs, waits until they have ended, and schedules nothing more.
    func end() async {
        core.holder.inUse?.onJobsChange(nil)
        await scheduler.end()
        await records.finish()
    }

    // MARK: Requests of the user

    func schedule(of keys: [ScheduledJob.Key]?) async throws(EngineError) -> ScheduleReport {
        let conditions = source.look()
        let now = now()
        let jobs = await scheduler.ask { scheduler in
            (keys ?? scheduler.jobsOwed(at: now).map(\.key)).map { scheduler.explanation(of: $0, at: now) }
        }
        return ScheduleReport(
            moment: now, today: LocalDay.number(of: now), isScheduling: jobs != nil, conditions: conditions,
            sensors: monitor?.report(), jobs: jobs ?? [], throttled: throttled.withLock { $0.sorted() },
            days: records.ledger.report(of: keys))
    }

    func runNow(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool {
        if case .maintenance(let task) = key { core.holder.current?.owe(task) }
        scheduler.post(.jobsChanged)
        guard let job = await owed(key) else { return false }
        // The scheduler would hold the job until the next unlocking.
        guard job.refusal != .locked else { throw .protection(.locked) }
        scheduler.post(.event(.runNow(key)))
        return true
    }

    func cancel(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool {
        guard await owed(key) != nil else { return false }
        scheduler.post(.event(.cancel(key)))
        return true
    }

    private func owed(_ key: ScheduledJob.Key) async -> ScheduledJob? {
        let now = now()
        return await scheduler.ask { $0.jobsOwed(at: now).first { $0.key == key } } ?? nil
    }

    func setThrottled(_ isThrottled: Bool, _ bundle: String) async throws(EngineError) -> Bool {
        try await core.holder.use(EngineError.init) { (engine) throws(EngineError) in
            guard engine.throttledBundles.contains(bundle) != isThrottled else { return false }
            try engine.setThrottled(isThrottled, bundle)
            return true
        }
    }

    func inhibit(who: String, why: String) async throws(EngineError) {
        guard let number = source.add(Conditions.Inhibitor(who: who, why: why, isOwn: true)) else {
            throw .service(
                .refused(
                    during: "pause background work",
                    reason: "\(InhibitedConditions.maximum) other clients already do. Wait until one ends"))
        }
        defer { source.remove(number) }
        // Cancelling the task ends the sleep.
        while !Task.isCancelled { try? await core.clock.sleep(for: .seconds(86400)) }
    }
}

/// Unknown conditions: they close no gate.
struct UnknownConditions: ConditionSource {
    func start(onChange: @escaping @Sendable (Conditions) -> Void) {}
    func sense(_ mode: SchedulerAction.Sensing) {}
    func look() -> Conditions { Conditions() }
}
