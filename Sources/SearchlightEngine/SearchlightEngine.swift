// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchIndex

/// The whole of Searchlight behind one door: the index, the extensions and what goes between them. A service holds one
/// for as long as it runs, a command for as long as it takes.
///
/// May be used from any task.
public final class SearchlightEngine: StoreService {
    /// The extensions that were found when the engine was opened.
    public let registry: ExtensionRegistry
    let index: SearchIndex
    let host: ExtensionHost
    let jobStore: JobStore
    let replacements = Replacements()
    let configuration: EngineConfiguration
    let onEvent: @Sendable (ExtensionEvent) -> Void
    let listeners: EventListeners
    private let lock: StoreLock?
    /// How many entries of the journal are not shown, since the store is only read and cannot be written.
    public let waitingEntries: Int
    /// What was wrong with the index when the engine was opened, and whether donations were lost by it.
    public let recovery: RecoveryReport

    /// Opens an engine.
    ///
    /// - Parameters:
    ///   - configuration: Where things are.
    ///   - onEvent: Told what extensions do; called on any thread, must not block.
    /// - Throws: ``EngineError``; ``EngineError/storeInUse(path:process:)`` if another process changes the store.
    public init(
        _ configuration: EngineConfiguration, onEvent: @escaping @Sendable (ExtensionEvent) -> Void = { _ in }
    ) throws(EngineError) {
        self.configuration = configuration
        let listeners = EventListeners()
        self.listeners = listeners
        let tell: @Sendable (ExtensionEvent) -> Void = { event in
            onEvent(event)
            listeners.tell(event)
        }
        self.onEvent = tell
        let isWritable = configuration.access == .readWrite
        lock = isWritable ? try StoreLock(directory: configuration.storeDirectory) : nil
        jobStore = JobStore(directory: configuration.storeDirectory)
        if isWritable {
            index = try Self.openIndex(configuration, .readWrite, jobStore)
            (waitingEntries, recovery) = (0, index.recovery)
        } else {
            (index, waitingEntries, recovery) = try Self.openForReading(configuration, jobStore)
        }
        registry = ExtensionRegistry(searchPath: configuration.extensionSearchPath)
        registry.registerTypes()
        host = ExtensionHost(
            configuration: configuration.worker,
            receiver: IndexReceiver(index: index, isWritable: isWritable, replacements: replacements),
            onEvent: tell)
        do throws(EngineError) {
            try oweEverythingIfAnythingWasLost()
        } catch {
            index.abandon()
            throw error
        }
    }

    /// Ends all workers and gives the store back. Call it once, when done; nothing may be asked afterwards.
    public func close() async {
        await host.shutdown()
        // What was lost since the opening; should this fail, it is noticed at the next opening.
        if lock != nil, let generation = try? await index.generation() { try? owe(generation: generation) }
        // What could not be applied now will be when the store is opened the next time.
        try? await index.close()
        lock?.release()
    }

    /// The reindexes that are owed: asked for and not acknowledged.
    public var owedJobs: [Job] { jobStore.jobs }

    /// See ``StoreService/itemCounts()``.
    public func itemCounts() async throws(EngineError) -> [String: Int] {
        try await onIndex { (index) throws(SearchIndexError) in try await index.itemCounts() }
    }

    /// The jobs or donations that were lost may have been any; asking for all again is the only way to lose none.
    private func oweEverythingIfAnythingWasLost() throws(EngineError) {
        guard configuration.access == .readWrite else { return }
        if jobStore.wasMissing, index.recovery.isNew, !index.recovery.lostDonations {
            // From now on, its absence says that it was lost.
            return try jobStore.oweAll([], generation: index.recovery.generation)
        }
        try owe(generation: index.recovery.generation, always: jobStore.wasDamaged || jobStore.wasMissing)
    }

    private func owe(generation: Int, always: Bool = false) throws(EngineError) {
        guard always || jobStore.isBehind(generation: generation) else { return }
        let now = configuration.now()
        let jobs = registry.extensions.map { Job(bundle: $0.identifier, work: .reindexAll, requested: now) }
        try jobStore.oweAll(jobs, generation: generation)
    }

    func onIndex<Value>(
        _ body: (SearchIndex) async throws(SearchIndexError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(SearchIndexError) { return try await body(index) } catch { throw .index(error) }
    }

    func onHost<Value>(
        _ body: (ExtensionHost) async throws(ExtensionError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(ExtensionError) { return try await body(host) } catch { throw .extension(error) }
    }

    func bundle(_ identifier: String) throws(EngineError) -> ExtensionBundle {
        do throws(ExtensionError) { return try registry.bundle(identifier) } catch { throw .extension(error) }
    }
}
