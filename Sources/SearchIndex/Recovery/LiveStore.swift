// SPDX-License-Identifier: Apache-2.0
import Dispatch
import GRDB
import GRDBSQLite
import Synchronization
import WriteAheadLog

/// A store that is checked during use: its database as a copy of one moment, its log beside those who write it.
struct LiveStore: Sendable {
    let log: WriteAheadLog
    let cancellation: Cancellation

    /// Says that nobody waits for a check any more.
    final class Cancellation: Sendable {
        private let flag = Atomic(false)
        var isCancelled: Bool { flag.load(ordering: .relaxed) }
        func cancel() { flag.store(true, ordering: .relaxed) }
    }

    /// 8 MiB between two looks at ``Cancellation``.
    private static let pagesPerStep: CInt = 1024
    private static let instructionsPerLook: CInt = 10_000

    /// Copies the database within one read transaction, so that nobody waits for the check. Takes as much room as the database,
    /// under the name of a replacement, which the next opening removes after a crash.
    ///
    /// SQLite checks a full-text table by a statement that takes the lock of writers; so the check needs a database of its own.
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

    /// Has statements of a connection fail once the check is cancelled. This store must outlive the connection.
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
    /// Checks the whole store as ``StoreVerifier`` does, during use. Donations and searches go on; the check tells of one moment, and
    /// of what was applied by then.
    ///
    /// - Parameter progress: Told how many items have been checked, now and then, on a thread of its own.
    /// - Returns: `nil` if the task was cancelled.
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
