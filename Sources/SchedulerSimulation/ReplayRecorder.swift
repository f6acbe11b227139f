// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// Collects the spans of a replay and their totals.
struct ReplayRecorder {
    private(set) var replay: Replay
    private let policy: SchedulingPolicy
    /// The gates as the scheduler would see them if it continuously read the conditions.
    private var machine = MachineGates()
    private var closedSince: [Gate: Double] = [:]
    private var waitingSince: Double?
    private var throttledSince: [String: Double] = [:]
    private var places: [ScheduledJob.Key: Int] = [:]
    /// The current activity of each pending job.
    private var doing: [ScheduledJob.Key: (activity: Replay.Activity, gates: [Gate], since: Double)] = [:]
    /// The pending jobs: the time of the request, `true` if the job has started, and the time since
    /// which the job has not been running.
    private var pending: [ScheduledJob.Key: (requested: Double, isBegun: Bool, restsSince: Double)] = [:]
    /// The time at which the user became active, and the job that was still running.
    private var returned: (moment: Double, key: ScheduledJob.Key)?

    init(_ trace: Trace) {
        replay = Replay(trace)
        policy = trace.policy
    }

    // MARK: The machine

    mutating func take(_ conditions: Conditions, at now: Double, sawOwnWork: Bool) {
        machine.take(conditions, policy, sawOwnWork: sawOwnWork)
        judge(at: now)
    }

    /// Returns the next time at which a gate opens by itself.
    func nextChange(after now: Double) -> Double? {
        [Gate.userActive, .justResumed].compactMap { gate in
            closedSince[gate] == nil ? nil : machine.opens(gate, policy)
        }.filter { $0 > now }.min()
    }

    mutating func judge(at now: Double) {
        let closed = machine.closed(policy, at: now)
        if closed.contains(GateSet(.userActive)) != (closedSince[.userActive] != nil) { cut(at: now) }
        for gate in Gate.allCases where gate.rawValue > Gate.personWaiting.rawValue {
            if closed.contains(GateSet(gate)) {
                guard closedSince[gate] == nil else { continue }
                closedSince[gate] = now
                if gate == .userActive,
                    let key = doing.filter({ $0.value.activity.isInterrupted }).keys.min()
                {
                    replay.totals.returns += 1
                    returned = (now, key)
                }
            } else if let since = closedSince.removeValue(forKey: gate) {
                replay.gates.append(Replay.Span(start: since, end: now, kind: gate, gates: []))
                if gate == .userActive { replay.totals.active += now - since }
            }
        }
    }

    mutating func take(personsWaiting count: Int, at now: Double) {
        if count > 0 { waitingSince = waitingSince ?? now }
        guard count == 0, let since = waitingSince else { return }
        waitingSince = nil
        replay.personsWaiting.append(Replay.Span(start: since, end: now, kind: .personWaiting, gates: []))
    }

    mutating func take(throttled bundle: String, _ isThrottled: Bool, at now: Double) {
        if isThrottled {
            if throttledSince[bundle] == nil { throttledSince[bundle] = now }
        } else if let since = throttledSince.removeValue(forKey: bundle) {
            replay.throttled.append(Replay.Span(start: since, end: now, kind: bundle, gates: [.throttled]))
        }
    }

    // MARK: Jobs

    mutating func note(_ entry: JournalEntry) { replay.journal.append(entry) }
    mutating func noteTick() { replay.totals.ticks += 1 }

    /// Updates the summary of a job that has arrived.
    private mutating func change(_ key: ScheduledJob.Key, _ body: (inout Replay.JobSummary) -> Void) {
        if let place = places[key] { body(&replay.jobs[place]) }
    }

    mutating func noteRequest(_ key: ScheduledJob.Key, requested: Double) {
        if places[key] == nil {
            places[key] = replay.jobs.count
            replay.jobs.append(Replay.JobSummary(key: key, requested: requested))
        }
        change(key) { $0.requests += 1 }
    }

    mutating func noteOwed(_ key: ScheduledJob.Key, requested: Double, at now: Double) {
        pending[key] = (requested, false, requested)
        set(key, .waiting, [], at: now)
    }

