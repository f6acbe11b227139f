// SPDX-License-Identifier: Apache-2.0
import Dispatch
import IdleScheduling
import SearchlightEngine
import Synchronization

/// What extensions have cost and done, day by day and in the windows of their quotas, and what persons have cancelled; kept in
/// the store whenever a job has ended or is cancelled, and now and then while one goes on.
///
/// Nobody who notes something waits for the disk: it is written beside everything else, and what comes meanwhile is written
/// together afterwards.
final class ScheduleRecords: Sendable {
    private struct State {
        var ledger = DayLedger()
        var usage = UsageHistory()
        var cancellations: [ScheduledJob.Key: Double] = [:]
        var saved: ContinuousClock.Instant?
        /// What is written now.
        var saving: Task<Void, Never>?
        /// Whether something is to be written after that.
        var isDue = false
    }
    private let state = Mutex(State())
    private let holder: EngineHolder
    private let now: @Sendable () -> Double
    private let onWork: @Sendable () -> any Sendable
    private let onTrouble: @Sendable (EngineError) -> Void
    /// Waits for the disk, which no thread of Swift's pool should.
    private let disk = DispatchQueue(label: "com.searchlight.records", qos: .utility)

    /// How often they are kept while a job goes on.
    private static let interval = Duration.seconds(300)

    /// Takes what was kept.
    ///
    /// - Parameter onWork: Called when something is to be written; what it gives back lives until it is.
    init(
        _ holder: EngineHolder, now: @escaping @Sendable () -> Double,
        onWork: @escaping @Sendable () -> any Sendable, onTrouble: @escaping @Sendable (EngineError) -> Void
    ) {
        (self.holder, self.now, self.onWork, self.onTrouble) = (holder, now, onWork, onTrouble)
        guard let engine = holder.current else { return }
        let ledger = engine.scheduleRecord(.days, as: DayLedger.self)
        let usage = engine.scheduleRecord(.usage, as: UsageHistory.self)
        let cancellations = engine.scheduleRecord(.cancellations, as: [ScheduledJob.Key: Double].self)
        state.withLock { state in
            if let ledger { state.ledger = ledger }
            if let usage { state.usage = usage }
            if let cancellations { state.cancellations = cancellations }
        }
    }

    /// What was used in the windows of the quotas, as it was kept.
    var usage: UsageHistory { state.withLock { $0.usage } }

    /// What persons had cancelled, as it was kept.
    var cancellations: [ScheduledJob.Key: Double] { state.withLock { $0.cancellations } }

    /// What extensions have cost and done.
    var ledger: DayLedger {
        if let engine = holder.inUse { takeActivity(of: engine) }
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

    /// Notes what persons have cancelled.
    func note(cancellations: [ScheduledJob.Key: Double]) {
        state.withLock { $0.cancellations = cancellations }
        save()
    }

    /// Keeps everything, and waits until it is.
    func finish() async {
        save()
        await state.withLock { $0.saving }?.value
    }

    private func save() {
        let work = onWork()
        state.withLock { state in
            state.saved = .now
            state.isDue = true
            guard state.saving == nil else { return }
            state.saving = Task {
                while takeDue() { await keep() }
                withExtendedLifetime(work) {}
            }
        }
    }

    /// Whether there is something to write; if not, nobody is at it any more.
    private func takeDue() -> Bool {
        state.withLock { state in
            defer { state.isDue = false }
            if !state.isDue { state.saving = nil }
            return state.isDue
        }
    }

    private func keep() async {
        // The store is not closed meanwhile. When it is away, all of this is written with what comes next.
        await holder.useNow(as: EngineHolder.Visitor(isAwaited: true)) { engine in
            takeActivity(of: engine)
            let (ledger, usage, cancellations) = state.withLock { ($0.ledger, $0.usage, $0.cancellations) }
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                disk.async { [onTrouble] in
                    do throws(EngineError) {
                        try engine.keep(usage, as: .usage)
                        try engine.keep(ledger, as: .days)
                        try engine.keep(cancellations, as: .cancellations)
                    } catch {
                        onTrouble(error)
                    }
                    done.resume()
                }
            }
        }
    }

    private func takeActivity(of engine: SearchlightEngine) {
        let (activity, forgotten) = (engine.takeActivity(), engine.takeForgotten())
        guard !activity.isEmpty || !forgotten.isEmpty else { return }
        let day = today
        state.withLock { state in
            for bundle in forgotten { state.ledger.remove(bundle: bundle) }
            for (bundle, done) in activity {
                state.ledger.add(items: done.items, failures: done.failures, of: bundle, day: day)
            }
        }
    }
}
