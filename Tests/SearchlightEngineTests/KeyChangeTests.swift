// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExtensionHost
import Foundation
import ItemRecord
import Protection
import SearchIndex
import Synchronization
import TestSupport
import Testing
import WriteAheadLog

@testable import SearchlightEngine

/// A keyring in memory.
private final class MemoryKeyring: Keyring {
    private let keys = Mutex<[KeyringName: SecretKey]>([:])
    /// Runs at the next reading of a key, as if the user answered a question.
    let onRead = Mutex<(@Sendable () -> Void)?>(nil)
    private let keeps = Mutex(0)
    /// The number of keys that were ever kept.
    var kept: Int { keeps.withLock { $0 } }
    /// The next problem of every operation; `nil` for none.
    let problem = Mutex<KeyringProblem?>(nil)

    private func check() throws(ProtectionError) {
        if let problem = problem.withLock({ $0 }) { throw .keyring(problem) }
    }

    func keep(_ key: SecretKey, as name: KeyringName) async throws(ProtectionError) {
        try check()
        let copy = try key.copy()
        keys.withLock { $0[name] = copy }
        keeps.withLock { $0 += 1 }
    }

    func keys(_ name: KeyringName) async throws(ProtectionError) -> [SecretKey] {
        try check()
        onRead.withLock { $0.take() }?()
        // A key of another program comes first.
        guard let key = keys.withLock({ $0.first { $0.key.key == name.key && $0.key.vault == name.vault }?.value })
        else { return [] }
        return [try SecretKey(), try key.copy()]
    }

    func remove(_ name: KeyringName) async -> Bool {
        guard problem.withLock({ $0 }) == nil else { return false }
        return keys.withLock { keys in
            keys[name] = nil
            return !keys.keys.contains { $0.vault == name.vault && $0.key == name.key }
        }
    }

    func removeAll() { keys.withLock { $0 = [:] } }
    var count: Int { keys.withLock { $0.count } }
}

/// An object that follows a session, and a reference that does not keep it.
private final class Owner: Sendable {}
private struct Weak: Sendable { weak var owner: Owner? }

/// The storage, the change and the rotation of the keys of a store.
@Suite("Changes of keys", .timeLimit(.minutes(10)))
struct KeyChangeTests {
    private let folder: TemporaryFolder
    private let keyring = MemoryKeyring()
    private static let (first, second) = (Array("correct horse".utf8), Array("battery staple".utf8))
    private static let scopes = ["a", "b"].map { IndexScope(bundle: "com.example.health", index: $0) }

    init() throws { folder = try TemporaryFolder() }

