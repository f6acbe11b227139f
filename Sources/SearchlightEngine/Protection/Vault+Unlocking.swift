// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import Protection
import SearchIndex
import WriteAheadLog

/// The result of unlocking a store.
package struct UnlockReport: Hashable, Sendable, Codable {
    /// The number of protected items that can be found now.
    package var items: Int
    /// `true` if the keys were created.
    package var hasCreatedKeys = false
    /// A sentence for each lock of the session that will not lock the items.
    @LaterList package var notes: [String] = []
    /// A sentence for each file or record that cannot be read.
    package var findings: [String] = []
    /// The memory of the index; `nil` from earlier versions.
    package var memory: Memory?

    /// The memory of the index in memory.
    package struct Memory: Hashable, Sendable, Codable {
        /// The pages in use, in bytes.
        package var bytes: Int
        /// See ``ProtectionLimits/memoryBytes``.
        package var limit: Int
    }
}

extension Vault {
    /// The size of a file, in bytes, below which it is never rewritten, and the number of times
    /// that it may be as large as its items.
    private static let (smallFile, largestRatio) = (1 << 20, 4)
    /// The size of the pages in which records are read, in bytes.
    private static let pageBytes = 1 << 20

    /// Opens the keys, and makes the index in memory from all records. Returns when it can be
    /// searched. Guesses run one after the other, each with the cost of the key file.
    ///
    /// - Parameter creates: `true` to create the keys if there are none.
    /// - Throws: ``EngineError/protection(_:)``. The store is locked then, unless it was unlocked
    ///   before.
    func unlock(with credential: KeyCredential, creates: Bool) async throws(EngineError) -> UnlockReport {
        onSecrets()
        guard isWritable else { throw .index(.readOnly(path: folder, operation: "Unlocking protected items")) }
        let locks = state.withLock { $0.locks }
        await refresh()
        let makesKey = state.withLock { state in
            creates && credential == .keyring && (state.mayCreateKeys || state.mayReplaceKeys)
        }
        // No new key in the keyring for a store that stays locked. The session is not followed
        // while the keyring asks the user, so that a suspend does not wait for the answer.
        if makesKey, await beginSession().isLocked { throw .protection(.sessionLocked) }
        // Donations do not wait for the answer either.
        let offer = try await offer(for: credential, creates: creates)
        let result: Result<UnlockReport, EngineError> = await serially { [self] in
            do throws(EngineError) {
                return .success(try await unlockNow(with: offer, creates: creates, since: locks))
            } catch {
                return .failure(error)
            }
        }
        if await withdraw(offer), case .failure(.protection(.noKeys)) = result {
            // Another unlocking has made the keys since.
            return try await unlock(with: credential, creates: false)
        }
        return try result.get()
    }

    private func unlockNow(
        with offer: KeyOffer, creates: Bool, since locks: UInt64
    ) async throws(EngineError) -> UnlockReport {
        let known = state.withLock { state in
            if state.unlocked == nil { state.unlocking = Unlocking() }
            return state.keys
        }
        defer { state.withLock { $0.unlocking = nil } }
        let session = await beginSession()
        // A suspend waits until the keys and items of this work are gone from the memory too.
        defer { withExtendedLifetime(session) {} }
        guard !session.isLocked else { throw .protection(.sessionLocked) }
        let (file, keys) = try await onFiles { [self] () throws(ProtectionError) in
            try opened(with: offer, creates: creates)
        }
        // An earlier passphrase is verified as well, before the answer to its caller.
        if let index {
            keys.wipe()
            let (notes, problem) = state.withLock { ($0.notes, $0.problemOfKeys) }
            return try await report(
                of: index, UnlockReport(items: 0, notes: notes, findings: problem.map { [$0] } ?? []))
        }
        defer {
            keys.wipeOthers()
            state.withLock { $0.opened = [] }
        }
        let master = keys.master
        let index: SearchIndex
        let restored: Restored?
        let older: [String]
        do throws(EngineError) {
            try change(since: locks) { state in
                state.unlocking = Unlocking(master: master, previous: keys.previous, session: session)
                state.opened = [keys]
            }
            let found = try await self.restored([master] + [keys.previous].compactMap(\.self), file.vault, locks)
            (restored, older) = (found.restored, found.findings)
            if let restored { index = restored.index } else { index = try newIndex() }
        } catch {
            master.wipe()
            throw error
        }
        var report = UnlockReport(items: 0, hasCreatedKeys: known == nil || known != file, notes: session.notes)
        let unsaved: [String]
        do throws(EngineError) {
            try change(since: locks) { state in
                state.unlocking = Unlocking(master: master, previous: keys.previous, index: index, session: session)
            }
            let filling = try await fill(index, master, file.vault, locks, after: restored?.positions ?? [:])
            (report.findings, unsaved) = (older + filling.findings, filling.unsaved)
            try change(since: locks) { state in
                state.unlocked = Unlocked(index: index, master: master, session: session)
                // After an unlocking from an image, unreadable records before it would not be found
                // again.
                (state.unlocking, state.notes) = (nil, session.notes)
                // The index may also have remains of the items that were dropped in unused pages.
                state.image.mayBeWritten = filling.isWhole && restored?.isOutdated != true
                state.image.hasOthers = restored?.isOutdated == true
            }
        } catch {
            master.wipe()
            for log in state.withLock({ Array($0.logs.values) }) { log.lock() }
            await index.discard()
            throw error
        }
        onLockChange()
        if let restored, restored.isOutdated {
            report.findings += try await dropOutdatedImage(restored, master, file.vault, locks)
        }
        // A rotation that was interrupted before ends now.
        if keys.previous != nil { report.findings += try await finishRotation(file, keys, index, locks) }
        state.withLock { state in
            report.findings = Array(report.findings.suffix(Self.maximumFindings))
            state.unlockFindings = report.findings
            report.findings = state.allFindings + unsaved
        }
        noteRecords()
        return try await self.report(of: index, report)
    }

