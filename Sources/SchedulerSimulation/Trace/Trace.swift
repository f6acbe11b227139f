// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// A record of the events on a machine, for replay by ``SchedulerSimulator``: conditions, jobs and
/// user requests. docs/TRACES.md describes the file format.
///
/// Times are in seconds since 2001-01-01 UTC.
public struct Trace: Hashable, Sendable {
    /// An event in a trace.
    public struct Event: Hashable, Sendable {
        /// The time.
        public var moment: Double
        /// The kind of event, with its values.
        public var happening: Happening

        /// Creates an event.
        public init(_ moment: Double, _ happening: Happening) { (self.moment, self.happening) = (moment, happening) }
    }
    /// The kinds of events.
    public enum Happening: Hashable, Sendable {
        /// The complete conditions from this time on. The file contains only the changes.
        case conditions(Conditions)
        /// A job was requested.
        case job(TracedJob)
        /// The new number of requests that the user is waiting for.
        case personsWaiting(Int)
        /// The user throttled an extension (`true`), or released it.
        case throttled(bundle: String, Bool)
        /// The user requested that a job run now.
        case runNow(ScheduledJob.Key)
        /// The user requested that a job stop.
        case cancel(ScheduledJob.Key)
        /// The end of the trace, which is its last event.
        case end
    }

    /// The name.
    public var name: String
    /// A description of one or more sentences.
    public var description: String
    /// Midnight of the first day, in the trace's time zone. Clock times in the file are relative to
    /// it.
    public var midnight: Double
    /// The time zone, in seconds east of UTC.
    public var zone: Int
    /// The scheduling policy: the default policy with the changes from the header.
    public internal(set) var policy = SchedulingPolicy()
    /// The policy changes from the header, as a JSON object in the configuration format; `nil` if
    /// none.
    public internal(set) var policyChanges: String?
    /// The events, in order.
    public var events: [Event] = []

    /// Creates an empty trace with the default policy.
    public init(name: String, description: String = "", midnight: Double, zone: Int = 0) {
        (self.name, self.description, self.midnight, self.zone) = (name, description, midnight, zone)
    }

    /// The time of the first event.
    public var start: Double { events.first?.moment ?? midnight }
    /// The time of the last event.
    public var end: Double { events.last?.moment ?? midnight }
}

/// A job in a trace: the request, and the behaviour of its worker.
public struct TracedJob: Hashable, Sendable {
    /// The job.
    public var key: ScheduledJob.Key
    /// The urgency.
    public var urgency: Urgency
    /// The time of the request, if it precedes the arrival.
    public var requested: Double?
    /// The time after which the items are lost.
    public var deadline: Double?
    /// `true` if the job continues where it left off after a stop.
    public var isResumable = false
    /// `true` if it is fresh work. Only file deliveries can be fresh work.
    public var isFresh = false
    /// The processor time used by the whole job, in seconds.
    public var cpu: Double
    /// The running time of the whole job, in seconds. It is longer than ``cpu`` if the job waits
    /// for disks, and shorter if the job uses several processors.
    public var seconds: Double
    /// The number of bytes that the job writes.
    public var written: UInt64 = 0
    /// The number of items that the job donates.
    public var items = 0
    /// `true` if the worker pauses soon after it is asked to; otherwise it has to be frozen.
    public var isCooperative = true
    /// The number of failures before the job succeeds. Each occurs halfway through the remaining
    /// work.
    public var failures = 0

    /// Creates a job; by default, one that only computes.
    public init(key: ScheduledJob.Key, urgency: Urgency? = nil, cpu: Double, seconds: Double? = nil) {
        self.key = key
        self.urgency = urgency ?? (key.bundle == nil ? .maintenance : .freshness)
        isResumable = if case .reindex = key { false } else { true }
        self.cpu = cpu
        self.seconds = seconds ?? cpu
    }
}

/// An error in a trace. A trace with an error is not used at all.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the line, from 1; `nil` if the error concerns the whole file.
    public var line: Int?
    /// A description of the error and the allowed values, in sentences.
    public var problem: String

    /// Creates an error.
    public init(line: Int?, _ problem: String) { (self.line, self.problem) = (line, problem) }

    /// The line and the problem.
    public var description: String { line.map { "Line \($0) of the trace: \(problem)" } ?? "The trace: \(problem)" }
}

extension Trace {
    /// The version of the format, as stated in the header.
    public static let formatVersion = 1
    /// The maximum size of a file, in bytes. A day with one change per second takes about 6 MiB.
    public static let maximumBytes = 16 << 20
    /// The maximum length of a line, in bytes.
    public static let maximumLineBytes = 16 << 10
    /// The maximum number of events.
    public static let maximumEvents = 200_000
    /// The maximum number of different jobs.
    public static let maximumJobs = 256
    /// The longest trace, in seconds: 31 days.
    public static let longest = 31.0 * 86400
}
