// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// Whoever carries out jobs, as the scheduler sees it. May be used from any task.
protocol JobRunner: Sendable {
    /// What is owed now.
    func jobs() async -> [ScheduledJob]
    /// When ``lookAhead()`` is to be called next, in seconds since 2001-01-01 UTC; `nil` if there is nothing to look for.
    func nextLook() async -> Double?
    /// Looks for work to come, such as items that are about to expire.
    func lookAhead() async
    /// Does a job, however long that takes.
    ///
    /// - Parameter isWanted: Whether a person waits for it: then it is done at the usual class, and in spite of a back-off.
    func run(_ key: ScheduledJob.Key, isWanted: Bool) async -> SchedulerEvent.Outcome
    /// Has a job that is under way be quiet; returns when it is.
    func pause(_ key: ScheduledJob.Key, because gate: Gate) async
    /// Lets it go on.
    func resume(_ key: ScheduledJob.Key) async
    /// Has it end. Its ``run(_:isWanted:)`` returns then.
    func stop(_ key: ScheduledJob.Key) async
    /// What it has used since the last call; `nil` if that is not known.
    func used(_ key: ScheduledJob.Key) async -> Usage?
}
