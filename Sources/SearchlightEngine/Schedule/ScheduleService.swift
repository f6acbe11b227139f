// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import IdleScheduling

/// A report on background work, with the reasons for each decision.
package struct ScheduleReport: Sendable, Codable {
    /// The time of the report, in seconds since 2001-01-01 UTC.
    package var moment: Double
    /// The day number at the time of the report, counted from 2001-01-01 in the reporter's time
    /// zone, as in ``days``.
    package var today: Int
    /// `true` if a scheduler is running; this is the case in a service.
    package var isScheduling: Bool
    /// The machine's conditions.
    package var conditions: Conditions
    /// The sensors that determined the conditions.
    package var sensors: MonitorReport?
    /// The requested jobs, or all pending jobs: running jobs first, then by descending score.
    package var jobs: [JobExplanation]
    /// The bundles that the user throttled, sorted.
    package var throttled: [String]
    /// The daily cost and activity of the requested bundles, or of all bundles; oldest day first.
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

/// The user's controls for background work: in the service (``RemoteEngine``), or without a service
/// in this process (``LocalSchedule``).
///
/// May be used from any task. Every method throws ``EngineError``.
package protocol ScheduleService: Sendable {
    /// Reports the jobs and the reasons for their state.
    ///
    /// - Parameter keys: The jobs to report, at most 1,000, including jobs that are not pending;
    ///   `nil` for all pending jobs.
    func schedule(of keys: [ScheduledJob.Key]?) async throws(EngineError) -> ScheduleReport

    /// Runs a job now, regardless of the machine's conditions. Maintenance runs even if it is not
    /// due; a bundle without pending work is not reindexed.
    ///
    /// - Returns: `true` if there is work to do. On return, a service has only queued the work; a
    ///   command has completed it.
    func runNow(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool

    /// Stops a job and does not start it again for several hours. It stays pending.
    ///
    /// - Returns: `true` if the job existed.
    func cancel(_ key: ScheduledJob.Key) async throws(EngineError) -> Bool

    /// Throttles an extension, so that it receives no background requests, or stops throttling it.
    /// The setting is saved in the store.
    ///
    /// - Returns: `true` if this changed the setting.
    func setThrottled(_ isThrottled: Bool, _ bundle: String) async throws(EngineError) -> Bool

    /// Prevents background work from starting until the task is cancelled or the client
    /// disconnects.
    func inhibit(who: String, why: String) async throws(EngineError)
}
