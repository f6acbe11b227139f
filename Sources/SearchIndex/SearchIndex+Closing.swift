// SPDX-License-Identifier: Apache-2.0
import Dispatch
import GRDB
import Glibc
import Synchronization

extension SearchIndex {
    /// Applies the remaining entries, then closes the log and the database, even if other owners
    /// still hold this object. Reads in progress are interrupted, and later calls fail.
    ///
    /// - Throws: ``SearchIndexError``; the remaining entries are then applied when the store is
    ///   next opened for writing.
    public func close() async throws(SearchIndexError) {
        var problem: SearchIndexError?
        do throws(SearchIndexError) { try await applier?.close() } catch { problem = error }
        let closing = self.closing.withLock { closing in
            let task = closing ?? Task { await closeDatabase() }
            closing = task
            return task
        }
        await closing.value
        if let problem { throw problem }
    }

    private func closeDatabase() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [pool] in
                // Pages that are not written back are recovered from the SQLite WAL at the next
                // opening.
                try? pool.closeInOrder()
                continuation.resume()
            }
        }
    }

    /// Closes an index in memory without applying the remaining entries, and interrupts the
    /// applying. Returns once its memory is freed, except for results that callers still hold.
    package func discard() async {
        // Only once, because a later interrupt could reach a connection that is being closed.
        let closing = self.closing.withLock { closing in
            let task = closing ?? Task { await discardDatabase() }
            closing = task
            return task
        }
        await closing.value
    }

    private func discardDatabase() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { [self] in
                applier?.abandon(interrupts: true)
                continuation.resume()
            }
        }
        try? await applier?.close()
        await closeDatabase()
    }

    /// Releases the store immediately without applying the remaining entries; the next opening
    /// applies them. Blocks for the duration of a log write. For owners that cannot continue.
    public func abandon() { applier?.abandon() }
}

extension DatabaseWriter {
    /// Interrupts all statements until a body returns.
    func interrupting(_ body: () -> Void) {
        let queue = DispatchQueue(label: "com.searchlight.index.closing")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        // Repeated, because an interrupt does not affect a statement that begins later.
        timer.schedule(deadline: .now(), repeating: .milliseconds(20))
        timer.setEventHandler { [self] in interrupt() }
        timer.resume()
        body()
        timer.cancel()
        queue.sync {}
    }

    /// Closes all connections. If no other process has the database open, only the database file
    /// remains. Blocks until running statements are interrupted.
    ///
    /// SQLite deletes the WAL and its index when the last connection closes, if that connection may
    /// write. GRDB closes the writing connection first, so this method opens another one at the
    /// end.
    func closeInOrder() throws {
        // Waits for the readers, so that no connection is in use when it is removed.
        interrupting { try? barrierWriteWithoutTransaction { _ in } }
        // SQLite keeps an interrupt pending until a statement begins; it would abort the
        // checkpoint.
        try? writeWithoutTransaction { try $0.execute(sql: "SELECT 1") }
        try close()
        guard let path = (self as? DatabasePool)?.path, access(path + "-wal", F_OK) == 0 else { return }
        let last = try DatabaseQueue(path: path)
        try last.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try last.close()
    }
}
