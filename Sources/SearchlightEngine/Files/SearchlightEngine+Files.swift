// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import FileWatching
import IdleScheduling
import MetadataQuery
import Previews
import SearchIndex
import Synchronization
import SystemSupport

extension SearchlightEngine {
    /// The owner of the file that names the desktop's folders (`user-dirs.dirs`), which the
    /// followed paths depend on. No bundle has this identifier.
    package static let decidingOwner = ":deciding"
    /// The prefix of the owner name for a bundle's path lists; the bundle identifier follows.
    private static let listOwner = ":lists:"

    /// Returns `true` if an owner is a bundle.
    static func isBundle(_ owner: String) -> Bool { !owner.hasPrefix(":") }

    /// Returns the trees to follow now. Reads the file system, which may block.
    package func watchedTrees() -> [WatchedTree] {
        var trees: [WatchedTree] = []
        var deciding: Set<String> = []
        for bundle in registry.extensions where bundle.manifest.extensionPoints.contains(.index) {
            let places = WatchedPlaces(of: bundle, configuration.workers)
            trees += places.places.map { WatchedTree(owner: bundle.identifier, root: $0.path, names: $0.names) }
            trees += places.lists.map { WatchedTree(owner: Self.listOwner + bundle.identifier, root: $0) }
            deciding.formUnion(places.deciding)
            // The contents of an unreadable list are unknown, so its trees are kept.
            if !places.unreadable.isEmpty, let snapshot = try? files?.snapshot(), let stored = try? snapshot.trees() {
                trees += stored.map(\.rule).filter { $0.owner == bundle.identifier && !trees.contains($0) }
            }
        }
        return trees + deciding.sorted().map { WatchedTree(owner: Self.decidingOwner, root: $0) }
    }

    /// Returns the snapshot, which the file follower keeps up to date. Call ``takeFileNews()``
    /// after a change.
    ///
    /// - Throws: ``EngineError``, including for a read-only engine.
    package func fileSnapshot() throws(EngineError) -> FileSnapshot { try followed().snapshot() }

    /// Sets the file follower; `nil` stops following.
    ///
    /// - Parameters:
    ///   - watch: Returns once a bundle's files are watched, or shortly afterwards if they cannot
    ///     be watched.
    ///   - isUpToDate: For a follower that ends: `true` if the snapshot contains all changes that
    ///     it observed.
    package func setFileFollower(_ watch: (@Sendable (_ bundle: String) async -> Void)?, isUpToDate: Bool = false) {
        let before = fileFollower.withLock { follower in
            defer { follower = watch }
            return follower
        }
        guard before != nil, watch == nil, isUpToDate, let files else { return }
        // Nobody waits for the changes of removed and disabled extensions.
        if files.pending.keys.allSatisfy({ Self.isBundle($0) && !isEnabled($0) }) { files.noteLook() }
    }

    private func followed() throws(EngineError) -> FollowedFiles {
        guard let files else {
            throw .storeFile(
                path: configuration.storeDirectory, operation: "Watching files of",
                detail: "the store is open for reading only")
        }
        return files
    }

    /// Turns the changes in the snapshot into jobs (``scheduledJobs()``).
    ///
    /// - Returns: `true` if the trees to follow may have changed.
    package func takeFileNews() async throws(EngineError) -> Bool {
        let files = try followed()
        try await refresh(files)
        jobsFollower.tell()
        let deciding = files.pending.keys.filter { !Self.isBundle($0) }
        guard !deciding.isEmpty else { return false }
        try await files.use { (snapshot) throws(FileWatchingError) in
            for owner in deciding { try Self.acknowledgeAll(of: owner, snapshot) }
        }
        // Only the extension can interpret its list, so it is reindexed. The desktop's folder names
        // are evaluated in `watchedTrees()`.
        for owner in deciding where owner.hasPrefix(Self.listOwner) {
            let bundle = String(owner.dropFirst(Self.listOwner.count))
            guard jobStore.isDonor(bundle), (try? registry.bundle(bundle)) != nil else { continue }
            try owe(.reindexAll, of: bundle, cause: .filesChanged)
        }
        try await refresh(files)
        return true
    }

    /// The number of unreported changes by bundle, as of the last read of the snapshot. Changes for
    /// extensions that are not installed or disabled are left out, as nobody waits for them.
    package var pendingFiles: [FollowedStatus.Pending] {
        (files?.pending ?? [:]).filter { Self.isBundle($0.key) && $0.value.changes.count > 0 && isEnabled($0.key) }
            .map { FollowedStatus.Pending(bundle: $0.key, files: $0.value.changes.count, since: $0.value.since) }
            .sorted { $0.bundle < $1.bundle }
    }

    /// Returns `true` if a bundle is installed, and the user has not disabled it.
    package func isEnabled(_ bundle: String) -> Bool {
        (try? registry.bundle(bundle)) != nil && !health(of: bundle).isDisabled
    }

