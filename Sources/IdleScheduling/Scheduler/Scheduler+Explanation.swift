// SPDX-License-Identifier: Apache-2.0

extension Scheduler {
    /// Explains why a job runs or waits, and what change would let it run.
    ///
    /// - Parameters:
    ///   - key: The job. For a job that is not pending, the explanation shows the gates that a new
    ///     job would encounter.
    ///   - moment: The current time. The call does not change the scheduler.
    public func explanation(of key: ScheduledJob.Key, at moment: Double) -> JobExplanation {
        var shown = self
        shown.move(to: moment)
        return shown.explain(key)
    }

    private func explain(_ key: ScheduledJob.Key) -> JobExplanation {
        var explanation = JobExplanation(key: key, decision: .nothingOwed, moment: now)
        var one = PendingJob(
            ScheduledJob(key: key, urgency: key.bundle == nil ? .maintenance : .freshness, requested: now))
        // Most file changes are fresh work.
        if case .files = key { one.job.isFresh = true }
        let run = run(of: key)
        if let run {
            one = run.pending
            explanation.job = run.pending.job
            switch run.phase {
            case .running: explanation.decision = .running
            case .paused: explanation.decision = .paused
            case .stopping: explanation.decision = .stopping
            }
        } else if let waiting = pending.first(where: { $0.job.key == key && !($0.isAwaitingList && $0.retryAt == nil) })
        {
            one = waiting
            explanation.job = waiting.job
            explanation.decision = .waiting
        }
        let verdict = verdict(on: one, isRunning: explanation.decision == .running)
        explanation.tolerance = policy.tolerance(of: one.job.urgency)
        explanation.isUserRequested = explanation.job != nil && isUserRequested(one)
        if explanation.job != nil {
            explanation.age = max(0, now - one.job.requested)
            explanation.score = verdict.score
        }
        var closed = verdict.closed
        let waitsForTurn = self.run != nil && run == nil && !isFreshWork(one)
        if waitsForTurn { closed.insert(GateSet(.busy)) }
        if let run, run.phase == .paused, now < run.quietUntil { closed.insert(GateSet(.dutyCycle)) }
        explanation.gates = Gate.allCases.map { gate in
            var state = JobExplanation.GateState(gate: gate, state: .open)
            if policy.switchedOff.contains(gate) { state.state = .off }
            if closed.contains(GateSet(gate)) {
                state.state = verdict.relaxed.contains(GateSet(gate)) ? .relaxed : .closed
                describe(closed: gate, &state, one)
            }
            measure(gate, &state, key)
            return state
        }
        if let bundle = key.bundle {
            explanation.quota = JobExplanation.Quota(
                used: usage.used(by: bundle, within: policy.quotaWindow, at: now), cpuLimit: policy.quotaCPU,
                writtenLimit: policy.quotaWritten, window: policy.quotaWindow)
        }
        if explanation.job != nil {
            explanation.nextLook = waitsForTurn ? nil : wake
        }
        return explanation
    }

    /// Sets the time at which a gate opens, or the remedy.
    private func describe(closed gate: Gate, _ state: inout JobExplanation.GateState, _ one: PendingJob) {
        switch gate {
        case .backOff, .cancelled, .cpuQuota, .writeQuota, .unknownConditions, .freshPace:
            state.opens = opens(gate, for: one)
        case .dutyCycle:
            let quietUntil = run(of: one.job.key)?.quietUntil ?? now
            state.opens = isFreshWork(one) ? quietUntil : max(window.next, quietUntil)
        default: state.opens = machine.opens(gate, policy)
        }
        state.relaxes = relaxes(gate, for: one)
        if state.opens == nil { state.remedy = remedy(gate) }
    }

    private func remedy(_ gate: Gate) -> String {
        switch gate {
        case .inhibited:
            "end these programs: "
                + machine.conditions.inhibitors.filter { $0.isOwn || !policy.switchedOff.contains(gate) }.prefix(8).map
            { "\($0.who) (\($0.why))" }.joined(separator: ", ")
        case .userActive: "the user has to be inactive for \(Int(policy.userActiveSeconds)) s"
        default: gate.traits.remedy ?? "it opens by itself"
        }
    }

    /// Sets the measured value of a gate, and the limit at which the gate changes.
    private func measure(_ gate: Gate, _ state: inout JobExplanation.GateState, _ key: ScheduledJob.Key) {
        let isClosed = state.state == .closed || state.state == .relaxed
        func set(_ measured: Double?, _ limit: Double, _ unit: JobExplanation.GateState.Unit) {
            (state.measured, state.limit, state.unit) = (measured?.finite, limit, unit)
        }
        let conditions = machine.conditions
        if let measured = MeasuredGate.all.first(where: { $0.gate == gate }) {
            let limit = isClosed ? measured.opens(policy) : measured.closes(policy, run?.phase == .running)
            return set(measured.value(conditions), limit, measured.unit)
        }
        switch gate {
        case .userActive:
            guard case .away(let since)? = conditions.presence else { return }
            set(max(0, now - since), policy.userActiveSeconds, .seconds)
        case .justResumed:
            guard let resumed = conditions.resumed else { return }
            set(max(0, now - resumed), policy.justResumedSeconds, .seconds)
        case .cpuQuota:
            guard let bundle = key.bundle else { return }
            set(usage.used(by: bundle, within: policy.quotaWindow, at: now).cpu, policy.quotaCPU, .seconds)
        case .writeQuota:
            guard let bundle = key.bundle else { return }
            let used = usage.used(by: bundle, within: policy.quotaWindow, at: now)
            set(Double(used.written), policy.quotaWritten, .bytes)
        default: return
        }
    }
}