    /// Sets the current activity of a job.
    mutating func set(_ key: ScheduledJob.Key, _ activity: Replay.Activity, _ gates: [Gate], at now: Double) {
        if let old = doing[key], old.activity == activity, old.gates == gates { return }
        endSpan(key, at: now)
        doing[key] = (activity, gates, now)
        guard activity.isSlice, var one = pending[key] else { return }
        let wait = one.isBegun ? nil : now - one.requested
        one.isBegun = true
        pending[key] = one
        change(key) { job in
            job.began = job.began ?? now
            job.longestWait = max(job.longestWait, wait ?? 0)
        }
    }

    private mutating func endSpan(_ key: ScheduledJob.Key, at now: Double) {
        guard let old = doing.removeValue(forKey: key), now > old.since else { return }
        if old.activity.isWork {
            replay.totals.running += now - old.since
            // Every span of work ends when the user becomes active or inactive; see `cut`.
            if closedSince[.userActive] != nil { replay.totals.runningWhileActive += now - old.since }
        }
        change(key) { job in
            if let last = job.spans.last, last.kind == old.activity, last.gates == old.gates, last.end == old.since {
                job.spans[job.spans.count - 1].end = now
            } else {
                job.spans.append(Replay.Span(start: old.since, end: now, kind: old.activity, gates: old.gates))
            }
        }
    }

    /// Splits the running spans, so that each span is entirely before or after a change in user
    /// activity.
    private mutating func cut(at now: Double) {
        for (key, one) in doing where one.activity.isWork {
            endSpan(key, at: now)
            doing[key] = (one.activity, one.gates, now)
        }
    }

    mutating func noteSlice(_ key: ScheduledJob.Key, isRelaxed: Bool, at now: Double) {
        let rest = pending[key].map { max(0, now - $0.restsSince) } ?? 0
        change(key) { job in
            job.slices += 1
            if isRelaxed { job.relaxedSlices += 1 }
            job.longestRest = max(job.longestRest, rest)
        }
    }

    /// Records that a running job is paused or has ended.
    mutating func noteQuiet(_ key: ScheduledJob.Key, at now: Double) {
        pending[key]?.restsSince = now
        if let returned, returned.key == key {
            replay.totals.longestToQuiet = max(replay.totals.longestToQuiet, now - returned.moment)
            self.returned = nil
        }
    }

    mutating func notePause(_ key: ScheduledJob.Key) { change(key) { $0.pauses += 1 } }
    mutating func noteStop(_ key: ScheduledJob.Key) { change(key) { $0.stops += 1 } }
    mutating func noteFailure(_ key: ScheduledJob.Key) { change(key) { $0.failures += 1 } }

    mutating func note(_ usage: Usage, of key: ScheduledJob.Key) {
        replay.totals.cpu += usage.cpu
        change(key) { $0.usage += usage }
    }

    mutating func noteDone(_ key: ScheduledJob.Key, items: Int, at now: Double) {
        endSpan(key, at: now)
        guard let one = pending.removeValue(forKey: key) else { return }
        change(key) { job in
            job.done += 1
            job.items += items
            job.finished = now
            job.longestTime = max(job.longestTime, now - one.requested)
        }
    }

    // MARK: The end

    mutating func finish(at now: Double) -> Replay {
        let working = Set(doing.filter { $0.value.activity.isWork }.keys)
        for key in doing.keys.sorted() { endSpan(key, at: now) }
        for (key, one) in pending {
            change(key) { job in
                job.isOwed = true
                job.longestTime = max(job.longestTime, now - one.requested)
                if !one.isBegun { job.longestWait = max(job.longestWait, now - one.requested) }
                if !working.contains(key) { job.longestRest = max(job.longestRest, now - one.restsSince) }
            }
        }
        for (gate, since) in closedSince {
            replay.gates.append(Replay.Span(start: since, end: now, kind: gate, gates: []))
            if gate == .userActive { replay.totals.active += now - since }
        }
        take(personsWaiting: 0, at: now)
        for bundle in throttledSince.keys.sorted() { take(throttled: bundle, false, at: now) }
        replay.gates.sort { ($0.kind.rawValue, $0.start) < ($1.kind.rawValue, $1.start) }
        replay.totals.seconds = now - replay.start
        return replay
    }
}

extension Replay.Activity {
    /// `true` if the job is running.
    var isWork: Bool {
        switch self {
        case .running, .relaxed, .fresh, .wanted, .quieting: true
        case .waiting, .paused: false
        }
    }
    /// `true` if the job must pause when the user returns.
    var isInterrupted: Bool { isWork && self != .wanted && self != .fresh }
    /// `true` if the job is running as intended.
    var isSlice: Bool { isWork && self != .quieting }
}
