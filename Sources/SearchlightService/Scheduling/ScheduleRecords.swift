// SPDX-License-Identifier: Apache-2.0
import Dispatch
import IdleScheduling
import SearchlightEngine
import Synchronization

/// The extensions' usage and activity by day, their usage within the quota windows, and the jobs
/// that the user cancelled. These records are written to the store whenever a job ends or is
/// cancelled, and at intervals during a job.
///
/// Callers do not wait for the disk. The records are written asynchronously, and changes during a
/// write are combined into the next write.
final class ScheduleRecords: Sendable {
    private struct State {
        var ledger = DayLedger()
        var usage = UsageHistory()
        var cancellations: [ScheduledJob.Key: Double] = [:]
        var saved: ContinuousClock.Instant?
        /// The write in progress.
        var saving: Task<Void, Never>?
        /// `true` if another write must follow.
        var isDue = false
    }
    private let state = Mutex(State())
    private let holder: EngineHolder
    private let now: @Sendable () -> Double
    private let onWork: @Sendable () -> any Sendable
    private let onTrouble: @Sendable (EngineError) -> Void
    /// The queue for disk writes, which must not block a thread of Swift's pool.
    private let disk = DispatchQueue(label: "com.searchlight.records", qos: .utility)

    /// The interval between two writes while a job is running.
    private static let interval = Duration.seconds(300)

    /// Reads the stored records.
    ///
    /// - Parameter onWork: Called when a write is scheduled; the returned object is kept alive
    ///   until the write ends.
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

    /// The usage within the quota windows.
    var usage: UsageHistory { state.withLock { $0.usage } }

    /// The jobs that the user cancelled.
    var cancellations: [ScheduledJob.Key: Double] { state.withLock { $0.cancellations } }

    /// The extensions' daily usage and activity.
    var ledger: DayLedger {
        if let engine = holder.inUse { takeActivity(of: engine) }
        return state.withLock { $0.ledger }
    }

    /// The current day in local time, counted from 2001-01-01.
    var today: Int { LocalDay.number(of: now()) }

    /// Records a job's usage, and the total usage of all bundles.
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

    /// Records the end of a job, and the total usage of all bundles.
    func noteEnd(of key: ScheduledJob.Key, _ usage: UsageHistory) {
        let day = today
        state.withLock { state in
            state.usage = usage
            if let bundle = key.bundle { state.ledger.add(runs: 1, of: bundle, day: day) }
        }
        save()
    }

    /// Records the jobs that the user cancelled.
    func note(cancellations: [ScheduledJob.Key: Double]) {
        state.withLock { $0.cancellations = cancellations }
        save()
    }

    /// Writes all records and waits until they are written.
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

    /// Returns `true` if there are changes to write. Otherwise marks the writer as ended.
    private func takeDue() -> Bool {
        state.withLock { state in
            defer { state.isDue = false }
            if !state.isDue { state.saving = nil }
            return state.isDue
        }
    }

    private func keep() async {
        // The engine stays open during the write. If it is unavailable, the next write includes
        // these records.
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
