// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// A job and its cost.
struct SimulatedWork {
    var job: ScheduledJob
    /// The run time that the job needs, in seconds.
    var seconds: Double
    /// The processor seconds used in each second that the job runs.
    var rate = 1.0
    /// The bytes written in each second.
    var written: UInt64 = 0
    /// The run time since the last restart, in seconds.
    var ran = 0.0
    /// The run times, in seconds, after which the job fails.
    var failures: [Double] = []
}

/// A machine with a worker for each started job, on a virtual clock. It sends a scheduler the
/// conditions of a trace and the reports of its jobs, executes the scheduler's steps, and checks
/// each step against independent rules.
struct Simulation {
    var scheduler: Scheduler
    private(set) var check = SchedulerCheck()
    private(set) var now: Double
    /// The pending jobs.
    private(set) var work: [ScheduledJob.Key: SimulatedWork] = [:]
    /// The times at which jobs finished.
    private(set) var done: [ScheduledJob.Key: Double] = [:]
    /// All actions, with their times.
    private(set) var actions: [SchedulerAction] = []
    /// All lines of the decision log.
    private(set) var journal: [JournalEntry] = []
    /// The number of ticks sent.
    private(set) var ticks = 0

    /// Conditions with their start times, in order.
    var trace: [(moment: Double, conditions: Conditions)] = []
    /// The interval between the reports of a running job, in seconds.
    var reportInterval = 1.0
    /// The order in which jobs are listed.
    var listOrder: ([ScheduledJob]) -> [ScheduledJob] = { $0 }

    private var traced = 0
    /// The running jobs, and the time of each job's last report.
    private var running: [ScheduledJob.Key: Double] = [:]
    private var underWay: Set<ScheduledJob.Key> = []
    private var wake: Double?

    init(policy: SchedulingPolicy = SchedulingPolicy(), at moment: Double = 0) {
        scheduler = Scheduler(policy: policy, now: moment)
        now = moment
    }

    // MARK: What happens

    /// Adds pending jobs, and reports the whole list to the scheduler.
    mutating func owe(_ more: [SimulatedWork]) {
        for one in more { work[one.job.key] = one }
        list()
    }

    /// Makes a changed-files job fresh, or no longer fresh.
    mutating func set(isFresh: Bool, _ key: ScheduledJob.Key) {
        work[key]?.job.isFresh = isFresh
        list()
    }

    private mutating func list() {
        send(.jobs(listOrder(work.values.map(\.job).sorted { $0.key < $1.key })))
    }

    /// Sends the scheduler an event, and executes the resulting steps.
    mutating func send(_ event: SchedulerEvent) {
        var events = [event]
        while !events.isEmpty {
            let event = events.removeFirst()
            let new = scheduler.handle(event, at: now)
            check.take(event, new, at: now)
            actions += new
            for action in new { perform(action, &events) }
        }
    }

    private mutating func perform(_ action: SchedulerAction, _ events: inout [SchedulerEvent]) {
        switch action {
        case .start(let key):
            running[key] = now
            underWay.insert(key)
            if work[key]?.job.isResumable == false { work[key]?.ran = 0 }
        case .pause(let key, _): settle(key, &events)
        case .resume(let key): running[key] = now
        case .stop(let key, _):
            settle(key, &events)
            underWay.remove(key)
            events.append(.ended(key, .stopped))
        case .wake(let moment): wake = moment
        case .sense(let sensing): if sensing != .off, let last = current { events.append(.conditions(last)) }
        case .note(let entry): journal.append(entry)
        }
    }

    /// The current conditions of the trace.
    private var current: Conditions? { traced > 0 ? trace[traced - 1].conditions : nil }

    /// Updates the running job's progress to the current time. The job is then paused.
    private mutating func settle(_ key: ScheduledJob.Key, _ events: inout [SchedulerEvent]) {
        if let report = report(key) { events.append(report) }
        running[key] = nil
    }

    private mutating func report(_ key: ScheduledJob.Key) -> SchedulerEvent? {
        guard let lastReport = running[key], let one = work[key], now > lastReport else { return nil }
        let elapsed = now - lastReport
        work[key]?.ran += elapsed
        running[key] = now
        let written = UInt64(Double(one.written) * elapsed)
        return .used(key, Usage(cpu: one.rate * elapsed, written: written, wakeUps: 1))
    }

    // MARK: Time

    /// Continues until a time, or until no work is pending.
    mutating func run(until end: Double, whileOwed: Bool = false) {
        while now <= end, !(whileOwed && work.isEmpty) {
            var next = end
            if traced < trace.count { next = min(next, trace[traced].moment) }
            if let wake { next = min(next, wake) }
            for (key, lastReport) in running {
                if !isFresh(key) { next = min(next, lastReport + reportInterval) }
                if let one = work[key] { next = min(next, lastReport + max(0, goal(of: one) - one.ran)) }
            }
            now = max(now, next)
            let ended = running.keys.sorted().first { key in
                work[key].map { $0.ran + now - (running[key] ?? now) >= goal(of: $0) - 1e-6 } ?? false
            }
            if traced < trace.count, trace[traced].moment <= now {
                traced += 1
                if let current { send(.conditions(current)) }
            } else if let ended {
                finish(ended)
            } else if let due = running.keys.sorted().first(where: {
                !isFresh($0) && now >= (running[$0] ?? now) + reportInterval
            }), let report = report(due) {
                send(report)
            } else if let moment = wake, moment <= now {
                wake = nil
                ticks += 1
                // The usage of fresh work is measured when the scheduler requests it.
                for key in running.keys.sorted() where isFresh(key) {
                    if let report = report(key) { send(report) }
                }
                send(.tick)
            } else if now >= end {
                return
            }
        }
    }

    private func isFresh(_ key: ScheduledJob.Key) -> Bool { work[key]?.job.isFresh == true }

    private func goal(of one: SimulatedWork) -> Double { min(one.seconds, one.failures.first ?? .infinity) }

    private mutating func finish(_ key: ScheduledJob.Key) {
        if let report = report(key) { send(report) }
        // The report may have paused the job.
        guard underWay.contains(key), let one = work[key] else { return }
        running[key] = nil
        underWay.remove(key)
        if one.failures.isEmpty {
            work[key] = nil
            done[key] = now
            send(.ended(key, .done))
        } else {
            work[key]?.failures.removeFirst()
            work[key]?.job.notBefore = now + Backoff.firstDelay
            send(.ended(key, .failed(reason: "it fell over")))
        }
        list()
    }
}
