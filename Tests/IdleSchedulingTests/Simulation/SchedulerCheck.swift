// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// Follows a scheduler's events and steps, and checks them against independent, simple rules.
struct SchedulerCheck {
    enum Phase { case running, paused, stopping }

    /// The faults found.
    private(set) var faults: [String] = []
    /// The started jobs.
    private(set) var underWay: [ScheduledJob.Key: Phase] = [:]
    /// The usage of fresh work while a gate had been closed for at least a minute.
    private(set) var freshUsed: [(moment: Double, cpu: Double)] = []
    /// The number of times that fresh work started although a gate was closed.
    private(set) var freshPasses = 0
    /// The intervals in which jobs ran although a gate was closed.
    private(set) var relaxedPieces: [ClosedRange<Double>] = []
    /// The usage of each bundle, without the user's requests.
    private(set) var used: [String: [(moment: Double, usage: Usage)]] = [:]

    private var jobs: [ScheduledJob.Key: ScheduledJob] = [:]
    private var conditions = Conditions()
    private var personsWaiting = 0
    private var throttled: Set<String> = []
    private var wanted: Set<ScheduledJob.Key> = []
    private var relaxedSince: Double?
    private var slowSince: Double?
    private var wake: Double?
    private var sensing = SchedulerAction.Sensing.off

    mutating func take(_ event: SchedulerEvent, _ actions: [SchedulerAction], at now: Double) {
        let before = jobOfGates?.phase
        learn(event, now)
        var isStep = false
        for action in actions {
            obey(action, now)
            if case .start = action { isStep = true }
            if case .resume = action { isStep = true }
            if case .stop = action { isStep = true }
            if case .pause = action { isStep = true }
        }
        watch(now)
        let shortest = jobs.values.contains(where: \.isFresh) ? 0.0 : 1
        if let wake, wake < now + shortest || wake <= now { fault("a tick after \(wake - now) s", now) }
        if case .tick = event, let asked = self.wakeBefore, asked <= now, !isStep, before != .running,
            jobOfGates?.phase != .running, shortest == 1, let wake, wake < now + 60
        {
            fault("a tick that found nothing is repeated after \(wake - now) s", now)
        }
        wakeBefore = wake
        if jobs.isEmpty, underWay.isEmpty, wake != nil || sensing != .off {
            fault("nothing is pending, and there is wake \(String(describing: wake)), sense \(sensing)", now)
        }
    }
    private var wakeBefore: Double?

    private func isFresh(_ key: ScheduledJob.Key) -> Bool { jobs[key]?.isFresh == true && !isUserRequested(key) }

    /// The started job that is not fresh work.
    private var jobOfGates: (job: ScheduledJob.Key, phase: Phase)? {
        underWay.first { !isFresh($0.key) }.map { ($0.key, $0.value) }
    }

    private mutating func fault(_ what: String, _ now: Double) { faults.append("at \(now): \(what)") }

    // MARK: Events

    private mutating func learn(_ event: SchedulerEvent, _ now: Double) {
        switch event {
        case .conditions(let new): conditions = new
        case .jobs(let list):
            jobs = Dictionary(list.map { ($0.key, $0) }, uniquingKeysWith: { one, _ in one })
            wanted.formIntersection(jobs.keys)
        case .used(let key, let usage):
            guard let bundle = key.bundle, underWay[key] != nil, !isUserRequested(key) else { return }
            used[bundle, default: []].append((now, usage))
            if isFresh(key), let slowSince, now - slowSince > 62 { freshUsed.append((now, usage.cpu)) }
        case .ended(let key, let outcome):
            guard let phase = underWay.removeValue(forKey: key) else { return }
            if outcome != .stopped || phase != .stopping { wanted.remove(key) }
            if outcome == .done { jobs[key] = nil }
        case .personsWaiting(let count): personsWaiting = count
        case .throttled(let bundle, let isThrottled):
            if isThrottled { throttled.insert(bundle) } else { throttled.remove(bundle) }
        case .runNow(let key): wanted.insert(key)
        case .cancel(let key): wanted.remove(key)
        case .tick: break
        }
    }

