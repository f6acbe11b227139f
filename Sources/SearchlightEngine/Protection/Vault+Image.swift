// SPDX-License-Identifier: Apache-2.0
import Glibc
import ItemRecord
import Protection
import SearchIndex
import WriteAheadLog

/// The bounds of protected indexes in memory, and of the image from which they are restored.
package struct ProtectionLimits: Sendable {
    /// The largest index in memory, in bytes. Files beyond it stay locked.
    package var memoryBytes = standardMemoryBytes
    /// The smallest index in memory, in bytes, of which an image is written: filling it takes
    /// longer than a passphrase.
    package var imageBytes = 4 << 20
    /// The time after a donation before an outdated image is written again.
    package var imageDelay = Duration.seconds(10)
    /// An image is outdated if the later records have this share of all bytes in the files, and at
    /// least ``staleBytes``.
    package var staleShare = 1.0 / 32
    /// See ``staleShare``.
    package var staleBytes = 256 << 10

    /// A quarter of the memory of the machine, at most 2 GiB.
    package static let standardMemoryBytes: Int = {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let bytes = pages > 0 ? pages / 4 * sysconf(Int32(_SC_PAGESIZE)) : 0
        return min(max(bytes, 256 << 20), 2 << 30)
    }()

    package init() {}
}

/// The encrypted image of the index in memory (``SealedImage``). Filling an index from the records
/// takes as long as donating them; restoring it from its image takes as long as reading a file.
///
/// The image is written in the background, a while after donations, and at the end of the engine;
/// never while the store locks, whose keys are wiped first. It has the position in each file up to
/// which it contains the records, and only later records are read. An image that is damaged or of
/// another rule is removed, and the index is filled from the records. If a file is missing or older
/// than the image, only its items are dropped. The image stays, because a record of a different
/// file may have been damaged since. The image then has the only copy.
extension Vault {
    static let imageName = "image"
    /// The pause before an image is written, in times of the duration of the last writing.
    private static let pauseRatio = 20
    var imagePath: String { folder + "/" + Self.imageName }

    /// An index that was restored from the image.
    struct Restored: Sendable {
        var index: SearchIndex
        /// The positions of the records that the image does not contain.
        var positions: [VaultIdentifier: SealedLog.Position]
        /// `true` if the image has items of files that are missing or older.
        var isOutdated: Bool
    }

    // MARK: Restoring

