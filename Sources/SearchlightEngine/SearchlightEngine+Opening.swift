// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    static func openIndex(
        _ configuration: EngineConfiguration, _ access: SearchIndex.Access, _ jobs: JobStore,
        _ irreplaceable: [String] = []
    ) throws(EngineError) -> SearchIndex {
        do throws(SearchIndexError) {
            var seams = configuration.storeHooks
            seams.bootClock = configuration.bootClock
            return try SearchIndex(
                directory: configuration.storeDirectory, access: access, knownGeneration: jobs.knownGeneration,
                now: configuration.now, seams: seams)
        } catch {
            if case .losingRepair(let path, let detail, _) = error {
                throw .index(.losingRepair(path: path, detail: detail, bundles: irreplaceable))
            }
            throw .index(error)
        }
    }

    /// An index that is open for reading.
    struct Reading {
        var index: SearchIndex
        /// The pending jobs, including those for losses found at the opening.
        var jobs: JobStore
        /// The number of entries in the write-ahead log that the index does not show.
        var waiting = 0
        /// The problems and their repairs.
        var recovery = RecoveryReport()
    }

    /// Opens the index for reading.
    ///
    /// The store may have durable log entries that are not applied, for example after a crash. It
    /// may also have an old format or damage. A process with write access corrects all three. If
    /// there is none, this function opens the store for writing for a moment, so that a reader sees
    /// all acknowledged donations. Lost items become a pending reindex. A repair that would lose
    /// items of bundles without an extension is not made. A store without write permission is read
    /// as it is.
    ///
    /// - Parameter installed: Returns the installed extensions. Called only if the store needs a
    ///   correction.
    static func openForReading(
        _ configuration: EngineConfiguration, _ jobs: JobStore, installed: () -> [String]
    ) throws(EngineError) -> Reading {
        let directory = configuration.storeDirectory
        var asItIs: Reading?
        var problem: EngineError?
        do throws(EngineError) {
            let index = try openIndex(configuration, .readOnly, jobs)
            let reading = Reading(index: index, jobs: jobs, waiting: (try? index.waitingEntries()) ?? 0)
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
            // Read again, now that no other process can change the jobs.
            owing = JobStore(directory: directory)
            let extensions = installed()
            let lone = irreplaceable(asItIs?.index, owing, extensions)
            let writer = try openIndex(
                configuration, lone?.isEmpty == true ? .readWrite : .readWriteLosingNothing, owing, lone ?? [])
            recovery = writer.recovery
            defer { writer.abandon() }
            // If the disk is full, the next process with write access detects the losses.
            try? oweLosses(of: writer, in: owing, extensions, configuration)
        } catch {
            // For a store without all tables, the reason why it cannot be completed is more useful.
            guard var asItIs, asItIs.index.isComplete else { throw error.isRefusedRepair ? error : problem ?? error }
            // A process with write access applies its log entries within a second.
            if case .storeInUse = error { asItIs.waiting = 0 }
            if error.isRefusedRepair {
                (asItIs.recovery.findings, asItIs.recovery.wasRefused) = ([error.description], true)
            }
            return asItIs
        }
        return Reading(index: try openIndex(configuration, .readOnly, owing), jobs: owing, recovery: recovery)
    }

    /// Returns the bundles with donations and without an installed extension; `nil` if the donors
    /// are unknown.
    private static func irreplaceable(_ index: SearchIndex?, _ jobs: JobStore, _ installed: [String]) -> [String]? {
        // Donors without items have nothing to lose.
        if let known = try? index?.bundles(upTo: JobDocument.maximumDonors) {
            return Set(known).subtracting(installed).sorted()
        }
        return jobs.knownGeneration == nil ? nil : Set(jobs.donors).subtracting(installed).sorted()
    }

    /// Makes a reindex of everything pending if an opening for writing found a loss. The lost jobs
    /// or donations are unknown, so only a reindex of all bundles restores them.
    static func oweLosses(
        of index: SearchIndex, in jobs: JobStore, _ installed: [String], _ configuration: EngineConfiguration
    ) throws(EngineError) {
        // The job file and the index both have the names of donors, so one of them may be lost.
        let known: [String]
        do throws(SearchIndexError) { known = try index.bundles(upTo: JobDocument.maximumDonors) } catch {
            throw .index(error)
        }
        let hasLearned = jobs.learn(donors: known)
        let recovery = index.recovery
        if jobs.wasMissing, recovery.isNew, !recovery.lostDonations {
            // From now on, a missing file of jobs is a loss.
            return try jobs.oweAll([], generation: recovery.generation)
        }
        if jobs.wasDamaged || jobs.wasMissing || jobs.isBehind(generation: recovery.generation) {
            try oweEverything(in: jobs, installed, generation: recovery.generation, configuration)
        }
        // If the disk is full, the next change of the jobs stores the donors.
        if hasLearned { try? jobs.update(always: true) { _ in } }
    }

    /// Makes a reindex of every bundle pending, and stores the generation of the index for which it
    /// is.
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

extension EngineError {
    /// `true` if a repair was refused because it would lose items.
    fileprivate var isRefusedRepair: Bool { if case .index(.losingRepair) = self { true } else { false } }

    /// `true` if an opening for writing may correct the error.
    fileprivate var callsForRepair: Bool {
        switch self {
        case .index(.damaged), .index(.noStore): true
        default: false
        }
    }
}
