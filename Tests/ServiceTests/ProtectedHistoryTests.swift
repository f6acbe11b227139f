// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import MetadataQuery
import SearchlightEngine
import Synchronization
import TestSupport
import Testing

/// Random histories of the real service with protected indexes, with a kill at a random moment.
@Suite("Protected indexes and kills", .timeLimit(.minutes(30)))
struct ProtectedHistoryTests {
    private static let passphrase = Array("the passphrase of this test".utf8)
    private static let canary = ["history", "canary", "word"].joined()
    /// 200 rounds take several minutes.
    private static let rounds = ProcessInfo.processInfo.environment["SEARCHLIGHT_LONG_TESTS"] == nil ? 8 : 200

    /// The items that must be there after a kill: those that were acknowledged, and perhaps the one
    /// donation that was not.
    private final class Ledger: Sendable {
        private let state = Mutex((acknowledged: Set<String>(), sent: Set<String>()))
        func send(_ names: [String]) { state.withLock { $0.sent.formUnion(names) } }
        func acknowledge(_ names: [String]) { state.withLock { $0.acknowledged.formUnion(names) } }
        var acknowledged: Set<String> { state.withLock { $0.acknowledged } }
        var sent: Set<String> { state.withLock { $0.sent } }
    }

    @Test("A kill loses no acknowledged item, and leaves no word of one in a file")
    func killed() async throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        let folder = try TemporaryFolder()
        let ledger = Ledger()
        for round in 0..<Self.rounds {
            let program = try await Program(folder: folder)
            let user = try #require(
                try await RemoteEngine.connect(storeDirectory: folder.path("store"), program: "test"))
            let report = try await user.perform(UnlockCall(passphrase: Self.passphrase, creates: round == 0))
            #expect(report.findings == [])
            let items = try await user.items(matching: .and([]), limit: 10_000).items
            let found = Set(items.map(\.record.uniqueIdentifier))
            #expect(ledger.acknowledged.isSubset(of: found) && found.isSubset(of: ledger.sent), "round \(round)")
            ledger.acknowledge(Array(found))
            let (lives, yields, locks) = (random.below(60), random.below(2000), random.below(3) == 0)
            var killing: Task<Void, Never>?
            // The first donation creates its index, which needs an unlocked store.
            for number in 0..<10_000 {
                let names = (0..<5).map { "\(round)-\(number)-\($0)" }
                let isOpen = number % 2 == 1
                if locks, number == 6 { _ = try? await user.perform(LockCall()) }
                var batch = IndexBatch(
                    scope: IndexScope(bundle: "com.example.health", index: isOpen ? "inbox" : "notes"),
                    protection: isOpen ? .completeUnlessOpen : .complete)
                batch.index(
                    try names.map { name in
                        try EncodedItem(
                            ItemRecord(
                                uniqueIdentifier: name, attributes: ["title": .string("\(Self.canary) \(name)")]))
                    })
                ledger.send(names)
                if number == lives {
                    killing = Task.detached {
                        for _ in 0..<yields { await Task.yield() }
                        program.send(SIGKILL)
                    }
                }
                do throws(EngineError) {
                    try await user.commit(batch)
                    ledger.acknowledge(names)
                } catch {
                    // A locked index of the class complete takes nothing; other errors are of the
                    // kill.
                    guard case .protection(.locked) = error else { break }
                }
            }
            await killing?.value
            #expect(await program.wait() == 128 + SIGKILL)
            await user.close()
            let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            for name in files {
                let bytes = (try? folder.read(name)) ?? []
                #expect(Data(bytes).range(of: Data(Self.canary.utf8)) == nil, "\(name) in round \(round)")
            }
        }
        #expect(ledger.acknowledged.count > Self.rounds * 5)
    }
}
