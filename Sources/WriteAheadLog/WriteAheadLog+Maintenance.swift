// SPDX-License-Identifier: Apache-2.0

extension WriteAheadLog {
    /// Forgets entries that are durable elsewhere: removes the segments that hold no others, but never the newest.
    ///
    /// If the newest segment is damaged and everything has been applied, a new one is begun first, so that the damaged one
    /// goes too and is not reported again.
    ///
    /// - Throws: ``LogError``; what could not be removed is tried again the next time.
    package func discard(through sequence: UInt64) async throws(LogError) {
        guard !queue.withLock({ $0.isClosed }) else { throw .closed }
        try await onQueue { writer throws(LogFileError) in try writer.discard(through: sequence) }
    }

    /// The same, and blocks; for whoever opens the store.
    package func discardNow(through sequence: UInt64) throws(LogError) {
        let result = ioQueue.sync {
            withWriter { writer throws(LogFileError) in try writer.discard(through: sequence) }
        }
        do { try result.get() } catch { throw .file(error) }
    }

    /// Reads all files, decodes all entries and says what is wrong; changes nothing.
    ///
    /// Appends wait meanwhile. Linear in the size of the log.
    /// - Throws: ``LogError`` if a file cannot be read.
    package func verify() async throws(LogError) -> [LogFinding] {
        try await onQueue { writer throws(LogFileError) in try writer.verify() }
    }

    /// The same for a log that is not open: what is wrong with the files, and the number of the last entry there is.
    ///
    /// - Parameters:
    ///   - isThorough: Whether segments that have been applied are read too, and all entries decoded.
    ///   - skims: Whether the payloads of entries that have been applied are passed over: the number is all that is
    ///     wanted.
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

    /// Reads all files and decodes all entries, as ``examine(folder:store:applied:acknowledged:isThorough:)`` does; nothing is
    /// written until it returns. Blocks.
    package func examineNow() throws(LogError) -> (findings: [LogFinding], last: UInt64) {
        let result = ioQueue.sync {
            withWriter { writer throws(LogFileError) in (try writer.verify(), writer.snapshot.last) }
        }
        do { return try result.get() } catch { throw .file(error) }
    }

    /// Waits for what was accepted, accepts nothing more, and makes the note of the last entry durable.
    ///
    /// A log that is not closed loses nothing either; see docs/WRITE-AHEAD-LOG.md.
    /// - Throws: ``LogError`` if the note cannot be made durable.
    package func close() async throws(LogError) {
        queue.withLock { $0.isClosed = true }
        try await onQueue { writer throws(LogFileError) in try writer.close() }
    }

    /// Closes at once, without waiting for what was accepted: that is refused. Blocks until the files are let go.
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
