// SPDX-License-Identifier: Apache-2.0

/// Why a job runs or does not; what `searchlight why` shows.
public struct JobExplanation: Hashable, Sendable, Codable {
    /// What is decided about the job.
    public enum Decision: String, Hashable, Sendable, Codable {
        /// It runs.
        case running
        /// It is under way, and quiet.
        case paused
        /// It is under way, and about to end.
        case stopping
        /// It is owed, and waits.
        case waiting
        /// Nothing is owed; the gates are those that a job asked for now would find.
        case nothingOwed = "nothing-owed"
    }
    /// One gate.
    public struct GateState: Hashable, Sendable, Codable {
        /// How it stands.
        public enum State: String, Hashable, Sendable, Codable {
            /// It does not matter now.
            case open
            /// It keeps the job from running.
            case closed
            /// It is closed, and the job passes it, slowly.
            case relaxed
            /// The configuration has switched it off.
            case off
        }
        /// What is measured.
        public enum Unit: String, Hashable, Sendable, Codable {
            /// 0 to 1.
            case share
            /// 0 to 100.
            case percent
            /// Time.
            case seconds
            /// Sizes.
            case bytes
        }
        /// Which gate.
        public var gate: Gate
        /// How it stands.
        public var state: State
        /// What was measured, if anything was.
        public var measured: Double?
        /// At which value the gate changes from what it is.
        public var limit: Double?
        /// Of both.
        public var unit: Unit?
        /// When it opens by itself, if that is known, in seconds since 2001-01-01 UTC.
        public var opens: Double?
        /// From when on the job may pass it slowly, if it ever may, in seconds since 2001-01-01 UTC.
        public var relaxes: Double?
        /// What would have to change, if it does not open by itself, as half a sentence; who inhibits is named.
        public var remedy: String?

        /// Creates the state of a gate.
        public init(gate: Gate, state: State) { (self.gate, self.state) = (gate, state) }
    }
    /// A quota.
    public struct Quota: Hashable, Sendable, Codable {
        /// What the extension has used in the window.
        public var used: Usage
        /// What it may: ``SchedulingPolicy/quotaCPU`` and ``SchedulingPolicy/quotaWritten``.
        public var cpuLimit: Double
        /// In bytes.
        public var writtenLimit: Double
        /// In seconds.
        public var window: Double
    }

    /// Which job.
    public var key: ScheduledJob.Key
    /// What is decided.
    public var decision: Decision
    /// When this was said, in seconds since 2001-01-01 UTC.
    public var moment: Double
    /// The job; `nil` if nothing is owed.
    public var job: ScheduledJob?
    /// How long it has waited, in seconds.
    public var age = 0.0
    /// How long it can, in seconds; 0 if a person waits.
    public var tolerance = 0.0
    /// How much it presses.
    public var score = 0.0
    /// Whether a person wants it now, so that only the refusals of its extension hold.
    public var isPersons = false
    /// All gates, in the order of ``Gate``.
    public var gates: [GateState] = []
    /// What the extension has used; `nil` for care for the index.
    public var quota: Quota?
    /// When something is decided next, if nothing happens before; `nil` if only an event leads to that.
    public var nextLook: Double?
}
