// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB
import ItemRecord

extension SearchIndex {
    /// Adds or replaces items, all or none of them.
    ///
    /// An item marked as an update is merged into the existing item, and ignored if there is none
    /// (according to Apple's documentation since 2026). Returns once the items are durable.
    /// Searches through this object find them immediately, other readers shortly after.
    public func index(_ items: [EncodedItem], in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.index(items)
        try await commit(batch)
    }

    /// Deletes items by identifier. Ignores unknown identifiers.
    public func delete(identifiers: [String], in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.delete(identifiers: identifiers)
        try await commit(batch)
    }

    /// Deletes domains and all their subdomains: `a` includes `a.b`, but not `ab`.
    public func delete(domains: [String], in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.delete(domains: domains)
        try await commit(batch)
    }

    /// Deletes everything in one index of a bundle, including its client state.
    public func deleteAll(in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.deleteAll()
        try await commit(batch)
    }

    /// Changes the identifiers of items, all at the same time. Ignores unknown identifiers. A
    /// renamed item keeps its number, its dates and its engagement history, and replaces the item
    /// that currently has its new identifier.
    public func rename(_ renames: [ItemRename], in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.rename(renames)
        try await commit(batch)
    }

    /// Makes a batch durable: all of it, including its client state, or nothing. The client state
    /// stored by the preceding batches must match the batch's expectation.
    ///
    /// - Parameters:
    ///   - batch: The batch. Its items must have been decoded once or encoded by this process.
    ///   - isLowPriority: `true` if the batch has low priority and may be deferred by ``hold(_:)``.
    ///   - terms: Further conditions. A batch that is no longer wanted is rejected like a batch
    ///     whose client state does not match.
    /// - Throws: ``SearchIndexError``; after ``SearchIndexError/mismatchedClientState`` nothing has
    ///   changed.
    public func commit(
        _ batch: IndexBatch, isLowPriority: Bool = false, terms: DonationTerms = DonationTerms()
    ) async throws(SearchIndexError) {
        guard let applier else { throw .readOnly(path: directory, operation: "Storing items") }
        try Self.check(batch)
        // The state in the database is valid only if no entry since the opening has changed it.
        let stored = batch.expectation == .any ? nil : try await storedClientState(of: batch.scope)
        guard !batch.changes.isEmpty || batch.clientState != nil else { return }
        let (expectation, isWanted) = (batch.expectation, terms.isWanted)
        try await applier.append(
            LogEntry(batch), isLowPriority: isLowPriority, waitsForRoom: terms.waitsForRoom
        ) { change in
            let isExpected =
                switch (expectation, change) {
                case (.any, _): true
                case (.exactly(let expected), .unchanged): expected == stored
                case (.exactly(let expected), .cleared): expected == nil
                case (.exactly(let expected), .set(let state)): expected == state
                }
            return isExpected && isWanted()
        }
    }

    /// Adds an entry that is durable elsewhere and already has its `moment` to an index in memory.
    package func restore(_ entry: LogEntry) async throws(SearchIndexError) {
        guard let applier else { throw .readOnly(path: directory, operation: "Storing items") }
        try Self.checkNames(of: entry.batch)
        try await applier.append(entry) { _ in true }
    }

    /// Returns the clock values of a donation made now.
    package func moment() -> LogEntry.Moment? { clock.moment() }

    /// Returns the total length of the records of a scope, in bytes.
    package func recordBytes(of scope: IndexScope) async throws(SearchIndexError) -> Int {
        try await read("Measuring the items of an index") { db in
            try Int.fetchOne(
                db,
                sql: """
                    SELECT total(length(plain_record(record))) FROM item
                    WHERE bundle = (SELECT id FROM bundle WHERE identifier = ?) AND index_name = ?
                    """, arguments: [scope.bundle, scope.index ?? ""]) ?? 0
        }
    }

    /// Rejects a batch that could not be applied later.
    package static func check(_ batch: IndexBatch) throws(SearchIndexError) {
        if let state = batch.clientState, state.count > ClientState.maximumBytes {
            throw .clientStateTooLong(bytes: state.count)
        }
        try checkNames(of: batch)
    }

