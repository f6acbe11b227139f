// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import Protection
import SearchIndex
import Synchronization
import SystemSupport
import WriteAheadLog

/// The protected indexes of a store: encrypted files in the folder `protected`, and, while the
/// store is unlocked, an index in memory that is made from them.
///
/// ```swift
/// let report = try await vault.unlock(with: .passphrase(Array("correct horse".utf8)), creates: true)
/// let page = try await vault.index?.search(request)
/// vault.lock()  // from now on `index` is nil, and the keys are overwritten
/// ```
///
/// Commits and unlocking run one after the other; ``lock()`` waits for neither. May be used from
/// any task.
final class Vault: Sendable {
    /// The folder of the files.
    let folder: String
    let isWritable: Bool
    let files: any LogFiles
    let now: @Sendable () -> Double
    let bootClock: BootClock?
    let cost: MasterKeyFile.Cost
    let limits: ProtectionLimits
    let clock: any Clock<Duration>
    /// See ``EngineConfiguration/onWork``.
    let onWork: @Sendable () -> any Sendable
    /// The index of the items that are not protected.
    private let plain: SearchIndex
    /// See ``EngineConfiguration/onUnlock``.
    let onUnlock: @Sendable (_ lock: @escaping @Sendable () -> Void) async -> UnlockingSession
    /// See ``EngineConfiguration/onSecrets``.
    let onSecrets: @Sendable () -> Void
    /// See ``EngineConfiguration/keyring``.
    let keyring: (any Keyring)?
    /// See ``EngineConfiguration/onDiscard``.
    private let onDiscard: @Sendable () async -> Void
    /// Called after each unlocking and each lock; must not block.
    let onLockChange: @Sendable () -> Void
    let state: Mutex<State>
    let queue = SerialTasks()
    /// The order in which images are written.
    let images = SerialTasks()

    struct State: Sendable {
        /// The files by their index.
        var logs: [IndexScope: SealedLog] = [:]
        /// `nil` until the first ``unlock(with:creates:)`` creates the keys.
        var keys: MasterKeyFile?
        /// The problem of the file of keys, if it cannot be read; `nil` normally. ``keys`` may be
        /// the content that the file had before.
        var unreadableKeys: ProtectionError?
        /// The path of the file of keys if it is missing; `nil` otherwise.
        var missingKeys: String?
        /// The file of keys at the last reading; `nil` if it must be read again.
        var keysStamp: FileStamp?
        /// The unlocked store; `nil` while it is locked.
        var unlocked: Unlocked?
        /// The store that is being unlocked; `nil` normally.
        var unlocking: Unlocking?
        /// The keys that unlocking or a rotation has opened, so that a lock reaches them.
        var opened: [MasterKeyFile.Keys] = []
        /// The image of the index in memory.
        var image = ImageState()
        /// The indexes that are not in memory, because they exceed
        /// ``ProtectionLimits/memoryBytes``.
        var beyondLimit: Set<IndexScope> = []
        /// The indexes whose files appeared while the store was unlocked, and that are not read
        /// before the next unlocking.
        var appeared: Set<IndexScope> = []
        /// The folder at the last reading.
        var folderStamp: FileStamp?
        /// The time after which the folder is read again, because a file could not be read; `nil`
        /// normally.
        var nextReading: Double?
        /// The unlocked indexes with records that unlocking could not read.
        var incomplete: Set<IndexScope> = []
        /// The minimum number of bytes that donations may still add to the index in memory.
        var room = 0
        /// One sentence for each event, such as a lock of the session, that the service may miss,
        /// so that the items stay unlocked; empty while the items are locked.
        var notes: [String] = []
        /// The number of locks, so that unlocking notices a lock during its work.
        var locks: UInt64 = 0
        /// A sentence for each problem of a file that does not need the keys.
        var findings: [String] = []
        /// A sentence for each problem that the last unlocking found.
        var unlockFindings: [String] = []
        /// The problem of the first file whose index is unknown; `nil` normally.
        var unreadable: ProtectionError?
    }

