// SPDX-License-Identifier: Apache-2.0

/// What is found when a job is looked at.
struct Verdict: Hashable, Sendable {
    /// How much it presses.
    var score: Double
    var closed: GateSet
    /// Those of them that it may pass.
    var relaxed: GateSet
    /// Those that keep it from running.
    var blocking: GateSet { closed - relaxed }
    /// Whether it could run, but for the pace, which is the same for all.
    var couldRun: Bool { (blocking - GateSet(.dutyCycle)).isEmpty }
    /// Whether it could run if it were its turn.
    var couldHaveTurn: Bool { (blocking - GateSet(.busy)).isEmpty }
}

extension Scheduler {
    /// Looks at a job, apart from whose turn it is; but two of the same bundle, or two that are fresh, are never under way
    /// together.
    ///
    /// - Parameter isRunning: Whether it runs now; it may use up its quota then, else there has to be a little of it.
    func verdict(on one: Owed, isRunning: Bool = false) -> Verdict {
        let job = one.job
        let score = isPersons(one) ? SchedulingPolicy.highestScore : policy.score(of: job, at: now)
        var verdict = Verdict(score: score, closed: ownGates(of: one, isRunning: isRunning), relaxed: [])
        guard !isPersons(one) else { return verdict }
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

    /// The closed gates that fresh work passes; while there are any it has a rate.
    var passedByFresh: GateSet {
        let passed = machineGates.intersection(.freshPassing)
        return machine.isInhibitedByOwn ? passed - GateSet(.inhibited) : passed
    }

    /// Whether it is done by the rules of fresh work; what a person wants is not.
    func isFreshWork(_ one: Owed) -> Bool { one.job.isFresh && !isPersons(one) }

    /// Whether another job that is under way has to end first, or a person's that is about to begin. What a person wants
    /// stops that itself.
    private func isShutOut(_ one: Owed) -> Bool {
        let key = one.job.key
        let isOfBundle = { (other: ScheduledJob.Key) in
            other != key && other.bundle != nil && other.bundle == key.bundle
        }
        if Slot.allCases.contains(where: { self[$0].map { isOfBundle($0.key) } ?? false }) { return true }
        guard isFreshWork(one) else { return false }
        if let fresh, fresh.key != key { return true }
        return owed.contains {
            isOfBundle($0.job.key) && isPersons($0) && !$0.isAwaitingList && ownGates(of: $0).isEmpty
        }
    }

    /// Whether a person wants or awaits it.
    func isPersons(_ one: Owed) -> Bool { one.job.urgency == .userWaiting || wanted.contains(one.job.key) }

    /// Whether the machine is still to be looked at after nobody did; not for longer than a look takes to come round.
    var isUnwatched: Bool { unwatchedSince.map { now < $0 + policy.lookWaiting } ?? false }

    /// The closed gates of a job and its extension.
    func ownGates(of one: Owed, isRunning: Bool = false) -> GateSet {
        let job = one.job
        var closed: GateSet = []
        switch job.refusal {
        case .disabled: closed.insert(GateSet(.disabled))
        case .quarantined: closed.insert(GateSet(.quarantined))
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

    /// Until when a job is left alone because it failed. One that would wait longer than any back-off does so only
    /// because the clock was set back.
    func notBefore(_ one: Owed) -> Double? {
        let told = one.job.notBefore.flatMap { $0 - now > Backoff.longestDelay ? nil : $0 }
        guard let until = [told, one.retryAt].compactMap({ $0 }).max(), now < until else { return nil }
        return until
    }

    /// Whether a quota lets a job go on; one that does not run needs a twentieth of it, so that it does not begin for a
    /// blink of an eye.
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

    /// Whether a job is to run before another: a person's, then what presses more, then the older, then by key.
    func precedes(_ one: Owed, _ other: Owed) -> Bool {
        let isFirst = isPersons(one)
        guard isFirst == isPersons(other) else { return isFirst }
        let (score, otherScore) = (policy.score(of: one.job, at: now), policy.score(of: other.job, at: now))
        guard score == otherScore else { return score > otherScore }
        return (one.job.requested, one.job.key) < (other.job.requested, other.job.key)
    }

    /// The job that is to run next, of those that can.
    ///
    /// - Parameter isFresh: Whether fresh work is meant; else all other.
    func next(isFresh: Bool = false, where isMeant: (Owed, Verdict) -> Bool) -> Int? {
        var best: Int?
        for index in owed.indices where !owed[index].isAwaitingList && isFreshWork(owed[index]) == isFresh {
            guard best.map({ precedes(owed[index], owed[$0]) }) ?? true else { continue }
            if isMeant(owed[index], verdict(on: owed[index])) { best = index }
        }
        return best
    }

    /// When a job could run at the earliest, as far as is known: infinity if only an event can change it.
    func earliest(_ one: Owed, _ verdict: Verdict) -> Double {
        var moment = now
        for gate in verdict.blocking.gates { moment = max(moment, opens(gate, for: one) ?? .infinity) }
        if !verdict.relaxed.isEmpty, now >= window.end, !isFreshWork(one) { moment = max(moment, window.next) }
        return moment
    }

    /// When a closed gate opens, or a job may pass it, at the earliest; `nil` if only an event can tell.
    func opens(_ gate: Gate, for one: Owed) -> Double? {
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
            // What does not open by itself is looked at now and then.
            let byItself = machine.opens(gate, policy) ?? now + policy.lookWaiting
            return min(byItself, relaxes(gate, for: one).map { max($0, now) } ?? .infinity)
        }
    }

    /// When a job may pass a gate of the machine, if ever.
    func relaxes(_ gate: Gate, for one: Owed) -> Double? {
        guard !isFreshWork(one), let score = policy.relaxations[gate], gate != .inhibited || !machine.isInhibitedByOwn
        else { return nil }
        return policy.moment(of: score, for: one.job)
    }
}
