// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchIndex
import Synchronization

/// The index, the extensions and the donations between them, behind one interface. A service keeps
/// an engine open while it runs; a command keeps one open for the duration of the command.
///
/// May be used from any task.
package final class SearchlightEngine: EngineClient, EngineSource {
    private let found: Mutex<ExtensionRegistry>
    /// The cached metadata of bundles.
    let cache: RegistryCache
    /// The recorded extensions; `nil` for an engine that does not record them.
    let ledger: LedgerStore?
    /// The number of searches for extensions since the engine was opened. Its lock is held during a
    /// search.
    let refreshes = Mutex<UInt64>(0)
    /// The handler of changes to the extensions; see ``followExtensions(_:)``.
    let follower = Mutex<(@Sendable (ExtensionChanges) -> Void)?>(nil)
    /// `true` if a watcher calls ``refreshExtensions()`` after every change.
    let isWatched = Atomic(false)
    /// The handler that watches the extensions' files; see ``setFileFollower(_:)``.
    let fileFollower = Mutex<(@Sendable (String) async -> Void)?>(nil)
    /// The changes to the extensions that were found when the engine was opened.
    package let changesAtOpening: ExtensionChanges
    /// The extensions that the last search found.
    package var registry: ExtensionRegistry { found.withLock { $0 } }
    let index: SearchIndex
    /// The protected indexes.
    let vault: Vault
    let host: ExtensionHost
    let jobStore: JobStore
    let healthFile: HealthFile
    /// The followed files; `nil` for a read-only engine.
    let files: FollowedFiles?
    let delegates: LiveDelegates
    let reindexes: Reindexes
    let writer: DonationWriter
    let configuration: EngineConfiguration
    let onEvent: @Sendable (ExtensionEvent) -> Void
    let listeners: EventListeners
    let sandboxLog: SandboxLog
    /// The content that extensions did not index.
    let omissions: OmissionStore
    let unfinishedRemovals: UnfinishedRemovals
    /// The apps that are switched off in the desktop's search.
    let desktop: DesktopVisibilityFile
    let scheduleStore: ScheduleStore
    let jobsFollower: JobsFollower
    let outlook: OutlookBox
    let activity: ActivityCounts
    /// The store's embedding model.
    let semanticModel: SemanticModel
    private let lock: StoreLock?
    /// The number of entries in the write-ahead log that the index does not include. It is 0 unless
    /// the store cannot be written.
    package let waitingEntries: Int
    /// The damage that was found when the store was opened, and whether donations were lost.
    package let recovery: RecoveryReport
    /// The repair that was rejected because it would lose items that no extension can donate again;
    /// `nil` if there is none. The engine then only reads the store, holding the store's lock if it
    /// was opened for changes. Every change must be rejected with this error.
    package let refusal: EngineError?

    /// Opens an engine.
    ///
    /// - Parameters:
    ///   - configuration: The paths, policies and access rights.
    ///   - onEvent: Called with each extension event, on any thread; must not block.
    /// - Throws: ``EngineError``; ``EngineError/storeInUse(path:process:)`` if another process
    ///   changes the store.
    package init(
        _ requested: EngineConfiguration, onEvent: @escaping @Sendable (ExtensionEvent) -> Void = { _ in }
    ) throws(EngineError) {
        let changes = requested.access == .readWrite
        lock = changes ? try StoreLock(directory: requested.storeDirectory) : nil
        if !changes { try StoreInspection.check(requested.storeDirectory) }
        let cache = RegistryCache(
            path: Self.registryCachePath(storeDirectory: requested.storeDirectory), isWritable: changes)
        self.cache = cache
        let find: @Sendable () -> ExtensionRegistry = {
            ExtensionRegistry(searchPath: requested.extensionSearchPath, cache: cache)
        }
        let donating: @Sendable () -> Set<String> = { Self.donating(find(), requested) }
        let jobs = JobStore(directory: requested.storeDirectory)
        let opened =
            changes
            ? try Self.openForChange(requested, jobs, donating)
            : try Self.openForReading(requested, jobs, donating) { find().extensions.map(\.identifier) }
        (index, jobStore, waitingEntries) = (opened.index, opened.jobs, opened.waiting)
        semanticModel = SemanticModel(store: requested.storeDirectory, clock: requested.clock) { [index] in
            index.releaseEmbeddings()
        }
        (recovery, refusal) = (opened.recovery, opened.refusal)
        let isWritable = changes && opened.refusal == nil
        let configuration = isWritable ? requested : requested.reading
        self.configuration = configuration
        let listeners = EventListeners()
        self.listeners = listeners
        let sandboxLog = SandboxLog(directory: configuration.storeDirectory, now: configuration.now)
        self.sandboxLog = sandboxLog
        let omissions = OmissionStore(directory: configuration.storeDirectory, isWritable: isWritable)
        self.omissions = omissions
        unfinishedRemovals = UnfinishedRemovals(directory: configuration.storeDirectory)
        desktop = DesktopVisibilityFile(directory: configuration.storeDirectory)
        let activity = ActivityCounts()
        self.activity = activity
        let jobsFollower = JobsFollower(onWork: configuration.onWork)
        self.jobsFollower = jobsFollower
        let tell: @Sendable (ExtensionEvent) -> Void = { event in
            sandboxLog.take(event)
            omissions.take(event)
            activity.take(event)
            onEvent(event)
            listeners.tell(event)
        }
        self.onEvent = tell
        scheduleStore = ScheduleStore(directory: configuration.storeDirectory)
        // The deadlines from before the last close are not recorded, so the first check is due
        // immediately.
        let outlook = OutlookBox(Outlook(next: isWritable ? configuration.now() : nil))
        self.outlook = outlook
        jobStore.onChange.withLock { $0 = { jobsFollower.tell() } }
        let registry = find()
        cache.save()
        registry.registerTypes()
        sandboxLog.meet(registry)
        let ledger =
            configuration.tracksExtensions
            ? LedgerStore(directory: configuration.storeDirectory) : nil
        self.ledger = ledger
        delegates = LiveDelegates(configuration.worker)
        reindexes = Reindexes(delegates: delegates)
        let vault = Vault(configuration, isWritable: isWritable, besides: index) {
            guard isWritable else { return }
            _ = outlook.withLock { $0.look(at: configuration.now()) }
            jobsFollower.tell()
        }
        self.vault = vault
        writer = DonationWriter(
            index: index, vault: vault, isWritable: isWritable, reindexes: reindexes, jobs: jobStore,
            now: configuration.now,
            onExtensionItems: { bundle in
                guard let ledger, ledger.ledger.entries[bundle]?.hasDonated == false else { return }
                ledger.update { $0.noteDonation(of: bundle) }
            },
            onLocked: { [scheduleStore] bundle in
                let now = configuration.now()
                let known = scheduleStore.state.encrypted?[bundle]?.staleSince
                // One write for many rejections.
                if known.map({ now - $0 >= 10 || now < $0 }) ?? true {
                    // If the disk is full, the items are requested when they are about to expire.
                    try? scheduleStore.update { state in
                        state.changeEncrypted(bundle) { $0.staleSince = now }
                    }
                }
                // The store may have been unlocked since. While it is locked, there is nothing to
                // do.
                if vault.index != nil { _ = outlook.withLock { $0.look(at: now) } }
                jobsFollower.tell()
            },
            onPlainItems: { [scheduleStore] bundle in
                guard vault.hasIndexes, vault.bundles.contains(bundle), !scheduleStore.state.hasPlainItems(bundle)
                else { return }
                try? scheduleStore.update { state in state.changeEncrypted(bundle) { $0.hasPlainItems = true } }
                jobsFollower.tell()
            },
            onItems: {
                let hasModel = InstalledModel(ofStore: configuration.storeDirectory) != nil
                let moment = configuration.now() + (hasModel ? Self.lookForEmbedding : Self.lookAfterDonation)
                if outlook.withLock({ $0.look(at: moment) }) { jobsFollower.tell() }
            })
        found = Mutex(registry)
        files = isWritable ? FollowedFiles(storeDirectory: configuration.storeDirectory) : nil
        healthFile = HealthFile(directory: configuration.storeDirectory)
        host = ExtensionHost(
            configuration: configuration.workers, registry: registry, delegates: delegates,
            receiver: IndexReceiver(writer: writer, donor: .worker), health: healthFile, now: configuration.now,
            onWork: configuration.onWork,
            onItemsGivenBack: { [jobStore] bundle, items in
                let job = Job(
                    bundle: bundle, work: .reindexItems(items), requested: configuration.now(), cause: .givenBack)
                return Self.owe(job, in: jobStore, configuration)
            }, onHealthChange: { jobsFollower.tell() }, onEvent: tell)
        // Runs before the check for losses. After a loss, the jobs for every bundle replace these
        // jobs.
        changesAtOpening = Self.meet(registry, ledger, jobStore, configuration)
        guard isWritable else { return }
        do throws(EngineError) {
            try Self.oweLosses(of: index, in: jobStore, registry.extensions.map(\.identifier), configuration)
        } catch {
            index.abandon()
            throw error
        }
    }

    /// Terminates all workers and releases the store. Call it once, as the last call.
    package func close() async {
        jobsFollower.follow(nil)
        await vault.writeImageBeforeClosing()
        await lock()
        semanticModel.close()
        await host.shutdown()
        sandboxLog.save()
        // Records losses since the engine was opened. If this fails, the next opening detects them.
        if configuration.access == .readWrite, let generation = try? await index.generation(),
            jobStore.isBehind(generation: generation)
        {
            try? Self.oweEverything(
                in: jobStore, registry.extensions.map(\.identifier), generation: generation, configuration)
        }
        // Entries that are not applied now are applied when the store is opened next.
        try? await index.close()
        lock?.release()
    }

    /// Performs a call.
    package func perform<Call: ClientCall>(
        _ call: Call, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Call.Answer {
        try await call.perform(CallContext(engine: self, onEvent: onEvent))
    }

    /// Runs a closure immediately: this engine has no other users.
    package func use<Value: Sendable>(
        _ need: EngineNeed, _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        try await body(self)
    }

    /// The pending reindexes: requested but not acknowledged.
    package var owedJobs: [Job] { jobStore.jobs }

    /// The bundles that have ever donated and were not forgotten, sorted. After a loss of
    /// donations, each gets a pending reindex.
    package var donors: [String] { jobStore.donors }

    /// Returns the number of items in each bundle.
    package func itemCounts() async throws(EngineError) -> [String: Int] {
        let counts = try await onIndex { (index) throws(SearchIndexError) in try await index.itemCounts() }
        let protected = try await vault.whileUnlocked { (index) async throws(EngineError) in
            try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
                try await index.itemCounts()
            }
        }
        return counts.merging(protected ?? [:], uniquingKeysWith: +)
    }

    /// Counts the stored items of a bundle, including expired items that are not deleted yet, and
    /// protected items while the store is unlocked.
    package func storedItemCount(of bundle: String) async throws(EngineError) -> Int {
        let count = try await onIndex { (index) throws(SearchIndexError) in
            try await index.itemCounts(of: bundle, through: 0).all
        }
        let protected = try await vault.whileUnlocked { (index) async throws(EngineError) in
            try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
                try await index.itemCounts(of: bundle, through: 0).all
            }
        }
        return count + (protected ?? 0)
    }

    func onIndex<Value>(
        _ body: (SearchIndex) async throws(SearchIndexError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(SearchIndexError) { return try await body(index) } catch {
            // SQLite reports a cancelled read as a separate error.
            if Task.isCancelled, case .storage = error { throw .extension(.cancelled) }
            throw .index(error)
        }
    }

    func onHost<Value>(
        _ body: (ExtensionHost) async throws(ExtensionError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(ExtensionError) { return try await body(host) } catch { throw .extension(error) }
    }

    func bundle(_ identifier: String) throws(EngineError) -> ExtensionBundle {
        do throws(ExtensionError) { return try registry.bundle(identifier) } catch { throw .extension(error) }
    }

    /// Replaces the registry and returns the previous one.
    func replaceRegistry(_ registry: ExtensionRegistry) -> ExtensionRegistry {
        found.withLock { found in
            defer { found = registry }
            return found
        }
    }
}
