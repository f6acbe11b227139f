// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Protection
import SearchIndex
import WriteAheadLog

extension Vault {
    /// The result of removing the protected indexes of a bundle.
    struct Removal: Sendable {
        /// The files whose keys were overwritten and that were removed.
        var files: [ForgetReceipt.ProtectedFile] = []
        /// The number of items removed from memory; 0 while the store is locked.
        var items = 0
        /// `true` if the image of the index in memory was removed; `nil` if it could not be.
        var hadImage: Bool? = false
        /// The files in the folder whose bundle cannot be read.
        var unknown: [String] = []
    }

    /// A file of a bundle, open or not.
    private struct Target: Sendable {
        var name: String
        var path: String
        var claim: SealedLogHeader.Claim
    }

    /// Removes the protected indexes of a bundle: first their keys, then their files, then their
    /// items in memory. Includes files that are not open, such as a second file of an index, a
    /// damaged file, or a file whose rewriting was interrupted. A removal that was killed is
    /// finished by the next one.
    ///
    /// - Throws: ``EngineError/protection(_:)`` if a file cannot be removed. The keys of all files
    ///   are overwritten then, as far as possible.
    func forget(_ bundle: String) async throws(EngineError) -> Removal {
        let result: Result<Removal, EngineError> = await queue.run { [self] in
            do throws(EngineError) { return .success(try await forgetNow(bundle)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func forgetNow(_ bundle: String) async throws(EngineError) -> Removal {
        // The image may have items of the bundle. Its key is destroyed with the others.
        let hasFiles = try await onFiles { [self] () throws(ProtectionError) in
            try !targets(of: bundle).targets.isEmpty
        }
        let isInImage = hasFiles ? true : try await mayBeInImage(bundle)
        let hadImage = await isInImage ? dropImage(forSession: true) : false
        var removal = try await onFiles { [self] () throws(ProtectionError) in try removeFiles(of: bundle) }
        removal.hadImage = hadImage
        // The removed files may be the ones that could not be opened.
        let left = try await onFiles { [files, folder] () throws(ProtectionError) in
            Self.found(in: folder, files, isWritable: false)
        }
        let removed = removal.files.map(\.path)
        state.withLock { state in
            state.logs = state.logs.filter { $0.key.bundle != bundle }
            state.appeared = state.appeared.filter { $0.bundle != bundle }
            state.beyondLimit = state.beyondLimit.filter { $0.bundle != bundle }
            state.incomplete = state.incomplete.filter { $0.bundle != bundle }
            state.unreadable = left.unreadable
            state.findings.removeAll { finding in removed.contains { finding.contains($0) } }
            state.unlockFindings.removeAll { finding in removed.contains { finding.contains($0) } }
        }
        guard let index else { return removal }
        removal.items = try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.forget(bundle: bundle)
        }
        return removal
    }

    /// `true` if the image may have items of a bundle without files, because its files may have
    /// been removed. While the store is locked, this is unknown, so the result is `true`, and the
    /// next unlocking takes longer.
    private func mayBeInImage(_ bundle: String) async throws(EngineError) -> Bool {
        guard let index, !state.withLock({ $0.image.hasOthers }) else { return true }
        return try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.scopes().contains { $0.bundle == bundle }
        }
    }

    /// Overwrites the keys of all files of a bundle, then removes the files. Blocks.
    private func removeFiles(of bundle: String) throws(ProtectionError) -> Removal {
        var removal = Removal()
        let (targets, unknown) = try targets(of: bundle)
        removal.unknown = unknown
        guard !targets.isEmpty else { return removal }
        guard isWritable else { throw .file("The store cannot be changed, so \(folder) stays as it is.") }
        let logs = state.withLock { $0.logs.values.filter { $0.header.scope.bundle == bundle } }
        for target in targets {
            let open = logs.first { $0.path == target.path && $0.isInPlace }
            let isOverwritten =
                open?.destroyKeys() ?? SealedLog.destroyKeys(of: target.claim, at: target.path, files: files)
            removal.files.append(
                ForgetReceipt.ProtectedFile(
                    path: Self.folderName + "/" + target.name, identifier: target.claim.identifier.text,
                    index: target.claim.scope.index ?? "", keysAreOverwritten: isOverwritten))
        }
        // Open files may have been replaced or moved away.
        for log in logs { log.destroyKeys() }
        var failure: LogFileError?
        for target in targets {
            do throws(LogFileError) { try files.remove(target.path) } catch { failure = error }
        }
        do throws(LogFileError) { try files.synchronizeFolder(folder) } catch { failure = error }
        if let failure { throw ProtectionError(failure) }
        return removal
    }

    /// The files of a bundle in the folder, and the names of files whose bundle is unknown.
    private func targets(of bundle: String) throws(ProtectionError) -> (targets: [Target], unknown: [String]) {
        var (targets, unknown): ([Target], [String]) = ([], [])
        for (name, claim) in try claims() {
            guard let claim else {
                unknown.append(name)
                continue
            }
            guard claim.scope.bundle == bundle else { continue }
            targets.append(Target(name: name, path: folder + "/" + name, claim: claim))
        }
        return (targets, unknown)
    }

    /// The owners of all files in the folder that are or were protected indexes; `nil` for an
    /// unreadable owner. Blocks.
    func claims() throws(ProtectionError) -> [(name: String, claim: SealedLogHeader.Claim?)] {
        let names: [String]
        do throws(LogFileError) { names = try files.names(in: folder) } catch {
            guard error.isNotFound else { throw ProtectionError(error) }
            return []
        }
        return names.sorted().compactMap { name in
            guard name.contains(SealedLog.suffix) else { return nil }
            return (name, try? SealedLog.claim(folder + "/" + name, files: files))
        }
    }

    /// Counts what a bundle donated to protected indexes.
    ///
    /// - Parameter known: The identifiers of removed files, whose copies do not count.
    /// - Returns: The number of items, and the number of indexes that are locked.
    func later(of bundle: String, besides known: Set<String>) async throws(EngineError) -> (items: Int, locked: Int) {
        let logs = state.withLock { $0.sortedLogs }.filter { log in
            log.header.scope.bundle == bundle && !known.contains(log.header.identifier.text)
        }
        var (items, locked) = (0, 0)
        for log in logs {
            guard let index, log.isUnlocked else {
                locked += 1
                continue
            }
            items += try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
                try await index.itemCount(of: log.header.scope)
            }
        }
        return (items, locked)
    }

    /// Removes a file whose writing was interrupted, after its keys.
    static func discard(_ path: String, _ files: any LogFiles) {
        if let claim = try? SealedLog.claim(path, files: files) {
            _ = SealedLog.destroyKeys(of: claim, at: path, files: files)
        }
        try? files.remove(path)
    }
}

extension VaultIdentifier {
    /// The identifier in hexadecimal digits.
    var text: String { bytes.map { String(256 + Int($0), radix: 16).dropFirst() }.joined() }
}
