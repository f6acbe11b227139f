// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import Protection
import SearchIndex
import TestSupport
import Testing
import WriteAheadLog

@testable import SearchlightEngine

/// The removal of a bundle, its receipt, and removals that stop at any step.
@Suite("Removal of an app and its receipt", .timeLimit(.minutes(10)))
struct ForgetReceiptTests {
    private let folder: TemporaryFolder
    private static let passphrase = Array("correct horse".utf8)
    private static let scope = IndexScope(bundle: "com.example.health", index: "notes")
    private static let other = IndexScope(bundle: "com.example.other", index: "notes")

    init() throws { folder = try TemporaryFolder() }

    private var protected: String { folder.path("store") + "/protected" }

    private func withEngine(
        files: any LogFiles = SystemLogFiles(), _ body: (SearchlightEngine) async throws -> Void
    ) async throws {
        var configuration = EngineConfiguration(
            storeDirectory: folder.path("store"), access: .readWrite, extensionSearchPath: [],
            worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:]))
        configuration.passphraseCost = .least
        configuration.storeHooks.logFiles = files
        let engine = try SearchlightEngine(configuration)
        do { try await body(engine) } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    private func batch(
        _ name: String, in scope: IndexScope = scope, _ protection: ProtectionClass? = .complete
    ) throws -> IndexBatch {
        var batch = IndexBatch(scope: scope, protection: protection)
        batch.index([try EncodedItem(ItemRecord(uniqueIdentifier: name, attributes: ["title": .string("pulse")]))])
        return batch
    }

    @Test("Removals of several apps at the same time leave no record of one that has ended")
    func concurrentRemovals() async throws {
        let removals = UnfinishedRemovals(directory: folder.path)
        try removals.note("com.example.interrupted", hasEnded: false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<32 {
                group.addTask {
                    try removals.note("com.example.app\(number)", hasEnded: false)
                    #expect(removals.bundles.contains("com.example.app\(number)"))
                    try removals.note("com.example.app\(number)", hasEnded: true)
                }
            }
            try await group.waitForAll()
        }
        #expect(removals.bundles == ["com.example.interrupted"])
    }

    /// A store with a protected and a plain index of the bundle, and a protected index of another.
    private func fill() async throws {
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch("a"))
            try await engine.commit(batch("b", in: IndexScope(bundle: Self.scope.bundle, index: "inbox")))
            try await engine.commit(batch("c", in: IndexScope(bundle: Self.scope.bundle, index: nil), nil))
            try await engine.commit(batch("d", in: Self.other))
        }
    }

    /// The files of the bundle in the folder of protected indexes.
    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: protected).filter { name in
            name != "key" && (try? SealedLog.claim(protected + "/" + name))?.scope.bundle == Self.scope.bundle
        }.sorted()
    }

    @Test("Files that are not open are removed too: a second file, a damaged file, an unfinished file")
    func strayFiles() async throws {
        try await fill()
        let name = try #require(try files().first)
        let bytes = try Data(contentsOf: URL(filePath: protected + "/" + name))
        try bytes.write(to: URL(filePath: protected + "/second.sealed"))
        var damaged = bytes
        damaged[40] ^= 1
        try damaged.write(to: URL(filePath: protected + "/damaged.sealed"))
        try await withEngine { engine async throws in
            // The opening removes unfinished files; this one appears later.
            try bytes.write(to: URL(filePath: protected + "/late.sealed.new"))
            #expect(try files().count == 5)
            let report = try await engine.remove(Self.scope.bundle)
            #expect(report.items == 1, "the store is locked")
            #expect(report.receipt.protectedFiles.count == 5)
            #expect(report.receipt.protectedFiles.allSatisfy { $0.keysAreOverwritten })
            #expect(try files() == [])
            #expect(try await engine.check(report.receipt) == ReceiptCheck(laterLocked: 0))
            // The file of the other bundle is whole.
            let unlocked = try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(unlocked.items == 1 && unlocked.findings == [])
        }
    }

    @Test("A receipt finds what comes back, and not what the app donated since")
    func receipt() async throws {
        try await fill()
        let kept = try files().map { ($0, try Data(contentsOf: URL(filePath: protected + "/" + $0))) }
        var receipt: ForgetReceipt?
        try await withEngine { engine async throws in
            let report = try await engine.remove(Self.scope.bundle)
            receipt = report.receipt
            #expect(report.receipt.removed.map(\.count) == [1])
            try await engine.commit(batch("later", in: IndexScope(bundle: Self.scope.bundle, index: nil), nil))
            let check = try await engine.check(report.receipt)
            #expect(check == ReceiptCheck(findings: [], later: 1, laterLocked: 0))
        }
        let made = try #require(receipt)
        // Donations to protected indexes count too, and those to locked indexes are mentioned.
        try await withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            for name in ["later", "later still"] { try await engine.commit(batch(name)) }
            #expect(try await engine.check(made) == ReceiptCheck(findings: [], later: 3, laterLocked: 0))
            await engine.lock()
            #expect(try await engine.check(made) == ReceiptCheck(findings: [], later: 1, laterLocked: 1))
        }
        let again = try ForgetReceipt(made.data())
        #expect(try again.data() == made.data())
        for (name, bytes) in kept { try bytes.write(to: URL(filePath: protected + "/copy of " + name)) }
        try await withEngine { engine async throws in
            let check = try await engine.check(again)
            #expect(check.findings.count == kept.count && check.findings.allSatisfy { $0.contains("copy of") })
        }
        for (name, _) in kept { try FileManager.default.removeItem(atPath: protected + "/copy of " + name) }
        // An item with a number from before the removal is one of the removed items.
        var earlier = again
        earlier.lastItem = .max
        try await withEngine { [earlier] engine async throws in
            let check = try await engine.check(earlier)
            #expect(check.findings.contains { $0.contains("1 of the removed items") }, "\(check)")
        }
        var foreign = again
        foreign.store = String(repeating: "0", count: 32)
        var malformed = again
        malformed.lastItem = -1
        try await withEngine { [foreign, malformed] engine async throws in
            for receipt in [foreign, malformed] {
                await #expect(throws: EngineError.self) { try await engine.check(receipt) }
            }
        }
    }

    @Test("Hostile receipts are bounded and rejected")
    func hostile() async throws {
        var receipt = ForgetReceipt(
            bundle: "com.example.health", store: String(repeating: "a", count: 32), moment: 1, lastItem: 5)
        receipt.protectedFiles = [
            .init(
                path: "protected/a.sealed", identifier: String(repeating: "b", count: 32), index: "x",
                keysAreOverwritten: true)
        ]
        let bytes = try receipt.data()
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: [Array(bytes)],
            tokens: ["{", "[", "\"", "1e999", "null", "-1"].map { Array($0.utf8) })
        // Only a change without a meaning is accepted.
        _ = try loop.run(MutationLoop.inputs) { bytes in
            guard let read = try? ForgetReceipt(Data(bytes)) else { return false }
            guard try read.data() == receipt.data() else { throw ReceiptError.malformed }
            return true
        }
        #expect(throws: ReceiptError.tooLarge) {
            try ForgetReceipt(Data(repeating: 0x20, count: ForgetReceipt.maximumBytes + 1))
        }
        #expect(throws: ReceiptError.malformed) {
            try ForgetReceipt(Data(String(repeating: "[", count: 100_000).utf8))
        }
        for spoil in [
            { (receipt: inout ForgetReceipt) in receipt.bundle = "" },
            { $0.bundle = String(repeating: "x", count: 5000) }, { $0.store = "../../etc/passwd" },
            { $0.lastItem = -1 },
            { $0.remaining = [String](repeating: "x", count: 2000) },
            { $0.protectedFiles = [ForgetReceipt.ProtectedFile](repeating: $0.protectedFiles[0], count: 2000) },
        ] as [(inout ForgetReceipt) -> Void] {
            var spoilt = receipt
            spoil(&spoilt)
            let data = try spoilt.data()
            #expect(throws: ReceiptError.malformed) { try ForgetReceipt(data) }
        }
    }

    @Test("A removal that stops at any step opens nothing afterwards, and a second one finishes it")
    func stops() async throws {
        var (step, finished) = (0, false)
        while !finished {
            try? FileManager.default.removeItem(atPath: folder.path("store"))
            try await fill()
            let stopping = StoppingFiles()
            try await withEngine(files: stopping) { engine async throws in
                stopping.stop(after: step)
                finished = (try? await engine.remove(Self.scope.bundle)) != nil
                stopping.stop(after: .max)
            }
            try await withEngine { engine async throws in
                let isPending = UnfinishedRemovals(directory: folder.path("store")).bundles == [Self.scope.bundle]
                #expect(isPending != finished, "step \(step)")
                let report = try await engine.remove(Self.scope.bundle)
                #expect(try files() == [], "step \(step)")
                #expect(try await engine.check(report.receipt).findings == [])
                #expect(UnfinishedRemovals(directory: folder.path("store")).bundles == [])
                #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).items == 1)
            }
            step += 1
        }
        // Two files are written, synchronized and removed, and their folder is synchronized.
        #expect(step > 7)
    }
}
