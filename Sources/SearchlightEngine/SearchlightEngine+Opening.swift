// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// The result of opening a store.
    struct OpenedStore {
        var index: SearchIndex
        var jobs: JobStore
        /// The number of entries in the write-ahead log that the index does not include.
        var waiting = 0
        /// The findings and repairs.
        var recovery = RecoveryReport()
        /// The repair that was rejected because it would lose items that no extension can donate
        /// again. The index is then opened for reading.
        var refusal: EngineError?
    }

    /// Opens the index. Rejects repairs that lose items which no extension can donate again.
    ///
    /// - Parameter donating: Returns the bundles whose extension can donate their items again; only
    ///   called for such a repair.
    static func openIndex(
        _ configuration: EngineConfiguration, _ access: SearchIndex.Access, _ jobs: JobStore,
        _ donating: @escaping @Sendable () -> Set<String>
    ) throws(EngineError) -> SearchIndex {
        let rule = LossRule { bundles in
            // The list of donors also contains bundles without items. It is only used if the index
            // does not know the affected bundles.
            let known = bundles ?? (jobs.knownGeneration == nil ? nil : jobs.donors)
            return known.map { Set($0).subtracting(donating()).sorted() }
        }
        do throws(SearchIndexError) {
            var seams = configuration.storeHooks
            seams.bootClock = configuration.bootClock
            return try SearchIndex(
                directory: configuration.storeDirectory, access: access, knownGeneration: jobs.knownGeneration,
                now: configuration.now, seams: seams, lossRule: configuration.acceptsLosses ? .acceptsLosses : rule)
        } catch {
            throw .index(error)
        }
    }

    /// Opens the index for changes. If a repair is rejected and the configuration allows it, opens
    /// the index for reading.
    static func openForChange(
        _ configuration: EngineConfiguration, _ jobs: JobStore, _ donating: @escaping @Sendable () -> Set<String>
    ) throws(EngineError) -> OpenedStore {
        let refusal: EngineError
        do throws(EngineError) {
            let index = try openIndex(configuration, .readWrite, jobs, donating)
            return OpenedStore(index: index, jobs: jobs, recovery: index.recovery)
        } catch {
            guard error.isRefusedRepair, configuration.readsDamagedStore else { throw error }
            refusal = error
        }
        guard let index = try? openIndex(configuration, .readOnly, jobs, donating), index.isComplete else {
            throw refusal
        }
        var opened = OpenedStore(index: index, jobs: jobs, waiting: (try? index.waitingEntries()) ?? 0)
        opened.note(refusal)
        return opened
    }

    /// Opens the index for reading.
    ///
    /// A killed process may have left durable log entries that are not applied, an old format, or
    /// damage. A process that changes the store repairs that. If there is no such process, this
    /// process briefly opens the store for writing, so that the reader sees everything that was
    /// acknowledged. Reindexes for lost items become pending. A repair that loses items which no
    /// extension can donate again is rejected. A store that cannot be written is read unchanged.
    static func openForReading(
        _ configuration: EngineConfiguration, _ jobs: JobStore, _ donating: @escaping @Sendable () -> Set<String>,
        installed: () -> [String]
    ) throws(EngineError) -> OpenedStore {
        let directory = configuration.storeDirectory
        var asItIs: OpenedStore?
        var problem: EngineError?
        do throws(EngineError) {
            let index = try openIndex(configuration, .readOnly, jobs, donating)
            let reading = OpenedStore(index: index, jobs: jobs, waiting: (try? index.waitingEntries()) ?? 0)
            asItIs = reading
            if reading.waiting == 0, !index.needsRepair { return reading }
        } catch {
            guard error.callsForRepair, SearchIndex.hasTraces(in: directory, knownGeneration: jobs.knownGeneration)
            else { throw error }
            problem = error
        }
        let recovery: RecoveryReport
        let owing: JobStore
        do throws(EngineError) {
            let lock = try StoreLock(directory: directory)
            defer { lock.release() }
            // Read again under the lock.
            owing = JobStore(directory: directory)
            let writer = try openIndex(configuration, .readWrite, owing, donating)
            recovery = writer.recovery
            defer { writer.abandon() }
            // If the disk is full, the next process that changes the store finds the loss.
            try? oweLosses(of: writer, in: owing, installed(), configuration)
        } catch {
            // An incomplete index gives no results. The error is then the reason why it cannot be
            // completed.
            guard var asItIs, asItIs.index.isComplete else { throw error.isRefusedRepair ? error : problem ?? error }
            // A process that changes the store applies its log entries within a second.
            if case .storeInUse = error { asItIs.waiting = 0 }
            if error.isRefusedRepair { asItIs.note(error) }
            return asItIs
        }
        return OpenedStore(
            index: try openIndex(configuration, .readOnly, owing, donating), jobs: owing, recovery: recovery)
    }

    /// Adds a pending reindex of everything if a loss was found while opening for writing. The lost
    /// jobs or donations are unknown, so only a reindex of all bundles restores them.
    static func oweLosses(
        of index: SearchIndex, in jobs: JobStore, _ installed: [String], _ configuration: EngineConfiguration
    ) throws(EngineError) {
        // The job file and the index both contain the names of donors, so one of them may be lost.
        let known: [String]
        do throws(SearchIndexError) { known = try index.bundles(upTo: JobDocument.maximumDonors) } catch {
            throw .index(error)
        }
        let hasLearned = jobs.learn(donors: known)
        let recovery = index.recovery
        if jobs.wasMissing, recovery.isNew, !recovery.lostDonations {
            // From now on, a missing job file means a loss.
            return try jobs.oweAll([], generation: recovery.generation)
        }
        if jobs.wasDamaged || jobs.wasMissing || jobs.isBehind(generation: recovery.generation) {
            try oweEverything(in: jobs, installed, generation: recovery.generation, configuration)
        }
        // If the disk is full, the donors are written with the next change to the jobs.
        if hasLearned { try? jobs.update(always: true) { _ in } }
    }

    /// Adds a pending reindex of every bundle, and stores the generation of the affected index.
    static func oweEverything(
        in jobs: JobStore, _ installed: [String], generation: Int, _ configuration: EngineConfiguration
    ) throws(EngineError) {
        let now = configuration.now()
        let owing = Set(installed + jobs.donors).sorted().map {
            Job(bundle: $0, work: .reindexAll, requested: now, cause: .lost)
        }
        try jobs.oweAll(owing, generation: generation)
    }
}

extension SearchlightEngine.OpenedStore {
    fileprivate mutating func note(_ refusal: EngineError) {
        self.refusal = refusal
        (recovery.findings, recovery.wasRefused) = ([refusal.description], true)
    }
}

extension EngineError {
    /// `true` if a repair that would lose items was rejected.
    package var isRefusedRepair: Bool { if case .index(.losingRepair) = self { true } else { false } }

    /// `true` if opening the store for changes may help.
    fileprivate var callsForRepair: Bool {
        switch self {
        case .index(.damaged), .index(.noStore): true
        default: false
        }
    }
}
