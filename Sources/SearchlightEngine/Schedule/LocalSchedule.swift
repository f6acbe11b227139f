// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import Foundation
import IdleScheduling

/// The schedule for a process without a service. It reports the decisions that the policy would
/// make, and runs requested jobs immediately.
package struct LocalSchedule: ScheduleService {
    private let engine: SearchlightEngine
    private let policy: SchedulingPolicy
    private let monitor: ConditionMonitor

    /// The delay between the two sensor readings that the load is computed from.
    private static let pause = Duration.milliseconds(300)

    package init(_ engine: SearchlightEngine, policy: SchedulingPolicy, roots: SensorRoots) {
        self.engine = engine
        self.policy = policy
        monitor = ConditionMonitor(roots: roots, store: engine.configuration.storeDirectory)
    }

    /// See ``ScheduleService/schedule(of:)``. Takes about a third of a second.
    package func schedule(of keys: [ScheduledJob.Key]?) async throws(EngineError) -> ScheduleReport {
        monitor.sense(.waiting)
        defer { monitor.sense(.off) }
        monitor.look()
        try? await Task.sleep(for: Self.pause)
        let conditions = monitor.look()
        let now = engine.configuration.now()
        var scheduler = Scheduler(
            policy: policy, usage: engine.scheduleRecord(.usage, as: UsageHistory.self) ?? UsageHistory(),
            cancellations: engine.scheduleRecord(.cancellations, as: [ScheduledJob.Key: Double].self) ?? [:], now: now)
        _ = scheduler.handle(.conditions(conditions), at: now)
        for bundle in engine.throttledBundles.sorted() {
            _ = scheduler.handle(.throttled(bundle: bundle, true), at: now)
        }
        _ = scheduler.handle(.jobs(engine.scheduledJobs()), at: now)
        var jobs = (keys ?? scheduler.jobsOwed(at: now).map(\.key)).map { scheduler.explanation(of: $0, at: now) }
        // Without a service no job is running, regardless of the policy's decision.
        for index in jobs.indices where jobs[index].decision != .nothingOwed { jobs[index].decision = .waiting }
        let ledger = engine.scheduleRecord(.days, as: DayLedger.self) ?? DayLedger()
        return ScheduleReport(
            moment: now, today: LocalDay.number(of: now), isScheduling: false, conditions: conditions,
            sensors: monitor.report(), jobs: jobs, throttled: engine.throttledBundles.sorted(),
            days: ledger.report(of: keys))
    }

    package func runNow(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool {
        switch key {
        case .maintenance(let task):
            try await engine.maintain(task)
            return true
        case .files, .encrypted: return try await engine.run(key, origin: .person) != nil
        case .reindex(let bundle):
            guard engine.owedWork(for: bundle) != nil else { return false }
            return try await engine.run(key, origin: .person) != nil
        }
    }

    /// See ``ScheduleService/cancel(_:)``. No job is running, so there is nothing to stop.
    package func cancel(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool { false }

    package func setThrottled(_ isThrottled: Bool, _ bundle: String) async throws(EngineError) -> Bool {
        guard engine.throttledBundles.contains(bundle) != isThrottled else { return false }
        try engine.setThrottled(isThrottled, bundle)
        return true
    }

    /// See ``ScheduleService/inhibit(who:why:)``. No process starts background work, so this only
    /// waits.
    package func inhibit(who: String, why: String) async throws(EngineError) {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    }
}

/// Converts between days in local time and day numbers.
package enum LocalDay {
    /// Returns the number of the day at a moment, counted from 2001-01-01 in this machine's time
    /// zone.
    package static func number(of moment: Double, in zone: TimeZone = .current) -> Int {
        guard moment.isFinite else { return 0 }
        let bounded = min(max(moment, -1e11), 1e11)
        let offset = Double(zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: bounded)))
        return Int(((bounded + offset) / 86400).rounded(.down))
    }

    /// Returns the date for a day number, such as 2026-03-02.
    package static func text(_ day: Int) -> String {
        let bounded = min(max(day, -1_000_000), 1_000_000)
        return Date(timeIntervalSinceReferenceDate: Double(bounded) * 86400).formatted(
            .iso8601.year().month().day())
    }
}

extension DayLedger {
    /// Returns the ledger entries of the requested bundles, or of all bundles.
    package func report(of keys: [ScheduledJob.Key]?) -> [String: [Entry]] {
        let wanted = keys?.compactMap(\.bundle) ?? bundles
        return Dictionary(wanted.map { ($0, entries(of: $0)) }, uniquingKeysWith: { one, _ in one })
            .filter { !$0.value.isEmpty }
    }
}
