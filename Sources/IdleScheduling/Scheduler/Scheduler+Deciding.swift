// SPDX-License-Identifier: Apache-2.0

extension Scheduler {
    /// Evaluates the running jobs, and starts other jobs in free slots.
    mutating func decide(_ actions: inout [SchedulerAction]) {
        changeSlots(&actions)
        judgeRun(&actions)
        judgeFresh(&actions)
        begin(.ordinary, isUserRequested: true, &actions)
        // Short fresh work starts before a job that would block it.
        begin(.fresh, &actions)
        begin(.ordinary, &actions)
    }

    private mutating func begin(_ slot: Slot, isUserRequested: Bool = false, _ actions: inout [SchedulerAction]) {
        guard self[slot] == nil,
            let index = next(
                isFresh: slot == .fresh,
                where: { (!isUserRequested || self.isUserRequested($0)) && $1.blocking.isEmpty })
        else { return }
        // A job requested by the user waits until the fresh job that was stopped for it has ended.
        if let bundle = pending[index].job.key.bundle, fresh?.key.bundle == bundle { return }
        begin(pending.remove(at: index), slot, &actions)
    }

    /// Moves a file delivery to the other slot after it became fresh work, or is no longer fresh
    /// work.
    private mutating func changeSlots(_ actions: inout [SchedulerAction]) {
        if var one = fresh, one.phase != .stopping, !one.pending.job.isFresh, !isUserRequested(one.pending) {
            guard run == nil else { return stop(.busy, .fresh, &actions) }
            one.relaxed = []
            one.sliceEnd = sliceEnd(of: one.pending, isRelaxed: false)
            (run, fresh) = (one, nil)
        } else if let one = run, one.phase != .stopping, !one.isUserRequested, isFreshWork(one.pending), fresh == nil {
            (run, fresh) = (nil, one)
        }
    }

    private mutating func judgeRun(_ actions: inout [SchedulerAction]) {
        guard let current = run, current.phase != .stopping else { return }
        if !current.isUserRequested, isUserRequested(current.pending) {
            run?.isUserRequested = true
            // The job would keep its low-priority worker until it ends.
            if current.pending.job.isResumable { return stop(.busy, .ordinary, &actions) }
        }
        if run?.isUserRequested == true {
            if let refusal = ownGates(of: current.pending).intersection(.refusals).first {
                stop(refusal, .ordinary, &actions)
            } else if current.phase == .paused {
                goOn(Verdict(score: SchedulingPolicy.highestScore, closed: [], relaxed: []), .ordinary, &actions)
            }
            return
        }
        // The user must not have to wait until background work ends.
        if next(where: { isUserRequested($0) && $1.blocking.isEmpty }) != nil {
            return stop(.busy, .ordinary, &actions)
        }
        let verdict = verdict(on: current.pending, isRunning: current.phase == .running)
        if let refusal = verdict.blocking.intersection(.refusals).first { return stop(refusal, .ordinary, &actions) }
        if current.phase == .running {
            judge(running: current, verdict, &actions)
        } else {
            judge(paused: current, verdict, &actions)
        }
    }

    private mutating func judgeFresh(_ actions: inout [SchedulerAction]) {
        guard let current = fresh, current.phase != .stopping else { return }
        let bundle = current.key.bundle
        // A job that the user requested for the same bundle starts with a worker of normal
        // priority.
        if isUserRequested(current.pending)
            || next(where: { isUserRequested($0) && $0.job.key.bundle == bundle && $1.blocking.isEmpty }) != nil
        {
            return stop(.busy, .fresh, &actions)
        }
        let isRunning = current.phase == .running
        let verdict = verdict(on: current.pending, isRunning: isRunning)
        if let refusal = verdict.blocking.intersection(.refusals).first { return stop(refusal, .fresh, &actions) }
        if isRunning {
            guard verdict.blocking.isEmpty else { return pause(verdict.blocking, verdict, .fresh, &actions) }
            let end = freshSliceEnd(verdict)
            fresh?.relaxed = verdict.relaxed
            fresh?.sliceEnd = now < current.sliceEnd ? min(current.sliceEnd, end) : end
            return
        }
        var blocking = verdict.blocking
        if now < current.quietUntil { blocking.insert(GateSet(.dutyCycle)) }
        guard let first = (blocking - .passing).first ?? blocking.first else { return goOn(verdict, .fresh, &actions) }
        // Stopping the job loses no work, and frees its worker's memory.
        let isAnotherReady = next(isFresh: true, where: { $1.couldHaveTurn }) != nil
        if blocking != GateSet(.dutyCycle), isAnotherReady || now >= current.since + policy.turnPatience {
            return stop(first, .fresh, &actions)
        }
        if !(blocking - .paces).isEmpty { note(.pause, blocking, verdict.score, .fresh, &actions) }
    }