    private func newIndex() throws(EngineError) -> SearchIndex {
        do throws(SearchIndexError) { return try SearchIndex(inMemoryWith: now, bootClock: bootClock) } catch {
            throw .index(error)
        }
    }

    /// Changes the state, unless it was locked since the beginning of the unlocking.
    func change(since locks: UInt64, _ change: (inout State) -> Void) throws(EngineError) {
        let isCurrent = state.withLock { state in
            guard state.locks == locks else { return false }
            change(&state)
            return true
        }
        guard isCurrent else { throw .protection(.locked) }
    }

    /// Reads all files into an index, and rewrites the files that are much larger than their items.
    ///
    /// - Parameter positions: The positions up to which the index has the records.
    /// - Returns: The findings, a sentence for each file that could not be rewritten, and `true` if
    ///   all records of the files that are unlocked now were read.
    private func fill(
        _ index: SearchIndex, _ master: SecretKey, _ vault: VaultIdentifier, _ locks: UInt64,
        after positions: [VaultIdentifier: SealedLog.Position]
    ) async throws(EngineError) -> (findings: [String], unsaved: [String], isWhole: Bool) {
        let logs = state.withLock { state in
            (state.beyondLimit, state.incomplete, state.appeared) = ([], [], [])
            return state.sortedLogs
        }
        var (findings, whole, unsaved, isWhole): ([String], [SealedLog], [String], Bool) = ([], [], [], true)
        for log in logs {
            let position = positions[log.header.identifier]
            let found = try await fill(index, from: log, master, vault, locks, after: position)
            findings += found
            if !found.isEmpty, log.isUnlocked {
                isWhole = false
                state.withLock { _ = $0.incomplete.insert(log.header.scope) }
            }
            // A file that has not grown much was compared with its items when the image was made.
            if found.isEmpty, position.map({ log.byteCount > 2 * $0.byteOffset }) ?? true { whole.append(log) }
        }
        try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in try await index.settle() }
        // Rewriting a file drops its unreadable records. A file with such records is not rewritten,
        // because they may still be rescued.
        for log in whole {
            try change(since: locks) { _ in }
            do throws(EngineError) { try await compact(log, from: index, master, vault, locks) } catch {
                unsaved.append("\(log.path) cannot be rewritten to save space. \(error)")
            }
        }
        return (findings, unsaved, isWhole)
    }

    private func report(of index: SearchIndex, _ report: UnlockReport) async throws(EngineError) -> UnlockReport {
        var report = report
        report.items = try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.itemCounts().values.reduce(0, +)
        }
        let bytes = try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.memoryBytes()
        }
        report.memory = UnlockReport.Memory(bytes: bytes, limit: limits.memoryBytes)
        state.withLock { $0.room = limits.memoryBytes - bytes }
        return report
    }

    /// Reads the records of a file into an index.
    ///
    /// - Returns: The findings. A file with foreign keys stays locked, and the others are read.
    private func fill(
        _ index: SearchIndex, from log: SealedLog, _ master: SecretKey, _ vault: VaultIdentifier, _ locks: UInt64,
        after start: SealedLog.Position?
    ) async throws(EngineError) -> [String] {
        try change(since: locks) { _ in }
        guard log.header.vault == vault else { return ["\(log.path) belongs to other keys and is not read."] }
        let masters = [master] + state.withLock { [$0.unlocking?.previous].compactMap(\.self) }
        do throws(ProtectionError) { try log.unlock(masters: masters) } catch {
            guard case .damaged = error else { throw .protection(error) }
            return [error.description]
        }
        var findings: [String] = []
        var position = start
        repeat {
            try change(since: locks) { _ in }
            let start = position
            let page = try await onFiles { () throws(ProtectionError) in
                try log.records(from: start, maximumBytes: Self.pageBytes)
            }
            findings += page.findings.prefix(Self.maximumFindings - min(findings.count, Self.maximumFindings))
            for record in page.records {
                let entry = record.withUnsafeBytes { bytes in
                    Result { () throws(LogEntryError) in try LogEntry(decoding: bytes) }
                }
                // The content of a sealed box may come from any program of the user.
                guard case .success(let entry) = entry, entry.scope == log.header.scope else {
                    findings.append(Self.malformedRecord(of: log))
                    continue
                }
                do throws(EngineError) {
                    try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
                        try await index.restore(entry)
                    }
                } catch {
                    guard case .index(.invalidItem) = error else { throw error }
                    findings.append(Self.malformedRecord(of: log))
                }
            }
            if let finding = try await unload(log, from: index) { return [finding] }
            position = page.next
        } while position != nil
        return Array(findings.prefix(Self.maximumFindings))
    }

    /// Removes the items of a file again if the index is larger than its limit, and locks the file.
    ///
    /// - Returns: A sentence if the index is too large; `nil` otherwise.
    private func unload(_ log: SealedLog, from index: SearchIndex) async throws(EngineError) -> String? {
        let bytes = try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.memoryBytes()
        }
        guard bytes > limits.memoryBytes else { return nil }
        log.lock()
        let scope = log.header.scope
        state.withLock { _ = $0.beyondLimit.insert(scope) }
        try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.deleteAll(in: scope)
        }
        return """
            \(log.path) is not read: the protected items need more than \(limits.memoryBytes >> 20) MiB of memory. Its \
            items cannot be found.
            """
    }

    /// Rewrites a file with new keys, if replaced and deleted items take most of it.
    private func compact(
        _ log: SealedLog, from index: SearchIndex, _ master: SecretKey, _ vault: VaultIdentifier, _ locks: UInt64
    ) async throws(EngineError) {
        guard log.byteCount > Self.smallFile else { return }
        let scope = log.header.scope
        let bytes = try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.recordBytes(of: scope)
        }
        guard log.byteCount > Self.largestRatio * (bytes + Self.smallFile / Self.largestRatio) else { return }
        guard isWhole(log) else { return }
        try await rewrite(log, from: index, master, vault, locks)
    }

    /// Writes the items of an index to a new file with new keys, which replaces the old one. After
    /// a crash, either file is there, whole. The image is kept: it has no record of the new file,
    /// and it may have the only copy of a record that is damaged in another file.
    ///
    /// - Parameter locks: The value of ``Vault/State/locks`` at the start. If the store was locked
    ///   since, the new file is locked too.
    func rewrite(
        _ log: SealedLog, from index: SearchIndex, _ master: SecretKey, _ vault: VaultIdentifier, _ locks: UInt64
    ) async throws(EngineError) {
        let scope = log.header.scope
        try change(since: locks) { _ in }
        var items: [StoredItem] = []
        var cursor: QueryCursor?
        repeat {
            let page: QueryPage
            do throws(IndexQueryError) {
                page = try await index.items(
                    matching: .and([]), bundle: scope.bundle, limit: SearchIndex.maximumPage, after: cursor)
            } catch {
                if case .index(let error) = error { throw .index(error) }
                throw .query(error)
            }
            items += page.items.filter { $0.scope == scope }
            cursor = page.next
        } while cursor != nil
        let state = try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.clientState(of: scope)
        }
        let written =
            try Self.entries(items, scope) + (state.map { [LogEntry(IndexBatch(scope: scope, clientState: $0))] } ?? [])
        let rewritten = try await onFiles { [files, folder] () throws(ProtectionError) in
            try SealedLog.create(
                log.path, in: folder, scope, log.header.protection, vault: vault, master: master, files: files
            ) { append throws(ProtectionError) in
                for entry in written { try append(try entry.record()) }
            }
        }
        let isCurrent = self.state.withLock { state in
            state.logs[scope] = rewritten
            return state.locks == locks
        }
        if !isCurrent { rewritten.lock() }
    }

    /// Returns entries that donate items at their times, from which their expiration dates follow.
    ///
    /// - Throws: An error if any item cannot be encoded.
    private static func entries(_ items: [StoredItem], _ scope: IndexScope) throws(EngineError) -> [LogEntry] {
        try items.map { (item) throws(EngineError) in
            var batch = IndexBatch(scope: scope)
            do throws(ItemRecordError) { batch.index([try EncodedItem(item.record)]) } catch {
                throw .protection(.file("An item cannot be stored: \(error)"))
            }
            return LogEntry(batch, moment: .init(wall: item.donated, boot: 0, seconds: 0))
        }
    }
}

extension LogEntry {
    /// The entry as a record of a protected index.
    func record() throws(ProtectionError) -> [UInt8] {
        do throws(LogEntryError) { return try encoded() } catch { throw .file("An item cannot be stored: \(error)") }
    }
}