    /// Rejects names that could not be stored later.
    private static func checkNames(of batch: IndexBatch) throws(SearchIndexError) {
        guard canBeStored(batch.scope.bundle), canBeStored(batch.scope.index) else {
            throw .invalidItem(
                identifier: batch.scope.bundle, reason: "the name of its bundle or of its index contains a NUL")
        }
        guard batch.itemCount <= ChangeList.maximumChanges else {
            throw .invalidItem(
                identifier: "?",
                reason: "a batch has more than \(ChangeList.maximumChanges) items. Send smaller batches")
        }
        for rename in batch.renames where !canBeStored(rename.newIdentifier) {
            throw .invalidItem(identifier: rename.identifier, reason: "its new identifier contains a NUL")
        }
        for record in batch.records {
            let names: (identifier: String, domain: String?)
            do throws(ItemRecordError) { names = try ItemRecord.names(in: record) } catch {
                throw .invalidItem(identifier: "?", reason: error.description)
            }
            guard canBeStored(names.identifier), canBeStored(names.domain) else {
                throw .invalidItem(
                    identifier: names.identifier, reason: "its identifier or its domain contains a NUL")
            }
        }
    }

    /// Returns `true` if a bundle may donate `bytes` bytes now without waiting until pending
    /// donations are applied.
    ///
    /// A donor waits while more than 64 MiB are pending and 1 MiB of them is its own. A donation of
    /// at most 64 KiB waits only if, in addition, small donations (up to 64 KiB) make up 1 MiB of
    /// the bundle's pending bytes. All larger donations wait above 112 MiB, and all donations wait
    /// above 144 MiB.
    public func hasRoom(for bundle: String, bytes: Int = .max) -> Bool {
        applier?.hasRoom(for: bundle, bytes: bytes) ?? true
    }

    /// Waits until the pending donations are applied, if a bundle has no room. Returns immediately
    /// if it has room, or when the task is cancelled.
    ///
    /// - Throws: ``SearchIndexError`` if the donations cannot be applied.
    public func waitForRoom(for bundle: String, bytes: Int = .max) async throws(SearchIndexError) {
        try await applier?.waitForRoom(for: bundle, bytes: bytes)
    }

    /// Sets whether indexing has low priority from now on because no caller waits for it. If more
    /// threads are runnable than there are processors, low-priority indexing sleeps briefly at
    /// intervals, so that the kernel runs other threads.
    public func setGentle(_ isGentle: Bool) { applier?.pace.set(isGentle) }

    /// Defers indexing of a bundle's low-priority donations until the next call. They stay durable
    /// in the log, and searches do not wait for them. Pass `nil` to defer nothing.
    /// Deferred donations are indexed nevertheless if a caller waits for them (``settle()``), or if
    /// another donation is committed after them. Closing the store indexes them, too.
    public func hold(_ bundle: String?) { applier?.hold(bundle) }

    /// `true` while logged donations are applied or the subsequent maintenance runs.
    public var isApplying: Bool { applier?.isRunning ?? false }

    /// Waits like ``settle()``, but does not cause deferred donations to be indexed early: waits as
    /// long as the bundle is deferred.
    ///
    /// - Returns: `true` if everything that was durable before the call is searchable; `false` if
    ///   the task was cancelled.
    public func settle(patientlyFor bundle: String) async throws(SearchIndexError) -> Bool {
        try await applier?.settle(patientlyFor: bundle) ?? true
    }

    /// Returns the client state of the last durable batch of a scope; `nil` if there is none.
    public func clientState(of scope: IndexScope) async throws(SearchIndexError) -> [UInt8]? {
        // Waits only for this bundle: other bundles' donations do not change its state, and
        // applying them may take minutes.
        try await applier?.settle(own: scope.bundle, includingHeld: true)
        return try await storedClientState(of: scope)
    }

    private func storedClientState(of scope: IndexScope) async throws(SearchIndexError) -> [UInt8]? {
        try await readApplied("Reading a client state") { db in
            try ClientStateRow.state(of: scope, db)
        }
    }

    /// Deletes expired items and returns their number.
    @discardableResult
    public func deleteExpired() async throws(SearchIndexError) -> Int {
        let (count, deleted) = try await write("Deleting expired items") { [clock] db in
            let now = try clock.adjust(db)
            // The expiry index begins with the bundle.
            let derived = DerivedWriter(db)
            let count = try ItemWriter.delete(
                db, where: "bundle IN (SELECT id FROM bundle) AND expires <= ?", [now], derived)
            try derived.finish()
            return (count, derived.deletedItems)
        }
        applier?.noteDeleted(deleted)
        return count
    }
}

extension SearchIndex {
    /// Returns `true` if a name can be stored. SQLite texts end at a NUL, so two names that differ
    /// only after a NUL would be considered equal.
    static func canBeStored(_ name: String?) -> Bool { name?.utf8.contains(0) != true }
}
