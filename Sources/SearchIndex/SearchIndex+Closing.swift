// SPDX-License-Identifier: Apache-2.0
import Dispatch
import GRDB
import Glibc
import Synchronization

extension SearchIndex {
    /// Applies what is left, and closes the log and the database, whoever still holds this object. Nothing may be asked
    /// afterwards; what is being read is given up.
    ///
    /// - Throws: ``SearchIndexError``; then what is left is applied when the store is opened the next time.
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
                // Whatever is not written back is found in the log at the next opening.
                try? pool.closeInOrder()
                continuation.resume()
            }
        }
    }

    /// Lets the store go at once, without applying what is left: that is done when it is opened the next time. Blocks for
    /// as long as a write to the log takes. For whoever opened the store and cannot go on.
    public func abandon() { applier?.abandon() }
}

extension DatabasePool {
    /// Closes all connections, and leaves nothing but the database where no other process has it open. Blocks until what is
    /// under way has noticed.
    ///
    /// SQLite takes the log and its index away with the last connection, if that one may write. GRDB closes the one that
    /// may first, so another one comes last.
    func closeInOrder() throws {
        let queue = DispatchQueue(label: "com.searchlight.index.closing")
        let timer = DispatchSource.makeTimerSource(queue: queue)
        // Again and again: a statement that begins does not know of it.
        timer.schedule(deadline: .now(), repeating: .milliseconds(20))
        timer.setEventHandler { [self] in interrupt() }
        timer.resume()
        // Behind those that are reading, so that no connection is in use when it is removed.
        try? barrierWriteWithoutTransaction { _ in }
        timer.cancel()
        queue.sync {}
        // An interruption is remembered until a statement begins, and would keep the log from being written back.
        try? writeWithoutTransaction { try $0.execute(sql: "SELECT 1") }
        try close()
        guard access(path + "-wal", F_OK) == 0 else { return }
        let last = try DatabaseQueue(path: path)
        try last.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try last.close()
    }
}
