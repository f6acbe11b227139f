// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchIndex

extension SearchlightEngine {
    /// Returns the findings from opening the store.
    package func opening() async throws(EngineError) -> StoreOpeningReport {
        StoreOpeningReport(recovery: recovery, waitingEntries: waitingEntries)
    }

    /// Returns the extensions, the rejected bundles and the search path.
    package func extensions() async throws(EngineError) -> InstalledExtensions {
        await refreshExtensions()
        return InstalledExtensions(registry)
    }

    /// Returns the donations that are durable but cannot be found yet.
    package func pendingDonations() async throws(EngineError) -> PendingDonations { pending }

    /// The donations to all indexes that are durable but cannot be found yet.
    var pending: PendingDonations { index.pending.merging(vault.index?.pending) }

    /// Returns the pending reindexes: requested but not acknowledged.
    package func owedReindexes() async throws(EngineError) -> [PendingReindexJob] {
        jobStore.jobs.map(PendingReindexJob.init)
    }

    /// Returns the store's counts, findings and pending work; see ``StatusCall``.
    package func status(isExact: Bool) async throws(EngineError) -> StoreStatus {
        // Read first, so that a donation that is applied during the call is included in at least
        // one of the two numbers.
        let pending = pending.nonEmpty
        let accounts = try await unlessDamaged(or: []) { () throws(EngineError) in
            try await self.accounts(try await itemCounts(), pending)
        }
        let sizes = try await unlessDamaged(or: index.fileSizes) { () throws(EngineError) in
            try await onIndex { (index) throws(SearchIndexError) in try await index.sizes(isExact: isExact) }
        }
        let semantic = try await unlessDamaged(or: nil) { () throws(EngineError) in try await semanticStatus() }
        return try await onIndex { (index) throws(SearchIndexError) in
            let findings = try await index.lastFindings()
            return StoreStatus(
                accounts: accounts, lastFindings: findings, sizes: sizes, generation: try await index.generation(),
                needsRepair: index.needsRepair, refusedRepair: refusal?.description,
                hasDamagedJobs: jobStore.wasDamaged, hasDamagedSchedule: hasDamagedSchedule,
                learns: index.learns, waitingEntries: waitingEntries, pending: pending, removals: removals,
                sandbox: sandboxStatus,
                followed: FollowedStatus(
                    unfollowed: watchedTrees().filter { Self.isBundle($0.owner) }
                ).limited(to: isEnabled), semantic: semantic,
                protection: protectionStatus)
        }
    }

    /// Reads a part of the status. If the repair of a damaged store was rejected, the damage is not
    /// an error: the status reports it together with the other parts.
    private func unlessDamaged<Value>(
        or rest: Value, _ read: () async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(EngineError) { return try await read() } catch {
            guard refusal != nil, error.isDamage else { throw error }
            return rest
        }
    }

    private var sandboxStatus: SandboxStatus {
        let (available, revision) = SandboxProtections.available()
        return SandboxStatus(
            isEnforced: configuration.worker.sandbox == .enforced,
            missing: SandboxProtections.all.subtracting(available), landlockRevision: revision,
            history: sandboxLog.history())
    }
}
