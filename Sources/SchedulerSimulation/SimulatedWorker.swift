// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// What a job of a trace still has to do.
struct SimulatedWork: Sendable {
    var job: TracedJob
    /// When it was asked for.
    var requested: Double
    /// How much of it is done, 0 to 1.
    private(set) var part = 0.0
    /// Where it fails next.
    private var failsAt: Double?
    private var failuresLeft: Int
    /// Those without a success between them, for the back-off.
    private(set) var failures = 0
    /// The part up to which what it wrote was reported, beside the processor time.
    private var reported = 0.0
    /// Whether it was asked for again while it was under way.
    var again: (job: TracedJob, requested: Double)?
    var notBefore: Double?

    init(_ job: TracedJob, requested: Double) {
        (self.job, self.requested, failuresLeft) = (job, requested, job.failures)
        plan()
    }

    /// What a scheduler is told of it.
    var scheduled: ScheduledJob {
        var scheduled = ScheduledJob(key: job.key, urgency: job.urgency, requested: requested)
        scheduled.deadline = job.deadline
        scheduled.isResumable = job.isResumable
        scheduled.isFresh = job.isFresh
        scheduled.notBefore = notBefore
        return scheduled
    }

    private mutating func plan() { failsAt = failuresLeft > 0 ? part + (1 - part) / 2 : nil }

    /// Begins it, anew if it does not go on where it was.
    mutating func begin() {
        if !job.isResumable { (part, reported) = (0, 0) }
        plan()
    }

    /// How long it has to run until it is done or fails, in seconds.
    var secondsLeft: Double { max(0, ((failsAt ?? 1) - part) * job.seconds) }

    /// Runs for a time.
    ///
    /// - Parameter isAll: Whether it comes to its end, or to where it fails, so that no rounding is left over.
    mutating func run(_ seconds: Double, isAll: Bool) {
        let goal = failsAt ?? 1
        part = isAll ? goal : min(goal, part + (job.seconds > 0 ? seconds / job.seconds : goal))
    }

    /// What it has used since the last report.
    mutating func report() -> Usage {
        func written(_ part: Double) -> UInt64 { UInt64(part * Double(job.written)) }
        defer { reported = part }
        return Usage(cpu: (part - reported) * job.cpu, written: written(part) - written(reported))
    }

    /// Comes to its end.
    ///
    /// - Returns: Whether it is done; else it failed.
    mutating func end(at moment: Double) -> Bool {
        guard failsAt != nil else { return true }
        failuresLeft -= 1
        failures += 1
        notBefore = moment + Backoff.delay(afterFailures: failures)
        return false
    }

    /// Takes in another request for the same.
    mutating func melt(_ other: TracedJob) {
        job.cpu = max(job.cpu, other.cpu)
        job.seconds = max(job.seconds, other.seconds)
        job.written = max(job.written, other.written)
        job.items = max(job.items, other.items)
        job.isFresh = job.isFresh && other.isFresh
        job.deadline = [job.deadline, other.deadline].compactMap { $0 }.min()
        if other.urgency.rank < job.urgency.rank { job.urgency = other.urgency }
    }
}

extension Urgency {
    /// What presses more comes first.
    fileprivate var rank: Int {
        switch self {
        case .userWaiting: 0
        case .freshness: 1
        case .expiry: 2
        case .maintenance: 3
        }
    }
}

/// A simulated worker, which does one job.
struct SimulatedWorker: Sendable {
    enum Phase: Hashable, Sendable {
        case running
        /// It goes on until then, since nobody is quiet at once.
        case quieting(until: Double)
        case paused
        case stopping(until: Double)
    }
    var key: ScheduledJob.Key
    var phase = Phase.running
    /// Up to when its work is accounted for.
    var settled: Double
    /// Whether it was quiet when it was told to end.
    var wasPaused = false

    var isWorking: Bool { phase != .paused }

    /// When it is quiet, if it was told to be.
    var quiet: Double? {
        switch phase {
        case .running, .paused: nil
        case .quieting(let until), .stopping(let until): until
        }
    }

    /// How long one that heeds a request goes on, in seconds: to the end of an item.
    static let cooperativeDelay = 0.05
    /// How long one goes on that does not heed it, until it is made to be quiet: the bound of the design.
    static let forcedDelay = 0.5
}
