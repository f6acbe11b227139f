// SPDX-License-Identifier: Apache-2.0

extension Scheduler {
    /// Says why a job runs or does not, and what would have to change.
    ///
    /// - Parameters:
    ///   - key: Also of a bundle that owes nothing: what a job would find is told then.
    ///   - moment: The present; nothing is changed by asking.
    public func explanation(of key: ScheduledJob.Key, at moment: Double) -> JobExplanation {
        var shown = self
        shown.move(to: moment)
        return shown.explain(key)
    }

    private func explain(_ key: ScheduledJob.Key) -> JobExplanation {
        var explanation = JobExplanation(key: key, decision: .nothingOwed, moment: now)
        var one = Owed(ScheduledJob(key: key, urgency: key.bundle == nil ? .maintenance : .freshness, requested: now))
        if let run, run.key == key {
            one = run.owed
            explanation.job = run.owed.job
            switch run.phase {
            case .running: explanation.decision = .running
            case .paused: explanation.decision = .paused
            case .stopping: explanation.decision = .stopping
            }
        } else if let waiting = owed.first(where: { $0.job.key == key && !($0.isAwaitingList && $0.retryAt == nil) }) {
            one = waiting
            explanation.job = waiting.job
            explanation.decision = .waiting
        }
        let isUnderWay = run?.key == key
        let verdict = verdict(on: one, isRunning: explanation.decision == .running)
        explanation.tolerance = policy.tolerance(of: one.job.urgency)
        explanation.isPersons = explanation.job != nil && isPersons(one)
        if explanation.job != nil {
            explanation.age = max(0, now - one.job.requested)
            explanation.score = verdict.score
        }
        var closed = verdict.closed
        if run != nil, !isUnderWay { closed.insert(GateSet(.turn)) }
        if let run, isUnderWay, run.phase == .paused, now < run.quietUntil { closed.insert(GateSet(.pace)) }
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
            explanation.nextLook = isUnderWay || run == nil ? wake : nil
        }
        return explanation
    }

    /// Says when a gate opens, or what has to change.
    private func describe(closed gate: Gate, _ state: inout JobExplanation.GateState, _ one: Owed) {
        switch gate {
        case .backOff, .cancelled, .cpuQuota, .writeQuota, .unwatched: state.opens = opens(gate, for: one)
        case .pace: state.opens = max(window.next, run.map { $0.key == one.job.key ? $0.quietUntil : now } ?? now)
        default: state.opens = machine.opens(gate, policy)
        }
        state.relaxes = relaxes(gate, for: one)
        if state.opens == nil { state.remedy = remedy(gate) }
    }

    private func remedy(_ gate: Gate) -> String {
        switch gate {
        case .disabled: "the extension has to be enabled"
        case .quarantined: "the extension has to be released from its quarantine, or replaced"
        case .throttled: "the extension is throttled until somebody lets it go on"
        case .turn: "the job under way has to end or to give way"
        case .personWaiting: "what a person waits for has to be answered"
        case .asleep: "the machine has to wake"
        case .inhibited:
            "these have to end: "
                + machine.conditions.inhibitors.filter { $0.isOwn || !policy.switchedOff.contains(gate) }.prefix(8).map
            { "\($0.who) (\($0.why))" }.joined(separator: ", ")
        case .userActive: "nobody may touch the machine for \(Int(policy.userActiveSeconds)) s"
        case .batteryLow: "the battery has to be charged, or the machine plugged in"
        case .onBattery: "the machine has to be plugged in"
        case .powerSaver: "the power saver has to be switched off"
        case .hot: "the machine has to cool down"
        case .cpuBusy: "other programs have to use less of the processors"
        case .cpuPressure: "less may wait for processors"
        case .ioPressure: "less may wait for disks"
        case .memoryPressure: "less may wait for memory"
        case .diskFloor: "space has to be made on the store's disk"
        case .backOff, .cancelled, .cpuQuota, .writeQuota, .unwatched, .pace, .justResumed: "it opens by itself"
        }
    }

    /// Adds what was measured for a gate, and where it changes.
    private func measure(_ gate: Gate, _ state: inout JobExplanation.GateState, _ key: ScheduledJob.Key) {
        let isClosed = state.state == .closed || state.state == .relaxed
        func set(_ measured: Double?, _ limit: Double, _ unit: JobExplanation.GateState.Unit) {
            (state.measured, state.limit, state.unit) = (measured?.finite, limit, unit)
        }
        let conditions = machine.conditions
        switch gate {
        case .cpuBusy:
            set(conditions.otherLoad, isClosed ? policy.cpuBusyOpens : policy.cpuBusyCloses, .share)
        case .cpuPressure:
            set(conditions.pressure.cpu, isClosed ? policy.cpuPressureOpens : policy.cpuPressureCloses, .share)
        case .ioPressure:
            let closes = run?.phase == .running ? policy.ioPressureRunning : policy.ioPressureCloses
            set(conditions.pressure.io, isClosed ? policy.ioPressureOpens : closes, .share)
        case .memoryPressure:
            set(conditions.pressure.memory, isClosed ? policy.memoryPressureOpens : policy.memoryPressureCloses, .share)
        case .batteryLow:
            set(conditions.power?.percent, isClosed ? policy.batteryLowOpens : policy.batteryLowCloses, .percent)
        case .diskFloor:
            set(
                conditions.freeDisk.map { Double($0) }, isClosed ? policy.diskFloorOpens : policy.diskFloorCloses,
                .bytes)
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
