// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchIndex
import Synchronization

/// The whole of Searchlight behind one door: the index, the extensions and what goes between them. A service holds one
/// for as long as it runs, a command for as long as it takes.
///
/// May be used from any task.
package final class SearchlightEngine: EngineClient, EngineSource {
    private let found: Mutex<ExtensionRegistry>
    /// What was read of bundles before.
    let cache: RegistryCache
    /// Which extensions there were; `nil` for an engine that does not keep track of them.
    let ledger: LedgerStore?
    /// How often extensions were looked for since the opening; held while that is done.
    let refreshes = Mutex<UInt64>(0)
    /// Who is told of what has changed about the extensions, whoever had them looked for.
    let follower = Mutex<(@Sendable (ExtensionChanges) -> Void)?>(nil)
    /// Whether somebody has them looked for whenever something changes.
    let isWatched = Atomic(false)
    /// Who follows the files of extensions, so that changes are noticed by themselves; see ``setFileFollower(_:)``.
    let fileFollower = Mutex<(@Sendable (String) async -> Void)?>(nil)
    /// What had changed about the extensions when the engine was opened.
    package let changesAtOpening: ExtensionChanges
    /// The extensions that were found when they were last looked for.
    package var registry: ExtensionRegistry { found.withLock { $0 } }
    let index: SearchIndex
    let host: ExtensionHost
    let jobStore: JobStore
    let healthFile: HealthFile
    /// The files that are followed; `nil` if the store is only read.
    let files: FollowedFiles?
    let delegates: LiveDelegates
    let reindexes: Reindexes
    let writer: DonationWriter
    let configuration: EngineConfiguration
    let onEvent: @Sendable (ExtensionEvent) -> Void
    let listeners: EventListeners
    let sandboxLog: SandboxLog
    let scheduleStore: ScheduleStore
    let jobsFollower: JobsFollower
    let outlook: OutlookBox
    let activity: ActivityCounts
    private let lock: StoreLock?
    /// How many entries of the journal are not shown, since the store is only read and cannot be written.
    package let waitingEntries: Int
    /// What was wrong with the index when the engine was opened, and whether donations were lost by it.
    package let recovery: RecoveryReport

    /// Opens an engine.
    ///
    /// - Parameters:
    ///   - configuration: Where things are.
    ///   - onEvent: Told what extensions do; called on any thread, must not block.
    /// - Throws: ``EngineError``; ``EngineError/storeInUse(path:process:)`` if another process changes the store.
    package init(
        _ configuration: EngineConfiguration, onEvent: @escaping @Sendable (ExtensionEvent) -> Void = { _ in }
    ) throws(EngineError) {
        self.configuration = configuration
        let listeners = EventListeners()
        self.listeners = listeners
        let sandboxLog = SandboxLog(directory: configuration.storeDirectory, now: configuration.now)
        self.sandboxLog = sandboxLog
        let activity = ActivityCounts()
        self.activity = activity
        let jobsFollower = JobsFollower(onWork: configuration.onWork)
        self.jobsFollower = jobsFollower
        let tell: @Sendable (ExtensionEvent) -> Void = { event in
            sandboxLog.take(event)
            activity.take(event)
            onEvent(event)
            listeners.tell(event)
        }
        self.onEvent = tell
        let isWritable = configuration.access == .readWrite
        lock = isWritable ? try StoreLock(directory: configuration.storeDirectory) : nil
        if !isWritable { try StoreInspection.check(configuration.storeDirectory) }
        jobStore = JobStore(directory: configuration.storeDirectory)
        jobStore.onChange.withLock { $0 = { jobsFollower.tell() } }
        scheduleStore = ScheduleStore(directory: configuration.storeDirectory)
        // What was to come when the store was closed is found by looking.
        let outlook = OutlookBox(Outlook(next: isWritable ? configuration.now() : nil))
        self.outlook = outlook
        if isWritable {
            index = try Self.openIndex(configuration, .readWrite, jobStore)
            (waitingEntries, recovery) = (0, index.recovery)
        } else {
            (index, waitingEntries, recovery) = try Self.openForReading(configuration, jobStore)
        }
        cache = RegistryCache(
            path: Self.registryCachePath(storeDirectory: configuration.storeDirectory), isWritable: isWritable)
        let registry = ExtensionRegistry(searchPath: configuration.extensionSearchPath, cache: cache)
        cache.save()
        registry.registerTypes()
        sandboxLog.meet(registry)
        let ledger =
            configuration.tracksExtensions
            ? LedgerStore(directory: configuration.storeDirectory) : nil
        self.ledger = ledger
        delegates = LiveDelegates(configuration.worker)
        reindexes = Reindexes(delegates: delegates)
        writer = DonationWriter(
            index: index, isWritable: isWritable, reindexes: reindexes, jobs: jobStore, now: configuration.now,
            onExtensionItems: { bundle in
                guard let ledger, ledger.ledger.entries[bundle]?.hasDonated == false else { return }
                ledger.update { $0.noteDonation(of: bundle) }
            },
            onItems: {
                let moment = configuration.now() + Self.lookAfterDonation
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
        // Whoever owes everything for what was lost is not added on top of that.
        changesAtOpening = Self.meet(registry, ledger, jobStore, configuration)
        do throws(EngineError) {
            try oweEverythingIfAnythingWasLost()
        } catch {
            index.abandon()
            throw error
        }
    }

    /// Ends all workers and gives the store back. Call it once, when done; nothing may be asked afterwards.
    package func close() async {
        jobsFollower.follow(nil)
        await host.shutdown()
        sandboxLog.save()
        // What was lost since the opening; should this fail, it is noticed at the next opening.
        if lock != nil, let generation = try? await index.generation() { try? owe(generation: generation) }
        // What could not be applied now will be when the store is opened the next time.
        try? await index.close()
        lock?.release()
    }

    /// Performs a call.
    package func perform<Call: ClientCall>(
        _ call: Call, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Call.Answer {
        try await call.perform(CallContext(engine: self, onEvent: onEvent))
    }

    /// Performs a body at once: nobody else has this engine.
    package func use<Value: Sendable>(
        _ need: EngineNeed, _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        try await body(self)
    }

    /// The reindexes that are owed: asked for and not acknowledged.
    package var owedJobs: [Job] { jobStore.jobs }

    /// The bundles that ever donated and were not forgotten, sorted. When donations are lost, each owes a reindex.
    package var donors: [String] { jobStore.donors }

    /// How many items each bundle has.
    package func itemCounts() async throws(EngineError) -> [String: Int] {
        try await onIndex { (index) throws(SearchIndexError) in try await index.itemCounts() }
    }

    /// The jobs or donations that were lost may have been any; asking for all again is the only way to lose none.
    private func oweEverythingIfAnythingWasLost() throws(EngineError) {
        guard configuration.access == .readWrite else { return }
        // The names are in two places, so that neither loss makes them forgotten.
        let hasLearned = try jobStore.learn(donors: knownBundles())
        if jobStore.wasMissing, index.recovery.isNew, !index.recovery.lostDonations {
            // From now on, its absence says that it was lost.
            return try jobStore.oweAll([], generation: index.recovery.generation)
        }
        try owe(generation: index.recovery.generation, always: jobStore.wasDamaged || jobStore.wasMissing)
        // Without room that is done with the next change.
        if hasLearned { try? jobStore.update(always: true) { _ in } }
    }

    private func knownBundles() throws(EngineError) -> [String] {
        do throws(SearchIndexError) {
            return try index.bundles(upTo: JobDocument.maximumDonors)
        } catch {
            throw .index(error)
        }
    }

    private func owe(generation: Int, always: Bool = false) throws(EngineError) {
        guard always || jobStore.isBehind(generation: generation) else { return }
        let now = configuration.now()
        let bundles = Set(registry.extensions.map(\.identifier) + jobStore.donors)
        let jobs = bundles.sorted().map { Job(bundle: $0, work: .reindexAll, requested: now, cause: .lost) }
        try jobStore.oweAll(jobs, generation: generation)
    }

    func onIndex<Value>(
        _ body: (SearchIndex) async throws(SearchIndexError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(SearchIndexError) { return try await body(index) } catch {
            // A cancelled read fails with an error of the storage's own.
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

    /// Puts another registry in the place of the one that is known, and gives that back.
    func replaceRegistry(_ registry: ExtensionRegistry) -> ExtensionRegistry {
        found.withLock { found in
            defer { found = registry }
            return found
        }
    }
}
