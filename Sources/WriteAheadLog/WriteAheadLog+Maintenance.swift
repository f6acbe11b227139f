// SPDX-License-Identifier: Apache-2.0

extension WriteAheadLog {
    /// Discards entries that are durable elsewhere: removes the segments that contain only such
    /// entries, but never the newest segment.
    ///
    /// If the newest segment is damaged and all its entries are applied, starts a new segment
    /// first. The damaged segment is then removed too, and not reported again.
    ///
    /// - Throws: ``LogError``. The next call retries removing the remaining files.
    package func discard(through sequence: UInt64) async throws(LogError) {
        guard !queue.withLock({ $0.isClosed }) else { throw .closed }
        try await onQueue { writer throws(LogFileError) in try writer.discard(through: sequence) }
    }

    /// Discards entries like ``discard(through:)``, but blocks. Used while a store is opened.
    package func discardNow(through sequence: UInt64) throws(LogError) {
        let result = ioQueue.sync {
            withWriter { writer throws(LogFileError) in try writer.discard(through: sequence) }
        }
        do { try result.get() } catch { throw .file(error) }
    }

    /// Reads all files, decodes all entries and returns the problems. Changes nothing.
    ///
    /// Appends wait during the check. The time is linear in the size of the log.
    ///
    /// - Throws: ``LogError`` if a file cannot be read.
    package func verify() async throws(LogError) -> [LogFinding] {
        try await onQueue { writer throws(LogFileError) in try writer.verify() }
    }

    /// Examines a log that is not open. Returns the problems of its files, and the number of the
    /// last entry.
    ///
    /// - Parameters:
    ///   - isThorough: `true` to read applied segments too, and to decode all entries.
    ///   - skims: `true` to skip the payloads of applied entries, if only the number of the last
    ///     entry is needed.
    /// - Throws: ``LogError`` if a file cannot be read.
    package static func examine(
        folder: String, store: StoreIdentifier, applied: UInt64, acknowledged: UInt64 = 0, isThorough: Bool,
        skims: Bool = false
    ) throws(LogError) -> (findings: [LogFinding], last: UInt64) {
        let files = SystemLogFiles()
        do {
            let names = try files.names(in: folder).filter { !$0.hasSuffix(LogFileNames.unfinishedSuffix) }
            let recovery = try LogRecovery(
                folder: folder, names: names, store: store, applied: applied,
                acknowledged: max(applied, acknowledged), isThorough: isThorough, skims: skims,
                files: files, markBytes: LogConfiguration().markBytes)
            return (recovery.findings, recovery.last)
        } catch {
            throw .file(error)
        }
    }

    /// Reads all files and decodes all entries, like
    /// ``examine(folder:store:applied:acknowledged:isThorough:)``, while blocking writes. Blocks
    /// the caller.
    package func examineNow() throws(LogError) -> (findings: [LogFinding], last: UInt64) {
        let result = ioQueue.sync {
            withWriter { writer throws(LogFileError) in (try writer.verify(), writer.snapshot.last) }
        }
        do { return try result.get() } catch { throw .file(error) }
    }

    /// Waits for accepted entries, rejects new ones, and makes the note of the last entry durable.
    ///
    /// Nothing is lost even if a log is not closed; see docs/WRITE-AHEAD-LOG.md.
    ///
    /// - Throws: ``LogError`` if the note cannot be made durable.
    package func close() async throws(LogError) {
        queue.withLock { $0.isClosed = true }
        try await onQueue { writer throws(LogFileError) in try writer.close() }
    }

    /// Closes immediately, and rejects accepted entries that are not written yet. Blocks until the
    /// files are released.
    package func abandon() {
        queue.withLock { $0.isClosed = true }
        ioQueue.sync { _ = withWriter { writer throws(LogFileError) in try writer.close() } }
    }

    private func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable (inout LogWriter) throws(LogFileError) -> Value
    ) async throws(LogError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, LogFileError>, Never>) in
            ioQueue.async { continuation.resume(returning: self.withWriter(body)) }
        }
        return try result.mapError { LogError.file($0) }.get()
    }
}