    /// The image of the index in memory; see ``SealedImage``.
    struct ImageState: Sendable {
        /// The image that is being read; `nil` normally.
        var reading: SealedImage?
        /// The key of the image that is being written; `nil` normally.
        var writing: SecretKey?
        /// The session of the image that is being written, so that a suspend waits until its pages
        /// are gone from the memory.
        var session: UnlockingSession?
        /// The positions up to which the image on disk contains the records.
        var covered: [VaultIdentifier: SealedLog.Position] = [:]
        /// The pending writing.
        var task: Task<Void, Never>?
        /// The number of times that the image was removed, so that writing notices it.
        var removals: UInt64 = 0
        /// The duration of the last writing.
        var duration = Duration.zero
        /// `false` after a removal of items from the index in memory.
        var mayBeWritten = true
        /// `true` if the image on disk has items of files that are missing or older.
        var hasOthers = false
    }

    /// The parts of a store that is being unlocked, so that a lock reaches them.
    struct Unlocking: Sendable {
        var master: SecretKey?
        /// The master key before a rotation that has not ended.
        var previous: SecretKey?
        var index: SearchIndex?
        /// The result of ``EngineConfiguration/onUnlock``.
        var session: UnlockingSession?
    }

    /// The keys and the index of an unlocked store.
    struct Unlocked: Sendable {
        let index: SearchIndex
        var master: SecretKey
        /// The master key before a rotation that has not ended.
        var previous: SecretKey?
        /// The result of ``EngineConfiguration/onUnlock``.
        let session: UnlockingSession
    }

    /// The largest number of protected indexes.
    static let maximumIndexes = 256
    /// The largest number of findings that are kept.
    static let maximumFindings = 100
    /// The name of ``folder`` in the store.
    static let folderName = "protected"
    /// The name of the file of keys in ``folder``.
    static let keyFileName = "key"

    /// Finds the files of a store. Without any, nothing is read or written.
    ///
    /// - Parameter onLockChange: Called after each unlocking and each lock, on any thread; must not
    ///   block.
    init(
        _ configuration: EngineConfiguration, isWritable: Bool, besides plain: SearchIndex,
        onLockChange: @escaping @Sendable () -> Void = {}
    ) {
        self.onLockChange = onLockChange
        folder = configuration.storeDirectory + "/" + Self.folderName
        self.isWritable = isWritable
        self.plain = plain
        files = configuration.storeHooks.logFiles
        cost = configuration.passphraseCost
        (limits, clock, onWork) = (configuration.protectionLimits, configuration.clock, configuration.onWork)
        (now, bootClock, onUnlock) = (configuration.now, configuration.bootClock, configuration.onUnlock)
        (onSecrets, keyring, onDiscard) = (configuration.onSecrets, configuration.keyring, configuration.onDiscard)
        state = Mutex(Self.found(in: folder, configuration.storeHooks.logFiles, isWritable: isWritable))
    }

    /// Finds the files in a folder.
    ///
    /// - Parameter discards: `true` to remove the remains of interrupted writing.
    static func found(
        in folder: String, _ files: any LogFiles, isWritable: Bool, discards: Bool? = nil
    ) -> State {
        let discards = discards ?? isWritable
        var state = State()
        state.folderStamp = FileStamp(ofPath: folder)
        let names: [String]
        do throws(UntrustedFile) { guard try OwnFile.check(folder, .folder) else { return state } } catch {
            state.noteUnreadable(.file(error.description))
            return state
        }
        do throws(LogFileError) { names = try files.names(in: folder) } catch {
            state.noteUnreadable(ProtectionError(error))
            return state
        }
        let (keys, stamp) = readKeys(folder + "/" + keyFileName)
        state.noteKeys(keys, stamp, path: folder + "/" + keyFileName, needed: [])
        if discards { _ = try? SealedImage.destroyUnfinished(folder + "/" + imageName, in: folder, files: files) }
        for name in names.sorted() {
            let path = folder + "/" + name
            if name.hasSuffix(LogFileNames.unfinishedSuffix), discards { discard(path, files) }
            guard name.hasSuffix(SealedLog.suffix) else { continue }
            // A removal was interrupted after it had destroyed the keys.
            if let claim = try? SealedLog.claim(path, files: files), claim.isDestroyed {
                if discards { try? files.remove(path) }
                continue
            }
            do throws(ProtectionError) {
                let log = try SealedLog.open(path, files: files, isWritable: isWritable)
                guard state.logs[log.header.scope] == nil else {
                    state.note(
                        ProtectionError.damaged(path: path, detail: "another file has the same index").description)
                    continue
                }
                guard state.logs.count < maximumIndexes else { throw .tooManyIndexes(limit: maximumIndexes) }
                state.logs[log.header.scope] = log
            } catch {
                state.noteUnreadable(error)
            }
        }
        return state
    }

