// SPDX-License-Identifier: Apache-2.0

extension Scheduler {
    /// Judges the job under way, and begins another if there is none.
    mutating func decide(_ actions: inout [SchedulerAction]) {
        judgeRun(&actions)
        guard run == nil, let index = next(where: { $1.blocking.isEmpty }) else { return }
        begin(owed.remove(at: index), &actions)
    }

    private mutating func judgeRun(_ actions: inout [SchedulerAction]) {
        guard let current = run, current.phase != .stopping else { return }
        if !current.isPersons, isPersons(current.owed) {
            run?.isPersons = true
            // It would keep its worker, which gives way to all others, to its end.
            if current.owed.job.isResumable { return stop(.busy, &actions) }
        }
        if run?.isPersons == true {
            if let refusal = ownGates(of: current.owed).intersection([GateSet(.disabled), GateSet(.quarantined)]).first
            {
                stop(refusal, &actions)
            } else if current.phase == .paused {
                goOn(Verdict(score: SchedulingPolicy.highestScore, closed: [], relaxed: []), &actions)
            }
            return
        }
        // A person does not wait for background work to come to an end.
        if next(where: { isPersons($0) && $1.blocking.isEmpty }) != nil { return stop(.busy, &actions) }
        let verdict = verdict(on: current.owed, isRunning: current.phase == .running)
        let refusals = verdict.blocking.intersection([GateSet(.disabled), GateSet(.quarantined)])
        if let refusal = refusals.first { return stop(refusal, &actions) }
        if current.phase == .running {
            judge(running: current, verdict, &actions)
        } else {
            judge(paused: current, verdict, &actions)
        }
    }

    private mutating func judge(running current: Run, _ verdict: Verdict, _ actions: inout [SchedulerAction]) {
        let new = verdict.relaxed - current.relaxed
        let closing = (verdict.blocking - GateSet(.dutyCycle)).union(new)
        guard closing.isEmpty else {
            // Somebody came back: even what may be passed is not passed before the pace allows it.
            if !new.isEmpty {
                let next = now + policy.slicePeriod - policy.sliceRelaxed
                window = RelaxedWindow(end: now, next: max(window.next, next))
            }
            return pause(closing, verdict, &actions)
        }
        if verdict.blocking.contains(GateSet(.dutyCycle)) {
            if shouldYield(current) { return stop(.busy, &actions) }
            return pause(GateSet(.dutyCycle), verdict, &actions)
        }
        if verdict.relaxed.isEmpty, !current.relaxed.isEmpty {
            // What was passed has opened: a full slice begins.
            let end = sliceEnd(of: current.owed, isRelaxed: false)
            run?.relaxed = []
            run?.sliceEnd = end
            note(.resume, [], verdict.score, &actions)
        }
        guard let run, now >= run.sliceEnd else { return }
        if shouldYield(run) { return stop(.busy, &actions) }
        let end = sliceEnd(of: run.owed, isRelaxed: !run.relaxed.isEmpty)
        self.run?.sliceEnd = end
    }

    private mutating func judge(paused current: Run, _ verdict: Verdict, _ actions: inout [SchedulerAction]) {
        var blocking = verdict.blocking
        if now < current.quietUntil { blocking.insert(GateSet(.dutyCycle)) }
        guard let first = (blocking - .passing).first ?? blocking.first else { return goOn(verdict, &actions) }
        if blocking != GateSet(.dutyCycle), now >= current.since + patience(with: current) {
            return stop(first, &actions)
        }
        // The pace alone comes and goes each minute, as in `pause`.
        if blocking != GateSet(.dutyCycle) { note(.pause, blocking, verdict.score, &actions) }
    }

    /// How long a job that is quiet keeps its worker and its turn, in seconds. One that would begin anew is given more with
    /// each stop, so that it comes to its end one day.
    func patience(with current: Run, couldAnotherRun: Bool? = nil) -> Double {
        let isWanted = couldAnotherRun ?? (next(where: { $1.couldRun }) != nil)
        let first = isWanted ? policy.turnPatience : policy.pauseLongest
        guard !current.owed.job.isResumable else { return first }
        return min(max(policy.pauseLongestEver, first), first * Double(1 << min(current.owed.stops, 30)))
    }

    /// Whether another job is to have its turn. Only one that goes on where it was gives way.
    private func shouldYield(_ current: Run) -> Bool {
        guard current.owed.job.isResumable, current.ran + now - current.since >= policy.turnRun else { return false }
        return next { $1.couldRun && precedes($0, current.owed) } != nil
    }

