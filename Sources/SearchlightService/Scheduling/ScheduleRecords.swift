// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import SearchlightEngine
import Synchronization

/// What extensions have cost and done, day by day and in the windows of their quotas; kept in the store whenever a job has ended,
/// and now and then while one goes on.
final class ScheduleRecords: Sendable {
    private struct State {
        var ledger = DayLedger()
        var usage = UsageHistory()
        var saved: ContinuousClock.Instant?
    }
    private let state = Mutex(State())
    private let holder: EngineHolder
    private let now: @Sendable () -> Double
    private let onTrouble: @Sendable (EngineError) -> Void

    /// How often they are kept while a job goes on.
    private static let interval = Duration.seconds(300)

    init(
        _ holder: EngineHolder, now: @escaping @Sendable () -> Double,
        onTrouble: @escaping @Sendable (EngineError) -> Void
    ) {
        (self.holder, self.now, self.onTrouble) = (holder, now, onTrouble)
        guard let engine = holder.current else { return }
        let ledger = engine.scheduleRecord(.days, as: DayLedger.self)
        let usage = engine.scheduleRecord(.usage, as: UsageHistory.self)
        state.withLock { state in
            if let ledger { state.ledger = ledger }
            if let usage { state.usage = usage }
        }
    }

    /// What was used in the windows of the quotas, as it was kept.
    var usage: UsageHistory { state.withLock { $0.usage } }

    /// What extensions have cost and done.
    var ledger: DayLedger {
        takeActivity()
        return state.withLock { $0.ledger }
    }

    /// Which day it is here, counted from 2001-01-01.
    var today: Int { LocalDay.number(of: now()) }

    /// Notes what a job has used, and what all bundles have by then.
    func note(_ usage: Usage, of key: ScheduledJob.Key, _ all: UsageHistory) {
        guard let bundle = key.bundle else { return }
        let (day, present) = (today, ContinuousClock.now)
        let isDue = state.withLock { state in
            state.usage = all
            state.ledger.add(usage, of: bundle, day: day)
            return state.saved.map { present - $0 >= Self.interval } ?? true
        }
        if isDue { save() }
    }

    /// Notes that a job has ended, and what all bundles have used by then.
    func noteEnd(of key: ScheduledJob.Key, _ usage: UsageHistory) {
        let day = today
        state.withLock { state in
            state.usage = usage
            if let bundle = key.bundle { state.ledger.add(runs: 1, of: bundle, day: day) }
        }
        save()
    }

    /// Forgets a bundle.
    func forget(_ bundle: String) { state.withLock { $0.ledger.remove(bundle: bundle) } }

    private func takeActivity() {
        guard let activity = holder.inUse?.takeActivity(), !activity.isEmpty else { return }
        let day = today
        state.withLock { state in
            for (bundle, done) in activity {
                state.ledger.add(items: done.items, failures: done.failures, of: bundle, day: day)
            }
        }
    }

    /// Keeps everything in the store.
    func save() {
        guard let engine = holder.inUse else { return }
        takeActivity()
        let (ledger, usage) = state.withLock { state in
            state.saved = .now
            return (state.ledger, state.usage)
        }
        do throws(EngineError) {
            try engine.keep(usage, as: .usage)
            try engine.keep(ledger, as: .days)
        } catch {
            onTrouble(error)
        }
    }
}