    // MARK: Changes by other programs

    /// Reads the folder again, before unlocking: a backup program may have restored or removed a
    /// file since. Runs after all earlier commits and changes.
    func refresh() async {
        await serially { [self] in
            _ = try? await onFiles { [self] () throws(ProtectionError) in
                // The files of the indexes tell whose keys are needed.
                if state.withLock({ $0.unlocked == nil }) { findLogsAgain() }
                readKeysAgain()
            }
        }
    }

    /// Finds the files of a locked store again.
    private func findLogsAgain() {
        guard (try? files.names(in: folder)) != nil else { return }
        let (found, time) = (Self.found(in: folder, files, isWritable: isWritable, discards: false), now())
        let open = state.withLock { $0.logs }
        let inPlace = Set(open.filter { $0.value.isInPlace }.keys)
        let staying = Set(open.filter { $0.value.mustStayOpen }.keys)
        state.withLock { state in
            var (logs, findings) = (found.logs, found.findings)
            for (scope, log) in open {
                // The other files may have other content now.
                if inPlace.contains(scope), staying.contains(scope), logs[scope]?.path == log.path {
                    logs[scope] = log
                }
                guard logs[scope] == nil else { continue }
                // A file that was removed or damaged can still be read and written again.
                logs[scope] = log
                if !inPlace.contains(scope) {
                    findings.append(ProtectionError.replaced(path: log.path).description)
                }
            }
            state.logs = logs
            state.noteFolder(found, at: time)
            (state.findings, state.unreadable) = (Array(findings.suffix(Self.maximumFindings)), found.unreadable)
        }
    }

    /// Finds files that appeared since the folder was read: a donation to an index that a backup
    /// program has restored must not be stored as plain text. Costs one `lstat` if the folder has
    /// not changed, and waits for other work only if there is a new file.
    func findNewLogs() async {
        guard let stamp = FileStamp(ofPath: folder), state.withLock({ $0.mayHaveNewFiles(stamp, at: now()) })
        else { return }
        let hasNews = try? await onFiles { [self] () throws(ProtectionError) in
            let (found, time) = (Self.found(in: folder, files, isWritable: isWritable, discards: false), now())
            return state.withLock { state in
                let isKnown = found.unreadable == nil && found.logs.keys.allSatisfy { state.logs[$0] != nil }
                if isKnown { state.noteFolder(found, at: time) }
                return !isKnown
            }
        }
        guard hasNews == true else { return }
        await serially { [self] in
            _ = try? await onFiles { [self] () throws(ProtectionError) in
                guard state.withLock({ $0.unlocked != nil || $0.unlocking != nil }) else { return findLogsAgain() }
                let found = Self.found(in: folder, files, isWritable: isWritable, discards: false)
                let time = now()
                state.withLock { state in
                    state.noteFolder(found, at: time)
                    // Until the file can be read, nothing is stored in indexes that are not known.
                    state.unreadable = found.unreadable
                    for finding in found.findings where !state.findings.contains(finding) { state.note(finding) }
                    for (scope, log) in found.logs where state.logs[scope] == nil {
                        state.logs[scope] = log
                        state.appeared.insert(scope)
                        state.note(ProtectionError.appeared(path: log.path).description)
                    }
                }
            }
        }
    }

