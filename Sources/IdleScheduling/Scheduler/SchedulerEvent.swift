// SPDX-License-Identifier: Apache-2.0

/// An event for a ``Scheduler``. Each event is accompanied by its time.
public enum SchedulerEvent: Hashable, Sendable, Codable {
    /// The current conditions of the machine.
    case conditions(Conditions)
    /// All pending jobs, in any order.
    case jobs([ScheduledJob])
    /// The usage of a running job since the last report.
    case used(ScheduledJob.Key, Usage)
    /// A job has ended. Its last usage has already been reported. A job that is done or has failed
    /// does not start again until the next ``jobs(_:)`` contains it.
    case ended(ScheduledJob.Key, Outcome)
    /// The new number of requests that the user is waiting for.
    case personsWaiting(Int)
    /// The user has throttled an extension (`true`), or released it.
    case throttled(bundle: String, Bool)
    /// The user wants a job to run once, now, under all conditions. If the job is not pending yet,
    /// the next list will contain it.
    case runNow(ScheduledJob.Key)
    /// The user wants a job to stop. It stays pending, and does not start for
    /// ``SchedulingPolicy/cancelPause`` or until the user wants it again.
    case cancel(ScheduledJob.Key)
    /// The time of ``SchedulerAction/wake(at:)`` has come; an extra tick is harmless. While a job
    /// waits, the caller first reads the values that do not report changes, and sends them as
    /// ``conditions(_:)``.
    case tick

    /// The outcome of a job.
    public enum Outcome: Hashable, Sendable, Codable {
        /// The job is complete.
        case done
        /// The job failed and stays pending. In the next list, ``ScheduledJob/notBefore`` is the
        /// time of the next attempt.
        case failed(reason: String)
        /// The scheduler requested that the job be stopped. It stays pending.
        case stopped
    }
}

/// An action that a ``Scheduler`` requests. Carry out the actions in order.
public enum SchedulerAction: Hashable, Sendable, Codable {
    /// Start the job.
    case start(ScheduledJob.Key)
    /// Pause the job. The extension is notified, and frozen if it does not comply. The job has not
    /// ended.
    case pause(ScheduledJob.Key, Gate)
    /// Resume the job.
    case resume(ScheduledJob.Key)
    /// Stop the job. ``SchedulerEvent/ended(_:_:)`` follows.
    case stop(ScheduledJob.Key, Gate)
    /// Send ``SchedulerEvent/tick`` at this time only; `nil` means never.
    case wake(at: Double?)
    /// Set the sensing mode. If the mode was ``Sensing/off``, send the conditions immediately;
    /// without them, no job starts for a minute.
    case sense(Sensing)
    /// Write an entry to the decision log.
    case note(JournalEntry)

    /// The sensing mode.
    public enum Sensing: String, Hashable, Sendable, Codable {
        /// Sensors are off, because no job is pending.
        case off
        /// Sensors that report changes are active. The other sensors are read at each tick, because
        /// a job is waiting.
        case waiting
        /// Like ``waiting``, but the other sensors are read repeatedly, because a job is running.
        case running

        /// The interval between two reads of these sensors while a job runs, in seconds. Until a
        /// read finds that the machine is busy, the job uses all processor time that other
        /// programs leave (docs/PERFORMANCE.md).
        /// Load cannot be measured over less than a quarter of a second.
        public static let lookInterval = 0.5
    }
}