    private func isUserRequested(_ key: ScheduledJob.Key) -> Bool {
        wanted.contains(key) || jobs[key]?.urgency == .userWaiting
    }

    // MARK: What it says

    private mutating func obey(_ action: SchedulerAction, _ now: Double) {
        switch action {
        case .start(let key):
            for other in underWay.keys
            where isFresh(other) == isFresh(key) || (other.bundle != nil && other.bundle == key.bundle) {
                fault("\(key) begins beside \(other)", now)
            }
            if jobs[key] == nil { fault("\(key) begins and is not pending", now) }
            if isFresh(key), !Self.machine(conditions, now).isEmpty { freshPasses += 1 }
            underWay[key] = .running
        case .pause(let key, _):
            if underWay[key] != .running { fault("\(key) is paused and does not run", now) }
            underWay[key] = .paused
        case .resume(let key):
            if underWay[key] != .paused { fault("\(key) runs and is not paused", now) }
            underWay[key] = .running
        case .stop(let key, _):
            if underWay[key] == nil || underWay[key] == .stopping { fault("\(key) is stopped and does not run", now) }
            underWay[key] = .stopping
        case .wake(let moment): wake = moment
        case .sense(let new): sensing = new
        case .note: break
        }
    }

    /// Checks that the running job is allowed to run.
    private mutating func watch(_ now: Double) {
        slowSince = Self.machine(conditions, now).isEmpty ? nil : slowSince ?? now
        watchFresh(now)
        guard let underWay = jobOfGates, underWay.phase == .running, let job = jobs[underWay.job] else {
            endRelaxed(now)
            return
        }
        let (closed, passed) = gates(of: job, now)
        for gate in closed where !passed.contains(gate) { fault("\(job.key) runs past \(gate.code)", now) }
        if passed.isEmpty || isUserRequested(job.key) {
            endRelaxed(now)
        } else if relaxedSince == nil {
            relaxedSince = now
        }
    }

    /// Checks that fresh work runs only when it may, and waits only when it must.
    private mutating func watchFresh(_ now: Double) {
        let running = underWay.filter { $0.value == .running && isFresh($0.key) }.map(\.key)
        if running.count > 1 { fault("\(running) run together", now) }
        for key in running {
            guard let job = jobs[key] else { continue }
            for gate in gates(of: job, now).closed where !Self.passedByFresh(gate, conditions) {
                fault("\(key) is fresh and runs past \(gate.code)", now)
            }
        }
    }

    /// Returns `true` if fresh work may bypass a gate, according to the documented table.
    private static func passedByFresh(_ gate: Gate, _ conditions: Conditions) -> Bool {
        switch gate {
        case .userActive, .onBattery, .powerSaver, .hot, .cpuBusy, .cpuPressure, .ioPressure, .justResumed,
            .personWaiting:
            true
        case .inhibited: !conditions.inhibitors.contains(where: \.isOwn)
        default: false
        }
    }

    private mutating func endRelaxed(_ now: Double) {
        if let since = relaxedSince, since <= now { relaxedPieces.append(since...now) }
        relaxedSince = nil
    }

    /// Returns the gates that are certainly closed, and those among them that a job's score
    /// bypasses.
    private func gates(of job: ScheduledJob, _ now: Double) -> (closed: [Gate], passed: [Gate]) {
        var closed: [Gate] = []
        if job.refusal == .disabled { closed.append(.disabled) }
        if job.refusal == .quarantined { closed.append(.quarantined) }
        if isUserRequested(job.key) { return (closed, []) }
        if let until = job.notBefore, until > now, until < now + 5 * 3600 { closed.append(.backOff) }
        if let bundle = job.key.bundle, throttled.contains(bundle) { closed.append(.throttled) }
        if personsWaiting > 0 { closed.append(.personWaiting) }
        let machine = Self.machine(conditions, now)
        let age = max(0, now - job.requested)
        let score = max(age / tolerance(job), deadlineScore(job, now))
        let passed = machine.filter { gate in
            if gate == .inhibited, conditions.inhibitors.contains(where: \.isOwn) { return false }
            return Self.relaxed[gate].map { score >= $0 - 1e-9 } ?? false
        }
        return (closed + machine, passed)
    }

