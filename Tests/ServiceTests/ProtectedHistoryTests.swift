// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import MetadataQuery
import SearchIndex
import SearchlightEngine
import Synchronization
import TestSupport
import Testing

/// Random histories of the real service with protected indexes, with a kill at a random time.
@Suite("Protected indexes and kills", .timeLimit(.minutes(30)))
struct ProtectedHistoryTests {
    private static let passphrase = Array("the passphrase of this test".utf8)
    private static let canary = ["history", "canary", "word"].joined()
    /// 200 rounds take several minutes.
    private static let rounds = ProcessInfo.processInfo.environment["SEARCHLIGHT_LONG_TESTS"] == nil ? 8 : 200

    /// The items that must exist after a kill: those that were acknowledged, and possibly the
    /// single donation that was not.
    private final class Ledger: Sendable {
        private let state = Mutex((acknowledged: Set<String>(), sent: Set<String>()))
        func send(_ names: [String]) { state.withLock { $0.sent.formUnion(names) } }
        func acknowledge(_ names: [String]) { state.withLock { $0.acknowledged.formUnion(names) } }
        var acknowledged: Set<String> { state.withLock { $0.acknowledged } }
        var sent: Set<String> { state.withLock { $0.sent } }
    }

    /// Returns the identifiers of all items.
    private func items(_ user: RemoteEngine) async throws -> Set<String> {
        var found: Set<String> = []
        var cursor: QueryCursor?
        repeat {
            let page = try await user.items(matching: .and([]), limit: 10_000, after: cursor)
            found.formUnion(page.items.map(\.record.uniqueIdentifier))
            cursor = page.next
        } while cursor != nil
        return found
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
            let found = try await items(user)
            #expect(
                ledger.acknowledged.isSubset(of: found) && found.isSubset(of: ledger.sent),
                "round \(round): \(found.count) items, \(ledger.acknowledged.count) acknowledged")
            ledger.acknowledge(Array(found))
            let (lives, yields, locks) = (random.below(60), random.below(2000), random.below(3) == 0)
            var killing: Task<Void, Never>?
            // The first donation creates its index, which requires an unlocked store.
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
                    // A locked index of the class complete accepts nothing; other errors are caused
                    // by the kill.
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

    @Test("A kill during a rotation or a change of the passphrase loses no item")
    func killedChanges() async throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        let folder = try TemporaryFolder()
        var passphrases = [Self.passphrase]
        var changes = 0
        for round in 0..<Self.rounds {
            let program = try await Program(folder: folder)
            let user = try #require(
                try await RemoteEngine.connect(storeDirectory: folder.path("store"), program: "test"))
            // After a kill, either the earlier passphrase or the new one opens the store.
            var report: UnlockReport?
            for passphrase in passphrases {
                do throws(EngineError) {
                    report = try await user.perform(UnlockCall(passphrase: passphrase, creates: round == 0))
                    passphrases = [passphrase]
                    break
                } catch {
                    #expect(error == .protection(.wrongPassphrase))
                }
            }
            let found = try #require(report)
            #expect(found.findings == [] && found.items == round * 4, "round \(round)")
            for name in ["a", "b", "c", "d"] {
                var batch = IndexBatch(
                    scope: IndexScope(bundle: "com.example.health", index: name), protection: .complete)
                batch.index([
                    try EncodedItem(
                        ItemRecord(uniqueIdentifier: "\(round)", attributes: ["title": .string(Self.canary)]))
                ])
                try await user.commit(batch)
            }
            let life = Duration.milliseconds(random.below(1500))
            var killing: Task<Void, Never>?
            while true {
                // The first change ends before the first kill, however busy the machine is.
                if killing == nil, round > 0 || changes > 0 {
                    killing = Task.detached {
                        let end = ContinuousClock.now + life
                        while ContinuousClock.now < end { await Task.yield() }
                        program.send(SIGKILL)
                    }
                }
                do throws(EngineError) {
                    if random.below(2) == 0 {
                        let new = Array("passphrase \(changes)".utf8)
                        passphrases = [passphrases[0], new]
                        _ = try await user.perform(
                            ChangeKeysCall(from: .passphrase(passphrases[0]), to: .passphrase(new)))
                        passphrases = [new]
                    } else {
                        let report = try await user.perform(RotateKeysCall(with: .passphrase(passphrases[0])))
                        #expect(report.kept == [] && report.findings == [])
                    }
                    changes += 1
                } catch {
                    if case .service = error {} else { Issue.record("\(error)") }
                    break
                }
            }
            if let killing { await killing.value } else { program.send(SIGKILL) }
            #expect(await program.wait() == 128 + SIGKILL)
            await user.close()
        }
        // A kill before the first change of each round would test nothing.
        #expect(changes > 0)
    }
}
