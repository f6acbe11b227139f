// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import ItemRecord
import SearchIndex
import ServiceMessages

// Requests for encrypted items. Their identifiers are known only while the store is unlocked, and
// are never written to a file: the job of a bundle names no item, and finds them when it runs.

/// Items that are requested without a record of the request.
struct UnrecordedItems {
    /// The encrypted items, by their index.
    var encrypted: [IndexScope: Set<String>] = [:]
    /// The items that are in no index. They may have been encrypted.
    var unknown: Set<String> = []

    /// All identifiers.
    var all: Set<String> { encrypted.values.reduce(unknown) { $0.union($1) } }
}

extension SearchlightEngine {
    /// The maximum number of items in a request.
    static let maximumEncryptedItems = 256

    // MARK: Pending work

    /// Determines the pending work on encrypted items: while the store is unlocked, the bundles
    /// with items that expire soon; while it is locked, the bundles that have no other items.
    ///
    /// - Returns: The time of the next request.
    func lookAtEncryptedItems(_ now: Double) async throws(EngineError) -> Double {
        try await notePlainItems()
        // Without protected indexes too, a store that is not unlocked rejects their donations.
        guard vault.index != nil else {
            var locked: Set<String> = []
            for bundle in vault.bundles where try await isWhollyLocked(bundle) { locked.insert(bundle) }
            outlook.withLock { [locked] in $0.whollyLocked = locked }
            return .infinity
        }
        outlook.withLock { $0.whollyLocked = [] }
        try oweWhatTheLockRejected(now)
        let found = try await vault.whileUnlocked { (index) async throws(EngineError) in
            try await expiringBundles(index, now)
        }
        guard let found else { return .infinity }
        outlook.withLock { outlook in
            let before = outlook.expiringEncrypted
            outlook.expiringEncrypted = found.due.reduce(into: [:]) { due, entry in
                due[entry.key] = (before[entry.key]?.since ?? now, entry.value)
            }
        }
        return found.next
    }

    /// Records the bundles with encrypted indexes that have other items too. If those items are
    /// lost, their extensions must be asked even while the store is locked.
    private func notePlainItems() async throws(EngineError) {
        for bundle in vault.bundles where !scheduleStore.state.hasPlainItems(bundle) {
            guard try await hasPlainItems(bundle) else { continue }
            try scheduleStore.update { state in state.changeEncrypted(bundle) { $0.hasPlainItems = true } }
        }
    }