    private mutating func judge(running current: Run, _ verdict: Verdict, _ actions: inout [SchedulerAction]) {
        let new = verdict.relaxed - current.relaxed
        let closing = (verdict.blocking - GateSet(.dutyCycle)).union(new)
        guard closing.isEmpty else {
            // The user is back. Even gates that the job may pass apply until the next slice.
            if !new.isEmpty {
                let next = now + policy.slicePeriod - policy.sliceRelaxed
                window = RelaxedWindow(end: now, next: max(window.next, next))
            }
            return pause(closing, verdict, .ordinary, &actions)
        }
        if verdict.blocking.contains(GateSet(.dutyCycle)) {
            if shouldYield(current) { return stop(.busy, .ordinary, &actions) }
            return pause(GateSet(.dutyCycle), verdict, .ordinary, &actions)
        }
        if verdict.relaxed.isEmpty, !current.relaxed.isEmpty {
            // The gates that were passed have opened, so a full slice begins.
            let end = sliceEnd(of: current.pending, isRelaxed: false)
            run?.relaxed = []
            run?.sliceEnd = end
            note(.resume, [], verdict.score, .ordinary, &actions)
        }
        guard let run, now >= run.sliceEnd else { return }
        if shouldYield(run) { return stop(.busy, .ordinary, &actions) }
        let end = sliceEnd(of: run.pending, isRelaxed: !run.relaxed.isEmpty)
        self.run?.sliceEnd = end
    }

    private mutating func judge(paused current: Run, _ verdict: Verdict, _ actions: inout [SchedulerAction]) {
        var blocking = verdict.blocking
        if now < current.quietUntil { blocking.insert(GateSet(.dutyCycle)) }
        // The paused job would block fresh work. It is resumable, so stopping it loses nothing.
        if current.pending.job.isResumable, shutsOutFresh(current) { return stop(.busy, .ordinary, &actions) }
        guard let first = (blocking - .passing).first ?? blocking.first else {
            return goOn(verdict, .ordinary, &actions)
        }
        if blocking != GateSet(.dutyCycle), now >= current.since + patience(with: current) {
            return stop(first, .ordinary, &actions)
        }
        // The duty cycle alone changes every minute, so it is not logged.
        if blocking != GateSet(.dutyCycle) { note(.pause, blocking, verdict.score, .ordinary, &actions) }
    }

    /// Returns how long a paused job keeps its worker and slot, in seconds. If the job is not
    /// resumable, this time doubles with each stop, so that the job ends eventually.
    func patience(with current: Run, couldAnotherRun: Bool? = nil) -> Double {
        let isWanted = couldAnotherRun ?? (next(where: { $1.couldRun }) != nil || shutsOutFresh(current))
        let first = isWanted ? policy.turnPatience : policy.pauseLongest
        guard !current.pending.job.isResumable else { return first }
        return min(max(policy.pauseLongestEver, first), first * Double(1 << min(current.pending.stops, 30)))
    }

    /// Returns `true` if the job should give its slot to another job. Only resumable jobs do.
    private func shouldYield(_ current: Run) -> Bool {
        guard current.pending.job.isResumable, current.ran + now - current.since >= policy.turnRun else { return false }
        return shutsOutFresh(current) || next { $1.couldRun && precedes($0, current.pending) } != nil
    }

    /// Returns `true` if only this job prevents fresh work of its bundle from running.
    func shutsOutFresh(_ current: Run) -> Bool {
        guard fresh == nil, let bundle = current.key.bundle else { return false }
        return next(isFresh: true, where: { $0.job.key.bundle == bundle && $1.couldHaveTurn }) != nil
    }

    // MARK: Steps

    private mutating func begin(_ one: PendingJob, _ slot: Slot, _ actions: inout [SchedulerAction]) {
        let verdict = verdict(on: one)
        if slot == .ordinary { openWindow(verdict) }
        var run = Run(pending: one, began: now, since: now, noted: (.start, verdict.relaxed))
        run.isUserRequested = isUserRequested(one)
        run.relaxed = verdict.relaxed
        run.sliceEnd = sliceEnd(of: one, verdict, slot)
        run.pending.noted = nil
        self[slot] = run
        actions.append(.start(one.job.key))
        append(.start, verdict.relaxed, verdict.score, slot, &actions)
    }

