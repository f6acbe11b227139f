// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import Protection
import SearchIndex
import WriteAheadLog

/// A proof that a caller may open the keys of a store.
package enum KeyCredential: Hashable, Sendable, Codable {
    /// 1 to ``MasterKeyFile/maximumPassphraseBytes`` bytes.
    case passphrase([UInt8])
    /// The key in the keyring of the desktop.
    case keyring
}

/// The result of a change of the keys.
package struct KeyChangeReport: Hashable, Sendable, Codable {
    /// The way in which the keys are kept now.
    package var storage: KeyStorage
    /// A sentence for each thing that is left to do.
    @LaterList package var notes: [String] = []
}

/// The result of a rotation of the keys.
package struct RotationReport: Hashable, Sendable, Codable {
    /// The number of protected items that can be found now.
    package var items: Int
    /// A sentence for each key that was not replaced.
    @LaterList package var kept: [String] = []
    /// A sentence for each lock of the session that will not lock the items.
    @LaterList package var notes: [String] = []
    /// A sentence for each file or record that the unlocking before could not read.
    package var findings: [String] = []
}

/// The part of a ``KeyCredential`` that opens or seals the master key.
enum KeyOffer: Sendable {
    case passphrase([UInt8])
    /// The keys that a keyring returned for the store's key.
    case keyringKeys([SecretKey])
    /// A new key that the keyring keeps now.
    case newKeyringKey(SecretKey, KeyringName)
}

extension Vault {
    var keyPath: String { folder + "/" + Self.keyFileName }

    // MARK: The file of keys

    /// Reads a file of keys.
    static func readKeys(_ path: String) -> (Result<MasterKeyFile?, ProtectionError>, FileStamp?) {
        // A file that is replaced during the reading has another stamp, and is read again.
        let stamp = FileStamp(ofPath: path)
        let keys = Result { () throws(ProtectionError) in try MasterKeyFile.read(path) }
        return (keys, stamp)
    }

    func readKeys() -> (Result<MasterKeyFile?, ProtectionError>, FileStamp?) { Self.readKeys(keyPath) }

    /// Reads the file of keys again: a backup program may have restored or removed it since. Runs
    /// between changes of the file.
    ///
    /// - Parameter isOwn: `true` after this process has replaced the file.
    func readKeysAgain(isOwn: Bool = false) {
        let ((keys, stamp), needed) = (readKeys(), neededKeys)
        state.withLock { $0.noteKeys(keys, stamp, path: keyPath, needed: needed, isOwn: isOwn) }
    }

    /// The identifiers of the keys that the files in the folder need.
    var neededKeys: Set<VaultIdentifier> {
        Set(state.withLock { Array($0.logs.values) }.filter(\.isInPlace).map(\.header.vault))
    }

    /// Asks the session whether the store may be unlocked, and follows its locks.
    func beginSession() async -> UnlockingSession { await onUnlock { [weak self] in self?.lock() } }

    // MARK: Credentials

    /// Resolves a credential to a passphrase or a key in the keyring. The keyring may ask the user.
    ///
    /// - Parameter creates: `true` to make a new key in the keyring if there is none and nothing
    ///   needs it.
    func offer(for credential: KeyCredential, creates: Bool) async throws(EngineError) -> KeyOffer {
        if case .passphrase(let passphrase) = credential { return .passphrase(passphrase) }
        let (file, mayCreate, problem) = state.withLock { ($0.keys, creates && $0.mayCreateKeys, $0.keysProblem) }
        guard let file else {
            guard mayCreate else { throw .protection(problem ?? .noKeys) }
            return try await newKeyringKey(of: VaultIdentifier())
        }
        guard let key = file.keyringKey else { throw .protection(.otherStorage(file.storage)) }
        do throws(ProtectionError) {
            let found = try await usedKeyring().keys(keyringName(file.vault, key))
            guard !found.isEmpty else { throw .keyring(.missingKey) }
            return .keyringKeys(found)
        } catch {
            // Without indexes, nothing is lost with the key.
            guard case .keyring(.missingKey) = error, creates, state.withLock({ $0.mayReplaceKeys }) else {
                throw .protection(error)
            }
            return try await newKeyringKey(of: VaultIdentifier())
        }
    }