    /// Returns the bundles with encrypted items that expire soon, with the first expiry time of
    /// each, and the time at which further items have to be requested.
    private func expiringBundles(
        _ index: SearchIndex, _ now: Double
    ) async throws(EngineError) -> (due: [String: Double?], next: Double) {
        let notice = configuration.policy.expiryNotice
        let first = try await Self.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.firstExpiries()
        }
        var (due, next): ([String: Double?], Double) = ([:], .infinity)
        for (bundle, moment) in first where isAskable(bundle) {
            guard moment - notice <= now else {
                next = min(next, moment - notice)
                continue
            }
            let found = try await expiring(of: bundle, index, after: nil, now, limit: 1)
            if found.items.isEmpty {
                next = min(next, found.next.map { $0 - notice } ?? .infinity)
            } else {
                due.updateValue(found.earliest, forKey: bundle)
            }
        }
        return (due, next)
    }

    /// Returns the encrypted items of a bundle that expire soon and have not been requested.
    private func expiring(
        of bundle: String, _ index: SearchIndex, after mark: ExpiryMark?, _ now: Double, limit: Int
    ) async throws(EngineError) -> ExpiringItems {
        let notice = configuration.policy.expiryNotice
        // As for other items, a clock that was set back hides items no longer than the notice.
        let requested = scheduleStore.state.encrypted?[bundle]?.requestedThrough.map { time in
            ExpiryMark(expires: min(time, now + notice))
        }
        return try await Self.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.expiringItems(
                of: bundle, after: mark ?? requested, through: now + notice, lifetime: 2 * notice, limit: limit)
        }
    }

    /// Makes a reindex of everything pending for the bundles whose donations were rejected while
    /// the store was locked.
    private func oweWhatTheLockRejected(_ now: Double) throws(EngineError) {
        let stale = (scheduleStore.state.encrypted ?? [:]).filter { $0.value.staleSince != nil }.keys.sorted()
        guard !stale.isEmpty else { return }
        // Recorded before the marks are removed: after a crash in between, the request is repeated.
        try jobStore.update { queue in
            for bundle in stale {
                queue.add(Job(bundle: bundle, work: .reindexAll, requested: now, cause: .lost))
                // An extension that has failed because of the lock need not wait.
                queue.forgive(bundle: bundle)
            }
        }
        try scheduleStore.update { state in
            for bundle in stale { state.changeEncrypted(bundle) { $0.staleSince = nil } }
        }
    }

    /// Returns the jobs that request encrypted items. While the store is locked, they wait.
    func encryptedJobs(_ health: [String: ExtensionHealth], _ outlook: Outlook) -> [ScheduledJob] {
        let isLocked = vault.index == nil
        let stale = isLocked ? (scheduleStore.state.encrypted ?? [:]).compactMapValues(\.staleSince) : [:]
        let bundles = Set(outlook.expiringEncrypted.keys).union(stale.keys)
        return bundles.sorted().compactMap { bundle -> ScheduledJob? in
            guard isAskable(bundle), outlook.running.contains(bundle) || !reindexes.isUnderWay(bundle) else {
                return nil
            }
            let expiring = outlook.expiringEncrypted[bundle]
            let since = [expiring?.since, stale[bundle]].compactMap(\.self).min()
            var job = ScheduledJob(
                key: .encrypted(bundle: bundle), urgency: stale[bundle] == nil ? .expiry : .freshness,
                requested: since ?? configuration.now())
            job.deadline = expiring?.deadline
            var moments = [outlook.postponement(of: job.key)]
            if !delegates.isRegistered(for: bundle), let health = health[bundle] {
                moments.append(health.backOff?.until)
                job.refusal = health.refusal
            }
            if isLocked, job.refusal == nil { job.refusal = .locked }
            job.notBefore = moments.compactMap(\.self).max()
            return job
        }
    }

    /// Returns `true` if a bundle has encrypted indexes that are locked, and never had other items.
    func isWhollyLocked(_ bundle: String) async throws(EngineError) -> Bool {
        guard vault.isLocked(bundle), !scheduleStore.state.hasPlainItems(bundle) else { return false }
        return try await !hasPlainItems(bundle)
    }

    /// Returns `true` if a bundle has items that are not encrypted now.
    private func hasPlainItems(_ bundle: String) async throws(EngineError) -> Bool {
        let found = try await onQuery { (index) throws(IndexQueryError) in
            try await index.items(matching: .and([]), bundle: bundle, limit: 1, after: nil)
        }
        return !found.items.isEmpty
    }

    /// Throws if nobody may be asked for a bundle's items, because all of them are encrypted and
    /// locked. Pending work then stays pending until the next unlocking.
    func checkNotWhollyLocked(_ bundle: String) async throws(EngineError) {
        guard try await isWhollyLocked(bundle) else { return }
        _ = outlook.withLock { $0.whollyLocked.insert(bundle) }
        throw .protection(.locked)
    }

    // MARK: Requests

    /// Requests the encrypted items of a bundle that expire soon.
    ///
    /// - Parameter checkpoint: Called between requests; `false` ends the job.
    /// - Returns: The bundle's item count afterwards; `nil` if no work was pending.
    /// - Throws: ``EngineError``; the items are then requested again. ``ProtectionError/locked`` if
    ///   the store is locked during the request.
    func reindexEncrypted(
        of bundle: String, _ origin: RequestOrigin, _ checkpoint: @escaping JobCheckpoint
    ) async throws(EngineError) -> Int? {
        let isStale = scheduleStore.state.encrypted?[bundle]?.staleSince != nil
        guard isStale || outlook.withLock({ $0.expiringEncrypted[bundle] != nil }) else { return nil }
        let vaultIndex = try vault.unlockedIndex()
        let now = configuration.now()
        // The unlocking may have been during the request whose donations were rejected.
        if isStale { try oweWhatTheLockRejected(now) }
        try await alone(bundle) { () throws(EngineError) in
            var mark: ExpiryMark?
            var failure: EngineError?
            while true {
                let found = try await expiring(
                    of: bundle, vaultIndex, after: mark, now, limit: Self.maximumEncryptedItems)
                let items = Dictionary(grouping: found.items) { IndexScope(bundle: bundle, index: $0.index) }
                let failed = try await request(items.mapValues { Set($0.map(\.identifier)) }, origin)
                failure = failure ?? failed
                mark = found.mark
                let through = now + configuration.policy.expiryNotice
                guard let next = found.next, next <= through else { break }
                guard await checkpoint() else { throw .extension(.cancelled) }
            }
            // Items that were donated again expire later, so the next attempt requests the others.
            if let failure { throw failure }
            try scheduleStore.update { state in
                state.changeEncrypted(bundle) { $0.requestedThrough = now + configuration.policy.expiryNotice }
            }
        }
        outlook.withLock { $0.expiringEncrypted[bundle] = nil }
        lookSoon()
        return try await itemCounts()[bundle]
    }

    /// Separates the items whose request may be recorded from the others. If a bundle has encrypted
    /// indexes, only items that are in an unencrypted index may be recorded. An item may be in both
    /// groups.
    ///
    /// - Returns: The items whose request may be recorded, and the others.
    /// - Throws: ``ProtectionError/locked`` if any of the others may be locked.
    func unrecorded(
        _ items: Set<String>, of bundle: String
    ) async throws(EngineError) -> (recorded: Set<String>, unrecorded: UnrecordedItems) {
        var (recorded, found) = (items, UnrecordedItems())
        guard vault.bundles.contains(bundle) else { return (recorded, found) }
        for item in items {
            let plain = try await onIndex { (index) throws(SearchIndexError) in
                try await index.items(uniqueIdentifier: item, bundle: bundle)
            }
            if plain.isEmpty { found.unknown.insert(item) }
        }
        recorded.subtract(found.unknown)
        // While the store is locked, an item with the same name in an encrypted index is unknown.
        guard let index = vault.index else {
            guard found.unknown.isEmpty else { throw .protection(.locked) }
            return (recorded, found)
        }
        for item in items {
            let encrypted = try await Self.onIndex(index) { (index) throws(SearchIndexError) in
                try await index.items(uniqueIdentifier: item, bundle: bundle)
            }
            for one in encrypted { found.encrypted[one.scope, default: []].insert(item) }
            if !encrypted.isEmpty { found.unknown.remove(item) }
        }
        return (recorded, found)
    }

    /// Requests items without a record of the request.
    ///
    /// - Returns: The bundle's item count afterwards.
    func reindex(
        _ items: UnrecordedItems, of bundle: String, _ origin: RequestOrigin
    ) async throws(EngineError) -> Int {
        if origin == .person { await takeOver(bundle) }
        try await alone(bundle) { () throws(EngineError) in
            if let failure = try await request(items.encrypted, origin) { throw failure }
            let unknown = items.unknown.sorted()
            for start in stride(from: 0, to: unknown.count, by: Self.maximumEncryptedItems) {
                try await onHost { (host) throws(ExtensionError) in
                    try await host.reindexUnrecorded(
                        Array(unknown[start...].prefix(Self.maximumEncryptedItems)), bundle, origin: origin)
                }
            }
        }
        return try await itemCounts()[bundle] ?? 0
    }

    /// Runs a request while no other reindex of the bundle runs.
    private func alone(
        _ bundle: String, _ body: () async throws(EngineError) -> Void
    ) async throws(EngineError) {
        guard reindexes.begin(bundle) else { throw .alreadyReindexing(bundle) }
        jobsFollower.tell()
        defer {
            reindexes.end(bundle)
            jobsFollower.tell()
        }
        do throws(EngineError) { try await body() } catch {
            // The lock is the cause of the extension's failure, and ends the failure too.
            if vault.isLocked(bundle), error != .extension(.cancelled) { throw .protection(.locked) }
            throw error
        }
    }

    /// Requests items of encrypted indexes. If a part fails, the other parts are still requested.
    ///
    /// - Returns: The first failure of an extension or app; `nil` if all parts were acknowledged.
    ///   It is not a failure if an index has neither an extension nor an app that handles requests.
    /// - Throws: ``EngineError`` if further parts would fail too.
    private func request(
        _ items: [IndexScope: Set<String>], _ origin: RequestOrigin
    ) async throws(EngineError) -> EngineError? {
        var failure: EngineError?
        for (scope, identifiers) in items.sorted(by: { $0.key.sortKey < $1.key.sortKey }) {
            // The index may have been removed during the request.
            guard let name = scope.index, let protection = vault.protection(of: scope) else { continue }
            // The extension would delete items whose disk is away.
            let all = await withoutAway(identifiers, of: scope.bundle, in: vault.index).sorted()
            for start in stride(from: 0, to: all.count, by: Self.maximumEncryptedItems) {
                guard vault.index != nil else { throw .protection(.locked) }
                let part = EncryptedItems(
                    index: name, protection: protection,
                    identifiers: Array(all[start...].prefix(Self.maximumEncryptedItems)))
                do throws(EngineError) {
                    try await onHost { (host) throws(ExtensionError) in
                        try await host.reindexEncrypted(part, scope.bundle, origin: origin)
                    }
                } catch {
                    guard case .extension(let cause) = error, !cause.isRefusal, cause != .cancelled, vault.index != nil
                    else { throw error }
                    if case .failed(_, _, .unsupported, _) = cause { continue }
                    failure = failure ?? error
                }
            }
        }
        return failure
    }
}

extension ExtensionHealth {
    /// The reason why the extension's jobs must not run; `nil` if they may.
    var refusal: ScheduledJob.Refusal? { isDisabled ? .disabled : quarantine == nil ? nil : .quarantined }
}