    private func tolerance(_ job: ScheduledJob) -> Double {
        switch job.urgency {
        case .userWaiting: 1e-300
        case .freshness: 300
        case .expiry: 43200
        case .maintenance: 86400
        }
    }

    private func deadlineScore(_ job: ScheduledJob, _ now: Double) -> Double {
        guard let deadline = job.deadline else { return 0 }
        return deadline > now ? 4 * tolerance(job) / (deadline - now) : 1e300
    }

    /// The scores in the documented table.
    private static let relaxed: [Gate: Double] = [
        .userActive: 4, .cpuBusy: 6, .cpuPressure: 6, .ioPressure: 8, .onBattery: 8, .hot: 12, .powerSaver: 24,
        .inhibited: 48,
    ]

    /// Returns the gates that the machine's conditions close, independent of their previous state.
    static func machine(_ conditions: Conditions, _ now: Double) -> [Gate] {
        var closed: [Gate] = []
        if conditions.isLocked != true {
            switch conditions.presence {
            case .active: closed.append(.userActive)
            case .away(let since): if abs(now - since) < 60 { closed.append(.userActive) }
            case nil: break
            }
        }
        if conditions.isAsleep { closed.append(.asleep) }
        if let resumed = conditions.resumed, abs(now - resumed) < 60 { closed.append(.justResumed) }
        if !conditions.inhibitors.isEmpty { closed.append(.inhibited) }
        if conditions.power?.isOnBattery == true {
            closed.append(.onBattery)
            if let percent = conditions.power?.percent, percent < 30 { closed.append(.batteryLow) }
        }
        if conditions.isSavingPower == true { closed.append(.powerSaver) }
        if conditions.isHot == true { closed.append(.hot) }
        if let load = conditions.otherLoad, load > 0.4 { closed.append(.cpuBusy) }
        if let cpu = conditions.pressure.cpu, cpu > 0.3, conditions.otherLoad.map({ $0 > 0.1 }) ?? true {
            closed.append(.cpuPressure)
        }
        // More I/O pressure than a job may cause itself.
        if let io = conditions.pressure.io, io > 0.7 { closed.append(.ioPressure) }
        if let memory = conditions.pressure.memory, memory > 0.1 { closed.append(.memoryPressure) }
        if let free = conditions.freeDisk, free < 2 << 30 { closed.append(.diskFloor) }
        return closed
    }

    // MARK: At the end

    /// The longest run time of low-rate work within any minute, in seconds.
    var mostRelaxedInAMinute: Double {
        relaxedPieces.indices.reduce(0) { most, index in
            let end = relaxedPieces[index].lowerBound + 60
            let within = relaxedPieces[index...].prefix { $0.lowerBound < end }
            return max(most, within.reduce(0) { $0 + min($1.upperBound, end) - $1.lowerBound })
        }
    }

    /// The highest usage of fresh work within any minute, in seconds of processor time.
    var mostFreshInAMinute: Double {
        freshUsed.indices.reduce(0) { most, index in
            let end = freshUsed[index].moment + 60
            return max(most, freshUsed[index...].prefix { $0.moment < end }.reduce(0) { $0 + $1.cpu })
        }
    }

    /// Returns a bundle's highest usage within any window of this length.
    func mostUsed(by bundle: String, within window: Double) -> Usage {
        let all = used[bundle] ?? []
        var (most, sum, first) = (Usage(), Usage(), 0)
        for last in all {
            sum += last.usage
            while all[first].moment <= last.moment - window {
                sum.cpu -= all[first].usage.cpu
                sum.written -= all[first].usage.written
                first += 1
            }
            most = Usage(cpu: max(most.cpu, sum.cpu), written: max(most.written, sum.written))
        }
        return most
    }
}
