// SPDX-License-Identifier: Apache-2.0

extension Scheduler {
    /// The longest time for which no tick is asked for while something is known to change, in seconds: a timer may not
    /// notice that the clock was set.
    static let longestWake = 6.0 * 3600

    /// Whether it depends on the machine when a job runs: nothing else keeps it.
    private func needsWatch(_ one: Owed) -> Bool { !one.isAwaitingList && ownGates(of: one).isEmpty }

    /// When the machine is to be watched again after nothing was owed, what was known of it may be hours old: nothing begins
    /// before it has been looked at.
    mutating func watchAgain() {
        guard sensing == .off, unwatchedSince == nil, run == nil else { return }
        guard heard.map({ now - $0 > policy.lookWaiting }) ?? true, owed.contains(where: needsWatch) else { return }
        unwatchedSince = now
    }

    /// Notes for which gates jobs wait, if they are others than before.
    mutating func noteWaits(_ actions: inout [SchedulerAction]) {
        // What is found within a moment is noted then.
        guard !isUnwatched else { return }
        for index in owed.indices where !owed[index].isAwaitingList {
            if run != nil, owed[index].noted != nil { continue }
            let verdict = verdict(on: owed[index])
            let lasting = verdict.blocking - .passing
            let isNew = owed[index].noted.map { !lasting.isEmpty && lasting != $0 - .passing } ?? true
            guard isNew else { continue }
            let gates = run == nil ? verdict.blocking : GateSet(.busy)
            owed[index].noted = gates
            var entry = JournalEntry(
                moment: now, kind: .wait, job: owed[index].job.key, gates: gates.gates, score: verdict.score)
            if run == nil { entry.until = earliest(owed[index], verdict).finite }
            actions.append(.note(entry))
        }
    }

    /// Says how closely to watch and when to come back, if that has changed.
    mutating func tell(_ event: SchedulerEvent, _ actions: inout [SchedulerAction]) {
        let sensing: SchedulerAction.Sensing =
            if let run, run.phase == .running, !run.isPersons { .running } else if owed.contains(where: needsWatch) {
                .waiting
            } else { run?.phase == .paused ? .waiting : .off }
        if sensing != self.sensing { actions.append(.sense(sensing)) }
        self.sensing = sensing
        if sensing == .off { unwatchedSince = nil }
        var wake = nextLook.finite.map { $0.clamped(to: now + 1...now + Self.longestWake) }
        var isAnswered = false
        if case .tick = event {
            isAnswered = true
            let isIdle = !actions.contains { $0.isStep }
            // A look that found nothing is not repeated before its time, whatever was expected of it.
            if isIdle, run?.phase != .running, self.wake.map({ $0 <= now }) ?? false {
                wake = wake.map { max($0, now + policy.lookWaiting) }
            }
        }
        if wake != self.wake || (isAnswered && wake != nil) { actions.append(.wake(at: wake)) }
        self.wake = wake
    }

    /// When something has to be decided, if nothing happens before; infinity if nothing has.
    var nextLook: Double {
        guard let run else { return owed.map { earliestStart($0) }.min() ?? .infinity }
        switch run.phase {
        case .running: return run.isPersons ? .infinity : run.sliceEnd
        case .stopping: return .infinity
        case .paused:
            let verdict = verdict(on: run.owed)
            let goesOn = max(earliest(run.owed, verdict), run.quietUntil)
            // It loses its turn when it was quiet for too long, the sooner if another could run.
            let another = owed.map { earliestStart($0) }.min() ?? .infinity
            let stops = min(
                run.since + patience(with: run, couldAnotherRun: false),
                max(another, run.since + patience(with: run, couldAnotherRun: true)))
            return verdict.couldRun ? goesOn : min(goesOn, stops)
        }
    }

    private func earliestStart(_ one: Owed) -> Double {
        one.isAwaitingList ? .infinity : earliest(one, verdict(on: one))
    }
}

extension SchedulerAction {
    /// Whether it does something to a job.
    var isStep: Bool {
        switch self {
        case .start, .pause, .resume, .stop: true
        case .wake, .sense, .note: false
        }
    }
}
