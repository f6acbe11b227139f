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
    /// The owner of the file with the desktop's names of folders, which decide what is followed. No bundle is called so.
    package static let decidingOwner = ":deciding"
    /// What the owner of the lists of the user's for a bundle is called, before the name of the bundle.
    private static let listOwner = ":lists:"

    /// Whether an owner is a bundle.
    static func isBundle(_ owner: String) -> Bool { !owner.hasPrefix(":") }

    /// What is to be followed now. Asks the file system, which may take its time.
    package func watchedTrees() -> [WatchedTree] {
        var trees: [WatchedTree] = []
        var deciding: Set<String> = []
        for bundle in registry.extensions where bundle.manifest.extensionPoints.contains(.index) {
            let places = WatchedPlaces(of: bundle, configuration.workers)
            trees += places.places.map { WatchedTree(owner: bundle.identifier, root: $0.path, names: $0.names) }
            trees += places.lists.map { WatchedTree(owner: Self.listOwner + bundle.identifier, root: $0) }
            deciding.formUnion(places.deciding)
            // What a list says that cannot be read is not known, so everything stays as it is.
            if !places.unreadable.isEmpty, let snapshot = try? files?.snapshot(), let stored = try? snapshot.trees() {
                trees += stored.map(\.rule).filter { $0.owner == bundle.identifier && !trees.contains($0) }
            }
        }
        return trees + deciding.sorted().map { WatchedTree(owner: Self.decidingOwner, root: $0) }
    }

    /// The snapshot that whoever follows the files keeps true; ``takeFileNews()`` says what has come of it.
    ///
    /// - Throws: ``EngineError``, also if the store is only read.
    package func fileSnapshot() throws(EngineError) -> FileSnapshot { try followed().snapshot() }

    /// Says who follows the files from now on; `nil` if nobody does any more.
    ///
    /// - Parameters:
    ///   - watch: Returns once the files of a bundle are watched, or after a moment if they cannot be.
    ///   - isUpToDate: Of a follower that ends: whether everything that it follows is noted.
    package func setFileFollower(_ watch: (@Sendable (_ bundle: String) async -> Void)?, isUpToDate: Bool = false) {
        let before = fileFollower.withLock { follower in
            defer { follower = watch }
            return follower
        }
        if before != nil, watch == nil, isUpToDate, let files, files.pending.isEmpty { files.noteLook() }
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
        try await refresh(files)
        jobsFollower.tell()
        let deciding = files.pending.keys.filter { !Self.isBundle($0) }
        guard !deciding.isEmpty else { return false }
        try await files.use { (snapshot) throws(FileWatchingError) in
            for owner in deciding { try Self.acknowledgeAll(of: owner, snapshot) }
        }
        // What a list means to an extension only that knows. What the desktop's names of folders mean is known here.
        for owner in deciding where owner.hasPrefix(Self.listOwner) {
            let bundle = String(owner.dropFirst(Self.listOwner.count))
            guard jobStore.isDonor(bundle), (try? registry.bundle(bundle)) != nil else { continue }
            try owe(.reindexAll, of: bundle, cause: .filesChanged)
        }
        try await refresh(files)
        return true
    }

    /// What extensions were not told of yet, as far as it was noted.
    package var pendingFiles: [FollowedStatus.Pending] {
        (files?.pending ?? [:]).filter { Self.isBundle($0.key) && $0.value.changes.count > 0 }
            .map { FollowedStatus.Pending(bundle: $0.key, files: $0.value.changes.count, since: $0.value.since) }
            .sorted { $0.bundle < $1.bundle }
    }

    private static func acknowledgeAll(of owner: String, _ snapshot: FileSnapshot) throws(FileWatchingError) {
        while case .changes(let changes) = try snapshot.changes(of: owner, limit: maximumChanges) {
            try snapshot.acknowledge(changes)
        }
    }

    /// Notes the lists of a bundle as they are, since it is about to be asked for everything.
    static func takeLists(of bundle: String, _ snapshot: FileSnapshot) throws(FileWatchingError) {
        let owner = listOwner + bundle
        for tree in try snapshot.trees() where tree.rule.owner == owner { try snapshot.compare(tree) }
        try acknowledgeAll(of: owner, snapshot)
    }

    /// The jobs of telling extensions of changed files. One that is to be asked for everything is told that way.
    func fileJobs(_ health: [String: ExtensionHealth], _ outlook: Outlook) -> [ScheduledJob] {
        guard let files else { return [] }
        return files.pending.compactMap { bundle, pending -> ScheduledJob? in
            guard pending.changes.count > 0, (try? registry.bundle(bundle)) != nil,
                outlook.running.contains(bundle) || !reindexes.isUnderWay(bundle)
            else { return nil }
            // A reindex of everything that waits brings the rest, but may wait for long.
            if jobStore[bundle]?.work == .reindexAll {
                guard pending.isRecent, canBeTold(bundle, outlook) else { return nil }
            }
            var job = ScheduledJob(key: .files(bundle: bundle), urgency: .freshness, requested: pending.since)
            job.isResumable = true
            job.isFresh = pending.isRecent
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
    ///   - part: Which changes.
    ///   - update: What it was told of is added to this.
    ///   - checkpoint: Asked after each batch.
    /// - Throws: ``EngineError``; then the rest is pending.
    func updateFiles(
        of bundle: String, _ origin: RequestOrigin, _ part: FilePart = .all, _ update: inout FileUpdate,
        _ checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) {
        let files = try followed()
        guard reindexes.begin(bundle) else { throw .alreadyReindexing(bundle) }
        jobsFollower.tell()
        defer {
            reindexes.end(bundle)
            jobsFollower.tell()
        }
        while part == .recent || jobStore[bundle]?.work != .reindexAll {
            // What is pending in bulk waits; what came since does not wait for it.
            let after = part == .recent ? files.pending[bundle]?.bulkEnd ?? 0 : 0
            let next = try await files.use { (snapshot) throws(FileWatchingError) in
                try snapshot.changes(of: bundle, after: after, limit: Self.maximumChanges)
            }
            if case .withheld = next {
                // What may be halves of moves is told once the comparison is over that may find the other halves.
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

    /// Which changes of files an extension is told of.
    enum FilePart: Hashable, Sendable {
        case all
        /// Those that came after a number too large to be told at once, which waits.
        case recent
    }

    /// Asks the extension in the way that it knows.
    ///
    /// - Returns: Whether it has dealt with the changes.
    private func ask(
        _ bundle: String, _ changes: [FileChange], _ origin: RequestOrigin, _ update: inout FileUpdate
    ) async throws(EngineError) -> Bool {
        let found = try self.bundle(bundle)
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
        let setAside = Set(host.health[bundle]?.itemsSetAside.map(\.identifier) ?? [])
        let told = changes.filter { setAside.isDisjoint(with: $0.paths) }
        update.add(told)
        update.setAside += changes.count - told.count
    }

    /// Whether an extension can be told of files, or has to be asked for everything; it is taken to be until it was found not to.
    private func canBeTold(_ bundle: String, _ outlook: Outlook) -> Bool {
        guard let found = try? registry.bundle(bundle) else { return false }
        return found.manifest.access.identifiersArePaths
            || outlook.withoutFileChanges[bundle] != found.fingerprint(workerPath: configuration.worker.workerPath)
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
        let owners = try await files.compare { [self] (snapshot) throws(FileWatchingError) in
            let trees = watchedTrees()
            try snapshot.setTrees(trees)
            let owners = Set(trees.map(\.owner)).filter { Self.isBundle($0) && (bundle == nil || $0 == bundle) }
            var unavailable: [String: [String]] = [:]
            for tree in try snapshot.trees()
            where owners.contains(tree.rule.owner) || !Self.isBundle(tree.rule.owner) {
                unavailable[tree.rule.owner, default: []] += try snapshot.compare(tree).unavailable
            }
            return owners.sorted().map { FileUpdate(bundle: $0, unavailable: unavailable[$0] ?? []) }
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
            // The others are brought up to date all the same.
            if case .extension(.cancelled) = error { throw error }
            update.problem = error.description
        }
        return update
    }
}