    /// Throws if the next unlocking could not read an item that is stored in an index now.
    private func checkFiles(of scope: IndexScope) throws(ProtectionError) {
        let stamp = state.withLock { $0.keysStamp }
        if stamp == nil || stamp != FileStamp(ofPath: keyPath) { readKeysAgain() }
        let (keys, log, problem) = state.withLock { state in
            (state.keys, state.logs[scope], state.mayCreateKeys ? nil : state.keysProblem)
        }
        if let problem { throw problem }
        guard let log else { return }
        guard keys?.vault == log.header.vault else {
            throw .damaged(path: log.path, detail: "its keys are not the store's keys")
        }
    }

    /// The index in memory; `nil` while the store is locked.
    var index: SearchIndex? { state.withLock { $0.unlocked?.index } }

    /// `true` if an index is protected.
    func holds(_ scope: IndexScope) -> Bool { state.withLock { $0.logs[scope] != nil } }

    /// The class of a protected index; `nil` for other indexes.
    func protection(of scope: IndexScope) -> ProtectionClass? {
        state.withLock { $0.logs[scope]?.header.protection }
    }

    /// The problem of a file that may belong to an index; `nil` if there is none.
    func problem(of scope: IndexScope) -> ProtectionError? {
        state.withLock { $0.logs[scope] == nil ? $0.unreadable : nil }
    }

    /// `true` if there are protected indexes that cannot be searched now.
    var isLocked: Bool { state.withLock { $0.unlocked == nil && !$0.logs.isEmpty } }

    /// `true` if there are protected indexes.
    var hasIndexes: Bool { state.withLock { !$0.logs.isEmpty } }

    /// The bundles that have protected indexes.
    var bundles: Set<String> { state.withLock { Set($0.logs.keys.map(\.bundle)) } }

    /// `true` if a bundle has protected indexes that cannot be read now.
    func isLocked(_ bundle: String) -> Bool {
        state.withLock { state in state.unlocked == nil && state.logs.keys.contains { $0.bundle == bundle } }
    }

    /// The names of a bundle's protected indexes that cannot be read now.
    func lockedIndexes(of bundle: String) -> Set<String> {
        state.withLock { state in
            state.unlocked == nil ? Set(state.logs.keys.filter { $0.bundle == bundle }.compactMap(\.index)) : []
        }
    }

    /// Performs an operation on the index in memory.
    ///
    /// - Returns: `nil` while the store is locked, also if it was locked during the operation.
    func whileUnlocked<Value, Failure: Error>(
        _ body: (SearchIndex) async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard let index else { return nil }
        do throws(Failure) { return try await body(index) } catch {
            if self.index !== index { return nil }
            throw error
        }
    }

    /// The index in memory, for a request about a protected index.
    ///
    /// - Throws: ``ProtectionError/locked``.
    func unlockedIndex() throws(EngineError) -> SearchIndex {
        guard let index else { throw .protection(.locked) }
        return index
    }

    // MARK: Locking

    /// Overwrites the keys and drops the index in memory. Unlocking in progress fails, and so do
    /// requests about protected indexes. Returns when the keys are overwritten; the memory of the
    /// index is freed within moments. Waits for no file.
    ///
    /// - Returns: A task that ends when the memory is freed; `nil` if the store was locked and no
    ///   unlocking was in progress.
    @discardableResult
    func lock() -> Task<Void, Never>? {
        let (wasLocked, indexes, sessions) = state.withLock { state -> (Bool, [SearchIndex], [UnlockingSession]) in
            state.locks += 1
            // The master keys first: from then on, no key of a file can be opened.
            let masters = [
                state.unlocked?.master, state.unlocked?.previous, state.unlocking?.master, state.unlocking?.previous,
            ]
            for master in masters { master?.wipe() }
            for keys in state.opened { keys.wipe() }
            state.image.reading?.wipe()
            state.image.writing?.wipe()
            state.image.task?.cancel()
            // Another file of keys counts from now on, and so do files that appeared.
            (state.keysStamp, state.appeared) = (nil, [])
            (state.image.reading, state.image.writing, state.image.task) = (nil, nil, nil)
            for log in state.logs.values { log.lock() }
            defer { (state.unlocked, state.unlocking, state.opened, state.notes) = (nil, nil, [], []) }
            let indexes = [state.unlocked?.index, state.unlocking?.index].compactMap(\.self)
            let sessions = [state.unlocked?.session, state.unlocking?.session].compactMap(\.self)
            return (state.unlocked == nil && state.unlocking == nil, indexes, sessions)
        }
        guard !wasLocked else { return nil }
        onLockChange()
        // The connections of the other index keep the words of the last searches.
        plain.releaseMemory()
        return Task.detached { [onDiscard] in
            await onDiscard()
            for index in indexes { await index.discard() }
            // The session delays a suspend until the items are gone from the memory.
            withExtendedLifetime(sessions) {}
        }
    }

