// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import GRDB

extension SearchIndex {
    /// How many log entries a store that is only read does not show, because the process that logged them ended
    /// before it applied them: 0 while a process that changes the store is at work, or soon.
    ///
    /// Reads what of the log has not been applied, and the frames of its last file. Blocks.
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

    /// Whether the store has to be opened to be changed, so that it is checked and mended.
    public var needsRepair: Bool { folder.isSuspect || !isComplete }
}

extension SearchIndex {
    /// Whether there is or was a store in a folder, however damaged.
    ///
    /// - Parameter knownGeneration: The last generation that was written down outside of it.
    public static func hasTraces(in directory: String, knownGeneration: Int?) -> Bool {
        (try? StoreFolder(path: directory).isNew(generation: knownGeneration)) == false
    }

    /// Whether damage was met in the store of a folder since all of it was checked. Nothing is opened.
    public static func isMarkedDamaged(in directory: String) -> Bool { StoreFolder(path: directory).isSuspect }

    /// Whether use is counted in the store of a folder (``learns``). Nothing is opened.
    public static func learns(in directory: String) -> Bool { !StoreFolder(path: directory).isLearningOff }
}
