// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// What happened on a machine, for ``SchedulerSimulator`` to replay: conditions, jobs and what people wanted. docs/TRACES.md has the
/// form of its file.
///
/// Moments are seconds since 2001-01-01 UTC.
public struct Trace: Hashable, Sendable {
    /// What happened at a moment.
    public struct Event: Hashable, Sendable {
        /// When.
        public var moment: Double
        /// What.
        public var happening: Happening

        /// Creates an event.
        public init(_ moment: Double, _ happening: Happening) { (self.moment, self.happening) = (moment, happening) }
    }
    /// The kinds of things that happen.
    public enum Happening: Hashable, Sendable {
        /// What the machine is like from now on: all of it; the file has only what changes.
        case conditions(Conditions)
        /// A job arrives.
        case job(TracedJob)
        /// The number of requests that a person waits for has become this.
        case personsWaiting(Int)
        /// A person throttles an extension, or lets it go on.
        case throttled(bundle: String, Bool)
        /// A person wants a job now.
        case runNow(ScheduledJob.Key)
        /// A person wants a job to stop.
        case cancel(ScheduledJob.Key)
        /// The trace is over; the last event.
        case end
    }

    /// What it is called.
    public var name: String
    /// What it shows, in a sentence or a few.
    public var description: String
    /// Midnight of its first day in its time zone; the clock times of the file count from here.
    public var midnight: Double
    /// The time zone, in seconds east of UTC.
    public var zone: Int
    /// The rules of the scheduler in this trace: those of this program with what the header changes.
    public internal(set) var policy = SchedulingPolicy()
    /// What the header changes in them: a JSON object in the form of the configuration file; `nil` for nothing.
    public internal(set) var policyChanges: String?
    /// What happens, in order.
    public var events: [Event] = []

    /// Creates an empty trace with the rules of this program.
    public init(name: String, description: String = "", midnight: Double, zone: Int = 0) {
        (self.name, self.description, self.midnight, self.zone) = (name, description, midnight, zone)
    }

    /// When it begins.
    public var start: Double { events.first?.moment ?? midnight }
    /// When it ends.
    public var end: Double { events.last?.moment ?? midnight }
}

/// A job of a trace: what is asked for, and what its worker does with it.
public struct TracedJob: Hashable, Sendable {
    /// Which job.
    public var key: ScheduledJob.Key
    /// How long it can wait.
    public var urgency: Urgency
    /// When it was asked for, if that was before it arrived.
    public var requested: Double?
    /// When what it is about is lost.
    public var deadline: Double?
    /// Whether it goes on where it was after a stop.
    public var isResumable = false
    /// Whether it is fresh work; only changed files are.
    public var isFresh = false
    /// The processor time that all of it takes, in seconds.
    public var cpu: Double
    /// How long it has to run for that, in seconds: more than ``cpu`` if it waits for disks, less if it uses several
    /// processors.
    public var seconds: Double
    /// The bytes that it writes.
    public var written: UInt64 = 0
    /// The items that it donates.
    public var items = 0
    /// Whether it is quiet soon after it was asked; if not, it is made to be.
    public var isCooperative = true
    /// How often it fails before it succeeds, each time halfway through what was left.
    public var failures = 0

    /// Creates a job; by default that of a program that computes.
    public init(key: ScheduledJob.Key, urgency: Urgency? = nil, cpu: Double, seconds: Double? = nil) {
        self.key = key
        self.urgency = urgency ?? (key.bundle == nil ? .maintenance : .freshness)
        isResumable = if case .reindex = key { false } else { true }
        self.cpu = cpu
        self.seconds = seconds ?? cpu
    }
}

/// Why something is no trace. Nothing of it is used.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// In which line, from 1; `nil` if it is about the whole file.
    public var line: Int?
    /// What is wrong and what is allowed, as sentences.
    public var problem: String

    /// Creates an error.
    public init(line: Int?, _ problem: String) { (self.line, self.problem) = (line, problem) }

    /// Both.
    public var description: String { line.map { "Line \($0) of the trace: \(problem)" } ?? "The trace: \(problem)" }
}

extension Trace {
    /// The version of the form, in the header.
    public static let formatVersion = 1
    /// A larger file is refused, in bytes: a day with a change each second has about 6 MiB.
    public static let maximumBytes = 16 << 20
    /// A longer line is refused, in bytes.
    public static let maximumLineBytes = 16 << 10
    /// More events are refused.
    public static let maximumEvents = 200_000
    /// More different jobs are refused.
    public static let maximumJobs = 256
    /// The longest trace, in seconds: 31 days.
    public static let longest = 31.0 * 86400
}