    // MARK: Steps

    private mutating func begin(_ one: Owed, _ actions: inout [SchedulerAction]) {
        let verdict = verdict(on: one)
        openWindow(verdict)
        var run = Run(owed: one, began: now, since: now, noted: (.start, verdict.relaxed))
        run.isPersons = isPersons(one)
        run.relaxed = verdict.relaxed
        run.sliceEnd = sliceEnd(of: one, isRelaxed: !verdict.relaxed.isEmpty)
        run.owed.noted = nil
        self.run = run
        actions.append(.start(one.job.key))
        append(.start, verdict.relaxed, verdict.score, &actions)
    }

    private mutating func pause(_ gates: GateSet, _ verdict: Verdict, _ actions: inout [SchedulerAction]) {
        guard let key = run?.key, let gate = (gates - .passing).first ?? gates.first else { return }
        leaveRunning()
        run?.phase = .paused
        run?.since = now
        // A person's request and the pace last as long as they last.
        run?.quietUntil = (gates - .passing).isEmpty ? now : now + policy.pauseShortest
        actions.append(.pause(key, gate))
        if gates != GateSet(.dutyCycle) { note(.pause, gates, verdict.score, &actions) }
    }

    private mutating func goOn(_ verdict: Verdict, _ actions: inout [SchedulerAction]) {
        guard let owed = run?.owed else { return }
        openWindow(verdict)
        let end = sliceEnd(of: owed, isRelaxed: !verdict.relaxed.isEmpty)
        run?.phase = .running
        run?.since = now
        run?.relaxed = verdict.relaxed
        run?.sliceEnd = end
        actions.append(.resume(owed.job.key))
        note(.resume, verdict.relaxed, verdict.score, &actions)
    }

    /// Asks for the end of the job under way.
    mutating func stop(_ gate: Gate, _ actions: inout [SchedulerAction]) {
        guard let current = run, current.phase != .stopping else { return }
        if current.phase == .running { leaveRunning() }
        run?.phase = .stopping
        run?.since = now
        run?.owed.stops += 1
        actions.append(.stop(current.key, gate))
        append(.stop, GateSet(gate), policy.score(of: current.owed.job, at: now), &actions)
    }

    private mutating func leaveRunning() {
        let piece = run.map { now - $0.since } ?? 0
        run?.ran += piece
        lastRan = now
    }

    /// Begins the minute of relaxed work, unless its slice is not over.
    private mutating func openWindow(_ verdict: Verdict) {
        guard !verdict.relaxed.isEmpty, now >= window.end else { return }
        window = RelaxedWindow(end: now + policy.sliceRelaxed, next: now + policy.slicePeriod)
    }

    /// When a job is judged anew: at the end of its slice, or when its processor time is used up if it uses one processor.
    private func sliceEnd(of one: Owed, isRelaxed: Bool) -> Double {
        let end = isRelaxed ? window.end : now + policy.sliceFull
        guard let bundle = one.job.key.bundle, !isPersons(one), !policy.switchedOff.contains(.cpuQuota) else {
            return end
        }
        let left = policy.quotaCPU - usage.used(by: bundle, within: policy.quotaWindow, at: now).cpu
        return min(end, now + max(1, left))
    }

    // MARK: Notes

    /// Notes a decision about the job under way, unless it is the last one again: to start and to go on are the same then.
    private mutating func note(
        _ kind: JournalEntry.Kind, _ gates: GateSet, _ score: Double, _ actions: inout [SchedulerAction]
    ) {
        guard let last = run?.noted else { return }
        var isSame = last.gates == gates && (last.kind == .start ? .resume : last.kind) == kind
        // A pause is the same one as long as nothing but the passing has changed.
        if kind == .pause, last.kind == .pause {
            let lasting = gates - .passing
            isSame = lasting.isEmpty || lasting == last.gates - .passing
        }
        if !isSame { append(kind, gates, score, &actions) }
    }

    private mutating func append(
        _ kind: JournalEntry.Kind, _ gates: GateSet, _ score: Double, _ actions: inout [SchedulerAction]
    ) {
        guard let key = run?.key else { return }
        run?.noted = (kind, gates)
        actions.append(.note(JournalEntry(moment: now, kind: kind, job: key, gates: gates.gates, score: score)))
    }
}
