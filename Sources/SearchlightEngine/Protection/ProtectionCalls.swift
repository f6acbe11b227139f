// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Protection
import SearchIndex

/// The protected indexes of a store.
package struct ProtectionStatus: Hashable, Sendable, Codable {
    /// A protected index.
    package struct Index: Hashable, Sendable, Codable {
        /// The bundle and the name of the index.
        package var scope: IndexScope
        /// Its class.
        package var protection: ProtectionClass
        /// The size of its file in bytes.
        package var bytes: Int
    }
    /// The way in which the keys are kept; `nil` if the store has none.
    package var storage: KeyStorage?
    /// `true` if the protected items can be found now.
    package var isUnlocked: Bool
    /// The indexes, sorted by bundle and name.
    package var indexes: [Index]
    /// A sentence for each file or record that cannot be read.
    package var findings: [String]
    /// One sentence for each event, such as a lock of the session, that the service may miss, so
    /// that the items stay unlocked; empty while the items are locked.
    @LaterList package var notes: [String] = []

    /// The problem of the file of keys; `nil` if there is none.
    package var problemOfKeys: String?

    /// `true` if the store has keys.
    package var hasKeys: Bool { storage != nil }
    /// `true` if there is nothing to report.
    package var isEmpty: Bool { !hasKeys && indexes.isEmpty && findings.isEmpty }
}

extension SearchlightEngine {
    /// The protected indexes.
    package var protectionStatus: ProtectionStatus { vault.status }

    /// One sentence for each event, such as a lock of the session, that the service may miss, so
    /// that the items stay unlocked; empty while the items are locked.
    package var protectionNotes: [String] { vault.state.withLock { $0.notes } }

    /// Unlocks the protected indexes; see ``UnlockCall``.
    @discardableResult
    package func unlock(passphrase: [UInt8], creates: Bool) async throws(EngineError) -> UnlockReport {
        try await unlock(with: .passphrase(passphrase), creates: creates)
    }

    /// Unlocks the protected indexes; see ``UnlockCall``.
    @discardableResult
    package func unlock(with credential: KeyCredential, creates: Bool) async throws(EngineError) -> UnlockReport {
        try await vault.unlock(with: credential, creates: creates)
    }

    /// Changes how the keys are kept; see ``ChangeKeysCall``.
    @discardableResult
    package func changeKeys(
        from credential: KeyCredential, to new: KeyCredential
    ) async throws(EngineError) -> KeyChangeReport {
        try await vault.changeKeys(from: credential, to: new)
    }

    /// Replaces all keys; see ``RotateKeysCall``.
    @discardableResult
    package func rotateKeys(with credential: KeyCredential) async throws(EngineError) -> RotationReport {
        try await vault.rotateKeys(with: credential)
    }

    /// The class of an encrypted index; `nil` for other indexes.
    package func protection(of scope: IndexScope) -> ProtectionClass? { vault.protection(of: scope) }

    /// The indexes that can be read now.
    var readable: [SearchIndex] { [index] + [vault.index].compactMap(\.self) }

    /// Performs an operation on the index that has the item with a number.
    ///
    /// - Throws: ``EngineError``; ``EngineError/protection(_:)`` while the store is locked.
    func onIndex<Value>(
        having number: Int64, _ body: (SearchIndex) async throws(SearchIndexError) -> Value
    ) async throws(EngineError) -> Value {
        guard let protected = try protectedIndex(having: number) else { return try await onIndex(body) }
        return try await Self.onIndex(protected, body)
    }

    /// Performs a query on the index that has the item with a number.
    func onQuery<Value>(
        having number: Int64, _ body: (SearchIndex) async throws(IndexQueryError) -> Value
    ) async throws(EngineError) -> Value {
        let protected = try protectedIndex(having: number)
        return try await onQuery { (index) throws(IndexQueryError) in try await body(protected ?? index) }
    }

    /// The index in memory, if the item with a number may be there.
    private func protectedIndex(having number: Int64) throws(EngineError) -> SearchIndex? {
        guard number > 0, !index.mayHave(number: number) else { return nil }
        return vault.isLocked ? try vault.unlockedIndex() : vault.index
    }

