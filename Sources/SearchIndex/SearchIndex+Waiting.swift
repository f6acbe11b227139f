// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import GRDB

extension SearchIndex {
    /// Returns the number of log entries that a store opened read-only does not include, because
    /// the process that logged them exited before applying them. While a process has the store open
    /// for writing, the number is 0 or soon will be.
    ///
    /// Reads the log entries that are not applied yet, and the frames of the last log file. Blocks.
    public func waitingEntries() throws(SearchIndexError) -> Int {
        do {
            let (row, early) = try pool.read { db in
                let row = try StoreRow(db)
                return (row, try EarlyEntries(db, after: row.applied))
            }
            guard try !folder.logFileNames().isEmpty else { return 0 }
            let last = try WriteAheadLog.examine(
                folder: folder.log, store: row.identifier, applied: row.applied, acknowledged: early.last,
                isThorough: false, skims: true
            ).last
            return Int(clamping: last - row.applied) - early.count
        } catch let error as LogError {
            throw SearchIndexError(error, path: directory, operation: "Reading the write-ahead log")
        } catch {
            throw failure(error, "Reading the state of the store")
        }
    }

    /// `true` if the store has to be opened for writing in order to be checked and repaired.
    public var needsRepair: Bool { folder.isSuspect || !isComplete }
}

extension SearchIndex {
    /// Returns `true` if there is or was a store in a folder, even a damaged one.
    ///
    /// - Parameter knownGeneration: The last generation recorded outside the store.
    public static func hasTraces(in directory: String, knownGeneration: Int?) -> Bool {
        (try? StoreFolder(path: directory).isNew(generation: knownGeneration)) == false
    }

    /// Returns `true` if damage was found in a store since its last full check. Does not open the
    /// store.
    public static func isMarkedDamaged(in directory: String) -> Bool { StoreFolder(path: directory).isSuspect }

    /// Returns the damage whose repair was refused because it would lose items that no extension
    /// can donate again; `nil` if there is none. Does not open the store.
    public static func refusedRepair(in directory: String) -> String? {
        StoreFolder(path: directory).refusal()?.detail
    }

    /// Returns `true` if the store records engagement (``learns``). Does not open the store.
    public static func learns(in directory: String) -> Bool { !StoreFolder(path: directory).isLearningOff }
}
