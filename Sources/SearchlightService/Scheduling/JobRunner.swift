// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// Runs a scheduler's jobs. May be used from any task.
protocol JobRunner: Sendable {
    /// Returns the pending jobs.
    func jobs() async -> [ScheduledJob]
    /// Returns the time of the next ``lookAhead()``, in seconds since 2001-01-01 UTC; `nil` if none
    /// is needed.
    func nextLook() async -> Double?
    /// Determines upcoming work, such as items that are about to expire.
    func lookAhead() async
    /// Runs a job until it ends.
    ///
    /// - Parameter isWanted: `true` if the user requested the job. It then runs at normal priority
    ///   and ignores a back-off.
    func run(_ key: ScheduledJob.Key, isWanted: Bool) async -> SchedulerEvent.Outcome
    /// Pauses a running job; returns when it is paused.
    func pause(_ key: ScheduledJob.Key, because gate: Gate) async
    /// Resumes a paused job.
    func resume(_ key: ScheduledJob.Key) async
    /// Stops a running job. Its ``run(_:isWanted:)`` then returns.
    func stop(_ key: ScheduledJob.Key) async
    /// Returns a job's usage since the last call; `nil` if unknown.
    func used(_ key: ScheduledJob.Key) async -> Usage?
}
