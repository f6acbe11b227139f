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

    /// Opens the index for reading.
    ///
    /// After a crash, the store may hold durable batches in the write-ahead log that are not
    /// applied, an old format, or damage. The process that changes the store repairs that. If there
    /// is no such process, this function briefly opens the store for writing, so that a reader sees
    /// all acknowledged donations. A store that cannot be written is read as it is.
    ///
    /// - Returns: The index, the number of log entries that it does not show, and the findings of
    ///   the repair.
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
            // An incomplete index is useless. The reason why it cannot be completed is the error to
            // report.
            guard let asItIs, asItIs.0.isComplete else { throw problem ?? error }
            // A process that changes the store applies its log entries within a second.
            if case .storeInUse = error { return (asItIs.0, 0, nothing) }
            return (asItIs.0, asItIs.waiting, nothing)
        }
        return (try openIndex(configuration, .readOnly, jobs), 0, recovery)
    }
}

extension EngineError {
    /// `true` if opening the store for writing may repair the error.
    fileprivate var callsForRepair: Bool {
        switch self {
        case .index(.damaged), .index(.noStore): true
        default: false
        }
    }
}