    /// Forgets the changes of files that are followed for a bundle, and the files of a bundle that
    /// is not installed.
    func forgetFiles(of bundle: String) async throws(EngineError) {
        guard let files else { return }
        let owners = [bundle, Self.listOwner + bundle]
        let isInstalled = (try? registry.bundle(bundle)) != nil
        try await files.use { (snapshot) throws(FileWatchingError) in
            if !isInstalled {
                let trees = try snapshot.trees().map(\.rule)
                try snapshot.setTrees(trees.filter { !owners.contains($0.owner) })
            }
            for owner in owners { try Self.acknowledgeAll(of: owner, snapshot) }
        }
        try await refresh(files)
    }

    private static func acknowledgeAll(of owner: String, _ snapshot: FileSnapshot) throws(FileWatchingError) {
        while case .changes(let changes) = try snapshot.changes(of: owner, limit: maximumChanges) {
            try snapshot.acknowledge(changes)
        }
    }

    /// Compares a bundle's lists and acknowledges their changes, before a reindex of everything.
    static func takeLists(of bundle: String, _ snapshot: FileSnapshot) throws(FileWatchingError) {
        let owner = listOwner + bundle
        for tree in try snapshot.trees() where tree.rule.owner == owner { try snapshot.compare(tree) }
        try acknowledgeAll(of: owner, snapshot)
    }

    /// Returns the jobs that report changed files to extensions. A pending reindex of everything
    /// replaces the job, except for recent changes.
    func fileJobs(_ health: [String: ExtensionHealth], _ outlook: Outlook) -> [ScheduledJob] {
        guard let files else { return [] }
        return files.pending.compactMap { bundle, pending -> ScheduledJob? in
            guard pending.changes.count > 0, (try? registry.bundle(bundle)) != nil,
                outlook.running.contains(bundle) || !reindexes.isUnderWay(bundle)
            else { return nil }
            // A pending reindex of everything covers the changes but may wait for a long time, so
            // recent changes are reported separately.
            if jobStore[bundle]?.work == .reindexAll {
                guard pending.isRecent, canBeTold(bundle, outlook) else { return nil }
            }
            var job = ScheduledJob(key: .files(bundle: bundle), urgency: .freshness, requested: pending.since)
            job.isResumable = true
            job.isFresh = pending.isRecent
            var moments = [outlook.postponement(of: job.key)]
            if let health = health[bundle] {
                moments.append(health.backOff?.until)
                job.refusal = health.refusal
            }
            if job.refusal == nil, isWhollyLocked(bundle, outlook) { job.refusal = .locked }
            job.notBefore = moments.compactMap { $0 }.max()
            return job
        }
    }

    /// The maximum number of changes in one report to an extension.
    static let maximumChanges = 256

    /// Reports the changed files to an extension, in batches.
    ///
    /// - Parameters:
    ///   - origin: The origin of the request.
    ///   - part: The changes to report.
    ///   - update: Updated with the counts of reported changes.
    ///   - checkpoint: Called after each batch; `false` ends the update.
    /// - Throws: ``EngineError``; the remaining changes stay pending.
    func updateFiles(
        of bundle: String, _ origin: RequestOrigin, _ part: FilePart = .all, _ update: inout FileUpdate,
        _ checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) {
        let files = try followed()
        try await checkNotWhollyLocked(bundle)
        guard reindexes.begin(bundle) else { throw .alreadyReindexing(bundle) }
        jobsFollower.tell()
        defer {
            reindexes.end(bundle)
            jobsFollower.tell()
        }
        while part == .recent || jobStore[bundle]?.work != .reindexAll {
            // Recent changes do not wait for the pending bulk.
            let after = part == .recent ? files.pending[bundle]?.bulkEnd ?? 0 : 0
            let next = try await files.use { (snapshot) throws(FileWatchingError) in
                try snapshot.changes(of: bundle, after: after, limit: Self.maximumChanges)
            }
            if case .withheld = next {
                // A change may be one half of a move. It is reported after the running comparison,
                // which may find the other half.
                try await files.snapshot().waitForComparisons(atMost: .seconds(1))
                guard await checkpoint() else { throw .extension(.cancelled) }
                continue
            }
            guard case .changes(let next) = next else { break }
            if !next.changes.isEmpty, try await !ask(bundle, next.changes, origin, &update) { break }
            try await files.use { (snapshot) throws(FileWatchingError) in try snapshot.acknowledge(next) }
            try await refresh(files)
            guard await checkpoint() else { throw .extension(.cancelled) }
        }
        try await refresh(files)
    }

    private func refresh(_ files: FollowedFiles) async throws(EngineError) {
        let policy = configuration.policy
        try await files.refresh(now: configuration.now()) { policy.isFresh(count: $0.count, bytes: $0.bytes) }
    }

    /// The changes to report to an extension.
    enum FilePart: Hashable, Sendable {
        case all
        /// The changes after a bulk that is too large to report immediately.
        case recent
    }

