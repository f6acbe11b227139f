// SPDX-License-Identifier: Apache-2.0
import Glibc
import SearchIndex

extension SearchlightEngine {
    static func openIndex(
        _ configuration: EngineConfiguration, _ access: SearchIndex.Access, _ jobs: JobStore
    ) throws(EngineError) -> SearchIndex {
        do throws(SearchIndexError) {
            var seams = configuration.storeSeams
            seams.bootClock = configuration.bootClock
            return try SearchIndex(
                directory: configuration.storeDirectory, access: access, knownGeneration: jobs.knownGeneration,
                now: configuration.now, seams: seams)
        } catch {
            throw .index(error)
        }
    }

    /// Opens the index to be read.
    ///
    /// A process that was killed may have left entries in the journal that are durable and not applied, an old format, or
    /// damage. Whoever changes the store sets that right; while nobody does, this becomes the one for a moment, so that a
    /// reader sees all that was acknowledged. Where the store cannot be written, it is read as it is.
    ///
    /// - Returns: The index, how many entries of the journal it does not show, and what was found and mended.
    static func openForReading(
        _ configuration: EngineConfiguration, _ jobs: JobStore
    ) throws(EngineError) -> (SearchIndex, waiting: Int, recovery: RecoveryReport) {
        let directory = configuration.storeDirectory
        let nothing = RecoveryReport()
        var asItIs: (SearchIndex, waiting: Int)?
        var problem: EngineError?
        do throws(EngineError) {
            let index = try openIndex(configuration, .readOnly, jobs)
            let waiting = (try? index.waitingEntries()) ?? 0
            asItIs = (index, waiting)
            if waiting == 0, !index.needsRepair { return (index, 0, nothing) }
        } catch {
            guard error.callsForRepair, SearchIndex.hasTraces(in: directory, knownGeneration: jobs.knownGeneration)
            else { throw error }
            problem = error
        }
        let recovery: RecoveryReport
        do throws(EngineError) {
            let lock = try StoreLock(directory: directory)
            defer { lock.release() }
            let writer = try openIndex(configuration, .readWrite, jobs)
            recovery = writer.recovery
            writer.abandon()
        } catch {
            // What was never finished says nothing; why it cannot be finished now does.
            guard let asItIs, asItIs.0.isComplete else { throw problem ?? error }
            // A process that changes the store applies what it journals within a second.
            if case .storeInUse = error { return (asItIs.0, 0, nothing) }
            return (asItIs.0, asItIs.waiting, nothing)
        }
        return (try openIndex(configuration, .readOnly, jobs), 0, recovery)
    }
}

extension EngineError {
    /// Whether opening the store to be changed may help.
    fileprivate var callsForRepair: Bool {
        switch self {
        case .index(.damaged), .index(.noStore): true
        default: false
        }
    }
}
