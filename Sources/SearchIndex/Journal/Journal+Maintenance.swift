// SPDX-License-Identifier: Apache-2.0

extension Journal {
    /// Forgets entries that are durable elsewhere: removes the segments that hold no others, but never the newest.
    ///
    /// If the newest segment is damaged and everything has been applied, a new one is begun first, so that the damaged one
    /// goes too and is not reported again.
    ///
    /// - Throws: ``JournalError``; what could not be removed is tried again the next time.
    func discard(through sequence: UInt64) async throws(JournalError) {
        guard !queue.withLock({ $0.isClosed }) else { throw .closed }
        try await onQueue { writer throws(JournalFileError) in try writer.discard(through: sequence) }
    }

    /// The same, and blocks; for whoever opens the store.
    func discardNow(through sequence: UInt64) throws(JournalError) {
        let result = ioQueue.sync {
            withWriter { writer throws(JournalFileError) in try writer.discard(through: sequence) }
        }
        do { try result.get() } catch { throw JournalError(error) }
    }

    /// Reads all files, decodes all entries and says what is wrong; changes nothing.
    ///
    /// Appends wait meanwhile. Linear in the size of the journal.
    /// - Throws: ``JournalError`` if a file cannot be read.
    func verify() async throws(JournalError) -> [JournalFinding] {
        try await onQueue { writer throws(JournalFileError) in try writer.verify() }
    }

    /// The same for a journal that is not open: what is wrong with the files, and the number of the last entry there is.
    ///
    /// - Parameters:
    ///   - isThorough: Whether segments that have been applied are read too, and all entries decoded.
    ///   - skims: Whether the payloads of entries that have been applied are passed over: the number is all that is
    ///     wanted.
    /// - Throws: ``JournalError`` if a file cannot be read.
    static func examine(
        folder: String, store: JournalStoreIdentifier, applied: UInt64, acknowledged: UInt64 = 0, isThorough: Bool,
        skims: Bool = false
    ) throws(JournalError) -> (findings: [JournalFinding], last: UInt64) {
        let files = SystemJournalFiles()
        do {
            let names = try files.names(in: folder).filter { !$0.hasSuffix(JournalNames.unfinishedSuffix) }
            let recovery = try JournalRecovery(
                folder: folder, names: names, store: store, applied: applied,
                acknowledged: max(applied, acknowledged), isThorough: isThorough, skims: skims,
                files: files, markBytes: JournalConfiguration().markBytes)
            return (recovery.findings, recovery.last)
        } catch {
            throw JournalError(error)
        }
    }

    /// Waits for what was accepted, accepts nothing more, and makes the note of the last entry durable.
    ///
    /// A journal that is not closed loses nothing either; see docs/JOURNAL.md.
    /// - Throws: ``JournalError`` if the note cannot be made durable.
    func close() async throws(JournalError) {
        queue.withLock { $0.isClosed = true }
        try await onQueue { writer throws(JournalFileError) in try writer.close() }
    }

    /// Closes at once, without waiting for what was accepted: that is refused. Blocks until the files are let go.
    func abandon() {
        queue.withLock { $0.isClosed = true }
        ioQueue.sync { _ = withWriter { writer throws(JournalFileError) in try writer.close() } }
    }

    private func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable (inout JournalWriter) throws(JournalFileError) -> Value
    ) async throws(JournalError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, JournalFileError>, Never>) in
            ioQueue.async { continuation.resume(returning: self.withWriter(body)) }
        }
        return try result.mapError { JournalError($0) }.get()
    }
}
