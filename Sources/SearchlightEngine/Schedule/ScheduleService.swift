// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import IdleScheduling

/// What is done in the background and why, for a person who asks.
package struct ScheduleReport: Sendable, Codable {
    /// When this was said, in seconds since 2001-01-01 UTC.
    package var moment: Double
    /// Which day that is there, counted from 2001-01-01, as ``days`` counts.
    package var today: Int
    /// Whether somebody schedules: a service does, a command does not.
    package var isScheduling: Bool
    /// What the machine is like.
    package var conditions: Conditions
    /// By which sensors that is known.
    package var sensors: MonitorReport?
    /// The jobs that were asked about, or all that are owed: what is under way first, then those that press more.
    package var jobs: [JobExplanation]
    /// The bundles that persons have throttled, sorted.
    package var throttled: [String]
    /// What the bundles asked about, or all, have cost and done, the oldest day first.
    package var days: [String: [DayLedger.Entry]]

    package init(
        moment: Double, today: Int, isScheduling: Bool, conditions: Conditions, sensors: MonitorReport?,
        jobs: [JobExplanation], throttled: [String], days: [String: [DayLedger.Entry]]
    ) {
        (self.moment, self.today, self.isScheduling) = (moment, today, isScheduling)
        (self.conditions, self.sensors, self.jobs) = (conditions, sensors, jobs)
        (self.throttled, self.days) = (throttled, days)
    }
}

/// What a person asks of whoever does work in the background: the service (``RemoteEngine``), or where none runs, this process
/// (``LocalSchedule``).
///
/// May be used from any task. Every method throws ``EngineError``.
package protocol ScheduleService: Sendable {
    /// Says what is done and why.
    ///
    /// - Parameter keys: Also of bundles that owe nothing; `nil` means all that is owed. At most 1,000.
    func schedule(of keys: [ScheduledJob.Key]?) async throws(EngineError) -> ScheduleReport

    /// Has a job done now, whatever the machine is like. Care for the index that is not due is done too; a bundle that owes
    /// nothing is not asked.
    ///
    /// - Returns: Whether there was something to do. A service has only noted it then, a command has done it.
    func runNow(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool

    /// Has a job stop, and leaves it alone for some hours; it stays owed.
    ///
    /// - Returns: Whether there was such a job.
    func cancel(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool

    /// Has an extension asked nothing in the background, or asked again. Kept in the store.
    ///
    /// - Returns: Whether that is a change.
    func setThrottled(_ isThrottled: Bool, _ bundle: String) async throws(EngineError) -> Bool

    /// Keeps background work from beginning, until the task is cancelled or who asks is gone.
    func inhibit(who: String, why: String) async throws(EngineError)
}
