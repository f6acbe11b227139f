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
    /// The owner of files that decide what is followed: lists of the user's, and the desktop's names of folders. No bundle is
    /// called so.
    package static let decidingOwner = ":deciding"

    /// What is to be followed now. Asks the file system, which may take its time.
    package func watchedTrees() -> [WatchedTree] {
        var trees: [WatchedTree] = []
        var deciding: Set<String> = []
        for bundle in registry.extensions where bundle.manifest.extensionPoints.contains(.index) {
            let places = WatchedPlaces(of: bundle, configuration.workers)
            trees += places.places.map { WatchedTree(owner: bundle.identifier, root: $0.path, names: $0.names) }
            deciding.formUnion(places.deciding)
        }
        return trees + deciding.sorted().map { WatchedTree(owner: Self.decidingOwner, root: $0) }
    }

    /// The snapshot that whoever follows the files keeps true; ``takeFileNews()`` says what has come of it.
    ///
    /// - Throws: ``EngineError``, also if the store is only read.
    package func fileSnapshot() throws(EngineError) -> FileSnapshot { try followed().snapshot() }

    /// Says who follows the files from now on; `nil` if nobody does any more.
    ///
    /// - Parameter watch: Returns once the files of a bundle are watched, or after a moment if they cannot be.
    package func setFileFollower(_ watch: (@Sendable (_ bundle: String) async -> Void)?) {
        let before = fileFollower.withLock { follower in
            defer { follower = watch }
            return follower
        }
        if before != nil, watch == nil { files?.noteLook() }
    }

    private func followed() throws(EngineError) -> FollowedFiles {
        guard let files else {
            throw .storeFile(
                path: configuration.storeDirectory, operation: "Following files in", detail: "the store is only read")
        }
        return files
    }

    /// Takes in what was noted in the snapshot: changes of files become jobs (``scheduledJobs()``).
    ///
    /// - Returns: Whether what is to be followed may be something else now.
    package func takeFileNews() async throws(EngineError) -> Bool {
        let files = try followed()
        try await files.refresh(now: configuration.now())
        jobsFollower.tell()
        guard files.pending[Self.decidingOwner] != nil else { return false }
        try await files.use { (snapshot) throws(FileWatchingError) in
            while let changes = try snapshot.changes(of: Self.decidingOwner, limit: Self.maximumChanges) {
                try snapshot.acknowledge(changes)
            }
        }
        return true
    }

    /// The jobs of telling extensions of changed files. One that is to be asked for everything is told that way.
    func fileJobs(_ health: [String: ExtensionHealth], _ outlook: Outlook) -> [ScheduledJob] {
        guard let files else { return [] }
        return files.pending.compactMap { bundle, pending -> ScheduledJob? in
            guard pending.changes.count > 0, (try? registry.bundle(bundle)) != nil,
                jobStore[bundle]?.work != .reindexAll,
                outlook.running.contains(bundle) || !reindexes.isUnderWay(bundle)
            else { return nil }
            var job = ScheduledJob(key: .files(bundle: bundle), urgency: .freshness, requested: pending.since)
            job.isResumable = true
            job.isFresh = configuration.policy.isFresh(
                count: pending.changes.count, bytes: pending.changes.bytes)
            var moments = [outlook.postponement(of: job.key)]
            if let health = health[bundle] {
                moments.append(health.backOff?.until)
                job.refusal = health.isDisabled ? .disabled : health.quarantine == nil ? nil : .quarantined
            }
            job.notBefore = moments.compactMap { $0 }.max()
            return job
        }
    }

    /// The most changes that an extension is told of at once.
    static let maximumChanges = 256

    /// Tells an extension of the files that changed.
    ///
    /// - Parameters:
    ///   - origin: Who wants it.
    ///   - update: What it was told of is added to this.
    ///   - checkpoint: Asked after each batch.
    /// - Throws: ``EngineError``; then the rest is pending.
    func updateFiles(
        of bundle: String, _ origin: RequestOrigin, _ update: inout FileUpdate,
        _ checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) {
        let files = try followed()
        guard reindexes.begin(bundle) else { throw .alreadyReindexing(bundle) }
        jobsFollower.tell()
        defer {
            reindexes.end(bundle)
            jobsFollower.tell()
        }
        while jobStore[bundle]?.work != .reindexAll {
            let limit = outlook.withLock { $0.batches[bundle] ?? Self.maximumChanges }
            let next = try await files.use { (snapshot) throws(FileWatchingError) in
                try snapshot.changes(of: bundle, limit: limit)
            }
            guard let next else { break }
            if !next.changes.isEmpty, try await !tell(next.changes, to: bundle, origin, &update) { break }
            try await files.use { (snapshot) throws(FileWatchingError) in try snapshot.acknowledge(next) }
            try await files.refresh(now: configuration.now())
            guard await checkpoint() else { throw .extension(.cancelled) }
        }
        try await files.refresh(now: configuration.now())
    }

    /// - Returns: Whether the changes are dealt with; if not, everything is owed.
    private func tell(
        _ changes: [FileChange], to bundle: String, _ origin: RequestOrigin, _ update: inout FileUpdate
    ) async throws(EngineError) -> Bool {
        do throws(EngineError) {
            guard try await ask(bundle, changes, origin) else {
                return false
            }
            outlook.withLock { $0.batches[bundle] = nil }
            update.add(changes)
        } catch {
            guard case .extension(let failure) = error, !failure.isRefusal, failure != .cancelled else { throw error }
            // The next time with fewer, so that one file at which it fails is found, and in the end left alone.
            let isLeftAlone = outlook.withLock { outlook in
                let batch = min(outlook.batches[bundle] ?? Self.maximumChanges, changes.count)
                outlook.batches[bundle] = max(1, batch / 8)
                guard changes.count == 1 else { return false }
                return outlook.noteFailure(of: changes[0], bundle) >= Self.maximumFailures
            }
            activity.noteFailure(of: bundle)
            guard isLeftAlone else { throw error }
            outlook.withLock { $0.forgetFailures(of: bundle) }
            onEvent(.setAside(bundle: bundle, item: changes[0].paths.last ?? "", reason: failure.description))
            update.setAside += 1
        }
        return true
    }

    /// So often an extension may fail with one file.
    private static let maximumFailures = 3

    /// Asks the extension in the way that it knows.
    ///
    /// - Returns: Whether it has dealt with the changes.
    private func ask(
        _ bundle: String, _ changes: [FileChange], _ origin: RequestOrigin
    ) async throws(EngineError) -> Bool {
        let found = try self.bundle(bundle)
        let fingerprint = found.fingerprint(workerPath: configuration.worker.workerPath)
        if outlook.withLock({ $0.withoutFileChanges[bundle] }) != fingerprint {
            do throws(EngineError) {
                try await onHost { (host) throws(ExtensionError) in
                    try await host.updateFiles(changes, bundle, origin: origin)
                }
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

    /// The shortest time between two reindexes of everything for changed files, in seconds.
    static let pauseBetweenReindexes = 3600.0

    // MARK: Now

    /// See ``UpdateCall``.
    package func update(
        _ bundle: String?, onEvent: @escaping @Sendable (ExtensionEvent) -> Void = { _ in }
    ) async throws(EngineError) -> [FileUpdate] {
        let files = try followed()
        if let bundle { _ = try self.bundle(bundle) }
        let owners = try await files.use { [self] (snapshot) throws(FileWatchingError) in
            let trees = watchedTrees()
            try snapshot.setTrees(trees)
            let owners = Set(trees.map(\.owner)).filter { $0 != Self.decidingOwner && (bundle == nil || $0 == bundle) }
            var unavailable: [String: [String]] = [:]
            for tree in try snapshot.trees() where owners.contains(tree.rule.owner) {
                unavailable[tree.rule.owner, default: []] += try snapshot.compare(tree).unavailable
            }
            return owners.sorted().map { FileUpdate(bundle: $0, unavailable: unavailable[$0] ?? []) }
        }
        if let bundle, owners.isEmpty { return [FileUpdate(bundle: bundle, isFollowed: false)] }
        try await files.refresh(now: configuration.now())
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
                try await updateFiles(of: update.bundle, .person, &update)
            }
            if jobStore[update.bundle] != nil {
                update.reindexed = try await reindexOwed(update.bundle, origin: .person)
            }
        } catch {
            // The others are brought up to date all the same.
            if case .extension(.cancelled) = error { throw error }
            update.problem = error.description
        }
        return update
    }

    // MARK: Reindexes of everything

    /// Remembers what had changed before an extension is asked for everything, which tells it of that.
    ///
    /// - Parameter isResumed: Whether the request goes on that was begun before.
    /// - Returns: What ``noteReindex(of:_:)`` is given; `nil` if no files of it are followed.
    func beginReindexOfFiles(_ bundle: String, isResumed: Bool) async throws(EngineError) -> EverythingRequest? {
        guard let files, isFollowing(bundle) else { return nil }
        if isResumed {
            return try await files.use { (snapshot) throws(FileWatchingError) in try snapshot.request(of: bundle) }
        }
        // A file that the extension sees and that goes before it was noted would stay found.
        if let watch = fileFollower.withLock({ $0 }) {
            await watch(bundle)
        } else {
            try await files.use { [self] (snapshot) throws(FileWatchingError) in try snapshot.setTrees(watchedTrees()) }
        }
        return try await files.use { (snapshot) throws(FileWatchingError) in
            for tree in try snapshot.trees() where tree.rule.owner == bundle { try snapshot.compare(tree) }
            return try snapshot.beginEverything(of: bundle)
        }
    }

    private func isFollowing(_ bundle: String) -> Bool {
        (try? registry.bundle(bundle)).map { $0.manifest.access.watchedPaths != .none } ?? false
    }

    /// Notes that an extension has brought everything.
    func noteReindex(of bundle: String, _ request: EverythingRequest?) async throws(EngineError) {
        let now = configuration.now()
        outlook.withLock { $0.reindexedForFiles[bundle] = now }
        guard let files, let request else { return }
        try await files.use { (snapshot) throws(FileWatchingError) in
            // What came since, and may go before it is noted, would stay found.
            for tree in try snapshot.trees() where tree.rule.owner == bundle { try snapshot.compare(tree) }
            try snapshot.acknowledge(request)
        }
        try await oweGone(bundle, files)
        try await files.refresh(now: now)
    }

    /// The most items that are asked for since their files went during a reindex.
    private static let maximumGone = 500

    /// Has an extension asked for items whose files came and went while it was asked for everything: nobody may have noticed them.
    private func oweGone(_ bundle: String, _ files: FollowedFiles) async throws(EngineError) {
        var gone: Set<String> = []
        var cursor: QueryCursor?
        repeat {
            let page = try await onQuery { (index) throws(IndexQueryError) in
                try await index.items(matching: .and([]), bundle: bundle, limit: 1000, after: cursor)
            }
            let paths = page.items.compactMap { item in
                item.record.contentPath.map { (item.record.uniqueIdentifier, $0) }
            }
            gone.formUnion(
                try await files.use { _ in paths.filter { FollowedFiles.isMissing($0.1) }.map(\.0) })
            cursor = page.next
        } while cursor != nil && gone.count < Self.maximumGone
        guard !gone.isEmpty else { return }
        try owe(.reindexItems(Set(gone.prefix(Self.maximumGone))), of: bundle, cause: .foundGone)
    }
}
