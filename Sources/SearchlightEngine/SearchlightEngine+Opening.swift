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

    /// An index that was opened to be read.
    struct Reading {
        var index: SearchIndex
        /// What is owed, after what was found.
        var jobs: JobStore
        /// How many entries of the journal it does not show.
        var waiting = 0
        /// What was found and mended.
        var recovery = RecoveryReport()
    }

    /// Opens the index to be read.
    ///
    /// A process that was killed may have left entries in the journal that are durable and not applied, an old format, or
    /// damage. Whoever changes the store sets that right; while nobody does, this becomes the one for a moment, so that a
    /// reader sees all that was acknowledged. What is lost by that is owed from then on. Where no extension could donate it again,
    /// nothing is repaired that costs items. Where the store cannot be written, it is read as it is.
    ///
    /// - Parameter installed: The extensions that there are; asked only if something has to be set right.
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
            // As it is now that nobody else changes it.
            owing = JobStore(directory: directory)
            let extensions = installed()
            let lone = irreplaceable(asItIs?.index, owing, extensions)
            let writer = try openIndex(
                configuration, lone?.isEmpty == true ? .readWrite : .readWriteLosingNothing, owing, lone ?? [])
            recovery = writer.recovery
            defer { writer.abandon() }
            // Without room for that, it is found by the next process that changes the store.
            try? oweLosses(of: writer, in: owing, extensions, configuration)
        } catch {
            // What was never finished says nothing; why it cannot be finished now does.
            guard var asItIs, asItIs.index.isComplete else { throw error.isRefusedRepair ? error : problem ?? error }
            // A process that changes the store applies what it journals within a second.
            if case .storeInUse = error { asItIs.waiting = 0 }
            if error.isRefusedRepair {
                (asItIs.recovery.findings, asItIs.recovery.wasRefused) = ([error.description], true)
            }
            return asItIs
        }
        return Reading(index: try openIndex(configuration, .readOnly, owing), jobs: owing, recovery: recovery)
    }

    /// The bundles that have donated and have no extension that could do so again; `nil` if nobody knows who has donated.
    private static func irreplaceable(_ index: SearchIndex?, _ jobs: JobStore, _ installed: [String]) -> [String]? {
        // Who has donated and has no items any more has none to lose.
        if let known = try? index?.bundles(upTo: JobDocument.maximumDonors) {
            return Set(known).subtracting(installed).sorted()
        }
        return jobs.knownGeneration == nil ? nil : Set(jobs.donors).subtracting(installed).sorted()
    }

    /// Writes down that everything is owed, if an opening to be changed has found that something was lost: jobs or donations may have been
    /// any, and to ask for all again is the only way to lose none.
    static func oweLosses(
        of index: SearchIndex, in jobs: JobStore, _ installed: [String], _ configuration: EngineConfiguration
    ) throws(EngineError) {
        // The names are in two places, so that neither loss makes them forgotten.
        let known: [String]
        do throws(SearchIndexError) { known = try index.bundles(upTo: JobDocument.maximumDonors) } catch {
            throw .index(error)
        }
        let hasLearned = jobs.learn(donors: known)
        let recovery = index.recovery
        if jobs.wasMissing, recovery.isNew, !recovery.lostDonations {
            // From now on, its absence says that it was lost.
            return try jobs.oweAll([], generation: recovery.generation)
        }
        if jobs.wasDamaged || jobs.wasMissing || jobs.isBehind(generation: recovery.generation) {
            try oweEverything(in: jobs, installed, generation: recovery.generation, configuration)
        }
        // Without room that is done with the next change.
        if hasLearned { try? jobs.update(always: true) { _ in } }
    }

    /// Writes down that each bundle owes everything, and for which generation of the index.
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
    /// Whether a repair was refused that would lose items.
    fileprivate var isRefusedRepair: Bool { if case .index(.losingRepair) = self { true } else { false } }

    /// Whether opening the store to be changed may help.
    fileprivate var callsForRepair: Bool {
        switch self {
        case .index(.damaged), .index(.noStore): true
        default: false
        }
    }
}
