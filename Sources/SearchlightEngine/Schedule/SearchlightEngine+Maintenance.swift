// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// The minimum time between two runs of a maintenance task, in seconds.
    static let maintenancePause: [MaintenanceTask: Double] = [
        .purgeExpired: 3600, .optimize: 86400, .vacuum: 86400,
    ]
    /// The minimum number of free pages for a vacuum (8 MiB). They must also make up a quarter of
    /// all pages.
    private static let fewestFreePages = 1024
    /// The minimum number of segments and of new texts for a merge.
    private static let fewestSegments = 5
    private static let fewestTexts: Int64 = 1000

    /// Records the due maintenance tasks.
    ///
    /// - Returns: The time of the next task that is not due yet.
    func note(_ wear: MaintenanceStats, earliest: Double?, needsEmbedding: Bool, _ now: Double) -> Double {
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
            case .embed: wanted = needsEmbedding ? -.infinity : nil
            }
            guard let wanted else { continue }
            // A time in the future was recorded before the clock was set back.
            let last = state[task].last.map { min($0, now) }
            let moment = max(wanted, last.map { $0 + (Self.maintenancePause[task] ?? 0) } ?? -.infinity)
            if moment <= now { due[task] = moment.isFinite ? moment : now } else { next = min(next, moment) }
        }
        outlook.withLock { outlook in
            // A task that was already due keeps its earlier time.
            outlook.due = due.merging(outlook.due.filter { due[$0.key] != nil }, uniquingKeysWith: min)
        }
        return next
    }

    private func isWorthMerging(_ wear: MaintenanceStats, _ state: ScheduleState) -> Bool {
        let news = wear.texts - (state[.optimize].texts ?? 0)
        return wear.segments >= Self.fewestSegments && abs(news) >= max(Self.fewestTexts, wear.items / 10)
    }

    /// Runs a maintenance task in steps of a few milliseconds, each of which is durable by itself.
    /// Searches and donations continue between the steps.
    ///
    /// - `purgeExpired` requests the expired items that have not been requested yet, then deletes
    ///   all expired items.
    /// - `optimize` merges each FTS5 table into one segment. It does not run `ANALYZE`: the
    ///   statements are written, and their plans tested, for an index without SQLite's statistics.
    /// - `vacuum` returns free pages to the file system. It has no effect on old files without
    ///   incremental vacuum, which reuse their free pages. Rewriting the whole file would need the
    ///   same amount of space again and block donations.
    /// - `embed` computes embeddings with the installed model, or deletes the embeddings of a
    ///   removed model.
    ///
    /// - Parameters:
    ///   - checkpoint: Called after each step; `false` stops the task.
    ///   - isPaused: Ends a long step early if it returns `true`. Called on any thread.
    /// - Throws: ``EngineError``; `.extension(.cancelled)` if it was stopped.
    package func maintain(
        _ task: MaintenanceTask, checkpoint: @escaping JobCheckpoint = { true },
        isPaused: @escaping @Sendable () -> Bool = { false }
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
        case .embed:
            while try await embedStep(isPaused: isPaused) {
                guard !Task.isCancelled, await checkpoint() else { throw .extension(.cancelled) }
            }
        }
        let done = ScheduleState.Maintenance(last: configuration.now(), texts: texts)
        defer {
            outlook.withLock { $0.due[task] = nil }
            // The look-ahead computes the next due time from the index.
            lookSoon()
            jobsFollower.tell()
        }
        // New items are embedded without a minimum pause, so there is nothing to record.
        if task != .embed { try scheduleStore.update { $0[task] = done } }
    }

    /// Repeats a step until there is no more work.
    ///
    /// - Parameter step: Performs one step; returns `true` if there may be more.
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