    private func engine(
        _ files: any LogFiles = SystemLogFiles(), hasKeyring: Bool = true, store: String = "store",
        onUnlock: (@Sendable (_ lock: @escaping @Sendable () -> Void) async -> UnlockingSession)? = nil
    ) throws -> SearchlightEngine {
        var configuration = EngineConfiguration(
            storeDirectory: folder.path(store), access: .readWrite, extensionSearchPath: [],
            worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:]))
        configuration.passphraseCost = .least
        configuration.storeHooks.logFiles = files
        if hasKeyring { configuration.keyring = keyring }
        if let onUnlock { configuration.onUnlock = onUnlock }
        return try SearchlightEngine(configuration)
    }

    private func withEngine(
        _ files: any LogFiles = SystemLogFiles(), hasKeyring: Bool = true, store: String = "store",
        onUnlock: (@Sendable (_ lock: @escaping @Sendable () -> Void) async -> UnlockingSession)? = nil,
        _ body: (SearchlightEngine) async throws -> Void
    ) async throws {
        let engine = try engine(files, hasKeyring: hasKeyring, store: store, onUnlock: onUnlock)
        do { try await body(engine) } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    private func donate(
        _ names: [String], to engine: SearchlightEngine, _ protection: ProtectionClass = .completeUnlessOpen
    ) async throws {
        for scope in Self.scopes {
            var batch = IndexBatch(scope: scope, protection: protection)
            batch.index(
                try names.map {
                    try EncodedItem(ItemRecord(uniqueIdentifier: "\($0)-\(scope.index ?? "")", attributes: [:]))
                })
            try await engine.commit(batch)
        }
    }

    private func names(_ engine: SearchlightEngine) async throws -> [String] {
        try await engine.items(matching: .and([]), bundle: nil, limit: 100, after: nil, place: .current).items
            .map(\.record.uniqueIdentifier).sorted()
    }

    /// The bytes of the protected files, with the file of keys.
    private func files() throws -> [String: Data] {
        let protected = folder.path("store/protected")
        let names = try FileManager.default.contentsOfDirectory(atPath: protected)
        return Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: URL(filePath: protected + "/" + $0))) })
    }

    // MARK: The keyring

    @Test("A store whose key is in the keyring opens with the keyring only, and its other items without it")
    func keyringStore() async throws {
        try await withEngine { engine async throws in
            let report = try await engine.unlock(with: .keyring, creates: true)
            #expect(report.hasCreatedKeys && keyring.count == 1)
            try await donate(["one"], to: engine)
            #expect(engine.protectionStatus.storage == .keyring)
            try await engine.commit(IndexBatch(scope: IndexScope(bundle: "com.example.app"), clientState: nil))
        }
        try await withEngine { engine async throws in
            await #expect(throws: EngineError.protection(.otherStorage(.keyring))) {
                try await engine.unlock(passphrase: Self.first, creates: true)
            }
            #expect(try await !engine.unlock(with: .keyring, creates: true).hasCreatedKeys)
            #expect(try await names(engine) == ["one-a", "one-b"])
            await engine.lock()
            keyring.problem.withLock { $0 = .dismissed }
            await #expect(throws: EngineError.protection(.keyring(.dismissed))) {
                try await engine.unlock(with: .keyring, creates: true)
            }
            keyring.problem.withLock { $0 = nil }
        }
        // A copy of the store on another machine, and a lost keyring.
        try await withEngine(hasKeyring: false) { engine async throws in
            await #expect(throws: EngineError.self) { try await engine.unlock(with: .keyring, creates: true) }
            #expect(try await names(engine) == [])
        }
        keyring.removeAll()
        try await withEngine { engine async throws in
            await #expect(throws: EngineError.protection(.keyring(.missingKey))) {
                try await engine.unlock(with: .keyring, creates: true)
            }
            #expect(keyring.count == 0)
            // Without protected items, nothing is lost with the keys.
            _ = try await engine.forget("com.example.health")
            #expect(try await engine.unlock(with: .keyring, creates: true).hasCreatedKeys)
            try await donate(["two"], to: engine)
        }
        try await withEngine { engine async throws in
            #expect(try await engine.unlock(with: .keyring, creates: false).items == 2)
        }
    }

    @Test("An unlocking that fails leaves no key in the keyring, and several at a time make one key")
    func unusedKeys() async throws {
        var configuration = try engine(store: "template").configuration
        configuration.storeDirectory = folder.path("session")
        let asked = Mutex(0)
        configuration.onUnlock = { _ in
            asked.withLock { $0 += 1 }
            return UnlockingSession(isLocked: true)
        }
        let locked = try SearchlightEngine(configuration)
        await #expect(throws: EngineError.protection(.sessionLocked)) {
            try await locked.unlock(with: .keyring, creates: true)
        }
        await locked.close()
        (configuration.access, configuration.onUnlock) = (.readOnly, { _ in UnlockingSession() })
        let reader = try SearchlightEngine(configuration)
        await #expect(throws: EngineError.self) { try await reader.unlock(with: .keyring, creates: true) }
        await reader.close()
        #expect(asked.withLock { $0 } > 0 && keyring.count == 0 && keyring.kept == 0)
        // An error of the disk, at each step.
        var steps = 0
        while true {
            let files = StoppingFiles()
            let store = "disk\(steps)"
            try await withEngine(files, store: store) { engine async throws in
                files.stop(after: steps)
                _ = try? await engine.unlock(with: .keyring, creates: true)
                files.stop(after: .max)
                // Either the file of keys has the key of the keyring, or there is none.
                #expect(keyring.count == (engine.protectionStatus.hasKeys ? 1 : 0), "after \(steps) operations")
            }
            guard keyring.count == 0 else { break }
            steps += 1
            try #require(steps < 50)
        }
        #expect(steps > 3)
        keyring.removeAll()
        try await withEngine { engine async throws in
            let reports = try await withThrowingTaskGroup(of: UnlockReport.self) { group in
                for _ in 0..<8 { group.addTask { try await engine.unlock(with: .keyring, creates: true) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(reports.count(where: \.hasCreatedKeys) == 1 && keyring.count == 1)
        }
    }

    @Test("A lock while the keyring asks the user ends the unlocking")
    func lockedQuestion() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(with: .keyring, creates: true)
            await engine.lock()
            keyring.onRead.withLock { next in next = { [vault = engine.vault] in vault.lock() } }
            await #expect(throws: EngineError.protection(.locked)) {
                try await engine.unlock(with: .keyring, creates: false)
            }
            #expect(!engine.protectionStatus.isUnlocked)
            try await engine.unlock(with: .keyring, creates: false)
        }
    }

    @Test("A passphrase is changed, replaced by the keyring and set again; each opens the store alone")
    func ways() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.first, creates: true)
            try await donate(["one"], to: engine)
            #expect(
                try await engine.changeKeys(from: .passphrase(Self.first), to: .passphrase(Self.second)).notes == [])
            // Nothing is locked by a change.
            #expect(engine.protectionStatus.isUnlocked)
            await engine.lock()
            await #expect(throws: EngineError.protection(.wrongPassphrase)) {
                try await engine.unlock(passphrase: Self.first, creates: false)
            }
            await #expect(throws: EngineError.protection(.wrongPassphrase)) {
                try await engine.changeKeys(from: .passphrase(Self.first), to: .keyring)
            }
            #expect(keyring.count == 0)
            #expect(try await engine.changeKeys(from: .passphrase(Self.second), to: .keyring).storage == .keyring)
            #expect(engine.protectionStatus.storage == .keyring && !engine.protectionStatus.isUnlocked)
        }
        try await withEngine { engine async throws in
            #expect(try await engine.unlock(with: .keyring, creates: false).items == 2)
            // The key in the keyring is replaced.
            try await engine.changeKeys(from: .keyring, to: .keyring)
            #expect(keyring.count == 1)
            try await engine.changeKeys(from: .keyring, to: .passphrase(Self.first))
            #expect(keyring.count == 0)
            await #expect(throws: EngineError.protection(.otherStorage(.passphrase))) {
                try await engine.unlock(with: .keyring, creates: true)
            }
        }
        try await withEngine { engine async throws in
            #expect(try await engine.unlock(passphrase: Self.first, creates: false).items == 2)
        }
    }

    @Test("A change of the keys of a copied store removes no key that another store needs")
    func copiedStore() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(with: .keyring, creates: true)
            try await donate(["one"], to: engine)
        }
        func copy(_ store: String, to other: String) throws {
            try FileManager.default.copyItem(atPath: folder.path(store), toPath: folder.path(other))
        }
        try copy("store", to: "copy")
        try copy("store", to: "other")
        for new in [KeyCredential.keyring, .passphrase(Self.first)] {
            try await withEngine(store: "copy") { engine async throws in
                // The first key is kept for the other folder, and the second one is removed.
                let notes = try await engine.changeKeys(from: .keyring, to: new).notes
                #expect(notes.count == (new == .keyring ? 1 : 0), "\(notes)")
                #expect(keyring.count == (new == .keyring ? 2 : 1))
            }
            for store in ["store", "other"] {
                try await withEngine(store: store) { engine async throws in
                    #expect(try await engine.unlock(with: .keyring, creates: false).items == 2)
                }
            }
        }
    }

    @Test("A change that stops at any step leaves one way that opens all items")
    func stoppedChange() async throws {
        let credentials: [KeyCredential] = [.passphrase(Self.first), .keyring]
        for (old, new) in [(credentials[0], credentials[1]), (credentials[1], credentials[0])] {
            var (changed, kept, steps) = (0, 0, 0)
            try? FileManager.default.removeItem(atPath: folder.path("store"))
            try await withEngine { engine async throws in
                try await engine.unlock(with: old, creates: true)
                try await donate(["one"], to: engine)
            }
            while changed < 3 {
                let files = StoppingFiles()
                try await withEngine(files) { engine async throws in
                    files.stop(after: steps)
                    _ = try? await engine.changeKeys(from: old, to: new)
                    files.stop(after: .max)
                    // A new key that is not needed is removed again.
                    let isInKeyring = engine.protectionStatus.storage == .keyring
                    #expect(new != .keyring || keyring.count == (isInKeyring ? 1 : 0))
                }
                try await withEngine { engine async throws in
                    let isNew = (engine.protectionStatus.storage == .keyring) == (new == .keyring)
                    #expect(try await engine.unlock(with: isNew ? new : old, creates: false).items == 2)
                    if isNew { try await engine.changeKeys(from: new, to: old) }
                    (changed, kept) = isNew ? (changed + 1, kept) : (changed, kept + 1)
                }
                steps += 1
                try #require(steps < 50)
            }
            #expect(kept >= 3)
        }
    }

    @Test("A forgotten passphrase and a lost keyring are replaced only once no protected index is left")
    func lostKeys() async throws {
        for old in [KeyCredential.passphrase(Self.first), .keyring] {
            try? FileManager.default.removeItem(atPath: folder.path("store"))
            try await withEngine { engine async throws in
                try await engine.unlock(with: old, creates: true)
                try await donate(["one"], to: engine)
            }
            keyring.removeAll()
            let expected = old == .keyring ? ProtectionError.otherStorage(.keyring) : .wrongPassphrase
            try await withEngine { engine async throws in
                await #expect(throws: EngineError.protection(expected)) {
                    try await engine.unlock(passphrase: Self.second, creates: true)
                }
                try await engine.forget(Self.scopes[0].bundle)
                await #expect(throws: EngineError.protection(expected)) {
                    try await engine.unlock(passphrase: Self.second, creates: false)
                }
                #expect(try await engine.unlock(passphrase: Self.second, creates: true).hasCreatedKeys)
                try await donate(["two"], to: engine)
            }
            try await withEngine { engine async throws in
                let report = try await engine.unlock(passphrase: Self.second, creates: false)
                #expect(report.items == 2 && report.findings == [])
            }
        }
    }

    @Test("A damaged file of keys is reported, and is replaced only if no protected index needs it")
    func damagedKeys() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.first, creates: true)
            try await donate(["one"], to: engine)
        }
        let path = folder.path("store/protected/key")
        let whole = try Data(contentsOf: URL(filePath: path))
        try whole.prefix(20).write(to: URL(filePath: path))
        try await withEngine { engine async throws in
            let status = engine.protectionStatus
            #expect(status.problemOfKeys?.contains("is damaged") == true && status.findings.count == 1)
            let report = try await engine.verify()
            #expect(report.findings.map(\.part) == ["protected"], "\(report)")
            await #expect(throws: EngineError.self) { try await engine.unlock(passphrase: Self.second, creates: true) }
            await #expect(throws: EngineError.self) { try await engine.unlock(with: .keyring, creates: true) }
            #expect(keyring.count == 0)
            try await engine.forget(Self.scopes[0].bundle)
            #expect(try await engine.unlock(passphrase: Self.second, creates: true).hasCreatedKeys)
            #expect(engine.protectionStatus.problemOfKeys == nil && engine.protectionStatus.findings == [])
            #expect(try await engine.verify().findings == [])
        }
        // Permissions are no damage.
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        try await withEngine { engine async throws in
            guard engine.protectionStatus.problemOfKeys != nil else { return }
            await #expect(throws: EngineError.self) { try await engine.unlock(passphrase: Self.second, creates: true) }
        }
    }

    @Test("A file of keys that is restored, removed or damaged while the engine is open is noticed")
    func changedKeyFile() async throws {
        let path = folder.path("store/protected/key")
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.first, creates: true)
            try await donate(["one"], to: engine)
        }
        let whole = try Data(contentsOf: URL(filePath: path))
        // Missing at the opening, and restored.
        try FileManager.default.removeItem(atPath: path)
        try await withEngine { engine async throws in
            #expect(engine.protectionStatus.problemOfKeys?.contains("is missing") == true)
            for credential in [KeyCredential.passphrase(Self.first), .keyring] {
                await #expect(throws: EngineError.protection(.missingKeys(path: path))) {
                    try await engine.unlock(with: credential, creates: true)
                }
                await #expect(throws: EngineError.protection(.missingKeys(path: path))) {
                    try await engine.changeKeys(from: credential, to: .passphrase(Self.second))
                }
            }
            await #expect(throws: EngineError.protection(.missingKeys(path: path))) {
                try await donate(["x"], to: engine)
            }
            #expect(try await engine.repairProtection() == [])
            try whole.write(to: URL(filePath: path))
            #expect(engine.protectionStatus.problemOfKeys == nil && engine.protectionStatus.storage == .passphrase)
            // A donation needs no unlocking before.
            try await donate(["two"], to: engine)
            #expect(try await engine.unlock(passphrase: Self.first, creates: false).items == 4)
        }
        // The file is removed or damaged while an engine has the store open.
        for isRemoved in [true, false] {
            for isUnlocked in [true, false] {
                try await withEngine { engine async throws in
                    try await engine.unlock(passphrase: Self.first, creates: false)
                    if !isUnlocked { await engine.lock() }
                    try FileManager.default.removeItem(atPath: path)
                    if !isRemoved { try whole.dropLast().write(to: URL(filePath: path)) }
                    let problem = try #require(engine.protectionStatus.problemOfKeys)
                    #expect(engine.protectionStatus.findings == [problem])
                    #expect(try await engine.verify().findings.map(\.repair) == [.rewriteKeys])
                    await #expect(throws: EngineError.self) { try await donate(["x"], to: engine) }
                    let report = try await engine.unlock(passphrase: Self.first, creates: false)
                    #expect(report.items == 4 && report.findings == [problem], "\(report)")
                    await #expect(throws: EngineError.self) { try await donate(["x"], to: engine) }
                    #expect(try await engine.repairProtection().count == 1)
                    #expect(engine.protectionStatus.findings == [])
                    #expect(try await engine.verify().isClean)
                    try await donate(["two"], to: engine)
                }
                #expect(try Data(contentsOf: URL(filePath: path)) == whole)
            }
        }
        // Replaced by an older file, while the engine is unlocked.
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.first, creates: false)
            try await engine.changeKeys(from: .passphrase(Self.first), to: .passphrase(Self.second))
            let new = try Data(contentsOf: URL(filePath: path))
            try whole.write(to: URL(filePath: path))
            #expect(engine.protectionStatus.problemOfKeys?.contains("replaced") == true)
            await #expect(throws: EngineError.protection(.replaced(path: path))) { try await donate(["x"], to: engine) }
            #expect(try await engine.repairProtection().count == 1)
            #expect(try Data(contentsOf: URL(filePath: path)) == new)
            // The older file is used after a lock.
            try whole.write(to: URL(filePath: path))
            await engine.lock()
            #expect(try await engine.unlock(passphrase: Self.first, creates: false).items == 4)
        }
        // New keys, since nothing needs the removed ones.
        try await withEngine { engine async throws in
            try await engine.forget(Self.scopes[0].bundle)
            try FileManager.default.removeItem(atPath: path)
            #expect(engine.protectionStatus.problemOfKeys == nil && !engine.protectionStatus.hasKeys)
            #expect(try await engine.unlock(passphrase: Self.second, creates: true).hasCreatedKeys)
            try await donate(["three"], to: engine)
        }
        try await withEngine { engine async throws in
            #expect(try await engine.unlock(passphrase: Self.second, creates: false).items == 2)
        }
    }

    // MARK: Rotation

    @Test("A rotation replaces all keys, and the earlier ones open nothing")
    func rotated() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.first, creates: true)
            try await donate(["one"], to: engine)
            await engine.lock()
            try await donate(["two"], to: engine)
        }
        let before = try files()
        try await withEngine { engine async throws in
            #expect(try await engine.rotateKeys(with: .passphrase(Self.first)).kept == [])
            try await donate(["three"], to: engine)
        }
        let after = try files()
        #expect(before.keys == after.keys && before.allSatisfy { after[$0.key] != $0.value })
        try await withEngine { engine async throws in
            #expect(try await engine.unlock(passphrase: Self.first, creates: false).findings == [])
            #expect(try await names(engine).count == 6)
        }
        // The earlier file of keys does not open the new files, as in a store that was put
        // together.
        let key = try #require(before["key"])
        try key.write(to: URL(filePath: folder.path("store/protected/key")))
        try await withEngine { engine async throws in
            let report = try await engine.unlock(passphrase: Self.first, creates: false)
            #expect(report.items == 0 && report.findings.count == 2)
        }
    }

    @Test("A rotation that stops at any step loses nothing, and the next unlocking ends it", arguments: [false, true])
    func stoppedRotation(usesKeyring: Bool) async throws {
        let credential: KeyCredential = usesKeyring ? .keyring : .passphrase(Self.first)
        var (steps, rounds) = (0, 0)
        try await withEngine { engine async throws in
            try await engine.unlock(with: credential, creates: true)
            try await donate(["one"], to: engine)
        }
        while true {
            let files = StoppingFiles()
            try await withEngine(files) { engine async throws in
                try await engine.unlock(with: credential, creates: false)
                files.stop(after: steps)
                _ = try? await engine.rotateKeys(with: credential)
            }
            let hasStopped = files.hasStopped
            let stopped = try self.files()
            try await withEngine { engine async throws in
                let report = try await engine.unlock(with: credential, creates: false)
                #expect(report.findings == [] && report.items == 2, "after \(steps) operations")
                if usesKeyring {
                    try await engine.changeKeys(from: .keyring, to: .keyring)
                } else if rounds % 3 == 0 {
                    try await engine.changeKeys(from: credential, to: credential)
                }
            }
            // The next unlocking writes nothing more.
            let ended = try self.files()
            try await withEngine { engine async throws in
                #expect(try await engine.unlock(with: credential, creates: false).items == 2)
            }
            #expect(try self.files() == ended)
            #expect(Set(stopped.keys).isSuperset(of: ended.keys))
            (steps, rounds) = (steps + 1, rounds + 1)
            guard hasStopped else { break }
            try #require(steps < 100)
        }
        #expect(rounds > 15)
    }

    @Test("A file with a record that cannot be read keeps its keys in a rotation, and is still read after it")
    func damagedRotation() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.first, creates: true)
            try await donate(["one"], to: engine, .complete)
            try await donate(["two"], to: engine, .complete)
        }
        let path = folder.path("store/protected/") + (try #require(try files().keys.filter { $0 != "key" }.min()))
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(filePath: path))
        for _ in 0..<3 {
            try await withEngine { engine async throws in
                let report = try await engine.rotateKeys(with: .passphrase(Self.first))
                // The findings of the unlocking before are reported too, and each sentence once.
                #expect(report.items == 3 && report.kept.count == 1 && report.findings.count == 1, "\(report)")
                await engine.lock()
                #expect(try await engine.unlock(passphrase: Self.first, creates: false).items == 3)
                try await donate(["three"], to: engine, .complete)
                await engine.lock()
                #expect(try await engine.unlock(passphrase: Self.first, creates: false).items == 5)
                var deletion = IndexBatch(scope: Self.scopes[0])
                deletion.delete(identifiers: ["three-a"])
                try await engine.commit(deletion)
                deletion = IndexBatch(scope: Self.scopes[1])
                deletion.delete(identifiers: ["three-b"])
                try await engine.commit(deletion)
            }
        }
    }

    @Test("A lock at any step of a rotation wipes all keys, and the next unlocking ends the rotation")
    func lockedRotation() async throws {
        let credential = KeyCredential.passphrase(Self.first)
        try await withEngine { engine async throws in
            try await engine.unlock(with: credential, creates: true)
            try await donate(["one"], to: engine, .complete)
        }
        var (steps, wasLocked) = (0, false)
        while true {
            let files = StoppingFiles()
            let owner = Mutex(Weak())
            let found = Mutex((isWiped: false, hasSession: false))
            let onUnlock: @Sendable (_ lock: @escaping @Sendable () -> Void) async -> UnlockingSession = { _ in
                let new = Owner()
                owner.withLock { if $0.owner == nil { $0.owner = new } }
                return UnlockingSession(owner: new)
            }
            try await withEngine(files, onUnlock: onUnlock) { engine async throws in
                try await engine.unlock(with: credential, creates: false)
                files.call(after: steps) { [vault = engine.vault] in
                    let keys = vault.state.withLock { $0.opened }
                    let end = vault.lock()
                    let isWiped =
                        !keys.isEmpty && keys.allSatisfy { $0.master.isWiped && $0.previous?.isWiped != false }
                    let hasEnded = DispatchSemaphore(value: 0)
                    Task {
                        await end?.value
                        hasEnded.signal()
                    }
                    hasEnded.wait()
                    // The session delays a suspend until the end of the rotation.
                    found.withLock { $0 = (isWiped, hasSession: owner.withLock { $0.owner != nil }) }
                }
                _ = try? await engine.rotateKeys(with: credential)
                wasLocked = files.hasStopped
                // Closing has operations too.
                files.call(after: .max) {}
                guard wasLocked else { return }
                #expect(found.withLock { $0.isWiped && $0.hasSession }, "after \(steps) operations")
                #expect(!engine.protectionStatus.isUnlocked)
                #expect(engine.vault.state.withLock { state in state.logs.values.allSatisfy { !$0.isUnlocked } })
                await #expect(throws: EngineError.protection(.locked), "after \(steps) operations") {
                    try await donate(["two"], to: engine, .complete)
                }
            }
            try await withEngine { engine async throws in
                let report = try await engine.unlock(with: credential, creates: false)
                #expect(report.findings == [] && report.items == 2, "after \(steps) operations")
            }
            guard wasLocked else { break }
            steps += 1
            try #require(steps < 100)
        }
        #expect(steps > 15)
    }

    @Test("A file with a record that unlocking does not read keeps its keys and its bytes in a rotation")
    func unreadRecord() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.first, creates: true)
            try await donate(["one"], to: engine)
        }
        // Any program of the user can donate to a locked index of this class.
        for name in try files().keys where name != "key" {
            let log = try SealedLog.open(folder.path("store/protected/" + name))
            var batch = IndexBatch(scope: log.header.scope)
            batch.index([try EncodedItem(ItemRecord(uniqueIdentifier: "b\0", attributes: [:]))])
            try log.append(LogEntry(batch, moment: nil).record())
        }
        let before = try files()
        try await withEngine { engine async throws in
            let report = try await engine.rotateKeys(with: .passphrase(Self.first))
            #expect(report.items == 2 && report.kept.count == 2 && report.findings.count == 2, "\(report)")
        }
        let after = try files()
        #expect(before.allSatisfy { $0.key == "key" || after[$0.key] == $0.value })
    }

    @Test("The earlier master key stays while the names of the new files are not durable")
    func undurableNames() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.first, creates: true)
            try await donate(["one"], to: engine)
        }
        let before = try files()
        let files = StoppingFiles()
        try await withEngine(files) { engine async throws in
            try await engine.unlock(passphrase: Self.first, creates: false)
            // The file with both master keys is durable, and the names of the new files are not.
            files.failFolders(after: 1)
            #expect(try await engine.rotateKeys(with: .passphrase(Self.first)).kept.count == 1)
        }
        // After a power failure, the replaced files are back.
        for (name, bytes) in before where name != "key" {
            try bytes.write(to: URL(filePath: folder.path("store/protected/" + name)))
        }
        try await withEngine { engine async throws in
            let report = try await engine.unlock(passphrase: Self.first, creates: false)
            #expect(report.findings == [] && report.items == 2)
        }
    }

    @Test("A locked session unlocks nothing, and its notes are reported")
    func lockedSession() async throws {
        let isLocked = Mutex(true)
        var configuration = try engine().configuration
        configuration.onUnlock = { _ in UnlockingSession(isLocked: isLocked.withLock { $0 }, notes: ["A note."]) }
        configuration.storeDirectory = folder.path("other")
        let engine = try SearchlightEngine(configuration)
        await #expect(throws: EngineError.protection(.sessionLocked)) {
            try await engine.unlock(passphrase: Self.first, creates: true)
        }
        #expect(engine.protectionStatus.storage == nil && !engine.protectionStatus.isUnlocked)
        isLocked.withLock { $0 = false }
        #expect(try await engine.unlock(passphrase: Self.first, creates: true).notes == ["A note."])
        #expect(engine.protectionStatus.notes == ["A note."])
        #expect(try await engine.unlock(passphrase: Self.first, creates: false).notes == ["A note."])
        await engine.lock()
        #expect(engine.protectionStatus.notes == [] && engine.protectionNotes == [])
        await engine.close()
    }
}
