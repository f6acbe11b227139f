// SPDX-License-Identifier: Apache-2.0

/// One decision, as it is kept in a line.
public struct JournalEntry: Hashable, Sendable, Codable {
    /// What was decided.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// A job was begun.
        case start
        /// It waits, for the gates that are named.
        case wait
        /// It was made quiet.
        case pause
        /// It goes on.
        case resume
        /// It was ended before it was done.
        case stop
        /// It is done.
        case done
        /// It failed.
        case fail
    }
    /// When, in seconds since 2001-01-01 UTC.
    public var moment: Double
    /// What was decided.
    public var kind: Kind
    /// About which job.
    public var job: ScheduledJob.Key
    /// The gates that are closed; of a relaxed start those that were passed over.
    public var gates: [Gate]
    /// How much the job presses: its age over what its urgency tolerates.
    public var score: Double
    /// Until when this holds at most, if that is known.
    public var until: Double?
    /// What it has used since it was begun, once it has ended, as far as that is known: care for the index has no process of
    /// its own.
    public var usage: Usage?
    /// Why it failed.
    public var reason: String?

    /// Creates an entry.
    public init(moment: Double, kind: Kind, job: ScheduledJob.Key, gates: [Gate] = [], score: Double) {
        (self.moment, self.kind, self.job, self.gates, self.score) = (moment, kind, job, gates, score)
    }
}
