// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import ExtensionHost
import IdleScheduling
import SearchIndex

/// Makes donations durable. The effect of deletions depends on the donor and on a running reindex;
/// see ``Reindexes``.
struct DonationWriter: Sendable {
    let index: SearchIndex
    /// The protected indexes.
    let vault: Vault
    let isWritable: Bool
    let reindexes: Reindexes
    let jobs: JobStore
    let now: @Sendable () -> Double
    /// Called with an extension's bundle when its worker donates items.
    var onExtensionItems: @Sendable (String) -> Void = { _ in }
    /// Called with a bundle when a lock rejects a donation that the bundle was asked for.
    var onLocked: @Sendable (String) -> Void = { _ in }
    /// Called with a bundle after its items were stored without encryption.
    var onPlainItems: @Sendable (String) -> Void = { _ in }
    /// Called when items are donated.
    var onItems: @Sendable () -> Void = {}

    /// Makes a batch durable; see ``SearchIndex/commit(_:isLowPriority:terms:)``.
    func commit(
        _ batch: IndexBatch, from donor: Donor, terms: DonationTerms = DonationTerms()
    ) async throws(EngineError) {
        let bundle = batch.scope.bundle
        if isWritable, batch.hasItems {
            try jobs.note(donor: bundle)
            onItems()
            if case .worker = donor { onExtensionItems(bundle) }
        }
        if try await isProtected(batch) { return try await commitProtected(batch, from: donor, terms) }
        let donation = reindexes.begin(batch, from: donor)
        defer { reindexes.finish(donation) }
        var batch = batch
        if var rest = batch.afterDeletingAll {
            if reindexes.marks(donor, bundle) {
                try await mark(batch.scope, expecting: batch.expectation, terms)
                rest.expectation = .any
                batch.expectation = .any
                // The reindex may have ended during the wait, and then nothing would delete the
                // marked items.
                if reindexes.marks(donor, bundle) { return try await append(rest, from: donor, terms) }
            }
            let undoes = reindexes.undoes(donor, bundle)
            if isWritable, undoes || jobs[bundle]?.place != nil {
                let job = Job(bundle: bundle, work: .reindexAll, requested: now(), cause: .lost)
                try jobs.update { queue in
                    if undoes { queue.add(job) }
                    // The items from earlier pages are deleted, so the reindex restarts with its
                    // first page.
                    queue.setPlace(nil, of: bundle)
                }
            }
        }
        try await append(batch, from: donor, terms)
    }

    private func commitProtected(
        _ batch: IndexBatch, from donor: Donor, _ terms: DonationTerms
    ) async throws(EngineError) {
        do throws(EngineError) { try await vault.commit(batch, terms: terms) } catch {
            noteRejection(error, of: donor, batch.scope.bundle)
            throw error
        }
    }

    /// Notes that a donation, or a read before it, was rejected.
    func noteRejection(_ error: EngineError, of donor: Donor, _ bundle: String) {
        // An app that donates on its own initiative handles the error itself.
        let wasAsked =
            switch donor {
            case .worker: true
            case .delegate(let token): reindexes.mayBeAsked(token, bundle)
            case .app: false
            }
        if error == .protection(.locked), wasAsked { onLocked(bundle) }
    }

    /// Returns `true` if a batch belongs to a protected index, or creates one.
    ///
    /// - Throws: ``ProtectionError/unprotectedItems(index:)`` if the index has unprotected items;
    ///   otherwise the problem of a file that may belong to the index.
    private func isProtected(_ batch: IndexBatch) async throws(EngineError) -> Bool {
        if vault.holds(batch.scope) { return true }
        if batch.scope.index != nil {
            await vault.findNewLogs()
            if vault.holds(batch.scope) { return true }
        }
        guard batch.needsEncryption else {
            // A protected index whose file cannot be opened is not known to be protected, but
            // donations to it must not be stored as plain text. It has no unprotected items.
            if batch.protection == nil, batch.scope.index != nil, let problem = vault.problem(of: batch.scope),
                try await plainIdentifiers(of: batch.scope).isEmpty
            {
                throw .protection(problem)
            }
            return false
        }
        guard try await plainIdentifiers(of: batch.scope).isEmpty else {
            throw .protection(.unprotectedItems(index: batch.scope.phrase))
        }
        return true
    }

    /// Returns the first identifier of an unprotected item in an index, or an empty array.
    private func plainIdentifiers(of scope: IndexScope) async throws(EngineError) -> [String] {
        do throws(SearchIndexError) { return try await index.identifiers(of: scope, after: "", limit: 1) } catch {
            throw .index(error)
        }
    }

    private func append(
        _ batch: IndexBatch, from donor: Donor, _ terms: DonationTerms
    ) async throws(EngineError) {
        do throws(SearchIndexError) {
            // Donations that an app makes on its own initiative are indexed immediately.
            try await index.commit(batch, isLowPriority: donor == .worker, terms: terms)
        } catch {
            reindexes.noteRefusal(error, of: donor, batch.scope.bundle)
            throw .index(error)
        }
        if batch.hasItems { onPlainItems(batch.scope.bundle) }
    }

    /// Marks every item as deleted. Marking also deletes the client state, so the expected client
    /// state is compared first.
    private func mark(
        _ scope: IndexScope, expecting expectation: ClientStateExpectation, _ terms: DonationTerms
    ) async throws(EngineError) {
        terms.beforeLongWait()
        let result: Result<Void, EngineError>
        do throws(EngineError) {
            result = .success(try await replaceAll(scope, expecting: expectation, terms))
        } catch {
            result = .failure(error)
        }
        await terms.afterLongWait()
        try result.get()
    }

    private func replaceAll(
        _ scope: IndexScope, expecting expectation: ClientStateExpectation, _ terms: DonationTerms
    ) async throws(EngineError) {
        do throws(SearchIndexError) {
            if case .exactly(let expected) = expectation {
                guard try await index.clientState(of: scope) == expected else { throw .mismatchedClientState }
            }
            try await index.replaceAll(in: scope, if: terms.isWanted)
        } catch {
            throw .index(error)
        }
    }
}
