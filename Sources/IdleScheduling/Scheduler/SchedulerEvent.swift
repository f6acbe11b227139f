// SPDX-License-Identifier: Apache-2.0

/// What a ``Scheduler`` is told. Each event comes with its moment.
public enum SchedulerEvent: Hashable, Sendable, Codable {
    /// What the machine is like now.
    case conditions(Conditions)
    /// The jobs that are owed now: all of them, in any order.
    case jobs([ScheduledJob])
    /// What the job under way has used since the last report.
    case used(ScheduledJob.Key, Usage)
    /// The job under way has ended. What it used last was reported before. One that is done or has failed is not begun
    /// again before the next ``jobs(_:)`` lists it.
    case ended(ScheduledJob.Key, Outcome)
    /// The number of requests that a person waits for has become this.
    case personsWaiting(Int)
    /// A person has throttled an extension, or lets it go on.
    case throttled(bundle: String, Bool)
    /// A person wants a job to run now, whatever the machine is like: once. If it is not owed, the next list has it.
    case runNow(ScheduledJob.Key)
    /// A person wants a job to stop; it stays owed, and is left alone for a while (``SchedulingPolicy/cancelPause``) or until
    /// a person wants it again.
    case cancel(ScheduledJob.Key)
    /// The time has come that ``SchedulerAction/wake(at:)`` asked for; or nothing has happened, and that does not matter.
    /// While something waits, what does not tell by itself is looked at first, and told as ``conditions(_:)``.
    case tick

    /// How a job ended.
    public enum Outcome: Hashable, Sendable, Codable {
        /// All of it is done.
        case done
        /// It failed, and is owed on. ``ScheduledJob/notBefore`` of the next list says when it may be tried again.
        case failed(reason: String)
        /// It was stopped, as the scheduler asked; it is owed on.
        case stopped
    }
}

/// What a ``Scheduler`` wants done, in order.
public enum SchedulerAction: Hashable, Sendable, Codable {
    /// Begin a job.
    case start(ScheduledJob.Key)
    /// The job under way is to be quiet: its extension is told, and made to be if it does not heed that. It is not over.
    case pause(ScheduledJob.Key, Gate)
    /// It may go on.
    case resume(ScheduledJob.Key)
    /// The job under way is to end; ``SchedulerEvent/ended(_:_:)`` follows.
    case stop(ScheduledJob.Key, Gate)
    /// Send ``SchedulerEvent/tick`` at this moment, and at no other; `nil` means never.
    case wake(at: Double?)
    /// How closely the machine is to be watched from now on. When that begins (after ``Sensing/off``), the conditions are
    /// told at once; without them nothing begins for a minute.
    case sense(Sensing)
    /// A line of the journal.
    case note(JournalEntry)

    /// How closely the machine is watched.
    public enum Sensing: String, Hashable, Sendable, Codable {
        /// Not at all: nothing is owed.
        case off
        /// What tells by itself is heard, the rest is looked at at each tick: something waits.
        case waiting
        /// The same, and the rest is looked at again and again: something runs.
        case running

        /// How often the rest is looked at while something runs, in seconds. Until a look finds the machine busy, what runs takes
        /// all that others leave it (docs/PERFORMANCE.md); load cannot be told of less than a quarter of a second.
        public static let lookInterval = 0.5
    }
}
