// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import MetadataQuery
import Protection
import SearchIndex
import TestSupport
import Testing
import WriteAheadLog

@testable import SearchlightEngine

/// The encrypted image of the index in memory, from which an unlocking restores it.
@Suite("The image of protected indexes", .timeLimit(.minutes(10)))
struct ProtectedImageTests {
    private let folder: TemporaryFolder
    private static let passphrase = Array("correct horse".utf8)
    private static let first = IndexScope(bundle: "com.example.health", index: "a")
    private static let second = IndexScope(bundle: "com.example.other", index: "b")
    /// A word that no file may contain.
    private static let canary = "imagecanaryword"

    init() throws { folder = try TemporaryFolder() }

    private var protected: String { folder.path("store") + "/protected" }
    private var image: String { protected + "/image" }

    private func withEngine(
        files: any LogFiles = SystemLogFiles(), memoryBytes: Int? = nil,
        _ body: (SearchlightEngine) async throws -> Void
    ) async throws {
        var configuration = EngineConfiguration(
            storeDirectory: folder.path("store"), access: .readWrite, extensionSearchPath: [],
            worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:]))
        configuration.passphraseCost = .least
        configuration.storeHooks.logFiles = files
        configuration.protectionLimits.imageBytes = 0
        // Only the tests write images.
        configuration.protectionLimits.staleBytes = .max
        if let memoryBytes { configuration.protectionLimits.memoryBytes = memoryBytes }
        let engine = try SearchlightEngine(configuration)
        do { try await body(engine) } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    private func batch(
        _ names: [String], in scope: IndexScope = first, clientState: [UInt8]? = nil,
        _ protection: ProtectionClass = .complete
    ) throws -> IndexBatch {
        var batch = IndexBatch(scope: scope, clientState: clientState, protection: protection)
        batch.index(
            try names.map { name in
                try EncodedItem(
                    ItemRecord(uniqueIdentifier: name, attributes: ["title": .string("\(Self.canary) \(name)")]))
            })
        return batch
    }

    private func names(_ engine: SearchlightEngine) async throws -> [String] {
        let found = try await engine.find(ItemSearch(Self.canary)).hits.map(\.item.record.uniqueIdentifier).sorted()
        let all = try await engine.items(matching: .and([]), bundle: nil, limit: 100, after: nil, place: .current)
            .items.map(\.record.uniqueIdentifier).sorted()
        #expect(found == all)
        return all
    }

    /// A store with an image of two indexes, and later donations, deletions and states.
    private func fill() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["a", "b"], clientState: [1]))
            try await engine.commit(batch(["c"], in: Self.second, .completeUnlessOpen))
            await engine.vault.writeImage()
            try await engine.commit(batch(["d"], clientState: [2]))
            var deletion = IndexBatch(scope: Self.first)
            deletion.delete(identifiers: ["a"])
            try await engine.commit(deletion)
            await engine.lock()
            try await engine.commit(batch(["e"], in: Self.second, .completeUnlessOpen))
        }
    }

    /// Unlocks and verifies the items.
    ///
    /// - Returns: `true` if the image was used.
    private func unlock(
        _ expected: [String] = ["b", "c", "d", "e"], findings: Int = 0, clientState: [UInt8]? = [2],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Bool {
        var isUsed = false
        try await withEngine { engine async throws in
            let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
            isUsed = engine.vault.state.withLock { !$0.image.covered.isEmpty }
            #expect(report.items == expected.count, sourceLocation: sourceLocation)
            #expect(report.findings.count == findings, "\(report)", sourceLocation: sourceLocation)
            #expect(try await names(engine) == expected, sourceLocation: sourceLocation)
            if expected.contains("d") {
                #expect(try await engine.clientState(of: Self.first) == clientState, sourceLocation: sourceLocation)
            }
        }
        return isUsed
    }

    @Test("An unlocking restores the image and reads only later records, and nothing of it is plain text")
    func restored() async throws {
        try await fill()
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path("store")) {
            let bytes = (try? Data(contentsOf: URL(filePath: folder.path("store") + "/" + name))) ?? Data()
            for text in [Self.canary, "SQLite format"] where name.hasPrefix("protected") {
                #expect(bytes.range(of: Data(text.utf8)) == nil, "\(name)")
            }
        }
        #expect(try await unlock())
        #expect(try await unlock(), "a used image stays")
        var numbers: [Int64] = []
        for round in 0..<2 {
            try await withEngine { engine async throws in
                try await engine.unlock(passphrase: Self.passphrase, creates: false)
                try await engine.commit(batch(["new\(round)"]))
                numbers += try await engine.items(
                    matching: .and([]), bundle: nil, limit: 100, after: nil, place: .current
                ).items.filter { $0.record.uniqueIdentifier == "new\(round)" }.map(\.number)
                var deletion = IndexBatch(scope: Self.first)
                deletion.delete(identifiers: ["new\(round)"])
                try await engine.commit(deletion)
            }
        }
        // A number of an earlier session names no other item.
        #expect(numbers.count == 2 && numbers[0] != numbers[1])
    }

    @Test("A damaged, cut or foreign image is removed, and the index is filled from the records")
    func damaged() async throws {
        try await fill()
        let whole = try Data(contentsOf: URL(filePath: image))
        var random = SplitMix64(seed: MutationLoop.seed)
        var offsets = Array(stride(from: 0, to: 200, by: 11)) + [whole.count - 1, whole.count / 2]
        offsets += (0..<10).map { _ in random.below(whole.count) }
        var spoilt = offsets.map { offset in
            var bytes = whole
            bytes[offset] ^= 1
            return bytes
        }
        spoilt += [0, 8, 100, 130, 300, whole.count / 2, whole.count - 1].map { whole.prefix($0) }
        for (round, bytes) in spoilt.enumerated() {
            try bytes.write(to: URL(filePath: image))
            #expect(try await !unlock(), "round \(round)")
            #expect(!FileManager.default.fileExists(atPath: image), "round \(round)")
        }
        try whole.write(to: URL(filePath: image))
        #expect(try await unlock())
        // The image of another store.
        try FileManager.default.removeItem(atPath: folder.path("store"))
        try await fill()
        try whole.write(to: URL(filePath: image))
        #expect(try await !unlock())
    }

    @Test("An older copy of a file is noticed by the image")
    func rolledBack() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["a"]))
        }
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: protected).first { $0 != "key" })
        let old = try Data(contentsOf: URL(filePath: protected + "/" + name))
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            try await engine.commit(batch(["b"]))
            await engine.vault.writeImage()
        }
        try old.write(to: URL(filePath: protected + "/" + name))
        #expect(try await !unlock(["a"], findings: 1))
        #expect(!FileManager.default.fileExists(atPath: image))
    }

    @Test("An older copy of a file that has grown again is noticed, and its new records are read")
    func rolledBackAndGrown() async throws {
        let donate = { (engine: SearchlightEngine, name: String) async throws in
            try await engine.commit(batch([name], in: Self.second, .completeUnlessOpen))
        }
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await donate(engine, "a")
        }
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: protected).first { $0 != "key" })
        let old = try Data(contentsOf: URL(filePath: protected + "/" + name))
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            try await donate(engine, "b")
            await engine.vault.writeImage()
        }
        let whole = try Data(contentsOf: URL(filePath: image))
        for later in [["c"], ["c", "d"]] {
            try old.write(to: URL(filePath: protected + "/" + name))
            try whole.write(to: URL(filePath: image))
            // Donated while the store is locked.
            try await withEngine { engine async throws in for item in later { try await donate(engine, item) } }
            #expect(try await !unlock(["a"] + later, findings: 1, clientState: nil))
            #expect(!FileManager.default.fileExists(atPath: image))
        }
    }

    @Test("If one file is missing or older, a record of another that only the image has is kept and written again")
    func onlyInImage() async throws {
        for isMissing in [false, true] {
            try? FileManager.default.removeItem(atPath: folder.path("store"))
            var old = Data()
            var path = ""
            try await withEngine { engine async throws in
                try await engine.unlock(passphrase: Self.passphrase, creates: true)
                try await engine.commit(batch(["a"], clientState: [7]))
                path = try #require(engine.vault.state.withLock { $0.logs[Self.first]?.path })
                old = try Data(contentsOf: URL(filePath: path))
                try await engine.commit(batch(["b"]))
                for name in ["c", "d"] {
                    try await engine.commit(batch([name], in: Self.second, .completeUnlessOpen))
                }
                await engine.vault.writeImage()
            }
            let other = try #require(
                try FileManager.default.contentsOfDirectory(atPath: protected).map { protected + "/" + $0 }
                    .first { $0.hasSuffix(SealedLog.suffix) && $0 != path })
            var bytes = try Data(contentsOf: URL(filePath: other))
            bytes[bytes.count - 1] ^= 1
            try bytes.write(to: URL(filePath: other))
            if isMissing {
                try FileManager.default.removeItem(atPath: path)
            } else {
                try old.write(to: URL(filePath: path))
            }
            let expected = (isMissing ? [] : ["a"]) + ["c", "d"]
            try await withEngine { engine async throws in
                let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
                #expect(report.findings.count == (isMissing ? 0 : 1), "\(report)")
                #expect(try await names(engine) == expected)
                #expect(try await engine.clientState(of: Self.first) == (isMissing ? nil : [7]))
                // Nothing can be repaired about an older file.
                #expect(try await engine.verify().findings.map(\.repair) == (isMissing ? [] : [.none]))
            }
            #expect(!FileManager.default.fileExists(atPath: image))
            #expect(try Data(contentsOf: URL(filePath: other)) != bytes)
            #expect(try await !unlock(expected, clientState: isMissing ? nil : [7]))
        }
    }

    /// Changes a byte of a file; from the end, if negative.
    private func flip(_ path: String, _ offset: Int) throws {
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[offset < 0 ? bytes.count + offset : offset] ^= 1
        try bytes.write(to: URL(filePath: path))
    }

    private func path(_ engine: SearchlightEngine, _ scope: IndexScope) throws -> String {
        try #require(engine.vault.state.withLock { $0.logs[scope]?.path })
    }

    @Test("An image with the only copy of a record stays while its file cannot be written again, and forget removes it")
    func neededImage() async throws {
        let third = IndexScope(bundle: "com.example.third", index: "c")
        var paths: [String] = []
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            for (scope, name) in [(Self.first, "a"), (Self.second, "b"), (third, "c")] {
                try await engine.commit(batch([name], in: scope))
            }
            await engine.vault.writeImage()
            paths = try [Self.first, Self.second, third].map { try path(engine, $0) }
            // Of the second file, the image has everything. The third has a later record.
            try flip(paths[1], -1)
            try flip(paths[2], -1)
            try await engine.commit(batch(["d"], in: third))
            try flip(paths[2], -1)
        }
        try FileManager.default.removeItem(atPath: paths[0])
        let damaged = try paths.dropFirst().map { try Data(contentsOf: URL(filePath: $0)) }
        for _ in 0..<2 {
            try await withEngine { engine async throws in
                let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
                #expect(report.findings.count == 1, "\(report)")
                #expect(try await names(engine) == ["b", "c"])
            }
            #expect(FileManager.default.fileExists(atPath: image))
        }
        #expect(try Data(contentsOf: URL(filePath: paths[1])) != damaged[0])
        #expect(try Data(contentsOf: URL(filePath: paths[2])) == damaged[1])
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            // The app has no file and no item in memory, but the image has its items.
            let receipt = try await engine.remove(Self.first.bundle).receipt
            #expect(receipt.removed.contains { $0.place == "protected/image" }, "\(receipt)")
            #expect(!FileManager.default.fileExists(atPath: image))
            let done = try await engine.repairProtection()
            #expect(done.count == 2 && done[0].contains(paths[2]), "\(done)")
            #expect(try await engine.verify().isClean)
        }
        #expect(try await !unlock(["b", "c"]))
    }

    @Test("Records before a damaged frame are read from the image, and a repair writes them again", arguments: [1, 2])
    func damagedFrame(files: Int) async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            for name in ["a", "b", "d"] { try await engine.commit(batch([name], clientState: [2])) }
            if files == 2 { try await engine.commit(batch(["e"], in: Self.second)) }
            await engine.vault.writeImage()
            // The head of the second of three frames.
            let log = try #require(engine.vault.state.withLock { $0.logs[Self.first] })
            let second = try #require(try log.records(maximumBytes: 1).next)
            try flip(log.path, second.byteOffset + 2)
        }
        let expected = ["a", "b", "d"] + (files == 2 ? ["e"] : [])
        try await withEngine { engine async throws in
            let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(report.items == expected.count && report.findings.count == 1, "\(report)")
            #expect(try await names(engine) == expected)
            await engine.vault.writeImage()
            #expect(try await engine.verify().findings.map(\.repair) == [.rewriteProtected])
            #expect(try await engine.repairProtection().count == 2)
            #expect(try await engine.verify().isClean)
        }
        _ = try await unlock(expected)
    }

    @Test("A rotation writes a record again that only the image has, also after a stop at any step")
    func rotation() async throws {
        let all = ["b", "c", "d"]
        var (step, hasEnded) = (0, false)
        while !hasEnded {
            try? FileManager.default.removeItem(atPath: folder.path("store"))
            try await withEngine { engine async throws in
                try await engine.unlock(passphrase: Self.passphrase, creates: true)
                try await engine.commit(batch(["b", "d"], clientState: [2]))
                try await engine.commit(batch(["c"], in: Self.second))
                await engine.vault.writeImage()
                try flip(try path(engine, Self.second), -1)
            }
            let stopping = StoppingFiles()
            try await withEngine(files: stopping) { engine async throws in
                #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).items == 3)
                stopping.stop(after: step)
                do {
                    let report = try await engine.rotateKeys(with: .passphrase(Self.passphrase))
                    hasEnded = report.kept.isEmpty && !stopping.hasStopped
                } catch is EngineError {}
                // The process is killed.
                engine.vault.lock()
                stopping.stop(after: .max)
            }
            _ = try await unlock(all)
            try await withEngine { engine async throws in
                try await engine.unlock(passphrase: Self.passphrase, creates: false)
                #expect(try await names(engine) == all, "step \(step)")
                if hasEnded { #expect(try await engine.verify().isClean) }
            }
            step += 1
        }
        #expect(step > 12)
    }

    @Test("forget of an app whose file was removed destroys the key of the image", arguments: [false, true])
    func removedFile(isUnlocked: Bool) async throws {
        try await fill()
        try await withEngine { engine async throws in
            let path = try #require(engine.vault.state.withLock { $0.logs[Self.first]?.path })
            if isUnlocked { try await engine.unlock(passphrase: Self.passphrase, creates: false) }
            try FileManager.default.removeItem(atPath: path)
            let receipt = try await engine.remove(Self.first.bundle).receipt
            #expect(receipt.removed.contains { $0.place == "protected/image" }, "\(receipt)")
            #expect(!FileManager.default.fileExists(atPath: image))
        }
        #expect(try await !unlock(["c", "e"]))
    }

    @Test("A record that cannot be read is reported at each unlocking, and no image hides it")
    func unreadableRecord() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            for name in ["a", "b", "c"] { try await engine.commit(batch([name])) }
        }
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: protected).first { $0 != "key" })
        var bytes = try Data(contentsOf: URL(filePath: protected + "/" + name))
        // In the body of the second of three records.
        bytes[bytes.count - bytes.count / 3 - 10] ^= 1
        try bytes.write(to: URL(filePath: protected + "/" + name))
        for _ in 0..<2 {
            try await withEngine { engine async throws in
                let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
                #expect(report.items == 2 && report.findings.count == 1, "\(report)")
                await engine.vault.writeImage()
            }
            #expect(!FileManager.default.fileExists(atPath: image))
        }
        #expect(try Data(contentsOf: URL(filePath: protected + "/" + name)) == bytes)
    }

    @Test("The key of an image whose writing was killed is overwritten by the next opening")
    func unfinished() async throws {
        try await fill()
        let bytes = try Data(contentsOf: URL(filePath: image))
        try bytes.write(to: URL(filePath: image + ".new"))
        let handle = try #require(FileHandle(forReadingAtPath: image + ".new"))
        try await withEngine { _ async throws in }
        #expect(!FileManager.default.fileExists(atPath: image + ".new"))
        let left = try #require(try handle.readToEnd())
        #expect(left.count == bytes.count && left != bytes)
        #expect(try await unlock())
    }

    @Test("forget destroys the key of the image, and no image is used for a file that was written again")
    func removed() async throws {
        try await fill()
        let handle = try #require(FileHandle(forReadingAtPath: image))
        let before = try #require(try handle.readToEnd())
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            let receipt = try await engine.remove(Self.first.bundle).receipt
            #expect(receipt.removed.contains { $0.place == "protected/image" }, "\(receipt)")
            #expect(!FileManager.default.fileExists(atPath: image))
            // The index in memory may have remains of removed items.
            try await engine.commit(batch(["f"], in: Self.second, .completeUnlessOpen))
            await engine.vault.writeImage()
            #expect(!FileManager.default.fileExists(atPath: image))
        }
        try handle.seek(toOffset: 0)
        let after = try #require(try handle.readToEnd())
        #expect(after.count == before.count && zip(after, before).count { $0 != $1 } > 60)
        try after.write(to: URL(filePath: image))
        #expect(try await !unlock(["c", "e", "f"]))
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            await engine.vault.writeImage()
            #expect(FileManager.default.fileExists(atPath: image))
            let log = try #require(engine.vault.state.withLock { $0.logs.values.first })
            let state = engine.vault.state.withLock { ($0.unlocked, $0.keys, $0.locks) }
            let (unlocked, keys) = (try #require(state.0), try #require(state.1))
            try await engine.vault.rewrite(log, from: unlocked.index, unlocked.master, keys.vault, state.2)
        }
        #expect(try await !unlock(["c", "e", "f"]))
    }

    @Test("A stop at any step of writing an image loses nothing")
    func stops() async throws {
        try await fill()
        var (step, used, isWritten) = (0, 0, false)
        while !isWritten {
            let stopping = StoppingFiles()
            try await withEngine(files: stopping) { engine async throws in
                try await engine.unlock(passphrase: Self.passphrase, creates: false)
                let before = engine.vault.state.withLock { $0.image.covered }
                stopping.stop(after: step)
                await engine.vault.writeImage()
                stopping.stop(after: .max)
                isWritten = engine.vault.state.withLock { $0.image.covered != before && $0.image.mayBeWritten }
            }
            if try await unlock() { used += 1 }
            #expect(try FileManager.default.contentsOfDirectory(atPath: protected).count { $0.hasSuffix(".new") } == 0)
            step += 1
        }
        #expect(step > 4 && used > 2)
    }

    @Test("Reading an index in memory that a lock has discarded is an error, not a crash")
    func discarded() async throws {
        let index = try SearchIndex(inMemoryWith: { 1 })
        #expect(try await index.itemCounts().isEmpty)
        await index.discard()
        await #expect(throws: SearchIndexError.closed) { try await index.itemCounts() }
        await #expect(throws: SearchIndexError.self) { try await index.image() }
    }

    @Test("Locking while images are written and read neither crashes nor loses anything")
    func lockedAtAnyMoment() async throws {
        try await fill()
        try await withEngine { engine async throws in
            for _ in 0..<15 {
                await withTaskGroup { group in
                    group.addTask { _ = try? await engine.unlock(passphrase: Self.passphrase, creates: false) }
                    group.addTask { await engine.vault.writeImage() }
                    group.addTask { _ = try? await names(engine) }
                    group.addTask { await engine.lock() }
                }
                await engine.lock()
                let keys = engine.vault.state.withLock { ($0.image.reading == nil, $0.image.writing == nil) }
                #expect(keys == (true, true))
            }
        }
        _ = try await unlock()
    }

    @Test("A file beyond the limit of memory stays locked, and that is reported")
    func memoryLimit() async throws {
        try await fill()
        var needed = 0
        try await withEngine { engine async throws in
            needed = try await engine.unlock(passphrase: Self.passphrase, creates: false).memory?.bytes ?? 0
        }
        try await withEngine(memoryBytes: 1000) { engine async throws in
            let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(report.items == 0 && report.findings.count == 2, "\(report)")
            await #expect(throws: EngineError.protection(.tooMuchMemory(limit: 1000))) {
                try await engine.commit(batch(["z"]))
            }
            await #expect(throws: EngineError.protection(.tooMuchMemory(limit: 1000))) {
                try await engine.commit(batch(["z"], in: IndexScope(bundle: "com.example.new", index: "c")))
            }
        }
        // With room again, everything is there.
        #expect(needed > 1000)
        #expect(try await !unlock())
        // Deletions make room, so they are accepted without any.
        try await withEngine(memoryBytes: 1000) { engine async throws in
            _ = try await engine.unlock(passphrase: Self.passphrase, creates: false)
            var deletion = IndexBatch(scope: Self.first)
            deletion.delete(identifiers: ["b"])
            try await engine.commit(deletion)
        }
        #expect(try await !unlock(["c", "d", "e"]))
    }
}
