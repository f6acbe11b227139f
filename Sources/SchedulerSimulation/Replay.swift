// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// What came of replaying a trace.
public struct Replay: Hashable, Sendable, Codable {
    /// What a job did for a time.
    public enum Activity: String, Hashable, Sendable, Codable {
        /// It was owed, and not begun.
        case waiting
        /// It ran, and no gate was closed.
        case running
        /// It ran slowly, although gates were closed that it may pass.
        case relaxed
        /// It was fresh work, and ran beside all others, slowly if gates were closed.
        case fresh
        /// It ran because a person wanted it.
        case wanted
        /// It was told to be quiet, or to end, and was not yet.
        case quieting
        /// It was quiet, and not over.
        case paused
    }
    /// A stretch of time; moments are seconds since 2001-01-01 UTC.
    public struct Span<Kind: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
        /// When it began.
        public var start: Double
        /// When it ended; not before ``start``.
        public var end: Double
        /// What it is.
        public var kind: Kind
        /// The gates that were closed: of a job that ran those that it passed, of a quiet one why it was.
        public var gates: [Gate]

        /// How long it was, in seconds.
        public var length: Double { end - start }
    }
    /// What became of a job: all requests for it together.
    public struct JobSummary: Hashable, Sendable, Codable {
        /// Which job.
        public var key: ScheduledJob.Key
        /// How often it was asked for; requests that met one that was owed already melted into it.
        public var requests = 0
        /// How often it was done.
        public var done = 0
        /// Whether it is owed at the end.
        public var isOwed = false
        /// When it was first asked for.
        public var requested: Double
        /// When it was first begun.
        public var began: Double?
        /// When it was last done.
        public var finished: Double?
        /// The longest time from a request to its beginning, in seconds; up to the end for what was not begun.
        public var longestWait = 0.0
        /// The longest time from a request until it was done, in seconds; up to the end for what is owed.
        public var longestTime = 0.0
        /// The longest time without running while it was owed, in seconds, those of pauses too.
        public var longestRest = 0.0
        /// How often it ran without a break.
        public var slices = 0
        /// Those of them that passed closed gates.
        public var relaxedSlices = 0
        /// How often it was made quiet.
        public var pauses = 0
        /// How often it was stopped before it was done.
        public var stops = 0
        /// How often it failed.
        public var failures = 0
        /// What it used.
        public var usage = Usage()
        /// How many items it donated.
        public var items = 0
        /// Everything that it did, in order.
        public var spans: [Span<Activity>] = []
    }
    /// What it all cost; times are in seconds.
    public struct Totals: Hashable, Sendable, Codable {
        /// How long the trace is.
        public var seconds = 0.0
        /// How long anything ran.
        public var running = 0.0
        /// How long somebody was active (the gate `user-active` was closed).
        public var active = 0.0
        /// How long anything ran meanwhile.
        public var runningWhileActive = 0.0
        /// How often somebody became active while something ran that nobody wanted, and that was not fresh.
        public var returns = 0
        /// The longest time from then until it was quiet.
        public var longestToQuiet = 0.0
        /// How often the scheduler had itself woken.
        public var ticks = 0
        /// The processor time of all jobs.
        public var cpu = 0.0
    }

    /// The trace's name.
    public var name: String
    /// When it begins.
    public var start: Double
    /// When it ends.
    public var end: Double
    /// The decisions, in order.
    public var journal: [JournalEntry] = []
    /// When which gates of the machine were closed, each gate's stretches in order.
    public var gates: [Span<Gate>] = []
    /// When a person waited for something.
    public var personsWaiting: [Span<Gate>] = []
    /// When which extension was throttled.
    public var throttled: [Span<String>] = []
    /// The jobs, in the order in which they arrived.
    public var jobs: [JobSummary] = []
    /// What it all cost.
    public var totals = Totals()

    init(_ trace: Trace) { (name, start, end) = (trace.name, trace.start, trace.end) }
}
