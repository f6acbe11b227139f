// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// The result of replaying a trace. Points in time are in seconds since 2001-01-01 UTC.
public struct Replay: Hashable, Sendable, Codable {
    /// The activity of a job during a span.
    public enum Activity: String, Hashable, Sendable, Codable {
        /// The job was pending but not started.
        case waiting
        /// The job ran while no gate was closed.
        case running
        /// The job ran at a low rate, passing closed gates.
        case relaxed
        /// The job was fresh work. It ran alongside the ordinary job, at a low rate if gates were
        /// closed.
        case fresh
        /// The job ran because the user requested it.
        case wanted
        /// The job was asked to pause or stop, but was still running.
        case quieting
        /// The job was paused.
        case paused
    }
    /// A period of time.
    public struct Span<Kind: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
        /// The start.
        public var start: Double
        /// The end; not before ``start``.
        public var end: Double
        /// The kind of the period.
        public var kind: Kind
        /// The closed gates: the gates that a running job passed, or the gates that paused the job.
        public var gates: [Gate]

        /// The length, in seconds.
        public var length: Double { end - start }
    }
    /// The summary of a job, across all of its requests.
    public struct JobSummary: Hashable, Sendable, Codable {
        /// The job.
        public var key: ScheduledJob.Key
        /// The number of requests. Includes requests that were merged into a pending job.
        public var requests = 0
        /// The number of times the job was completed.
        public var done = 0
        /// `true` if the job is pending at the end of the trace.
        public var isOwed = false
        /// The time of the first request.
        public var requested: Double
        /// The time of the first start.
        public var began: Double?
        /// The time of the last completion.
        public var finished: Double?
        /// The longest time from a request to the start, in seconds; or to the end of the trace, if
        /// the job did not start.
        public var longestWait = 0.0
        /// The longest time from a request to completion, in seconds; or to the end of the trace,
        /// if the job is still pending.
        public var longestTime = 0.0
        /// The longest time without running while the job was pending or paused, in seconds.
        public var longestRest = 0.0
        /// The number of uninterrupted runs.
        public var slices = 0
        /// The number of uninterrupted runs that passed closed gates.
        public var relaxedSlices = 0
        /// The number of pauses.
        public var pauses = 0
        /// The number of stops before the job was done.
        public var stops = 0
        /// The number of failures.
        public var failures = 0
        /// The resource usage.
        public var usage = Usage()
        /// The number of donated items.
        public var items = 0
        /// All activities, in order.
        public var spans: [Span<Activity>] = []
    }
    /// The totals of a replay. Durations are in seconds.
    public struct Totals: Hashable, Sendable, Codable {
        /// The length of the trace.
        public var seconds = 0.0
        /// The total running time of all jobs.
        public var running = 0.0
        /// The time during which the user was active (gate `user-active` closed).
        public var active = 0.0
        /// The running time of all jobs while the user was active.
        public var runningWhileActive = 0.0
        /// The number of times the user became active while an ordinary job was running that the
        /// user had not requested.
        public var returns = 0
        /// The longest time from such a return until the job was paused.
        public var longestToQuiet = 0.0
        /// The number of ticks requested by the scheduler.
        public var ticks = 0
        /// The processor time of all jobs.
        public var cpu = 0.0
    }

    /// The name of the trace.
    public var name: String
    /// The start of the trace.
    public var start: Double
    /// The end of the trace.
    public var end: Double
    /// The entries of the decision log, in order.
    public var journal: [JournalEntry] = []
    /// The spans in which a gate of the machine was closed, in order for each gate.
    public var gates: [Span<Gate>] = []
    /// The spans in which the user was waiting for a request.
    public var personsWaiting: [Span<Gate>] = []
    /// The spans in which an extension was throttled.
    public var throttled: [Span<String>] = []
    /// The jobs, in order of arrival.
    public var jobs: [JobSummary] = []
    /// The totals.
    public var totals = Totals()

    init(_ trace: Trace) { (name, start, end) = (trace.name, trace.start, trace.end) }
}