    /// Reports changes through the interface that the extension supports: file changes, items by
    /// path, or a reindex of everything.
    ///
    /// - Returns: `true` if the extension processed the changes; `false` if a reindex became
    ///   pending instead.
    private func ask(
        _ bundle: String, _ changes: [FileChange], _ origin: RequestOrigin, _ update: inout FileUpdate
    ) async throws(EngineError) -> Bool {
        let found = try self.bundle(bundle)
        omissions.begin(bundle)
        let fingerprint = found.fingerprint(workerPath: configuration.worker.workerPath)
        if outlook.withLock({ $0.withoutFileChanges[bundle] }) != fingerprint {
            do throws(EngineError) {
                try await onHost { (host) throws(ExtensionError) in
                    try await host.updateFiles(changes, bundle, origin: origin)
                }
                noteTold(changes, bundle, &update)
                return true
            } catch {
                guard case .extension(.failed(_, _, .unsupported, _)) = error else { throw error }
                outlook.withLock { $0.withoutFileChanges[bundle] = fingerprint }
            }
        }
        if found.manifest.access.identifiersArePaths {
            let paths = Set(changes.flatMap(\.paths)).sorted()
            try await onHost { (host) throws(ExtensionError) in
                try await host.reindexItems(paths, bundle, origin: origin)
            }
            noteTold(changes, bundle, &update)
            return true
        }
        let now = configuration.now()
        let since = outlook.withLock { $0.reindexedForFiles[bundle] }.map { min($0, now) }
        var job = Job(bundle: bundle, work: .reindexAll, requested: now, cause: .filesChanged)
        job.notBefore = since.map { $0 + Self.pauseBetweenReindexes }
        let owed = job
        try jobStore.update { $0.add(owed) }
        return false
    }

    private func noteTold(_ changes: [FileChange], _ bundle: String, _ update: inout FileUpdate) {
        omissions.settle(bundle, .names(changes.flatMap(\.paths)))
        let setAside = Set(host.health[bundle]?.itemsSetAside.map(\.identifier) ?? [])
        let told = changes.filter { setAside.isDisjoint(with: $0.paths) }
        update.add(told)
        update.setAside += changes.count - told.count
    }

    /// Returns `true` if an extension can process individual changes. This is assumed until the
    /// extension rejects them as unsupported.
    private func canBeTold(_ bundle: String, _ outlook: Outlook) -> Bool {
        guard let found = try? registry.bundle(bundle) else { return false }
        return found.manifest.access.identifiersArePaths
            || outlook.withoutFileChanges[bundle] != found.fingerprint(workerPath: configuration.worker.workerPath)
    }

    /// The minimum time in seconds between two reindexes of everything that are caused by changed
    /// files.
    static let pauseBetweenReindexes = 3600.0

    // MARK: Requested updates

    /// See ``UpdateCall``. Without a bundle, disabled extensions are left out.
    package func update(
        _ bundle: String?, onEvent: @escaping @Sendable (ExtensionEvent) -> Void = { _ in }
    ) async throws(EngineError) -> [FileUpdate] {
        let files = try followed()
        if let bundle { _ = try self.bundle(bundle) }
        let owners = try await files.compare { [self] (snapshot) throws(FileWatchingError) in
            let trees = watchedTrees()
            try snapshot.setTrees(trees)
            let owners = Set(trees.map(\.owner)).filter { Self.isBundle($0) && (bundle == nil || $0 == bundle) }
            var unavailable: [String: [String]] = [:]
            for tree in try snapshot.trees()
            where owners.contains(tree.rule.owner) || !Self.isBundle(tree.rule.owner) {
                unavailable[tree.rule.owner, default: []] += try snapshot.compare(tree).unavailable
            }
            return owners.filter { bundle != nil || isEnabled($0) }.sorted().map { owner in
                let found = unavailable[owner] ?? []
                let missing = Self.missing(listedPlaces(of: owner)).subtracting(found)
                return FileUpdate(bundle: owner, unavailable: TreeReport.shown(found + missing.sorted()))
            }
        }
        if let bundle, owners.isEmpty { return [FileUpdate(bundle: bundle, isFollowed: false)] }
        _ = try await takeFileNews()
        var updates: [FileUpdate] = []
        for owner in owners { updates.append(try await update(owner, onEvent)) }
        if bundle == nil, updates.allSatisfy({ $0.problem == nil }) { files.noteLook() }
        return updates
    }

    private func update(
        _ update: FileUpdate, _ onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> FileUpdate {
        let listener = listeners.listen(to: update.bundle, onEvent)
        defer { listeners.end(listener) }
        await takeOver(update.bundle)
        var update = update
        do throws(EngineError) {
            if jobStore[update.bundle]?.work != .reindexAll {
                try await updateFiles(of: update.bundle, .person, .all, &update)
            }
            if jobStore[update.bundle] != nil {
                update.reindexed = try await reindexOwed(update.bundle, origin: .person)
            }
        } catch {
            // If one extension fails, the others are still updated.
            if case .extension(.cancelled) = error { throw error }
            update.problem = error.description
        }
        return update
    }
}