    private func newKeyringKey(of vault: VaultIdentifier) async throws(EngineError) -> KeyOffer {
        do throws(ProtectionError) {
            let (key, name) = (try SecretKey(), keyringName(vault, VaultIdentifier()))
            try await usedKeyring().keep(key, as: name)
            return .newKeyringKey(key, name)
        } catch {
            throw .protection(error)
        }
    }

    /// Removes a new key from the keyring again, if the file of keys does not need it.
    ///
    /// - Returns: `true` if it was not needed.
    func withdraw(_ offer: KeyOffer) async -> Bool {
        guard case .newKeyringKey(_, let name) = offer else { return false }
        // After an error, the file that needs this key may nevertheless be in place.
        let isUnused = try? await changed { [self] () throws(ProtectionError) in
            try MasterKeyFile.read(keyPath)?.keyringKey != name.key
        }
        guard isUnused == true else { return false }
        _ = await keyring?.remove(name)
        return true
    }

    private func usedKeyring() throws(ProtectionError) -> any Keyring {
        guard let keyring else { throw .keyring(.unavailable("the service has no session bus.")) }
        return keyring
    }

    private func keyringName(_ vault: VaultIdentifier, _ key: VaultIdentifier) -> KeyringName {
        KeyringName(vault: vault, key: key, folder: folder)
    }

    /// Opens the keys, or creates them. Blocks.
    func opened(
        with offer: KeyOffer, creates: Bool
    ) throws(ProtectionError) -> (file: MasterKeyFile, keys: MasterKeyFile.Keys) {
        let (known, mayCreate, problem) = state.withLock { state in
            (
                state.keys, creates && (state.keys == nil ? state.mayCreateKeys : state.mayReplaceKeys),
                state.keysProblem
            )
        }
        switch (known, offer) {
        case (let known?, .passphrase(let passphrase)):
            do throws(ProtectionError) { return (known, try known.keys(passphrase: passphrase)) } catch {
                // Without indexes, nothing is lost with a forgotten passphrase or a lost keyring.
                let isLost = error == .wrongPassphrase || error == .otherStorage(.keyring)
                guard isLost, mayCreate else { throw error }
                return try created(passphrase)
            }
        case (let known?, .keyringKeys(let keys)): return (known, try known.keys(keyringKeys: keys))
        case (nil, .passphrase(let passphrase)):
            // Without its file of keys nothing can be read, and new keys would not help.
            guard mayCreate else { throw problem ?? .noKeys }
            return try created(passphrase)
        case (_, .newKeyringKey(let key, let name)):
            guard mayCreate else { throw .noKeys }
            let file = try MasterKeyFile(
                vault: name.vault, SecretKey(), keyringKey: key, identifier: name.key)
            return (file, try create(file).keys(keyringKeys: [key]))
        case (nil, .keyringKeys): throw .noKeys
        }
    }

    private func created(
        _ passphrase: [UInt8]
    ) throws(ProtectionError) -> (file: MasterKeyFile, keys: MasterKeyFile.Keys) {
        let file = try MasterKeyFile.create(passphrase: passphrase, cost: cost).file
        return (file, try create(file).keys(passphrase: passphrase))
    }

    private func create(_ file: MasterKeyFile) throws(ProtectionError) -> MasterKeyFile {
        do throws(LogFileError) { try files.createFolder(folder) } catch { throw ProtectionError(error) }
        try write(file)
        return file
    }

    /// Replaces the file of keys, durably.
    func write(_ file: MasterKeyFile) throws(ProtectionError) {
        do throws(ProtectionError) { try file.write(to: keyPath, in: folder, files) } catch {
            // The error may have occurred after the rename. Then the new file is in place.
            readKeysAgain(isOwn: true)
            throw error
        }
        let stamp = FileStamp(ofPath: keyPath)
        state.withLock { $0.noteKeys(.success(file), stamp, path: keyPath, needed: [], isOwn: true) }
    }

    // MARK: Changes

