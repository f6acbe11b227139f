// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// A job and what it costs.
struct SimulatedWork {
    var job: ScheduledJob
    /// How long it has to run.
    var seconds: Double
    /// Processor seconds for each second that it runs.
    var rate = 1.0
    /// Bytes written in each second.
    var written: UInt64 = 0
    /// How long it has run since it was last begun anew.
    var ran = 0.0
    /// After how many seconds of work it fails, as often as there are numbers.
    var failures: [Double] = []
}

/// A machine with one worker, on a virtual clock: hands a scheduler the conditions of a trace and what its jobs would
/// report, does what it says, and checks each step with rules of its own.
struct Simulation {
    var scheduler: Scheduler
    private(set) var check = SchedulerCheck()
    private(set) var now: Double
    /// The jobs that are owed.
    private(set) var work: [ScheduledJob.Key: SimulatedWork] = [:]
    /// When jobs were done.
    private(set) var done: [ScheduledJob.Key: Double] = [:]
    /// All actions, with their moments.
    private(set) var actions: [SchedulerAction] = []
    /// All lines of the journal.
    private(set) var journal: [JournalEntry] = []
    /// How many ticks were sent.
    private(set) var ticks = 0

    /// Conditions from moments on; in order.
    var trace: [(moment: Double, conditions: Conditions)] = []
    /// How often a running job reports, in seconds.
    var reportInterval = 1.0
    /// The order in which jobs are listed.
    var listOrder: ([ScheduledJob]) -> [ScheduledJob] = { $0 }

    private var traced = 0
    private var running: ScheduledJob.Key?
    private var underWay: ScheduledJob.Key?
    private var lastReport = 0.0
    private var wake: Double?

    init(policy: SchedulingPolicy = SchedulingPolicy(), at moment: Double = 0) {
        scheduler = Scheduler(policy: policy, now: moment)
        now = moment
    }

    // MARK: What happens

    /// Adds jobs to those that are owed, and lists them all.
    mutating func owe(_ more: [SimulatedWork]) {
        for one in more { work[one.job.key] = one }
        list()
    }

    private mutating func list() {
        send(.jobs(listOrder(work.values.map(\.job).sorted { $0.key < $1.key })))
    }

    /// Tells the scheduler something, and does what it says.
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
            (running, underWay, lastReport) = (key, key, now)
            if work[key]?.job.isResumable == false { work[key]?.ran = 0 }
        case .pause: settle(&events)
        case .resume(let key): (running, lastReport) = (key, now)
        case .stop(let key, _):
            settle(&events)
            underWay = nil
            events.append(.ended(key, .stopped))
        case .wake(let moment): wake = moment
        case .sense(let sensing): if sensing != .off, let last = current { events.append(.conditions(last)) }
        case .note(let entry): journal.append(entry)
        }
    }

    /// The conditions of the trace.
    private var current: Conditions? { traced > 0 ? trace[traced - 1].conditions : nil }

    /// Brings what the running job has done up to the present; it is quiet afterwards.
    private mutating func settle(_ events: inout [SchedulerEvent]) {
        if let report = report() { events.append(report) }
        running = nil
    }

    private mutating func report() -> SchedulerEvent? {
        guard let key = running, let one = work[key], now > lastReport else { return nil }
        let elapsed = now - lastReport
        work[key]?.ran += elapsed
        lastReport = now
        let written = UInt64(Double(one.written) * elapsed)
        return .used(key, Usage(cpu: one.rate * elapsed, written: written, wakeUps: 1))
    }

    // MARK: Time

    /// Goes on until a moment, or until nothing is owed.
    mutating func run(until end: Double, whileOwed: Bool = false) {
        while now <= end, !(whileOwed && work.isEmpty) {
            var next = end
            if traced < trace.count { next = min(next, trace[traced].moment) }
            if let wake { next = min(next, wake) }
            if let key = running, let one = work[key] {
                next = min(next, lastReport + reportInterval, lastReport + max(0, goal(of: one) - one.ran))
            }
            now = max(now, next)
            if traced < trace.count, trace[traced].moment <= now {
                traced += 1
                if let current { send(.conditions(current)) }
            } else if let key = running, let one = work[key], one.ran + now - lastReport >= goal(of: one) - 1e-6 {
                finish(key)
            } else if running != nil, now >= lastReport + reportInterval, let report = report() {
                send(report)
            } else if let moment = wake, moment <= now {
                wake = nil
                ticks += 1
                send(.tick)
            } else if now >= end {
                return
            }
        }
    }

    private func goal(of one: SimulatedWork) -> Double { min(one.seconds, one.failures.first ?? .infinity) }

    private mutating func finish(_ key: ScheduledJob.Key) {
        if let report = report() { send(report) }
        // What was reported may have made it quiet.
        guard underWay == key, let one = work[key] else { return }
        (running, underWay) = (nil, nil)
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
