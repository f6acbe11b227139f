// SPDX-License-Identifier: Apache-2.0

/// The evaluation of a job.
struct Verdict: Hashable, Sendable {
    /// The score of the job.
    var score: Double
    var closed: GateSet
    /// The closed gates that the job may pass.
    var relaxed: GateSet
    /// The gates that prevent the job from running.
    var blocking: GateSet { closed - relaxed }
    /// `true` if only the duty cycle, which is the same for all jobs, prevents the job from
    /// running.
    var couldRun: Bool { (blocking - GateSet(.dutyCycle)).isEmpty }
    /// `true` if the job could run in a free slot.
    var couldHaveTurn: Bool { (blocking - GateSet(.busy)).isEmpty }
}

extension Scheduler {
    /// Evaluates a job regardless of the order of jobs. Two jobs of one bundle, or two fresh jobs,
    /// never run together.
    ///
    /// - Parameter isRunning: `true` if the job is running. A running job may use its whole quota;
    ///   to start, a job needs some of the quota left.
    func verdict(on one: PendingJob, isRunning: Bool = false) -> Verdict {
        let job = one.job
        let score = isUserRequested(one) ? SchedulingPolicy.highestScore : policy.score(of: job, at: now)
        var verdict = Verdict(score: score, closed: ownGates(of: one, isRunning: isRunning), relaxed: [])
        guard !isUserRequested(one) else { return verdict }
        if isShutOut(one) { verdict.closed.insert(GateSet(.busy)) }
        verdict.closed.formUnion(machineGates)
        guard !isFreshWork(one) else {
            verdict.relaxed = passedByFresh
            if !verdict.relaxed.isEmpty, freshBudget.isHolding(policy, isRunning: isRunning, at: now) {
                verdict.closed.insert(GateSet(.freshPace))
            }
            return verdict
        }
        verdict.relaxed = verdict.closed.intersection(passable(at: score))
        if !verdict.relaxed.isEmpty, now >= window.end, now < window.next { verdict.closed.insert(GateSet(.dutyCycle)) }
        return verdict
    }

    /// The gates that are closed for all jobs.
    private var machineGates: GateSet {
        var closed = machine.closed(policy, at: now)
        if personsWaiting > 0, !policy.switchedOff.contains(.personWaiting) { closed.insert(GateSet(.personWaiting)) }
        if isUnwatched { closed.insert(GateSet(.unknownConditions)) }
        return closed
    }

    /// The closed gates that fresh work passes. While there are any, the rate of fresh work is
    /// limited.
    var passedByFresh: GateSet {
        let passed = machineGates.intersection(.freshPassing)
        return machine.isInhibitedByOwn ? passed - GateSet(.inhibited) : passed
    }

    /// Returns `true` if the rules of fresh work apply. They do not apply to a job that the user
    /// requested.
    func isFreshWork(_ one: PendingJob) -> Bool { one.job.isFresh && !isUserRequested(one) }

    /// Returns `true` if another job must end first, or if a job requested by the user is about to
    /// start. A job that the user requested stops other jobs itself.
    private func isShutOut(_ one: PendingJob) -> Bool {
        let key = one.job.key
        let isOfBundle = { (other: ScheduledJob.Key) in
            other != key && other.bundle != nil && other.bundle == key.bundle
        }
        if Slot.allCases.contains(where: { self[$0].map { isOfBundle($0.key) } ?? false }) { return true }
        guard isFreshWork(one) else { return false }
        if let fresh, fresh.key != key { return true }
        return pending.contains {
            isOfBundle($0.job.key) && isUserRequested($0) && !$0.isAwaitingList && ownGates(of: $0).isEmpty
        }
    }

    /// Returns `true` if the user requested the job or is waiting for it.
    func isUserRequested(_ one: PendingJob) -> Bool { one.job.urgency == .userWaiting || wanted.contains(one.job.key) }

    /// `true` if the conditions have to be read again after the sensors were off; for at most one
    /// check interval.
    var isUnwatched: Bool { unwatchedSince.map { now < $0 + policy.lookWaiting } ?? false }

    /// Returns the closed gates that belong to a job and its extension.
    func ownGates(of one: PendingJob, isRunning: Bool = false) -> GateSet {
        let job = one.job
        var closed: GateSet = []
        switch job.refusal {
        case .disabled: closed.insert(GateSet(.disabled))
        case .quarantined: closed.insert(GateSet(.quarantined))
        case .locked: closed.insert(GateSet(.locked))
        case nil: break
        }
        if wanted.contains(job.key) { return closed }
        if let until = cancellations[job.key], now < until { closed.insert(GateSet(.cancelled)) }
        if job.urgency == .userWaiting {
            if let until = one.retryAt, now < until { closed.insert(GateSet(.backOff)) }
            return closed
        }
        if notBefore(one) != nil { closed.insert(GateSet(.backOff)) }
        guard let bundle = job.key.bundle else { return closed }
        if throttled.contains(bundle) { closed.insert(GateSet(.throttled)) }
        let used = usage.used(by: bundle, within: policy.quotaWindow, at: now)
        for gate in [Gate.cpuQuota, .writeQuota] where !policy.switchedOff.contains(gate) {
            if !isEnoughLeft(of: gate, used, isRunning: isRunning) { closed.insert(GateSet(gate)) }
        }
        return closed
    }