    /// Keeps the keys in another way from now on, or under another passphrase. The protected items
    /// stay locked or unlocked. A stop at any moment leaves the earlier way or the new one.
    func changeKeys(
        from credential: KeyCredential, to new: KeyCredential
    ) async throws(EngineError) -> KeyChangeReport {
        onSecrets()
        guard isWritable else { throw .index(.readOnly(path: folder, operation: "Changing the keys")) }
        await refresh()
        let offer = try await offer(for: credential, creates: false)
        let (vault, problem) = state.withLock { ($0.keys?.vault, $0.keysProblem) }
        guard let vault else { throw .protection(problem ?? .noKeys) }
        // A wrong passphrase must not leave a key in the keyring.
        _ = try await changed { [self] () throws(ProtectionError) in try opened(with: offer, creates: false).keys.wipe()
        }
        let target: KeyOffer
        switch new {
        case .passphrase(let passphrase): target = .passphrase(passphrase)
        case .keyring: target = try await newKeyringKey(of: vault)
        }
        let (replaced, file): (MasterKeyFile, MasterKeyFile)
        do throws(EngineError) {
            (replaced, file) = try await changed { [self] () throws(ProtectionError) in
                let (file, keys) = try opened(with: offer, creates: false)
                defer { keys.wipe() }
                let changed: MasterKeyFile
                switch target {
                case .passphrase(let passphrase):
                    changed = try MasterKeyFile(
                        vault: file.vault, keys.master, previous: keys.previous, passphrase: passphrase, cost: cost)
                case .newKeyringKey(let key, let name):
                    changed = try MasterKeyFile(
                        vault: file.vault, keys.master, previous: keys.previous, keyringKey: key, identifier: name.key)
                case .keyringKeys: throw .noKeys
                }
                try write(changed)
                return (file, changed)
            }
        } catch {
            _ = await withdraw(target)
            throw error
        }
        var report = KeyChangeReport(storage: file.storage)
        // Only the key of the replaced file: copies of the store may need other ones.
        if let keyring, let key = replaced.keyringKey, await !keyring.remove(keyringName(replaced.vault, key)) {
            report.notes.append(
                """
                The earlier key is still in the keyring. It opens only copies of this store. Without any, you can delete \
                it there.
                """)
        }
        return report
    }