    // MARK: Donations

    /// Makes a batch of a protected index durable. The first batch of an index with an encrypted
    /// class creates the index.
    ///
    /// While the store is locked, an index of the class `completeUnlessOpen` accepts batches that
    /// expect no client state.
    ///
    /// - Throws: ``EngineError/protection(_:)`` or ``EngineError/index(_:)``; then nothing of the
    ///   batch is kept.
    func commit(_ batch: IndexBatch, terms: DonationTerms) async throws(EngineError) {
        let result: Result<Void, EngineError> = await queue.run { [self] in
            do throws(EngineError) { return .success(try await commitNow(batch, terms)) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    private func commitNow(_ batch: IndexBatch, _ terms: DonationTerms) async throws(EngineError) {
        guard isWritable else { throw .index(.readOnly(path: folder, operation: "Storing items")) }
        let scope = batch.scope
        let index = index
        if case .exactly(let expected) = batch.expectation {
            let index = try unlockedIndex()
            let current = try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
                try await index.clientState(of: scope)
            }
            guard current == expected else { throw .index(.mismatchedClientState) }
        }
        guard !batch.changes.isEmpty || batch.clientState != nil else { return }
        // A durable batch must be readable at the next unlocking.
        do throws(SearchIndexError) { try SearchIndex.check(batch) } catch { throw .index(error) }
        guard terms.isWanted() else { throw .index(.mismatchedClientState) }
        // Deletions make room.
        if let index, batch.hasItems { try await checkRoom(for: batch, in: index) }
        let entry = LogEntry(batch, moment: plain.moment())
        try await onFiles { [self] () throws(ProtectionError) in
            try append(try entry.record(), of: batch)
        }
        // The batch is durable now, so it is not a failure if the store is locked during the
        // remaining steps.
        _ = try await whileUnlocked { (current) async throws(EngineError) in
            guard current === index else { return }
            try await SearchlightEngine.onIndex(current) { (index) throws(SearchIndexError) in
                try await index.restore(entry)
            }
        }
        noteRecords()
    }

    /// The bytes of the index in memory for each byte of a donation, at most.
    private static let indexRatio = 8

    /// Rejects a donation for which the index in memory has no room.
    private func checkRoom(for batch: IndexBatch, in index: SearchIndex) async throws(EngineError) {
        let bytes = batch.approximateBytes.multipliedReportingOverflow(by: Self.indexRatio).partialValue
        let isFine = state.withLock { state in
            state.room -= bytes
            return state.room >= 0
        }
        guard !isFine else { return }
        let room = try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
            try await index.settle()
            return try await limits.memoryBytes - index.memoryBytes()
        }
        state.withLock { $0.room = room }
        guard room > 0 else { throw .protection(.tooMuchMemory(limit: limits.memoryBytes)) }
    }

    /// Appends a record to the file of its index. Blocks.
    private func append(_ record: [UInt8], of batch: IndexBatch) throws(ProtectionError) {
        // While the store is locked, the file that is at the path now is used, even if it replaced
        // the known file.
        let known = state.withLock { $0.unlocked == nil && $0.unlocking == nil ? $0.logs[batch.scope] : nil }
        if let known, !known.isInPlace { findLogsAgain() }
        if batch.hasItems { try checkFiles(of: batch.scope) }
        let log = try log(for: batch.scope, batch.protection, addsItems: batch.hasItems)
        // A deletion in a file without its name would be undone by the next unlocking.
        guard log.isInPlace else { throw .replaced(path: log.path) }
        let master = state.withLock { state in
            state.beyondLimit.contains(batch.scope) ? state.unlocked?.master : nil
        }
        guard let master, !log.isUnlocked else { return try log.append(record) }
        // The items of the file are not in memory, so its keys are needed only now.
        try log.unlock(master: master)
        defer { log.lock() }
        try log.append(record)
    }

    /// Returns the file of an index, and creates it if necessary. Blocks.
    ///
    /// - Parameter addsItems: `false` for a record that needs no room in memory.
    /// - Throws: ``ProtectionError/weakerClass(index:)`` if the donor requests `complete` and the
    ///   file has the other class. Until unlocking, only a checksum protects the class and the
    ///   public key in the header.
    private func log(
        for scope: IndexScope, _ protection: ProtectionClass?, addsItems: Bool
    ) throws(ProtectionError) -> SealedLog {
        let (log, count, keys, master, isForeign, isBeyondLimit, hasAppeared) = state.withLock { state in
            (
                state.logs[scope], state.logs.count, state.keys, state.unlocked?.master,
                state.unlocked != nil && state.logs[scope]?.isUnlocked == false, state.beyondLimit.contains(scope),
                state.appeared.contains(scope)
            )
        }
        if let log {
            guard !hasAppeared else { throw .appeared(path: log.path) }
            guard !isBeyondLimit || !isForeign || !addsItems else { throw .tooMuchMemory(limit: limits.memoryBytes) }
            guard !isForeign || isBeyondLimit else {
                throw .damaged(path: log.path, detail: "its keys are not the store's keys")
            }
            guard protection != .complete || log.header.protection == .complete else {
                throw .weakerClass(index: scope.phrase)
            }
            return log
        }
        guard let keys else { throw .noKeys }
        guard let master else { throw .locked }
        guard count < Self.maximumIndexes else { throw .tooManyIndexes(limit: Self.maximumIndexes) }
        let created = try SealedLog.create(
            folder + "/" + VaultIdentifier().text + SealedLog.suffix, in: folder, scope, protection ?? .complete,
            vault: keys.vault, master: master, files: files
        ) { _ in }
        let isLocked = state.withLock { state in
            state.logs[scope] = created
            return state.unlocked == nil
        }
        if isLocked { created.lock() }
        return created
    }

    /// Runs a body after all commits and unlocking that began before.
    func serially<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await queue.run(body)
    }
}