    /// Restores the index from the image.
    ///
    /// - Parameter masters: The master key, and the one before a rotation that has not ended.
    /// - Returns: `nil` if there is no usable image, and a sentence for each file that is older
    ///   than the image.
    func restored(
        _ masters: [SecretKey], _ vault: VaultIdentifier, _ locks: UInt64
    ) async throws(EngineError) -> (restored: Restored?, findings: [String]) {
        let logs = state.withLock { Array($0.logs.values) }
        let (path, files) = (imagePath, files)
        let image = try await onFiles { () throws(ProtectionError) -> SealedImage? in
            for master in masters {
                if let image = try SealedImage.open(path, vault: vault, master: master, files: files) { return image }
            }
            return nil
        }
        guard let image else {
            await dropImage()
            return (nil, [])
        }
        do throws(EngineError) { try change(since: locks) { $0.image.reading = image } } catch {
            image.wipe()
            throw error
        }
        defer { state.withLock { $0.image.reading = nil } }
        let maximumBytes = limits.memoryBytes
        typealias Positions = [VaultIdentifier: SealedLog.Position]
        let (positions, findings) = try await onFiles { () throws(ProtectionError) -> (Positions, [String]) in
            let manifest = image.manifest
            var (positions, findings): (Positions, [String]) = ([:], [])
            guard manifest.rule == IndexImage.rule, (1...maximumBytes).contains(manifest.byteCount) else {
                return (positions, findings)
            }
            for log in logs {
                guard let position = manifest.logs[log.header.identifier] else { continue }
                // Unlocking reports the damage, and the records before it are in the image.
                let isUsable = try log.contains(position) ? true : try log.isDamaged(before: position)
                if isUsable {
                    positions[log.header.identifier] = position
                } else {
                    findings.append("\(log.path) lacks records that it had: it is damaged, or it is an older copy.")
                }
            }
            return (positions, findings)
        }
        guard !positions.isEmpty else {
            await dropImage()
            return (nil, findings)
        }
        let pages = try await onFiles { [self] () throws(ProtectionError) -> IndexImage? in
            guard let pages = IndexImage(count: image.manifest.byteCount) else { return nil }
            let isWhole = try image.read { bytes, offset in
                pages.fill(bytes, at: offset)
                return state.withLock { $0.locks == locks }
            }
            return isWhole ? pages : nil
        }
        try change(since: locks) { _ in }
        guard let pages, let index = try? SearchIndex(inMemoryWith: now, bootClock: bootClock, image: pages) else {
            await dropImage()
            return (nil, findings)
        }
        let isOutdated = positions.count < image.manifest.logs.count
        if isOutdated {
            let kept = Set(logs.filter { positions[$0.header.identifier] != nil }.map(\.header.scope))
            do throws(EngineError) {
                let scopes = try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
                    try await index.scopes()
                }
                for scope in scopes where !kept.contains(scope) {
                    try change(since: locks) { _ in }
                    try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in
                        try await index.deleteAll(in: scope)
                    }
                }
            } catch {
                await index.discard()
                throw error
            }
        }
        state.withLock { $0.image.covered = positions }
        return (Restored(index: index, positions: positions, isOutdated: isOutdated), findings)
    }

    /// Removes an image that has items of files that are missing or older, after unlocking. First
    /// writes each file again that has a damaged record which only the image has.
    ///
    /// - Returns: A sentence for each file that could not be written. The image stays then, and
    ///   also if a file has later records that nobody can read.
    func dropOutdatedImage(
        _ restored: Restored, _ master: SecretKey, _ vault: VaultIdentifier, _ locks: UInt64
    ) async throws(EngineError) -> [String] {
        var (findings, isNeeded): ([String], Bool) = ([], false)
        for log in state.withLock({ $0.sortedLogs })
        where log.isUnlocked && restored.positions[log.header.identifier] != nil {
            // A file that cannot be read at all is written again too.
            let isReadable = (try? await problems(of: log))?.isEmpty == true
            try change(since: locks) { _ in }
            guard !isReadable else { continue }
            guard isWhole(log) else {
                isNeeded = true
                continue
            }
            do throws(EngineError) { try await rewrite(log, from: restored.index, master, vault, locks) } catch {
                try change(since: locks) { _ in }
                findings.append("\(log.path) is damaged and cannot be written again. \(error)")
            }
        }
        if findings.isEmpty, !isNeeded { await dropImage() }
        return findings
    }

    // MARK: Writing

    /// Notes that records were appended, and writes an image after a while.
    func noteRecords() {
        let (isDue, pause) = state.withLock { state in
            let isDue = isWritable && state.unlocked != nil && state.image.task == nil && state.image.mayBeWritten
            return (isDue, state.image.duration * Self.pauseRatio)
        }
        guard isDue, let isStale = try? isImageStale, isStale else { return }
        let task = Task.detached(priority: .utility) { [weak self, clock, delay = max(limits.imageDelay, pause)] in
            guard (try? await clock.sleep(for: delay)) != nil, let self else { return }
            let start = ContinuousClock.now
            await self.writeImage()
            self.state.withLock { state in
                state.image.task = nil
                state.image.duration = ContinuousClock.now - start
            }
        }
        let isFirst = state.withLock { state in
            guard state.image.task == nil, state.unlocked != nil else { return false }
            state.image.task = task
            return true
        }
        if !isFirst { task.cancel() }
    }

    /// `true` if the image lacks enough records that writing it again pays.
    private var isImageStale: Bool {
        get throws(ProtectionError) {
            let (logs, covered) = state.withLock { (Array($0.logs.values), $0.image.covered) }
            // An image contains no records of files that stay locked.
            let all = logs.reduce(0) { $0 + ($1.isUnlocked ? $1.byteCount : 0) }
            // An image contains no records of files that were rewritten since.
            let old = logs.reduce(0) { $0 + (covered[$1.header.identifier]?.byteOffset ?? 0) }
            return all - old > max(limits.staleBytes, Int(limits.staleShare * Double(all)))
        }
    }

    /// The time for the image before the engine ends. Then the store locks, which ends the writing.
    private static let patienceBeforeClosing = Duration.seconds(5)

    /// Writes an image if it is outdated, before the engine ends.
    func writeImageBeforeClosing() async {
        let limit = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: Self.patienceBeforeClosing)) != nil else { return }
            self?.lock()
        }
        defer { limit.cancel() }
        let task = state.withLock { state in
            defer { state.image.task = nil }
            return state.image.task
        }
        task?.cancel()
        await task?.value
        if isWritable, (try? isImageStale) == true { await writeImage() }
    }

    /// An image before it is written.
    private struct Snapshot: Sendable {
        var pages: IndexImage
        var manifest: SealedImage.Manifest
        var index: SearchIndex
        var master: SecretKey
        var vault: VaultIdentifier
        var key: SecretKey
        /// The number of removals before it.
        var removals: UInt64
    }

    /// Writes an image. Errors leave the earlier image, or none; the next unlocking then takes
    /// longer.
    func writeImage() async {
        let work = onWork()
        defer { withExtendedLifetime(work) {} }
        // Two writers would use the same temporary file.
        await images.run { [self] in await writeImageNow() }
    }

    private func writeImageNow() async {
        guard let snapshot = await queue.run({ [self] in await takeSnapshot() }) else { return }
        let (path, folder, files) = (imagePath, folder, files)
        let written = try? await onFiles { () throws(ProtectionError) -> SealedImage.Unfinished in
            try SealedImage.write(
                to: path, in: folder, snapshot.manifest, snapshot.key, vault: snapshot.vault, master: snapshot.master,
                files: files
            ) { offset, count in
                // A lock frees the pages at once.
                if snapshot.key.isWiped { snapshot.pages.release() }
                return snapshot.pages.bytes(at: offset, count: count)
            }
        }
        // The pages are released before the file is synchronised. A suspend waits until they are
        // released, but not for the disk.
        snapshot.pages.release()
        let session = state.withLock { state in
            defer { state.image.session = nil }
            return state.image.session
        }
        withExtendedLifetime(session) {}
        let unfinished = try? await onFiles { () throws(ProtectionError) -> SealedImage.Unfinished? in
            do throws(ProtectionError) { try written?.synchronize() } catch {
                written?.discard()
                throw error
            }
            return written
        }
        let isLocked = snapshot.key.isWiped
        snapshot.key.wipe()
        guard let unfinished = unfinished ?? nil else {
            // For lack of room, for example. The next unlocking tries again.
            if !isLocked { state.withLock { $0.image.mayBeWritten = false } }
            return
        }
        await queue.run { [self] in
            let isCurrent = state.withLock { state in
                state.image.writing = nil
                return state.image.removals == snapshot.removals && state.image.mayBeWritten
            }
            let isPublished = try? await onFiles { () throws(ProtectionError) -> Bool in
                do throws(ProtectionError) {
                    guard isCurrent else {
                        unfinished.discard()
                        return false
                    }
                    try unfinished.publish()
                    return true
                } catch {
                    unfinished.discard()
                    throw error
                }
            }
            state.withLock { state in
                guard isPublished == true else {
                    // The next unlocking tries again.
                    if isCurrent { state.image.mayBeWritten = false }
                    return
                }
                if state.unlocked?.index === snapshot.index { state.image.covered = snapshot.manifest.logs }
            }
        }
    }

    /// Copies the index and notes the positions. Runs between commits.
    private func takeSnapshot() async -> Snapshot? {
        let (unlocked, keys, logs, image) = state.withLock { ($0.unlocked, $0.keys, Array($0.logs.values), $0.image) }
        guard let unlocked, let keys, image.mayBeWritten, let bytes = try? await unlocked.index.memoryBytes(),
            bytes >= limits.imageBytes, bytes <= limits.memoryBytes, let key = try? SecretKey()
        else { return nil }
        let positions = try? await onFiles { () throws(ProtectionError) -> [VaultIdentifier: SealedLog.Position] in
            var positions: [VaultIdentifier: SealedLog.Position] = [:]
            for log in logs where log.isUnlocked { positions[log.header.identifier] = try log.endOfRecords() }
            return positions
        }
        // A copy may have more pages than those in use. No image is written if it would be too
        // large to be restored, or if there is not enough memory for the copy.
        guard let positions, let pages = try? await unlocked.index.image(), pages.count <= limits.memoryBytes else {
            state.withLock { $0.image.mayBeWritten = false }
            return nil
        }
        // A lock from now on wipes the key, and the writing fails.
        let isUnlocked = state.withLock { state in
            guard state.unlocked?.index === unlocked.index else { return false }
            (state.image.writing, state.image.session) = (key, unlocked.session)
            return true
        }
        guard isUnlocked else { return nil }
        let manifest = SealedImage.Manifest(rule: IndexImage.rule, byteCount: pages.count, logs: positions)
        return Snapshot(
            pages: pages, manifest: manifest, index: unlocked.index, master: unlocked.master, vault: keys.vault,
            key: key, removals: image.removals)
    }

    // MARK: Removing

    /// Destroys the key of the image and removes its file. An image that is being written is
    /// discarded. Callers may ignore an error: without its files, an image is never read.
    ///
    /// - Parameter forSession: `true` if no image may be written before the next unlocking, because
    ///   the index in memory may have remains of removed items in unused pages.
    /// - Returns: `true` if there was an image; `nil` if it may still be there.
    @discardableResult
    func dropImage(forSession: Bool = false) async -> Bool? {
        state.withLock { state in
            state.image.removals += 1
            state.image.writing?.wipe()
            (state.image.writing, state.image.covered) = (nil, [:])
            if forSession { state.image.mayBeWritten = false }
        }
        guard isWritable else { return false }
        let (path, folder, files) = (imagePath, folder, files)
        let had = try? await onFiles { () throws(ProtectionError) in
            try SealedImage.destroy(path, in: folder, files: files)
        }
        if had != nil { state.withLock { $0.image.hasOthers = false } }
        return had
    }
}
