// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// The remaining work of a traced job.
struct SimulatedWork: Sendable {
    var job: TracedJob
    /// The time of the request.
    var requested: Double
    /// The completed fraction, 0 to 1.
    private(set) var part = 0.0
    /// The fraction at which the run fails; `nil` if it succeeds.
    private var failsAt: Double?
    private var failuresLeft: Int
    /// The number of consecutive failures, which determines the back-off.
    private(set) var failures = 0
    /// The fraction up to which processor time and written bytes have been reported.
    private var reported = 0.0
    /// The request that arrived during a run; `nil` if there was none.
    var again: (job: TracedJob, requested: Double)?
    var notBefore: Double?

    init(_ job: TracedJob, requested: Double) {
        (self.job, self.requested, failuresLeft) = (job, requested, job.failures)
        plan()
    }

    /// The job as seen by the scheduler.
    var scheduled: ScheduledJob {
        var scheduled = ScheduledJob(key: job.key, urgency: job.urgency, requested: requested)
        scheduled.deadline = job.deadline
        scheduled.isResumable = job.isResumable
        scheduled.isFresh = job.isFresh
        scheduled.notBefore = notBefore
        return scheduled
    }

    private mutating func plan() { failsAt = failuresLeft > 0 ? part + (1 - part) / 2 : nil }

    /// Starts a run. A job that is not resumable starts over.
    mutating func begin() {
        if !job.isResumable { (part, reported) = (0, 0) }
        plan()
    }

    /// The running time that remains until completion or failure, in seconds.
    var secondsLeft: Double { max(0, ((failsAt ?? 1) - part) * job.seconds) }

    /// Runs for a duration.
    ///
    /// - Parameter isAll: `true` if the run reaches completion or failure; this avoids rounding
    ///   errors.
    mutating func run(_ seconds: Double, isAll: Bool) {
        let goal = failsAt ?? 1
        part = isAll ? goal : min(goal, part + (job.seconds > 0 ? seconds / job.seconds : goal))
    }

    /// Returns the usage since the last report.
    mutating func report() -> Usage {
        func written(_ part: Double) -> UInt64 { UInt64(part * Double(job.written)) }
        defer { reported = part }
        return Usage(cpu: (part - reported) * job.cpu, written: written(part) - written(reported))
    }

    /// Ends the run.
    ///
    /// - Returns: `true` if the job is done; `false` if it failed.
    mutating func end(at moment: Double) -> Bool {
        guard failsAt != nil else { return true }
        failuresLeft -= 1
        failures += 1
        notBefore = moment + Backoff.delay(afterFailures: failures)
        return false
    }

    /// Merges another request for the same job.
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
    /// The rank of an urgency; 0 is the most urgent.
    fileprivate var rank: Int {
        switch self {
        case .userWaiting: 0
        case .freshness: 1
        case .expiry: 2
        case .maintenance: 3
        }
    }
}

/// A simulated worker, which runs one job.
struct SimulatedWorker: Sendable {
    enum Phase: Hashable, Sendable {
        case running
        /// The worker keeps running until the given time, because pausing is not immediate.
        case quieting(until: Double)
        case paused
        case stopping(until: Double)
    }
    var key: ScheduledJob.Key
    var phase = Phase.running
    /// The time up to which the work is accounted for.
    var settled: Double
    /// `true` if the worker was paused when it was stopped.
    var wasPaused = false

    var isWorking: Bool { phase != .paused }

    /// The time at which the worker pauses or stops; `nil` if it was not asked to.
    var quiet: Double? {
        switch phase {
        case .running, .paused: nil
        case .quieting(let until), .stopping(let until): until
        }
    }

    /// The delay of a cooperative worker, in seconds: until it finishes an item.
    static let cooperativeDelay = 0.05
    /// The delay of a worker that ignores the request until it is frozen, in seconds: the upper
    /// bound by design.
    static let forcedDelay = 0.5
}
