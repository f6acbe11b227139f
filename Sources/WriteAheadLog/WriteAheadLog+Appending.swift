// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import ItemRecord
import Synchronization

extension WriteAheadLog {
    /// Appends an entry and returns once it is durable.
    ///
    /// Entries are numbered in order of acceptance. An accepted entry is written even if the task
    /// is cancelled. After a failure, nothing of the entry is kept, and the log is usable as soon
    /// as the cause is removed. Only if the process exits during the failure can the entry
    /// reappear, as the last one, when the log is next opened.
    ///
    /// - Parameter precondition: The precondition for accepting the entry; see ``Precondition``.
    /// - Returns: The entry's sequence number.
    /// - Throws: ``LogError``.
    package func append(_ entry: LogEntry, if precondition: Precondition? = nil) async throws(LogError) -> UInt64 {
        try await withCheckedContinuation { (continuation: CheckedContinuation<Result<UInt64, LogError>, Never>) in
            submit(entry, if: precondition) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Accepts an entry before returning, so that a caller on one thread controls the order, and
    /// reports the result later.
    ///
    /// - Parameter completion: Called exactly once: on the caller's thread if the entry is
    ///   rejected, otherwise on the log's queue, which it must not block.
    package func submit(
        _ entry: LogEntry, if precondition: Precondition? = nil,
        completion: @escaping @Sendable (Result<UInt64, LogError>) -> Void
    ) {
        let head: [UInt8]
        do { head = try entry.encodedHead() } catch { return completion(.failure(.invalidEntry(error))) }
        let append = PendingAppend(
            scope: entry.scope, stateChange: entry.stateChange, head: head, changes: entry.batch.changes.bytes,
            precondition: precondition, completion: completion)
        do {
            let isIdle = try queue.withLock { queue throws(LogError) in try queue.accept(append) }
            if isIdle { ioQueue.async { self.drain() } }
        } catch {
            completion(.failure(error))
        }
    }

    /// Discards the known client state of a scope, after the store changed it without an entry.
    /// Preconditions then receive ``ClientStateChange/unchanged`` until an entry changes it again.
    package func forgetClientState(of scope: IndexScope) { queue.withLock { $0.forgetState(of: scope) } }

    /// Writes groups until no entries are waiting. Runs on the I/O queue.
    private func drain() {
        while true {
            let group = queue.withLock { $0.nextGroup(upTo: groupBytes) }
            guard !group.isEmpty else { return }
            let result = withWriter { writer throws(LogError) in try writer.write(group) }
            switch result {
            case .success(let first):
                queue.withLock { $0.succeeded(group) }
                for (index, append) in group.enumerated() { append.completion(.success(first + UInt64(index))) }
            case .failure(let error):
                let refused = queue.withLock { $0.failed() }
                for append in group { append.completion(.failure(error)) }
                for append in refused { append.completion(.failure(.preconditionFailed)) }
            }
        }
    }

    /// Runs a closure with the writer and publishes the resulting state. Runs on the I/O queue.
    func withWriter<Value: Sendable, Failure: Error>(
        _ body: (inout LogWriter) throws(Failure) -> Value
    ) -> Result<Value, Failure> {
        let (result, snapshot, statistics) = writer.withLock { writer in
            let result = Result { () throws(Failure) in try body(&writer) }
            return (result, writer.snapshot, writer.currentStatistics)
        }
        published.withLock { $0 = (snapshot, statistics) }
        return result
    }
}