    private mutating func pause(
        _ gates: GateSet, _ verdict: Verdict, _ slot: Slot, _ actions: inout [SchedulerAction]
    ) {
        guard let key = self[slot]?.key, let gate = (gates - .passing).first ?? gates.first else { return }
        leaveRunning(slot)
        enter(.paused, slot)
        // Pauses for the user's requests and for the duty cycle need no minimum length.
        let quietUntil = (gates - .passing).isEmpty ? now : now + policy.pauseShortest
        self[slot]?.quietUntil = quietUntil
        actions.append(.pause(key, gate))
        if !(gates - .paces).isEmpty { note(.pause, gates, verdict.score, slot, &actions) }
    }

    private mutating func goOn(_ verdict: Verdict, _ slot: Slot, _ actions: inout [SchedulerAction]) {
        guard let pending = self[slot]?.pending else { return }
        if slot == .ordinary { openWindow(verdict) }
        let end = sliceEnd(of: pending, verdict, slot)
        enter(.running, slot)
        self[slot]?.relaxed = verdict.relaxed
        self[slot]?.sliceEnd = end
        actions.append(.resume(pending.job.key))
        note(.resume, verdict.relaxed, verdict.score, slot, &actions)
    }

    /// Requests that a running job be stopped.
    mutating func stop(_ gate: Gate, _ slot: Slot, _ actions: inout [SchedulerAction]) {
        guard let current = self[slot], current.phase != .stopping else { return }
        if current.phase == .running { leaveRunning(slot) }
        enter(.stopping, slot)
        self[slot]?.pending.stops += 1
        actions.append(.stop(current.key, gate))
        append(.stop, GateSet(gate), policy.score(of: current.pending.job, at: now), slot, &actions)
    }

    private mutating func enter(_ phase: Run.Phase, _ slot: Slot) {
        let now = now
        self[slot]?.phase = phase
        self[slot]?.since = now
    }

    private mutating func leaveRunning(_ slot: Slot) {
        let piece = self[slot].map { now - $0.since } ?? 0
        self[slot]?.ran += piece
        lastRan = now
    }

    /// Begins a low-rate slice, unless the current slice is not over yet.
    private mutating func openWindow(_ verdict: Verdict) {
        guard !verdict.relaxed.isEmpty, now >= window.end else { return }
        window = RelaxedWindow(end: now + policy.sliceRelaxed, next: now + policy.slicePeriod)
    }

    private func sliceEnd(of one: PendingJob, _ verdict: Verdict, _ slot: Slot) -> Double {
        slot == .fresh ? freshSliceEnd(verdict) : sliceEnd(of: one, isRelaxed: !verdict.relaxed.isEmpty)
    }

    /// The range of intervals between checks of fresh work's usage, in seconds.
    static let freshLook = 0.2...1.0

    /// Returns the time of the next check of fresh work: when it would have used up its budget on
    /// one processor.
    private func freshSliceEnd(_ verdict: Verdict) -> Double {
        let left = verdict.relaxed.isEmpty ? .infinity : freshBudget.left(policy, at: now)
        return now + left.clamped(to: Self.freshLook)
    }

    /// Returns the time of a job's next evaluation: the end of its slice, or the time at which it
    /// would have used up its quota on one processor.
    private func sliceEnd(of one: PendingJob, isRelaxed: Bool) -> Double {
        let end = isRelaxed ? window.end : now + policy.sliceFull
        guard let bundle = one.job.key.bundle, !isUserRequested(one), !policy.switchedOff.contains(.cpuQuota) else {
            return end
        }
        let left = policy.quotaCPU - usage.used(by: bundle, within: policy.quotaWindow, at: now).cpu
        return min(end, now + max(1, left))
    }

    // MARK: Logging

    /// Logs a decision about a running job, unless it repeats the last one. Start and resume are
    /// considered the same decision.
    private mutating func note(
        _ kind: JournalEntry.Kind, _ gates: GateSet, _ score: Double, _ slot: Slot, _ actions: inout [SchedulerAction]
    ) {
        guard let last = self[slot]?.noted else { return }
        var isSame = last.gates == gates && (last.kind == .start ? .resume : last.kind) == kind
        // A pause is considered unchanged as long as only short-lived gates have changed.
        if kind == .pause, last.kind == .pause {
            let lasting = gates - .passing
            isSame = lasting.isEmpty || lasting == last.gates - .passing
        }
        if !isSame { append(kind, gates, score, slot, &actions) }
    }

    private mutating func append(
        _ kind: JournalEntry.Kind, _ gates: GateSet, _ score: Double, _ slot: Slot, _ actions: inout [SchedulerAction]
    ) {
        guard let key = self[slot]?.key else { return }
        self[slot]?.noted = (kind, gates)
        actions.append(.note(JournalEntry(moment: now, kind: kind, job: key, gates: gates.gates, score: score)))
    }
}
