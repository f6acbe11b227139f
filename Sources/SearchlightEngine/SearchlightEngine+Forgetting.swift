// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Protection
import SearchIndex

extension SearchlightEngine {
    /// Removes all data of a bundle, without a receipt.
    ///
    /// - Returns: The number of removed items.
    /// - Throws: As ``remove(_:)``.
    @discardableResult
    package func forget(_ bundle: String) async throws(EngineError) -> Int { try await remove(bundle).items }

    /// Removes all data of a bundle: its items, client states, pending work and name. Data of an
    /// uninstalled app would otherwise stay indefinitely. If the bundle donates during the call, it
    /// becomes known again.
    ///
    /// The keys of protected indexes are destroyed first. A record of the removal
    /// (``UnfinishedRemovals``) stays until the end, so that a second call finishes a removal that
    /// was killed.
    ///
    /// - Throws: ``EngineError``. Some of the data may then be removed; a second call removes the
    ///   rest.
    package func remove(_ bundle: String) async throws(EngineError) -> ForgetReport {
        await takeOver(bundle)
        guard reindexes.begin(bundle) else { throw .alreadyReindexing(bundle) }
        defer { reindexes.end(bundle) }
        if configuration.access == .readWrite { try unfinishedRemovals.note(bundle, hasEnded: false) }
        let protected = try await vault.forget(bundle)
        let identity = try await onIndex { (index) throws(SearchIndexError) in try await index.identity() }
        var receipt = ForgetReceipt(
            bundle: bundle, store: Self.digits(identity.store), moment: configuration.now(),
            lastItem: identity.lastItem)
        receipt.protectedFiles = protected.files
        let omitted = omissions.bundles[bundle]?.counts.values.reduce(0, +) ?? 0
        let jobs = jobStore[bundle] == nil ? 0 : 1
        let count = try await onIndex { (index) throws(SearchIndexError) in try await index.forget(bundle: bundle) }
        try jobStore.forget(bundle)
        // If the write fails, the release holds until the process ends.
        _ = try? await host.release(bundle)
        ledger?.update { $0.forget(bundle) }
        omissions.forget(bundle)
        try forgetSchedule(of: bundle)
        let isKnown = try await itemCounts()[bundle] != nil
        if isKnown { try jobStore.note(donor: bundle) }
        let removed: [ForgetReceipt.Removed] = [
            .init(
                what: "encrypted image of all protected items", place: Vault.folderName + "/" + Vault.imageName,
                count: protected.hadImage == true ? 1 : 0),
            .init(what: "protected items in memory", place: "", count: protected.items),
            .init(what: "items, their use counts and client states", place: Self.databaseName, count: count),
            .init(what: "pending reindexes", place: "jobs.json", count: jobs),
            .init(what: "content that was left out", place: OmissionStore.fileName, count: omitted),
        ]
        receipt.removed = removed.filter { $0.count > 0 }
        receipt.remaining = remaining(protected, count, isKnown: isKnown)
        do throws(EngineError) { try await forgetFiles(of: bundle) } catch {
            receipt.remaining.append("The list of the app's files stays. \(error)")
        }
        if configuration.access == .readWrite {
            // The data is removed, so the caller gets its receipt.
            do throws(EngineError) { try unfinishedRemovals.note(bundle, hasEnded: true) } catch {
                receipt.remaining.append("The record of the removal stays. \(error)")
            }
        }
        receipt.bound()
        return ForgetReport(items: count + protected.items, receipt: receipt)
    }

    private static let databaseName = "index.sqlite"

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { String(256 + Int($0), radix: 16).dropFirst() }.joined()
    }

    /// The bundles that no other list mentions, but of which something can be removed: their
    /// removal was interrupted, or they have a file in the folder of protected indexes, for example
    /// because another program restored it.
    package func unlistedRemovals() async throws(EngineError) -> [String] {
        let vault = vault
        let claims = try await onFiles { () throws(ProtectionError) in try vault.claims() }
        return Set(unfinishedRemovals.bundles + claims.compactMap { $0.claim?.scope.bundle }).sorted()
    }

    /// A sentence for each thing that may remain after a removal.
    private func remaining(_ protected: Vault.Removal, _ count: Int, isKnown: Bool) -> [String] {
        var sentences = protected.files.filter { !$0.keysAreOverwritten }.map { file in
            "The keys in \(file.path) could not be overwritten, so a copy of the file opens with the passphrase."
        }
        if protected.hadImage == nil {
            sentences.append(
                "\(Vault.folderName)/\(Vault.imageName) could not be removed, and may have items of the app.")
        }
        sentences += protected.unknown.prefix(Vault.maximumFindings).map { name in
            "The owner of \(Vault.folderName)/\(name) cannot be read, so the file stays."
        }
        if count > 0 {
            sentences.append(
                """
                Unprotected items were not encrypted: free blocks of the disk, backups and snapshots may keep their text.
                """)
        }
        if !protected.files.isEmpty {
            sentences.append(
                "Backups and snapshots may keep protected files with their keys; the passphrase opens them.")
        }
        if isKnown { sentences.append("The app donated again during the removal.") }
        return sentences
    }

    /// Compares a receipt with the store.
    ///
    /// - Throws: ``EngineError``; ``EngineError/receipt(_:)`` if the receipt is malformed or is a
    ///   receipt of another store.
    package func check(_ receipt: ForgetReceipt) async throws(EngineError) -> ReceiptCheck {
        guard receipt.isSound else { throw .receipt(ReceiptError.malformed.description) }
        let identity = try await onIndex { (index) throws(SearchIndexError) in try await index.identity() }
        guard Self.digits(identity.store) == receipt.store else {
            throw .receipt("The receipt belongs to another store, or this store was replaced since.")
        }
        var check = ReceiptCheck()
        let vault = vault
        let claims = try await onFiles { () throws(ProtectionError) in try vault.claims() }
        let known = Set(receipt.protectedFiles.map { $0.identifier.lowercased() })
        for (name, claim) in claims {
            guard let claim, known.contains(claim.identifier.text) else { continue }
            check.findings.append(
                "\(Vault.folderName)/\(name) is a copy of a removed file\(claim.isDestroyed ? ", without its keys" : "")."
            )
        }
        let (bundle, lastItem) = (receipt.bundle, receipt.lastItem)
        let (old, all) = try await onIndex { (index) throws(SearchIndexError) in
            try await index.itemCounts(of: bundle, through: lastItem)
        }
        if old > 0 {
            check.findings.append("\(Self.databaseName) has \(old) of the removed items again.")
        }
        let protected = try await vault.later(of: bundle, besides: known)
        (check.later, check.laterLocked) = (all - old + protected.items, protected.locked)
        if let job = jobStore[bundle], job.requested < receipt.moment {
            check.findings.append("jobs.json has a reindex of the app from before the removal.")
        }
        if unfinishedRemovals.bundles.contains(bundle) {
            check.findings.append("A later removal of the app was interrupted. Finish it: searchlight forget \(bundle)")
        }
        return check
    }
}
