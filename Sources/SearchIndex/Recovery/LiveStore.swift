// SPDX-License-Identifier: Apache-2.0
import Dispatch
import GRDB
import GRDBSQLite
import Synchronization
import WriteAheadLog

/// A store that is checked while in use. The check reads a copy of the database, and the log while
/// it is being written.
struct LiveStore: Sendable {
    let log: WriteAheadLog
    let cancellation: Cancellation

    /// Signals that the check is cancelled.
    final class Cancellation: Sendable {
        private let flag = Atomic(false)
        var isCancelled: Bool { flag.load(ordering: .relaxed) }
        func cancel() { flag.store(true, ordering: .relaxed) }
    }

    /// The number of pages copied between two cancellation checks: 8 MiB.
    private static let pagesPerStep: CInt = 1024
    private static let instructionsPerLook: CInt = 10_000

    /// Copies the database within one read transaction, so that nothing waits for the check. The
    /// copy needs as much disk space as the database. It is named like a replacement database, so
    /// after a crash the next opening removes it.
    ///
    /// SQLite checks a full-text table with a statement that takes the write lock, so the check
    /// needs a separate database.
    func copy(_ folder: StoreFolder) throws -> DatabaseQueue {
        folder.removeReplacement()
        do {
            StoreFolder.createFile(folder.replacement)
            let source = try DatabaseQueue(
                path: folder.database, configuration: SearchIndex.configuration(isReadOnly: true))
            let copy = try DatabaseQueue(
                path: folder.replacement, configuration: SearchIndex.configuration(isReadOnly: false))
            try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
            try source.backup(to: copy, pagesPerStep: Self.pagesPerStep) { _ in
                if cancellation.isCancelled { throw CancellationError() }
            }
            try source.close()
            return copy
        } catch {
            folder.removeReplacement()
            throw error
        }
    }

    /// Makes the statements of a connection fail once the check is cancelled. This object must
    /// outlive the connection.
    func interruptWhenCancelled(_ db: Database) {
        sqlite3_progress_handler(
            db.sqliteConnection, Self.instructionsPerLook,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Cancellation>.fromOpaque(context).takeUnretainedValue().isCancelled ? 1 : 0
            }, Unmanaged.passUnretained(cancellation).toOpaque())
    }
}

extension SearchIndex {
    /// Checks the whole store like ``StoreVerifier``, while it is in use. Donations and searches
    /// continue. The check covers one moment and the donations applied by then.
    ///
    /// - Parameter progress: Called periodically on a separate thread, with the number of items
    ///   checked.
    /// - Returns: The report; `nil` if the task was cancelled.
    public func verify(
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(SearchIndexError) -> VerificationReport? {
        guard let applier else { return try StoreVerifier(directory: directory).verify(progress: progress) }
        try await settleForReading()
        let cancellation = LiveStore.Cancellation()
        let verifier = StoreVerifier(
            directory: directory, live: LiveStore(log: applier.log, cancellation: cancellation))
        let result: Result<VerificationReport, SearchIndexError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global(qos: .utility).async {
                    continuation.resume(
                        returning: Result { () throws(SearchIndexError) in try verifier.verify(progress: progress) })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return cancellation.isCancelled ? nil : try result.get()
    }
}