    /// Performs an operation on an index. An index in memory that was closed since is locked.
    static func onIndex<Value>(
        _ index: SearchIndex, _ body: (SearchIndex) async throws(SearchIndexError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(SearchIndexError) { return try await body(index) } catch {
            if case .closed = error, index.isInMemory { throw .protection(.locked) }
            throw .index(error)
        }
    }

    /// Locks the protected indexes; see ``LockCall``.
    ///
    /// - Returns: `true` if they were unlocked.
    @discardableResult
    package func lock() async -> Bool {
        guard let end = vault.lock() else { return false }
        await end.value
        return true
    }
}

extension Vault {
    /// The paths of the open files that were removed. Their content is lost once they are closed.
    func removedFiles() async -> [String] {
        await refresh()
        return await serially { [self] in
            state.withLock { $0.sortedLogs }.filter { !$0.isInPlace }.map(\.path)
        }
    }

    /// The state of the protected indexes. Reads the file of keys, which another program may have
    /// removed or restored.
    var status: ProtectionStatus {
        var now = state.withLock { $0 }
        let (keys, stamp) = readKeys()
        now.noteKeys(keys, stamp, path: keyPath, needed: neededKeys)
        // The sizes wait for donations, so a lock must not wait for them.
        let indexes = now.sortedLogs.map { log in
            ProtectionStatus.Index(scope: log.header.scope, protection: log.header.protection, bytes: log.byteCount)
        }
        return ProtectionStatus(
            storage: now.keys?.storage, isUnlocked: now.unlocked != nil, indexes: indexes, findings: now.allFindings,
            notes: now.notes, problemOfKeys: now.problemOfKeys)
    }
}

extension IndexScope {
    /// The order of scopes in lists.
    var sortKey: (String, String) { (bundle, index ?? "") }
}

/// Unlocks the protected indexes of the store, until the service ends, ``LockCall`` is performed or
/// the session is locked. Only a service performs it, since a command ends at once.
package struct UnlockCall: ClientCall {
    package var purpose: String { "unlock protected items" }
    /// The passphrase, or the keyring.
    var credential: KeyCredential
    /// `true` to create the keys if there are none.
    var creates: Bool

    package init(passphrase: [UInt8], creates: Bool) { self.init(with: .passphrase(passphrase), creates: creates) }

    package init(with credential: KeyCredential, creates: Bool) {
        (self.credential, self.creates) = (credential, creates)
    }

    package func perform(_ context: CallContext) async throws(EngineError) -> UnlockReport {
        _ = try context.service(for: purpose)
        return try await context.engine.use(.changing) { (engine) throws(EngineError) in
            try await engine.unlock(with: credential, creates: creates)
        }
    }
}

/// Prepares for a call with a passphrase: from then on, the service overwrites the memory that it
/// frees, and so all copies of the passphrase. The answer is the state of the protected indexes.
package struct PrepareSecretsCall: EngineCall {
    package var purpose: String { "prepare for a passphrase" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ProtectionStatus {
        engine.vault.onSecrets()
        return engine.protectionStatus
    }
}

/// Keeps the keys of the store in another way from now on, or under another passphrase.
package struct ChangeKeysCall: EngineCall {
    package var purpose: String { "change how the keys are kept" }
    package var need: EngineNeed { .changing }
    /// The present passphrase, or the keyring.
    var credential: KeyCredential
    /// The new passphrase, or the keyring.
    var new: KeyCredential

    package init(from credential: KeyCredential, to new: KeyCredential) {
        (self.credential, self.new) = (credential, new)
    }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> KeyChangeReport { try await engine.changeKeys(from: credential, to: new) }
}

/// Unlocks the store, replaces its keys, and encrypts all protected items again. Only a service
/// performs it, as ``UnlockCall``.
package struct RotateKeysCall: ClientCall {
    package var purpose: String { "replace the keys" }
    /// The passphrase, or the keyring.
    var credential: KeyCredential

    package init(with credential: KeyCredential) { self.credential = credential }

    package func perform(_ context: CallContext) async throws(EngineError) -> RotationReport {
        _ = try context.service(for: purpose)
        return try await context.engine.use(.changing) { (engine) throws(EngineError) in
            try await engine.rotateKeys(with: credential)
        }
    }
}

/// Locks the protected indexes of the store. The answer is `true` if they were unlocked.
package struct LockCall: EngineCall {
    package var purpose: String { "lock protected items" }

    package init() {}

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Bool {
        await engine.lock()
    }
}

/// Reports the protected indexes of the store.
package struct ProtectionStatusCall: EngineCall {
    package var purpose: String { "list the protected indexes" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ProtectionStatus { engine.protectionStatus }
}