    /// Runs a change of the file of keys, after all commits and changes before.
    private func changed<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ProtectionError) -> Value
    ) async throws(EngineError) -> Value {
        let result: Result<Value, EngineError> = await serially {
            do throws(EngineError) { return .success(try await onFiles(body)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    // MARK: Rotation

    /// Replaces the master key and the keys of all indexes, and encrypts all records again. Unlocks
    /// the store. A stop at any moment loses nothing: the file of keys has both master keys until
    /// all indexes have new keys, and the next unlocking ends the rotation.
    func rotateKeys(with credential: KeyCredential) async throws(EngineError) -> RotationReport {
        let report = try await unlock(with: credential, creates: false)
        let offer = try await offer(for: credential, creates: false)
        let result: Result<[String], EngineError> = await serially { [self] in
            do throws(EngineError) { return .success(try await rotateNow(offer)) } catch { return .failure(error) }
        }
        let kept = try result.get()
        noteRecords()
        // The unlocking may have ended an earlier rotation, and kept the same keys.
        return RotationReport(
            items: report.items, kept: kept, notes: report.notes,
            findings: report.findings.filter { !kept.contains($0) })
    }

    private func rotateNow(_ offer: KeyOffer) async throws(EngineError) -> [String] {
        let (unlocked, locks) = state.withLock { ($0.unlocked, $0.locks) }
        guard let unlocked else { throw .protection(.locked) }
        let index = unlocked.index
        // A suspend waits until the keys and items of this work are gone from the memory too.
        defer { withExtendedLifetime(unlocked.session) {} }
        let (old, keys) = try await onFiles { [self] () throws(ProtectionError) in
            try opened(with: offer, creates: false)
        }
        defer {
            keys.wipe()
            state.withLock { $0.opened = [] }
        }
        try change(since: locks) { $0.opened = [keys] }
        // An earlier rotation has not ended, because a file could not be rewritten. Its new master
        // key is already in use, so this call only finishes it.
        guard keys.previous == nil else { return try await finishRotation(old, keys, index, locks) }
        let rotated = try await onFiles { () throws(ProtectionError) in
            MasterKeyFile.Keys(rotating: keys, to: try SecretKey())
        }
        defer { rotated.wipe() }
        try change(since: locks) { $0.opened.append(rotated) }
        let file = try await onFiles { [self] () throws(ProtectionError) in
            let file = try old.replacing(master: rotated.master, previous: rotated.previous, keys)
            try write(file)
            return file
        }
        return try await finishRotation(file, rotated, index, locks)
    }

    /// Encrypts all indexes of the previous master key again, and then forgets that key.
    ///
    /// - Returns: A sentence for each file that has to stay as it is.
    func finishRotation(
        _ file: MasterKeyFile, _ keys: MasterKeyFile.Keys, _ index: SearchIndex, _ locks: UInt64
    ) async throws(EngineError) -> [String] {
        var findings: [String] = []
        let (master, previous) = try await onFiles { () throws(ProtectionError) in
            (try keys.master.copy(), try keys.previous?.copy())
        }
        try change(since: locks) { state in
            state.unlocked?.master.wipe()
            state.unlocked?.master = master
            state.unlocked?.previous = previous
        }
        let logs = state.withLock { $0.sortedLogs }
        for log in logs where log.header.vault == file.vault && !log.isSealed(with: master) {
            try change(since: locks) { _ in }
            // Rewriting a file would drop the records that were not read.
            guard isWhole(log), log.isInPlace else {
                findings.append("\(log.path) keeps its keys, since not all of its records were read.")
                continue
            }
            do throws(EngineError) { try await rewrite(log, from: index, master, file.vault, locks) } catch {
                try change(since: locks) { _ in }
                findings.append("\(log.path) keeps its keys. \(error)")
            }
        }
        try change(since: locks) { _ in }
        // A file that keeps its keys may have a damaged record that only the image has.
        guard findings.isEmpty else { return findings }
        // An image that the earlier master key opens must not stay.
        await dropImage()
        do throws(EngineError) {
            try await onFiles { [self] () throws(ProtectionError) in
                // The earlier master key is removed only when the names of the new files are
                // durable. Otherwise a power failure could restore an earlier file, which needs it.
                do throws(LogFileError) { try files.synchronizeFolder(folder) } catch { throw ProtectionError(error) }
                try write(try file.replacing(master: master, previous: nil, keys))
            }
        } catch {
            try change(since: locks) { _ in }
            return ["The earlier master key stays until the next unlocking. \(error)"]
        }
        state.withLock { state in
            state.unlocked?.previous?.wipe()
            state.unlocked?.previous = nil
        }
        return []
    }
}

extension Vault {
    /// Returns `true` if all items of an unlocked file are in memory: unlocking has read all of its
    /// records, from the file or from the image.
    func isWhole(_ log: SealedLog) -> Bool {
        log.isUnlocked && !state.withLock { $0.incomplete.contains(log.header.scope) }
    }
}

extension Vault.State {
    /// Records the current file of keys. Keeps the earlier content in memory in these cases:
    ///
    /// - The file was replaced while the store is unlocked.
    /// - The file has other keys, and the file of an index needs the earlier keys.
    /// - The file is missing or cannot be read, and the store is unlocked or has protected indexes.
    ///
    /// - Parameters:
    ///   - needed: See ``Vault/neededKeys``.
    ///   - isOwn: `true` after this process has replaced the file.
    mutating func noteKeys(
        _ found: Result<MasterKeyFile?, ProtectionError>, _ stamp: FileStamp?, path: String,
        needed: Set<VaultIdentifier>, isOwn: Bool = false
    ) {
        // After an error, which may pass, the file is read again.
        if case .failure = found { keysStamp = nil } else { keysStamp = stamp }
        switch found {
        // The keys in memory may not be the keys of the other file.
        case .success(let file?) where !isOwn && unlocked != nil && keys != nil && keys != file:
            (unreadableKeys, missingKeys) = (.replaced(path: path), nil)
        // A file needs the keys in memory.
        case .success(let file?)
        where !isOwn && keys.map { $0.vault != file.vault && needed.contains($0.vault) } == true:
            (unreadableKeys, missingKeys) = (.foreignKeys(path: path), nil)
        case .success(let file?): (keys, unreadableKeys, missingKeys) = (file, nil, nil)
        case .success(nil): (unreadableKeys, missingKeys) = (nil, path)
        case .failure(let error): (unreadableKeys, missingKeys) = (error, nil)
        }
        if (try? found.get()) == nil, logs.isEmpty, findings.isEmpty, unlocked == nil { keys = nil }
    }

    /// `true` if a store without keys may get some. A damaged file of keys is replaced only if no
    /// index needs it.
    var mayCreateKeys: Bool {
        guard keys == nil, logs.isEmpty, findings.isEmpty else { return false }
        guard let unreadableKeys else { return true }
        if case .damaged = unreadableKeys { return true }
        return false
    }
    /// `true` if keys that are lost may be replaced, since nothing needs them.
    var mayReplaceKeys: Bool { keys != nil && logs.isEmpty && unreadable == nil && unlocked == nil }
}
