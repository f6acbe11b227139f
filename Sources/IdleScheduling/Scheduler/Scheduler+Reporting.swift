// SPDX-License-Identifier: Apache-2.0

extension Scheduler {
    /// The longest time without a tick while a change is expected, in seconds. A timer may not
    /// notice when the clock is set.
    static let longestWake = 6.0 * 3600

    /// Returns `true` if only machine conditions can hold the job.
    private func needsWatch(_ one: PendingJob) -> Bool { !one.isAwaitingList && ownGates(of: one).isEmpty }

    /// Marks the conditions as unknown when sensing is about to start. The known conditions may be
    /// hours old, so no job starts before they are read again.
    mutating func watchAgain() {
        guard sensing == .off, unwatchedSince == nil, heard.map({ now - $0 > policy.lookWaiting }) ?? true,
            pending.contains(where: { (run == nil || isFreshWork($0)) && needsWatch($0) })
        else { return }
        unwatchedSince = now
    }

    /// Logs the gates that jobs are waiting for, if they have changed.
    mutating func noteWaits(_ actions: inout [SchedulerAction]) {
        // The conditions will arrive soon; the gates are logged then.
        guard !isUnwatched else { return }
        for index in pending.indices where !pending[index].isAwaitingList {
            let waitsForTurn = run != nil && !isFreshWork(pending[index])
            if waitsForTurn, pending[index].noted != nil { continue }
            let verdict = verdict(on: pending[index])
            let lasting = verdict.blocking - .passing
            let isNew = pending[index].noted.map { !lasting.isEmpty && lasting != $0 - .passing } ?? true
            guard isNew else { continue }
            let gates = waitsForTurn ? GateSet(.busy) : verdict.blocking
            pending[index].noted = gates
            var entry = JournalEntry(
                moment: now, kind: .wait, job: pending[index].job.key, gates: gates.gates, score: verdict.score)
            if !waitsForTurn { entry.until = earliest(pending[index], verdict).finite }
            actions.append(.note(entry))
        }
    }

    /// Requests a sensing mode and the next tick, if they differ from the last request.
    mutating func tell(_ event: SchedulerEvent, _ actions: inout [SchedulerAction]) {
        let sensing: SchedulerAction.Sensing =
            if let run, run.phase == .running, !run.isUserRequested {
                .running
            } else if pending.contains(where: needsWatch) {
                .waiting
            } else {
                // Fresh work ends soon. The machine is checked whenever its usage is.
                run?.phase == .paused || fresh.map { $0.phase != .stopping } ?? false ? .waiting : .off
            }
        if sensing != self.sensing { actions.append(.sense(sensing)) }
        self.sensing = sensing
        if sensing == .off { unwatchedSince = nil }
        var wake = nextLook.finite.map { $0.clamped(to: now + 1...now + Self.longestWake) }
        var isAnswered = false
        if case .tick = event {
            isAnswered = true
            let isIdle = !actions.contains { $0.isStep }
            // A check that has no effect is not repeated before the regular interval.
            if isIdle, run?.phase != .running, look.map({ $0 <= now }) ?? false {
                wake = wake.map { max($0, now + policy.lookWaiting) }
            }
        }
        look = wake
        if let soon = nextFreshLook.finite { wake = min(wake ?? .infinity, min(soon, now + Self.longestWake)) }
        if wake != self.wake || (isAnswered && wake != nil) { actions.append(.wake(at: wake)) }
        self.wake = wake
    }

    /// The time of the next decision about ordinary work if no event occurs; infinity if there is
    /// none.
    private var nextLook: Double {
        guard let run else { return earliestStart }
        switch run.phase {
        case .running: return run.isUserRequested ? .infinity : run.sliceEnd
        case .stopping: return .infinity
        case .paused:
            let verdict = verdict(on: run.pending)
            let goesOn = max(earliest(run.pending, verdict), run.quietUntil)
            // A job that is paused for too long loses its slot, sooner if another job could run.
            let another = shutsOutFresh(run) ? now : earliestStart
            let stops = min(
                run.since + patience(with: run, couldAnotherRun: false),
                max(another, run.since + patience(with: run, couldAnotherRun: true)))
            return verdict.couldRun ? goesOn : min(goesOn, stops)
        }
    }

    private var earliestStart: Double {
        pending.lazy.filter { !$0.isAwaitingList && !isFreshWork($0) }.map { earliest($0, verdict(on: $0)) }.min()
            ?? .infinity
    }

    /// The time of the next decision about fresh work.
    private var nextFreshLook: Double {
        let begins =
            pending.lazy.filter { !$0.isAwaitingList && isFreshWork($0) }.map { earliestFresh($0) }.min() ?? .infinity
        guard let fresh else { return begins }
        switch fresh.phase {
        case .running: return fresh.sliceEnd
        case .stopping: return .infinity
        case .paused:
            let goesOn = max(earliest(fresh.pending, verdict(on: fresh.pending)), fresh.quietUntil)
            return notTooSoon(min(goesOn, fresh.since + policy.turnPatience))
        }
    }

    private func earliestFresh(_ one: PendingJob) -> Double {
        var verdict = verdict(on: one)
        // At that time, a paused job of the same bundle gives up its slot.
        if fresh == nil, let run, run.phase == .paused, run.pending.job.isResumable,
            run.key.bundle == one.job.key.bundle
        {
            verdict.closed.remove(GateSet(.busy))
        }
        return notTooSoon(earliest(one, verdict))
    }

    private func notTooSoon(_ moment: Double) -> Double { max(moment, now + Self.freshLook.lowerBound) }
}

extension SchedulerAction {
    /// `true` if the action starts, pauses, resumes or stops a job.
    var isStep: Bool {
        switch self {
        case .start, .pause, .resume, .stop: true
        case .wake, .sense, .note: false
        }
    }
}
