// SPDX-License-Identifier: Apache-2.0
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

/// Protected indexes that are related, damaged, failing or interrupted.
@Suite("Protected indexes under stress", .timeLimit(.minutes(10)))
struct ProtectedDamageTests {
    private let place: EnginePlace
    private static let passphrase = Array("correct horse".utf8)
    private static let (first, second) = (
        IndexScope(bundle: "com.example.health", index: "a"), IndexScope(bundle: "com.example.health", index: "b")
    )

    init() throws { place = try EnginePlace() }

    private func batch(
        _ name: String, related: String? = nil, in scope: IndexScope = first, title: String = "pulse",
        _ protection: ProtectionClass? = .complete
    ) throws -> IndexBatch {
        var record = ItemRecord(uniqueIdentifier: name, attributes: ["title": .string(title)])
        if let related { record.attributes["relatedUniqueIdentifier"] = .string(related) }
        var batch = IndexBatch(scope: scope, protection: protection)
        batch.index([try EncodedItem(record)])
        return batch
    }

    private func names(_ engine: SearchlightEngine) async throws -> [String] {
        try await engine.items(matching: .and([]), bundle: nil, limit: 100, after: nil, place: .current).items
            .map(\.record.uniqueIdentifier).sorted()
    }

    /// Returns the paths of the store's protected files.
    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.store + "/protected").filter { $0 != "key" }
            .map { place.store + "/protected/" + $0 }
    }

    @Test("verify checks protected files with a service and without: a missing key file, a damaged header or record")
    func verified() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            try await engine.commit(batch("b"))
            let report = try await engine.verify()
            #expect(report.isClean && report.checks.contains { $0.what == "protected indexes" && $0.count == 1 })
        }
        let key = place.store + "/protected/key"
        let sealed = try #require(try files().first)
        for (path, spoil, problem) in [
            (key, { _ in nil }, "is missing"), (key, { Data($0.dropLast()) }, "damaged"),
            (sealed, { Self.flipped($0, at: 40) }, "damaged"),
            // The head of the last frame.
            (sealed, { bytes in Self.flipped(bytes, at: bytes.count - 400) }, "damaged"),
        ] as [(String, (Data) -> Data?, String)] {
            let whole = try Data(contentsOf: URL(filePath: path))
            if let bytes = spoil(whole) {
                try bytes.write(to: URL(filePath: path))
            } else {
                try FileManager.default.removeItem(atPath: path)
            }
            let inspection = ProtectionInspection(store: place.store, reads: true)
            try await place.withEngine { engine async throws in
                let report = try await engine.verify()
                if inspection.problems.isEmpty {
                    // Only decrypting finds a change of a record's body.
                    let unlocked = try await engine.unlock(passphrase: Self.passphrase, creates: false)
                    #expect(unlocked.findings.count == 1)
                    #expect(try await engine.verify().findings.contains { $0.problem.contains(path) })
                } else {
                    #expect(report.findings.contains { $0.problem.contains(problem) }, "\(report)")
                    #expect(report.checks.contains { $0.what.contains("protected") && $0.skipped == nil })
                }
            }
            try whole.write(to: URL(filePath: path))
        }
        #expect(StoreMarks(store: place.store).protectionProblems == [])
        try FileManager.default.removeItem(atPath: key)
        #expect(StoreMarks(store: place.store).protectionProblems.count == 1)
    }

    @Test("verify reads the records of an unlocked store, and a repair writes the file again from memory")
    func repaired() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            for name in ["a", "b", "c"] { try await engine.commit(batch(name)) }
            try await engine.commit(batch("d", in: Self.second))
            let path = try #require(
                try files().first { try SealedLog.open($0, isWritable: false).header.scope == Self.first })
            let whole = try Data(contentsOf: URL(filePath: path))
            func write(_ bytes: Data) throws {
                let file = try #require(FileHandle(forWritingAtPath: path))
                try file.write(contentsOf: bytes)
                try file.synchronize()
                try file.close()
            }
            // The body of the last record, and the head of its frame.
            for offset in [whole.count - 1, whole.count - whole.count / 3 - 20] {
                try write(Self.flipped(whole, at: offset))
                let report = try await engine.verify()
                #expect(report.findings.map(\.repair) == [.rewriteProtected], "\(report)")
                #expect(report.findings.allSatisfy { $0.problem.contains(path) }, "\(report)")
                try write(whole)
                #expect(try await engine.verify().isClean)
            }
            // Nothing is lost, since everything is in memory.
            try write(Self.flipped(whole, at: whole.count - 1))
            let done = try await engine.repairProtection()
            #expect(done.count == 1 && !done[0].contains("lost"), "\(done)")
            #expect(try await engine.verify().isClean)
            #expect(engine.protectionStatus.isUnlocked)
            try await engine.commit(batch("e"))
        }
        try await place.withEngine { engine async throws in
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            #expect(try await names(engine) == ["a", "b", "c", "d", "e"])
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("A repair of a file with a record that unlocking could not read says that items are lost, and asks for them")
    func repairedWithLoss() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            try await engine.commit(batch("b"))
        }
        let path = try #require(try files().first)
        try Self.flipped(Data(contentsOf: URL(filePath: path)), at: -1).write(to: URL(filePath: path))
        try await place.withEngine { engine async throws in
            // Also visible while the store is locked.
            let locked = try await engine.verify()
            #expect(locked.findings.map(\.repair) == [.unlock], "\(locked)")
            #expect(locked.checks.contains { $0.what == "the content of protected indexes" && $0.skipped != nil })
            #expect(try await engine.repairProtection() == [])
            #expect(try await engine.verify().findings == locked.findings)
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings.count == 1)
            #expect(try await engine.verify().findings.map(\.repair) == [.rewriteProtected])
            let done = try await engine.repairProtection()
            #expect(done.count == 2 && done[0].contains("are lost"), "\(done)")
            #expect(engine.owedJobs.map(\.bundle) == [Self.first.bundle])
            #expect(try await engine.verify().isClean && engine.protectionStatus.findings == [])
        }
        try await place.withEngine { engine async throws in
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            #expect(try await names(engine) == ["a"])
        }
    }

    @Test(
        "A file that was restored while its items are not all in memory is neither repaired nor rotated",
        arguments: [true, false])
    func restoredWhileUnlocked(inPlace: Bool) async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            try await engine.commit(batch("b"))
        }
        let path = try #require(try files().first)
        let whole = try Data(contentsOf: URL(filePath: path))
        try Self.flipped(whole, at: -1).write(to: URL(filePath: path))
        try await place.withEngine { engine async throws in
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings.count == 1)
            try whole.write(to: URL(filePath: path), options: inPlace ? [] : .atomic)
            let done = try await engine.repairProtection()
            #expect(done.count == 1 && done[0].contains("Lock and unlock"), "\(done)")
            #expect(engine.owedJobs.isEmpty)
            let rotation = try await engine.rotateKeys(with: .passphrase(Self.passphrase))
            #expect(rotation.kept.count == 1 || rotation.findings.count == 1, "\(rotation)")
            await engine.lock()
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            #expect(try await names(engine) == ["a", "b"])
            #expect(try await engine.verify().isClean)
        }
    }

    @Test("A deletion of items whose file was removed is refused, and a removed folder is written again from memory")
    func removedFolder() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            try await engine.commit(batch("b", in: Self.second))
            let path = try #require(
                try files().first { try SealedLog.open($0, isWritable: false).header.scope == Self.first })
            try FileManager.default.removeItem(atPath: URL(filePath: path).deletingLastPathComponent().path)
            var deletion = IndexBatch(scope: Self.first)
            deletion.deleteAll()
            await #expect(throws: EngineError.protection(.replaced(path: path))) { try await engine.commit(deletion) }
            #expect(try await engine.repairProtection().count == 3)
            #expect(try await engine.verify().isClean)
        }
        try await place.withEngine { engine async throws in
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            #expect(try await names(engine) == ["a", "b"])
        }
    }

    @Test("A file that another program removes, replaces or restores is noticed by donations, verify and unlocking")
    func changedByOthers() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a", in: Self.first, .completeUnlessOpen))
            let path = try #require(try files().first)
            let old = try Data(contentsOf: URL(filePath: path))
            try await engine.commit(batch("b", in: Self.first, nil))
            // Removed while the store is unlocked: the items are in memory.
            try FileManager.default.removeItem(atPath: path)
            await #expect(throws: EngineError.protection(.replaced(path: path))) {
                try await engine.commit(batch("c", in: Self.first, nil))
            }
            #expect(try await engine.verify().findings.map(\.repair) == [.rewriteProtected])
            #expect(try await engine.repairProtection().count == 1)
            try await engine.commit(batch("c", in: Self.first, nil))
            #expect(try await engine.verify().isClean)
            // An older copy, restored while the store is locked. It counts at once, since nothing
            // of the other file is in memory.
            await engine.lock()
            try FileManager.default.removeItem(atPath: path)
            await #expect(throws: EngineError.protection(.replaced(path: path))) {
                try await engine.commit(batch("d", in: Self.first, nil))
            }
            try old.write(to: URL(filePath: path))
            try await engine.commit(batch("d", in: Self.first, nil))
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            #expect(try await names(engine) == ["a", "d"])
            // A whole file that comes back.
            await engine.lock()
            let kept = try Data(contentsOf: URL(filePath: path))
            #expect(try await engine.forget(Self.first.bundle) >= 0)
            #expect(try await engine.unlistedRemovals() == [])
            try kept.write(to: URL(filePath: path))
            #expect(try await engine.unlistedRemovals() == [Self.first.bundle])
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(try await names(engine) == ["a", "d"])
        }
    }

    @Test("An older copy that a backup program writes into the same file is noticed, locked or unlocked")
    func restoredInPlace() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a", in: Self.first, .completeUnlessOpen))
            let path = try #require(try files().first)
            let old = try Data(contentsOf: URL(filePath: path))
            try await engine.commit(batch("b", in: Self.first, nil))
            try old.write(to: URL(filePath: path))
            await #expect(throws: EngineError.protection(.replaced(path: path))) {
                try await engine.commit(batch("c", in: Self.first, nil))
            }
            #expect(try await Set(engine.verify().findings.map(\.repair)) == [.rewriteProtected])
            #expect(try await engine.repairProtection().count == 1)
            try await engine.commit(batch("c", in: Self.first, nil))
            await engine.lock()
            // Scanned while the store is locked.
            try await engine.commit(batch("d", in: Self.first, nil))
            try old.write(to: URL(filePath: path))
            try await engine.commit(batch("e", in: Self.first, nil))
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            #expect(try await names(engine) == ["a", "e"])
        }
        try await place.withEngine { engine async throws in
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            #expect(try await names(engine) == ["a", "e"])
        }
    }

    @Test("A longer version that a backup program writes into the same file is noticed, locked or unlocked")
    func longerInPlace() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a", in: Self.first, .completeUnlessOpen))
            let path = try #require(try files().first)
            let short = try Data(contentsOf: URL(filePath: path))
            for name in ["b", "c"] { try await engine.commit(batch(name, in: Self.first, nil)) }
            let long = try Data(contentsOf: URL(filePath: path))
            // Unlocked: another header, as before a compaction.
            var deletion = IndexBatch(scope: Self.first)
            deletion.delete(identifiers: ["b", "c"])
            try await engine.commit(deletion)
            let (log, unlocked, vault) = engine.vault.state.withLock {
                ($0.logs[Self.first], $0.unlocked, $0.keys?.vault)
            }
            let parts = (try #require(log), try #require(unlocked), try #require(vault))
            try await engine.vault.rewrite(parts.0, from: parts.1.index, parts.1.master, parts.2, 0)
            #expect(try Data(contentsOf: URL(filePath: path)).count < long.count)
            try long.write(to: URL(filePath: path))
            await #expect(throws: EngineError.protection(.replaced(path: path))) {
                try await engine.commit(batch("d", in: Self.first, nil))
            }
            // Locked: the same header.
            await engine.lock()
            try short.write(to: URL(filePath: path))
            try await engine.commit(batch("e", in: Self.first, nil))
            try long.write(to: URL(filePath: path))
            try await engine.commit(batch("f", in: Self.first, nil))
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            #expect(try await names(engine) == ["a", "b", "c", "f"])
        }
    }

    @Test("While a file is being restored, a donation to its index is refused, and the whole file is noticed later")
    func restoredInParts() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            let path = try #require(try files().first)
            let whole = try Data(contentsOf: URL(filePath: path))
            _ = try await engine.forget(Self.first.bundle)
            try whole.prefix(30).write(to: URL(filePath: path))
            await #expect(throws: EngineError.self) { try await engine.commit(batch("b", nil)) }
            // The folder does not change.
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.write(contentsOf: whole)
            try handle.close()
            await #expect(throws: EngineError.self) { try await engine.commit(batch("b", nil)) }
            engine.vault.state.withLock { $0.nextReading = 0 }
            await #expect(throws: EngineError.protection(.appeared(path: path))) {
                try await engine.commit(batch("b", nil))
            }
            #expect(engine.vault.problem(of: Self.second) == nil)
            // Its app starts again.
            _ = try await engine.forget(Self.first.bundle)
            for name in ["c", "d"] { try await engine.commit(batch(name)) }
            #expect(try await names(engine) == ["c", "d"])
        }
    }

    @Test("forget overwrites the keys in a file that replaced an open one, and in the open one")
    func forgottenReplacement() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            let path = try #require(try files().first)
            let whole = try Data(contentsOf: URL(filePath: path))
            let open = try #require(FileHandle(forReadingAtPath: path))
            try whole.write(to: URL(filePath: path), options: .atomic)
            let other = try #require(FileHandle(forReadingAtPath: path))
            _ = try await engine.forget(Self.first.bundle)
            for handle in [open, other] {
                let left = try #require(try handle.readToEnd())
                #expect(left.count == whole.count && zip(left, whole).count { $0 != $1 } > 40)
            }
        }
    }

    @Test("A key file of another store does not replace the right keys in memory, and a repair writes them back")
    func foreignKeys() async throws {
        let other = try EnginePlace()
        try await other.withEngine { engine async throws in
            try await engine.unlock(passphrase: Array("another".utf8), creates: true)
            try await engine.commit(batch("x"))
        }
        let key = place.store + "/protected/key"
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a", in: Self.first, .completeUnlessOpen))
            await engine.lock()
            let right = try Data(contentsOf: URL(filePath: key))
            let foreign = try Data(contentsOf: URL(filePath: other.store + "/protected/key"))
            try foreign.write(to: URL(filePath: key))
            await #expect(throws: EngineError.protection(.foreignKeys(path: key))) {
                try await engine.commit(batch("b", in: Self.first, nil))
            }
            #expect(try await engine.verify().findings.map(\.repair) == [.rewriteKeys])
            #expect(engine.protectionStatus.problemOfKeys?.contains("another store") == true)
            let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(report.items == 1 && report.findings.count == 1, "\(report)")
            #expect(try await engine.repairProtection().count == 1)
            #expect(try Data(contentsOf: URL(filePath: key)) == right)
            try await engine.commit(batch("b", in: Self.first, nil))
            #expect(try await engine.verify().isClean)
            // All files of another store are another store.
            await engine.lock()
            for name in try FileManager.default.contentsOfDirectory(atPath: place.store + "/protected") {
                try FileManager.default.removeItem(atPath: place.store + "/protected/" + name)
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: other.store + "/protected") {
                try FileManager.default.copyItem(
                    atPath: other.store + "/protected/" + name, toPath: place.store + "/protected/" + name)
            }
            #expect(try await engine.unlock(passphrase: Array("another".utf8), creates: false).items == 1)
            #expect(try await names(engine) == ["x"])
        }
    }

    @Test("A donation to an index that a backup program has restored is never plain text", arguments: [false, true])
    func restoredIndex(isUnlocked: Bool) async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a", in: Self.first, .complete))
            let path = try #require(try files().first)
            let whole = try Data(contentsOf: URL(filePath: path))
            _ = try await engine.forget(Self.first.bundle)
            if !isUnlocked { await engine.lock() }
            // The keys in this copy were not overwritten.
            try whole.write(to: URL(filePath: path))
            await #expect(throws: EngineError.protection(isUnlocked ? .appeared(path: path) : .locked)) {
                try await engine.commit(batch("b", in: Self.first, nil))
            }
            #expect(try await engine.verify().findings.isEmpty != isUnlocked)
            await engine.lock()
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).items == 1)
            try await engine.commit(batch("b", in: Self.first, nil))
            #expect(try await names(engine) == ["a", "b"])
            #expect(engine.protectionStatus.findings == [])
        }
    }

    @Test("A repair of the store does not close a locked service's only copy of a removed file")
    func onlyCopy() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            await engine.lock()
            let path = try #require(try files().first)
            try FileManager.default.removeItem(atPath: path)
            let source = OpenEngine(engine: engine)
            func repair() async throws -> (StoreCheck.Repair, hasClosed: Bool) {
                let hasClosed = Mutex(false)
                var other = try await engine.verify()
                other.findings.append(.init(part: "index", problem: "damaged", repair: .none))
                let report = other
                let repair = try await StoreCheck.Repair.perform(on: source) { () throws(EngineError) in
                    report
                } exclusively: { () throws(EngineError) in
                    hasClosed.withLock { $0 = true }
                    return StoreCheck.Repair(done: [], after: report)
                }
                return (repair, hasClosed.withLock { $0 })
            }
            let refused = try await repair()
            #expect(!refused.hasClosed && refused.0.done.contains { $0.contains(path) }, "\(refused)")
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(try await repair().hasClosed)
            #expect(try files() == [path])
        }
    }

    private static func flipped(_ bytes: Data, at offset: Int) -> Data {
        var bytes = bytes
        bytes[offset < 0 ? bytes.count + offset : offset] ^= 1
        return bytes
    }

    @Test("Items that are related to items of other indexes, or in a circle, outlast unlocking and a rewrite")
    func related() async throws {
        let all = ["circle1", "circle2", "large", "o", "p", "q", "r"]
        let long = String(repeating: "word ", count: 20_000)
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("o", in: IndexScope(bundle: Self.first.bundle), nil))
            // Each index has an item that is related to an item in the other index.
            for (scope, name, other) in [(Self.first, "p", "q"), (Self.second, "q", "p")] {
                try await engine.commit(batch(name, in: scope))
                try await engine.commit(batch(name, related: other, in: scope))
            }
            try await engine.commit(batch("r", related: "o"))
            try await engine.commit(batch("circle1"))
            try await engine.commit(batch("circle2", related: "circle1"))
            try await engine.commit(batch("circle1", related: "circle2"))
            for round in 0..<30 { try await engine.commit(batch("large", title: "\(round) \(long)")) }
            #expect(try await names(engine) == all)
        }
        // Unlocking for the first time rewrites the first index's file.
        for _ in 0..<2 {
            try await place.withEngine { engine async throws in
                #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
                #expect(try await names(engine) == all)
                #expect(try #require(engine.protectionStatus.indexes.first).bytes < 300_000)
            }
        }
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            var deletion = IndexBatch(scope: Self.first)
            deletion.delete(identifiers: ["circle1"])
            try await engine.commit(deletion)
            #expect(try await names(engine) == ["large", "o", "p", "q", "r"])
        }
    }

    @Test("While a protected file cannot be opened, a donation that names no class is not stored as plain text")
    func unopened() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            try await engine.commit(batch("plain", in: Self.second, nil))
        }
        let path = try #require(try files().first)
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[9] ^= 3
        try bytes.write(to: URL(filePath: path))
        try await place.withEngine { engine async throws in
            await #expect {
                try await engine.commit(batch("b", nil))
            } throws: { error in
                guard case EngineError.protection(.damaged(path, _)) = error else { return false }
                return true
            }
            // An index that contains plain items is not protected.
            try await engine.commit(batch("c", in: Self.second, nil))
            try await engine.commit(batch("d", in: IndexScope(bundle: "com.example.app"), nil))
            #expect(try await names(engine) == ["c", "d", "plain"])
        }
    }

    @Test("A file with a record that cannot be read is not rewritten")
    func damagedFileStays() async throws {
        let long = String(repeating: "word ", count: 20_000)
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            for round in 0..<30 { try await engine.commit(batch("a", title: "\(round) \(long)")) }
            try await engine.commit(batch("b"))
        }
        let path = try #require(try files().first)
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(filePath: path))
        try await place.withEngine { engine async throws in
            let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(report.findings.count == 1 && report.items == 1)
        }
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }

    @Test("A donation that could not be read again is refused before it is stored")
    func unusableDonation() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            await #expect(throws: EngineError.self) { try await engine.commit(batch("b\0")) }
            await engine.lock()
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            #expect(try await names(engine) == ["a"])
        }
    }

    @Test("A lock during unlocking ends it, and reports that")
    func lockedDuringUnlocking() async throws {
        let folder = try TemporaryFolder()
        let wasUnlocking = Mutex<Bool?>(nil)
        var configuration = EngineConfiguration(
            storeDirectory: folder.path("store"), access: .readWrite, extensionSearchPath: [],
            worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:]))
        configuration.passphraseCost = .least
        let hook = LockingFiles()
        configuration.storeHooks.logFiles = hook
        let engine = try SearchlightEngine(configuration)
        try await engine.unlock(passphrase: Self.passphrase, creates: true)
        try await engine.commit(batch("a"))
        try await engine.commit(batch("b", in: Self.second))
        await engine.lock()
        hook.onNextRead.withLock { next in
            next = { wasUnlocking.withLock { $0 = engine.vault.lock() != nil } }
        }
        await #expect(throws: EngineError.protection(.locked)) {
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
        }
        #expect(wasUnlocking.withLock { $0 } == true)
        #expect(!engine.protectionStatus.isUnlocked)
        #expect(engine.vault.state.withLock { state in state.logs.values.allSatisfy { !$0.isUnlocked } })
        #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).items == 2)
        await engine.close()
    }
}

