// SPDX-License-Identifier: Apache-2.0

/// An entry of the decision log.
public struct JournalEntry: Hashable, Sendable, Codable {
    /// The kind of decision.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The job was started.
        case start
        /// The job is waiting for the listed gates.
        case wait
        /// The job was paused.
        case pause
        /// The job was resumed.
        case resume
        /// The job was stopped before it was done.
        case stop
        /// The job is done.
        case done
        /// The job failed.
        case fail
    }
    /// The time, in seconds since 2001-01-01 UTC.
    public var moment: Double
    /// The kind of decision.
    public var kind: Kind
    /// The job.
    public var job: ScheduledJob.Key
    /// The closed gates; for a start or a resume, the gates that the job passes.
    public var gates: [Gate]
    /// The score: the age of the job divided by the tolerance of its urgency.
    public var score: Double
    /// The latest time until which the decision holds, in seconds since 2001-01-01 UTC; `nil` if
    /// unknown.
    public var until: Double?
    /// The resource usage of the job from start to end, if known. Maintenance has no process of its
    /// own, so its usage is unknown.
    public var usage: Usage?
    /// The reason for the failure.
    public var reason: String?

    /// Creates an entry.
    public init(moment: Double, kind: Kind, job: ScheduledJob.Key, gates: [Gate] = [], score: Double) {
        (self.moment, self.kind, self.job, self.gates, self.score) = (moment, kind, job, gates, score)
    }
}
