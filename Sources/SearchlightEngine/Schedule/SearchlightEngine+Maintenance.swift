// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// When maintenance is done again at the earliest, in seconds after the last time.
    static let maintenancePause: [MaintenanceTask: Double] = [
        .purgeExpired: 3600, .optimize: 86400, .vacuum: 86400,
    ]
    /// Free pages that are worth giving back: a quarter of all, and so many (8 MiB).
    private static let fewestFreePages = 1024
    /// Fewer segments are not worth being merged, nor fewer new texts.
    private static let fewestSegments = 5
    private static let fewestTexts: Int64 = 1000

    /// Notes what is due.
    ///
    /// - Returns: When something is due that is not yet.
    func note(_ wear: IndexWear, earliest: Double?, _ now: Double) -> Double {
        let state = scheduleStore.state
        var due: [MaintenanceTask: Double] = [:]
        var next = Double.infinity
        for task in MaintenanceTask.allCases {
            let wanted: Double?
            switch task {
            case .purgeExpired: wanted = earliest
            case .optimize: wanted = isWorthMerging(wear, state) ? -.infinity : nil
            case .vacuum:
                let isWorthIt = wear.freePages >= Self.fewestFreePages && wear.freePages > wear.pages / 4
                wanted = wear.canGiveBack && isWorthIt ? -.infinity : nil
            }
            guard let wanted else { continue }
            // One that is in the future was done under another clock.
            let last = state[task].last.map { min($0, now) }
            let moment = max(wanted, last.map { $0 + (Self.maintenancePause[task] ?? 0) } ?? -.infinity)
            if moment <= now { due[task] = moment.isFinite ? moment : now } else { next = min(next, moment) }
        }
        outlook.withLock { outlook in
            // What is due already has been for longer.
            outlook.due = due.merging(outlook.due.filter { due[$0.key] != nil }, uniquingKeysWith: min)
        }
        return next
    }

    private func isWorthMerging(_ wear: IndexWear, _ state: ScheduleState) -> Bool {
        let news = wear.texts - (state[.optimize].texts ?? 0)
        return wear.segments >= Self.fewestSegments && abs(news) >= max(Self.fewestTexts, wear.items / 10)
    }

    /// Cares for the index, in steps of a few milliseconds, each durable by itself. Finding and donating go on meanwhile.
    ///
    /// - `purgeExpired` asks for what has expired and was not asked for yet, then deletes all that has.
    /// - `optimize` merges the full-text tables to one segment each. SQLite's own statistics are not gathered: the statements
    ///   are written, and their plans tested, for an index without.
    /// - `vacuum` gives free pages back. In files that were made before these could be given back in steps it does nothing:
    ///   such a file uses them again, and to rewrite it as a whole would take its size once more and keep donors waiting.
    ///
    /// - Parameter checkpoint: Asked after each step; whoever says no has it stopped.
    /// - Throws: ``EngineError``; `.extension(.cancelled)` if it was stopped.
    package func maintain(
        _ task: MaintenanceTask, checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) {
        var texts: Int64?
        switch task {
        case .purgeExpired:
            let first = try await onIndex { (index) throws(SearchIndexError) in try await index.firstExpiries() }
            _ = try await askBeforeExpiry(first, configuration.now())
            try await repeatStep(checkpoint) { (index, _) throws(SearchIndexError) in try await index.purgeStep() > 0 }
        case .optimize:
            texts = try await onIndex { (index) throws(SearchIndexError) in try await index.wear() }.texts
            try await repeatStep(checkpoint) { (index, isFirst) throws(SearchIndexError) in
                try await index.mergeStep(isFirst: isFirst)
            }
        case .vacuum:
            try await repeatStep(checkpoint) { (index, _) throws(SearchIndexError) in try await index.vacuumStep() > 0 }
        }
        let done = ScheduleState.Maintenance(last: configuration.now(), texts: texts)
        defer {
            outlook.withLock { $0.due[task] = nil }
            // When the next is due is for the index to say.
            lookSoon()
            jobsFollower.tell()
        }
        try scheduleStore.update { $0[task] = done }
    }

    /// - Parameter step: Does one; says whether there may be more.
    private func repeatStep(
        _ checkpoint: JobCheckpoint,
        _ step: (_ index: SearchIndex, _ isFirst: Bool) async throws(SearchIndexError) -> Bool
    ) async throws(EngineError) {
        var isFirst = true
        while try await onIndex({ (index) throws(SearchIndexError) in try await step(index, isFirst) }) {
            isFirst = false
            guard !Task.isCancelled, await checkpoint() else { throw .extension(.cancelled) }
        }
    }
}