extension Vault.State {
    /// Notes that the folder was read.
    mutating func noteFolder(_ found: Self, at time: Double) {
        folderStamp = found.folderStamp
        // A copy that is being written changes the folder only once.
        nextReading = found.unreadable == nil ? nil : time + 1
    }

    /// `true` if the folder has another stamp than at the last reading, or if a file could not be
    /// read then.
    func mayHaveNewFiles(_ stamp: FileStamp, at time: Double) -> Bool {
        folderStamp != stamp || nextReading.map { time >= $0 || time < $0 - 2 } ?? false
    }

    /// Keeps the problem of a file whose index is unknown.
    mutating func noteUnreadable(_ error: ProtectionError) {
        unreadable = unreadable ?? error
        note(error.description)
    }

    /// Keeps a finding, and drops the oldest ones beyond ``Vault/maximumFindings``.
    mutating func note(_ finding: String) { findings = Array((findings + [finding]).suffix(Vault.maximumFindings)) }
}

/// Tasks that run one after the other, in the order of ``run(_:)``.
final class SerialTasks: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    /// Runs a body after all earlier ones, also if the calling task is cancelled.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let task = last.withLock { last in
            let task = Task { [previous = last] in
                await previous?.value
                return await body()
            }
            last = Task { _ = await task.value }
            return task
        }
        return await task.value
    }
}

/// Runs blocking operations on files on a thread that may block.
func onFiles<Value: Sendable>(
    _ body: @escaping @Sendable () throws(ProtectionError) -> Value
) async throws(EngineError) -> Value {
    let result: Result<Value, ProtectionError> = await withCheckedContinuation { continuation in
        DispatchQueue.global(qos: .utility).async {
            continuation.resume(returning: Result { () throws(ProtectionError) in try body() })
        }
    }
    do throws(ProtectionError) { return try result.get() } catch { throw .protection(error) }
}
