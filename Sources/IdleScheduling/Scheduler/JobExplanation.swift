// SPDX-License-Identifier: Apache-2.0

/// An explanation of the scheduler's decision about a job, as shown by `searchlight why`.
public struct JobExplanation: Hashable, Sendable, Codable {
    /// The decision about the job.
    public enum Decision: String, Hashable, Sendable, Codable {
        /// The job runs.
        case running
        /// The job has started and is currently paused.
        case paused
        /// The job is about to end.
        case stopping
        /// The job is pending and waiting.
        case waiting
        /// No job is pending. The gates are those that a new job would encounter.
        case nothingOwed = "nothing-owed"
    }
    /// The state of a gate.
    public struct GateState: Hashable, Sendable, Codable {
        /// The effect of the gate on the job.
        public enum State: String, Hashable, Sendable, Codable {
            /// The gate does not hold the job.
            case open
            /// The gate keeps the job from running.
            case closed
            /// The gate is closed, but the job may pass it at a low rate.
            case relaxed
            /// The configuration has disabled the gate.
            case off
        }
        /// The unit of a measured value.
        public enum Unit: String, Hashable, Sendable, Codable {
            /// A share from 0 to 1.
            case share
            /// A percentage from 0 to 100.
            case percent
            /// Seconds.
            case seconds
            /// Bytes.
            case bytes
        }
        /// The gate.
        public var gate: Gate
        /// The effect of the gate.
        public var state: State
        /// The measured value, in ``unit``; `nil` if the gate is not measured.
        public var measured: Double?
        /// The value at which the gate would change its state, in ``unit``.
        public var limit: Double?
        /// The unit of both values.
        public var unit: Unit?
        /// The time at which the gate opens by itself, in seconds since 2001-01-01 UTC; `nil` if
        /// that is unknown.
        public var opens: Double?
        /// The time from which the job may pass the gate at a low rate, in seconds since 2001-01-01
        /// UTC; `nil` for never.
        public var relaxes: Double?
        /// The change that opens the gate, as a clause; `nil` if it opens by itself. The clause
        /// names the inhibiting programs.
        public var remedy: String?

        /// Creates the state of a gate.
        public init(gate: Gate, state: State) { (self.gate, self.state) = (gate, state) }
    }
    /// The quota of an extension.
    public struct Quota: Hashable, Sendable, Codable {
        /// The usage of the extension in the window.
        public var used: Usage
        /// The processor time limit, in seconds (``SchedulingPolicy/quotaCPU``).
        public var cpuLimit: Double
        /// The limit on written bytes (``SchedulingPolicy/quotaWritten``).
        public var writtenLimit: Double
        /// The length of the window, in seconds.
        public var window: Double
    }

    /// The job.
    public var key: ScheduledJob.Key
    /// The decision.
    public var decision: Decision
    /// The time of this explanation, in seconds since 2001-01-01 UTC.
    public var moment: Double
    /// The facts about the job; `nil` if it is not pending.
    public var job: ScheduledJob?
    /// The time since the request, in seconds.
    public var age = 0.0
    /// The time for which the job may wait, in seconds; 0 if the user is waiting.
    public var tolerance = 0.0
    /// The score.
    public var score = 0.0
    /// `true` if the user wants the job now. It then waits only if its extension must not run
    /// (disabled or quarantined).
    public var isUserRequested = false
    /// All gates, in the order of ``Gate``.
    public var gates: [GateState] = []
    /// The quota of the extension; `nil` for maintenance.
    public var quota: Quota?
    /// The time of the next decision if no event occurs; `nil` if only an event leads to a
    /// decision.
    public var nextLook: Double?
}