    /// Returns the time until which a job does not start after a failure. A wait that exceeds the
    /// longest back-off is ignored, because it results from a clock that was set back.
    func notBefore(_ one: PendingJob) -> Double? {
        let told = one.job.notBefore.flatMap { $0 - now > Backoff.longestDelay ? nil : $0 }
        guard let until = [told, one.retryAt].compactMap({ $0 }).max(), now < until else { return nil }
        return until
    }

    /// Returns `true` if the quota allows a job to run. To start, a job needs a twentieth of the
    /// quota, so that it does not start for a very short time.
    func isEnoughLeft(of gate: Gate, _ used: Usage, isRunning: Bool = false) -> Bool {
        let (limit, used) =
            gate == .cpuQuota ? (policy.quotaCPU, used.cpu) : (policy.quotaWritten, Double(used.written))
        return isRunning ? used < limit : used <= limit * 0.95
    }

    private func passable(at score: Double) -> GateSet {
        var gates: GateSet = []
        for (gate, limit) in policy.relaxations where score >= limit { gates.insert(GateSet(gate)) }
        if machine.isInhibitedByOwn { gates.remove(GateSet(.inhibited)) }
        return gates
    }

    /// Returns `true` if one job runs before another. The order is: jobs requested by the user,
    /// higher scores, older requests, key.
    func precedes(_ one: PendingJob, _ other: PendingJob) -> Bool {
        let isFirst = isUserRequested(one)
        guard isFirst == isUserRequested(other) else { return isFirst }
        let (score, otherScore) = (policy.score(of: one.job, at: now), policy.score(of: other.job, at: now))
        guard score == otherScore else { return score > otherScore }
        return (one.job.requested, one.job.key) < (other.job.requested, other.job.key)
    }

    /// Returns the index of the next job among those that match.
    ///
    /// - Parameter isFresh: `true` to search only fresh work; `false` to search all other jobs.
    func next(isFresh: Bool = false, where isMeant: (PendingJob, Verdict) -> Bool) -> Int? {
        var best: Int?
        for index in pending.indices where !pending[index].isAwaitingList && isFreshWork(pending[index]) == isFresh {
            guard best.map({ precedes(pending[index], pending[$0]) }) ?? true else { continue }
            if isMeant(pending[index], verdict(on: pending[index])) { best = index }
        }
        return best
    }

    /// Returns the earliest time at which a job could run; infinity if only an event can make it
    /// run.
    func earliest(_ one: PendingJob, _ verdict: Verdict) -> Double {
        var moment = now
        for gate in verdict.blocking.gates { moment = max(moment, opens(gate, for: one) ?? .infinity) }
        if !verdict.relaxed.isEmpty, now >= window.end, !isFreshWork(one) { moment = max(moment, window.next) }
        return moment
    }

    /// Returns the earliest time at which a closed gate opens or a job may pass it; `nil` if only
    /// an event can open it.
    func opens(_ gate: Gate, for one: PendingJob) -> Double? {
        if GateSet.told.contains(GateSet(gate)) { return nil }
        switch gate {
        case .backOff: return notBefore(one)
        case .cancelled: return cancellations[one.job.key]
        case .dutyCycle: return window.next
        case .freshPace: return freshBudget.opens(policy)
        case .unknownConditions: return unwatchedSince.map { $0 + policy.lookWaiting }
        case .cpuQuota, .writeQuota:
            guard let bundle = one.job.key.bundle else { return nil }
            return usage.moment(of: bundle, within: policy.quotaWindow, after: now) { isEnoughLeft(of: gate, $0) }
        default:
            // A gate that does not open by itself is checked at intervals.
            let byItself = machine.opens(gate, policy) ?? now + policy.lookWaiting
            return min(byItself, relaxes(gate, for: one).map { max($0, now) } ?? .infinity)
        }
    }

    /// Returns the time from which a job may pass a machine gate; `nil` for never.
    func relaxes(_ gate: Gate, for one: PendingJob) -> Double? {
        guard !isFreshWork(one), let score = policy.relaxations[gate], gate != .inhibited || !machine.isInhibitedByOwn
        else { return nil }
        return policy.moment(of: score, for: one.job)
    }
}
