// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB
import ItemRecord

extension SearchIndex {
    /// Adds items, or replaces those with the same identifier; items marked as updates are merged into what is there,
    /// and ignored if nothing is (Apple's documentation since 2026). All or none.
    ///
    /// Returns once they are durable; they are found a moment later, or at once by this object's own searches.
    public func index(_ items: [EncodedItem], in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.index(items)
        try await commit(batch)
    }

    /// Deletes items by identifier; unknown ones are no error.
    public func delete(identifiers: [String], in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.delete(identifiers: identifiers)
        try await commit(batch)
    }

    /// Deletes domains and everything below them: `a` takes `a.b` along, not `ab`.
    public func delete(domains: [String], in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.delete(domains: domains)
        try await commit(batch)
    }

    /// Deletes everything in one index of a bundle, its client state included.
    public func deleteAll(in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.deleteAll()
        try await commit(batch)
    }

    /// Gives items other identifiers, all at once; unknown ones are no error. An item keeps its number, its dates and what was
    /// learned of it, and replaces the one that has its new identifier.
    public func rename(_ renames: [ItemRename], in scope: IndexScope) async throws(SearchIndexError) {
        var batch = IndexBatch(scope: scope)
        batch.rename(renames)
        try await commit(batch)
    }

    /// Makes a batch durable: all of it, its client state included, or nothing. Its client state must be what the batch expects at
    /// this moment, in the order of all batches.
    ///
    /// - Parameters:
    ///   - batch: The batch. Its items have been decoded once, or were encoded by this process.
    ///   - isPatient: Whether it need not be found before ``hold(_:)`` lets it.
    ///   - terms: What else decides on it; one that is not wanted any more is refused as one whose state does not match.
    /// - Throws: ``SearchIndexError``; ``SearchIndexError/mismatchedClientState`` changes nothing.
    public func commit(
        _ batch: IndexBatch, isPatient: Bool = false, terms: DonationTerms = DonationTerms()
    ) async throws(SearchIndexError) {
        if let state = batch.clientState, state.count > ClientState.maximumBytes {
            throw .clientStateTooLong(bytes: state.count)
        }
        guard let applier else { throw .readOnly(path: directory, operation: "Storing items") }
        try Self.checkNames(of: batch)
        // The state as the database has it is only asked for when no entry since the opening has touched it.
        let stored = batch.expectation == .any ? nil : try await storedClientState(of: batch.scope)
        guard !batch.changes.isEmpty || batch.clientState != nil else { return }
        let (expectation, isWanted) = (batch.expectation, terms.isWanted)
        try await applier.append(
            LogEntry(batch), isPatient: isPatient, waitsForRoom: terms.waitsForRoom
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

    /// Refuses names that could not be stored later.
    private static func checkNames(of batch: IndexBatch) throws(SearchIndexError) {
        guard canBeStored(batch.scope.bundle), canBeStored(batch.scope.index) else {
            throw .invalidItem(
                identifier: batch.scope.bundle, reason: "the name of its bundle or of its index contains a NUL")
        }
        guard batch.itemCount <= ChangeList.maximumChanges else {
            throw .invalidItem(
                identifier: "?",
                reason: "a batch has more than \(ChangeList.maximumChanges) items. Send smaller ones")
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

    /// Whether a bundle may donate some bytes now without waiting for what is pending to be applied. A donor waits while 64 MiB
    /// are pending and 1 MiB of it is the donor's; a donation of up to 64 KiB waits only while 1 MiB of such ones is. While
    /// 112 MiB are pending, all larger ones wait, and while 144 MiB are, all.
    public func hasRoom(for bundle: String, bytes: Int = .max) -> Bool {
        applier?.hasRoom(for: bundle, bytes: bytes) ?? true
    }

    /// Returns when what is pending is applied, if a bundle has to wait for room; at once if not, or when the task is cancelled.
    ///
    /// - Throws: ``SearchIndexError`` if it cannot be applied.
    public func waitForRoom(for bundle: String, bytes: Int = .max) async throws(SearchIndexError) {
        try await applier?.waitForRoom(for: bundle, bytes: bytes)
    }

    /// Sets whether nobody waits for what is indexed from now on: then, while more threads can run than there are processors, it
    /// takes a short break now and then, in which the kernel gives the processor to others.
    public func setGentle(_ isGentle: Bool) { applier?.pace.set(isGentle) }

    /// Has what is patient of a bundle be durable and not found, so that the index is quiet, until this is called with another
    /// or none. Searches do not wait for it. It is found all the same once somebody does (``settle()``), or something else is
    /// committed after it. A store that is closed keeps nothing waiting.
    public func hold(_ bundle: String?) { applier?.hold(bundle) }

    /// Whether something is being carried over from the log now, or what comes after that is done.
    public var isApplying: Bool { applier?.isRunning ?? false }

    /// Returns when everything that was durable before can be found, as ``settle()`` does; but waits as long as a bundle is held.
    ///
    /// - Returns: Whether it can be found; otherwise the task was cancelled while it waited.
    public func settle(patientlyFor bundle: String) async throws(SearchIndexError) -> Bool {
        try await applier?.settle(patientlyFor: bundle) ?? true
    }

    /// The client state of the last durable batch of a scope; `nil` if there is none.
    public func clientState(of scope: IndexScope) async throws(SearchIndexError) -> [UInt8]? {
        // What others donate changes no state of this bundle, and may take minutes.
        try await applier?.settle(own: scope.bundle, includingHeld: true)
        return try await storedClientState(of: scope)
    }

    private func storedClientState(of scope: IndexScope) async throws(SearchIndexError) -> [UInt8]? {
        try await readApplied("Reading a client state") { db in
            try ClientStateRow.state(of: scope, db)
        }
    }

    /// Deletes what has expired and gives back how many items that were.
    @discardableResult
    public func deleteExpired() async throws(SearchIndexError) -> Int {
        let (count, deleted) = try await write("Deleting expired items") { [clock] db in
            let now = try clock.adjust(db)
            // By bundle, as the index by expiry is.
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
    /// Whether a name can be kept. SQLite is handed texts that end at a NUL, so two names that differ behind one would
    /// become the same.
    static func canBeStored(_ name: String?) -> Bool { name?.utf8.contains(0) != true }
}