/// An engine that is always open.
private struct OpenEngine: EngineSource {
    let engine: SearchlightEngine

    func use<Value: Sendable>(
        _ need: EngineNeed, _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value { try await body(engine) }
}

/// The system's files, with a hook that runs before the next read of a protected index.
private final class LockingFiles: LogFiles {
    private let system = SystemLogFiles()
    let onNextRead = Mutex<(@Sendable () -> Void)?>(nil)

    func createFolder(_ path: String) throws(LogFileError) { try system.createFolder(path) }
    func names(in folder: String) throws(LogFileError) -> [String] { try system.names(in: folder) }
    func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile {
        let file = try system.open(path, for: mode)
        return path.contains(SealedLog.suffix) ? File(base: file, files: self) : file
    }
    func rename(_ path: String, to other: String) throws(LogFileError) { try system.rename(path, to: other) }
    func remove(_ path: String) throws(LogFileError) { try system.remove(path) }
    func synchronizeFolder(_ path: String) throws(LogFileError) { try system.synchronizeFolder(path) }

    private struct File: LogFile {
        let base: any LogFile
        let files: LockingFiles

        func size() throws(LogFileError) -> Int { try base.size() }
        func read(at offset: Int, count: Int) throws(LogFileError) -> [UInt8] {
            // Before the records, the headers are read.
            if offset > 0 { files.onNextRead.withLock { $0.take() }?() }
            return try base.read(at: offset, count: count)
        }
        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(LogFileError) -> Int {
            try base.write(bytes, at: offset)
        }
        func synchronize() throws(LogFileError) { try base.synchronize() }
        func truncate(to size: Int) throws(LogFileError) { try base.truncate(to: size) }
    }
}
