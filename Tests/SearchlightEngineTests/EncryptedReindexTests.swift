// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Foundation
import IdleScheduling
import ItemRecord
import SearchIndex
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import SearchlightEngine

/// Requests for encrypted items, from a delegate.
@Suite("Requests for encrypted items", .timeLimit(.minutes(10)))
struct EncryptedReindexTests {
    private let place: EnginePlace
    private static let passphrase = Array("correct horse".utf8)
    private static let bundle = "com.example.health"
    private static let scope = IndexScope(bundle: bundle, index: "notes")
    /// An identifier that no file may contain.
    private static let canary = "canaryidentifier"
    private static let refresh = ScheduledJob.Key.encrypted(bundle: bundle)
    private static let reindex = ScheduledJob.Key.reindex(bundle: bundle)

    init() throws { place = try EnginePlace() }

    /// A delegate that records its requests, and acknowledges them after a reaction.
    private final class Delegate: LiveDelegate {
        typealias Reaction = @Sendable (WorkerRequest) async throws(BusError) -> Void
        private let requests = Mutex<[WorkerRequest]>([])
        private let reaction = Mutex<Reaction?>(nil)

        func react(_ reaction: @escaping Reaction) { self.reaction.withLock { $0 = reaction } }
        func take() -> [WorkerRequest] {
            requests.withLock { requests in
                defer { requests = [] }
                return requests
            }
        }
        func perform(_ request: WorkerRequest) async throws(BusError) -> [BusValue] {
            requests.withLock { $0.append(request) }
            if let reaction = reaction.withLock({ $0 }) { try await reaction(request) }
            return []
        }
        func settle() async {}
        func takeLoss() -> BusError? { nil }
    }

    private func donate(
        _ names: [String], _ engine: SearchlightEngine, _ protection: ProtectionClass? = .complete,
        in scope: IndexScope = scope
    ) async throws {
        var batch = IndexBatch(scope: scope, protection: protection)
        batch.index(
            try names.map { try EncodedItem(ItemRecord(uniqueIdentifier: $0, attributes: ["title": .string("t")])) })
        try await engine.commit(batch)
    }

    private func unlock(_ engine: SearchlightEngine, creates: Bool = false) async throws {
        try await engine.unlock(passphrase: Self.passphrase, creates: creates)
    }

    private func job(_ key: ScheduledJob.Key, _ engine: SearchlightEngine) -> ScheduledJob? {
        engine.scheduledJobs().first { $0.key == key }
    }

    /// Returns the names of the store's files that contain the canary.
    private func leaks() -> [String] {
        let files = FileManager.default.enumerator(atPath: place.store)?.compactMap { $0 as? String } ?? []
        #expect(files.contains("jobs.json") && files.contains { $0.hasPrefix("protected/") })
        return files.filter { name in
            (try? Data(contentsOf: URL(filePath: place.store + "/" + name)))?
                .range(of: Data(Self.canary.utf8)) != nil
        }
    }

    private static func encrypted(
        _ names: [String], _ protection: ProtectionClass = .complete, index: String = "notes"
    ) -> WorkerRequest {
        .reindexEncrypted(EncryptedItems(index: index, protection: protection, identifiers: names))
    }

    @Test("are made with the class before the items expire, once, after the store is unlocked, and are not recorded")
    func expiring() async throws {
        try await place.withEngine { engine async throws in
            try await unlock(engine, creates: true)
            try await donate([Self.canary], engine)
            try await donate(["open"], engine, .completeUnlessOpen, in: IndexScope(bundle: Self.bundle, index: "inbox"))
        }
        place.time.pass(days: 24)
        let delegate = Delegate()
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty)
            #expect(try await engine.run(Self.refresh) == nil)
            #expect(delegate.take() == [])
            try await unlock(engine)
            #expect(engine.nextLook.map { $0 <= place.time.now } == true)
            try await engine.lookAhead()
            let owed = try #require(job(Self.refresh, engine))
            #expect(owed.refusal == nil && owed.urgency == .expiry && owed.deadline != nil)
            // A lock before the job runs holds it, and names its reason.
            await engine.lock()
            try await engine.lookAhead()
            #expect(job(Self.refresh, engine)?.refusal == .locked)
            await #expect(throws: EngineError.protection(.locked)) { try await engine.run(Self.refresh) }
            #expect(delegate.take() == [])
            try await unlock(engine)
            try await engine.lookAhead()
            delegate.react { [engine] request in
                guard case .reindexEncrypted(let items) = request, items.index == "notes" else { return }
                do { try await donate(items.identifiers, engine) } catch { Issue.record("\(error)") }
            }
            #expect(try await engine.run(Self.refresh) == 2)
            #expect(
                delegate.take() == [
                    Self.encrypted(["open"], .completeUnlessOpen, index: "inbox"), Self.encrypted([Self.canary]),
                ])
            try await engine.lookAhead()
            #expect(job(Self.refresh, engine) == nil)
        }
        #expect(leaks() == [])
        // Ten days later, only the renewed item is left, and it is not due yet.
        place.time.pass(days: 10)
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            try await unlock(engine)
            try await engine.lookAhead()
            #expect(job(Self.refresh, engine) == nil)
            let names = try await engine.items(
                matching: .and([]), bundle: Self.bundle, limit: 10, after: nil, place: .current)
            #expect(names.items.map(\.record.uniqueIdentifier) == [Self.canary])
        }
        #expect(delegate.take() == [])
        #expect(leaks() == [])
    }

    @Test("are repeated later if the delegate fails, whose words are not recorded")
    func failing() async throws {
        let delegate = Delegate()
        delegate.react { _ throws(BusError) in
            throw BusError.remote(name: ExtensionStatus.failed.errorName, message: "no \(Self.canary)")
        }
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            try await unlock(engine, creates: true)
            try await donate([Self.canary], engine)
            place.time.pass(days: 24)
            try await engine.lookAhead()
            do throws(EngineError) {
                _ = try await engine.run(Self.refresh)
                Issue.record("The delegate has failed.")
            } catch {
                #expect(!error.description.contains(Self.canary))
            }
            #expect(job(Self.refresh, engine)?.notBefore != nil)
            #expect(delegate.take() == [Self.encrypted([Self.canary])])
        }
        #expect(leaks() == [])
    }

    @Test("by the user are not recorded, and while the store is locked they say so")
    func byUser() async throws {
        let delegate = Delegate()
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            try await unlock(engine, creates: true)
            try await donate([Self.canary], engine)
            try await donate(["plain"], engine, nil, in: IndexScope(bundle: Self.bundle))
            await engine.lock()
            for items: Set in [[Self.canary], [Self.canary, "plain"]] {
                await #expect(throws: EngineError.protection(.locked)) {
                    try await engine.reindexItems(items, of: Self.bundle)
                }
            }
            #expect(delegate.take() == [])
            #expect(try await engine.reindexItems(["plain"], of: Self.bundle) == 1)
            #expect(delegate.take() == [.reindexItems(["plain"])])
            try await unlock(engine)
            let unknown = Self.canary + "unknown"
            #expect(try await engine.reindexItems([Self.canary, "plain", unknown], of: Self.bundle) == 2)
            #expect(
                delegate.take() == [
                    .reindexItems(["plain"]), Self.encrypted([Self.canary]), .reindexItems([unknown]),
                ])
            // An item with a name of both kinds is requested from both.
            try await donate(["plain"], engine)
            #expect(try await engine.reindexItems(["plain"], of: Self.bundle) == 3)
            #expect(delegate.take() == [.reindexItems(["plain"]), Self.encrypted(["plain"])])
        }
        #expect(leaks() == [])
    }

    @Test("for everything wait for the unlocking, if all items of the bundle are encrypted")
    func whollyLocked() async throws {
        let delegate = Delegate()
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            try await unlock(engine, creates: true)
            try await donate(["a"], engine)
            await engine.lock()
            try engine.owe(.reindexAll, of: Self.bundle, cause: .lost)
            try await engine.lookAhead()
            #expect(job(Self.reindex, engine)?.refusal == .locked)
            await #expect(throws: EngineError.protection(.locked)) { try await engine.run(Self.reindex) }
            await #expect(throws: EngineError.protection(.locked)) { try await engine.reindexAll(Self.bundle) }
            await #expect(throws: EngineError.protection(.locked)) { try await engine.compare(Self.bundle) }
            #expect(delegate.take() == [])
            let owed = try #require(job(Self.reindex, engine))
            #expect(owed.refusal == .locked && owed.notBefore == nil)
            try await unlock(engine)
            #expect(job(Self.reindex, engine)?.refusal == nil)
            try await engine.run(Self.reindex)
            #expect(delegate.take() == [.reindexAll])
            #expect(engine.owedWork(for: Self.bundle) == nil)
        }
    }

    @Test("for everything leave out the locked indexes of a bundle, which are requested after the unlocking")
    func partlyLocked() async throws {
        let delegate = Delegate()
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            try await unlock(engine, creates: true)
            try await donate(["a"], engine)
            try await donate(["plain"], engine, nil, in: IndexScope(bundle: Self.bundle))
            await engine.lock()
            _ = try await engine.reindexAll(Self.bundle)
            #expect(delegate.take() == [.reindexUnlocked(lockedIndexes: ["notes"])])
            #expect(engine.owedWork(for: Self.bundle) == nil)
            try await engine.lookAhead()
            #expect(job(Self.refresh, engine)?.refusal == .locked)
        }
        // The work survives a restart.
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            #expect(job(Self.refresh, engine)?.refusal == .locked)
            try await unlock(engine)
            try await engine.lookAhead()
            #expect(job(Self.refresh, engine) == nil)
            #expect(engine.owedWork(for: Self.bundle)?.isForLosses == true)
            try await engine.run(Self.reindex)
            #expect(delegate.take() == [.reindexAll])
        }
    }

    @Test("reach the other indexes and batches if one fails, or if nobody takes requests for one")
    func partlyFailing() async throws {
        let delegate = Delegate()
        delegate.react { request throws(BusError) in
            guard case .reindexEncrypted(let items) = request else { return }
            switch items.index {
            case "a": throw BusError.remote(name: ExtensionStatus.unsupported.errorName, message: "")
            case "b": throw BusError.remote(name: ExtensionStatus.failed.errorName, message: "")
            default: return
            }
        }
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            try await unlock(engine, creates: true)
            for name in ["a", "b", "c"] {
                try await donate([name], engine, in: IndexScope(bundle: Self.bundle, index: name))
            }
            place.time.pass(days: 24)
            try await engine.lookAhead()
            await #expect(throws: EngineError.self) { try await engine.run(Self.refresh) }
            #expect(delegate.take() == ["a", "b", "c"].map { Self.encrypted([$0], index: $0) })
            #expect(job(Self.refresh, engine)?.notBefore != nil)
        }
    }

    @Test("for everything are made while the store is locked if the bundle had other items, also after their loss")
    func lostPlainItems() async throws {
        let delegate = Delegate()
        let plain = IndexScope(bundle: Self.bundle)
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            try await unlock(engine, creates: true)
            try await donate(["a"], engine)
            await engine.lock()
            try engine.owe(.reindexAll, of: Self.bundle, cause: .lost)
            try await engine.lookAhead()
            #expect(job(Self.reindex, engine)?.refusal == .locked)
            // The first item without encryption makes the reindex useful.
            try await donate(["plain"], engine, nil, in: plain)
            #expect(job(Self.reindex, engine)?.refusal == nil)
            var deletion = IndexBatch(scope: plain)
            deletion.deleteAll()
            try await engine.commit(deletion)
        }
        try await place.withEngine { engine async throws in
            _ = try engine.registerDelegate(delegate, for: Self.bundle)
            try await engine.lookAhead()
            #expect(job(Self.reindex, engine)?.refusal == nil)
            _ = try await engine.run(Self.reindex)
            #expect(delegate.take().count == 1)
        }
    }

    @Test("are not repeated while the store is locked, if it has keys and no protected index yet")
    func withoutIndexes() async throws {
        try place.install(Self.bundle)
        try await place.withEngine { engine async throws in
            try await unlock(engine, creates: true)
            await engine.lock()
            let before = engine.owedWork(for: Self.bundle)
            if let before { try engine.jobStore.update { $0.complete(before) } }
            var batch = IndexBatch(scope: Self.scope, protection: .complete)
            batch.index([try EncodedItem(ItemRecord(uniqueIdentifier: "a", attributes: [:]))])
            try engine.owe(.reindexAll, of: Self.bundle, cause: .asked)
            await #expect(throws: BusError.self) { try await engine.receiver(for: .worker).receive(batch) }
            for _ in 0..<2 {
                try await engine.lookAhead()
                #expect(job(Self.refresh, engine)?.refusal == .locked)
                // The lock has rejected its donations.
                #expect(job(Self.reindex, engine)?.refusal == .locked)
            }
            try await unlock(engine)
            try await engine.lookAhead()
            #expect(job(Self.refresh, engine) == nil)
            #expect(job(Self.reindex, engine)?.refusal == nil)
        }
    }

    @Test("follow the unlocking if the lock has rejected what the extension read")
    func rejectedReads() async throws {
        try place.install(Self.bundle)
        try await place.withEngine { engine async throws in
            try await unlock(engine, creates: true)
            try await donate(["a"], engine)
            await engine.lock()
            let receiver = engine.receiver(for: .worker)
            await #expect(throws: BusError.self) { try await receiver.clientState(of: Self.scope) }
            #expect(job(Self.refresh, engine)?.refusal == .locked)
        }
    }

    @Test("follow the unlocking if the lock has rejected a donation of the extension")
    func rejected() async throws {
        try place.install(Self.bundle)
        try await place.withEngine { engine async throws in
            try await unlock(engine, creates: true)
            try await donate(["a"], engine)
            try await donate(["plain"], engine, nil, in: IndexScope(bundle: Self.bundle))
            let before = engine.owedWork(for: Self.bundle)
            if let before { try engine.jobStore.update { $0.complete(before) } }
            await engine.lock()
            var batch = IndexBatch(scope: Self.scope)
            batch.index([try EncodedItem(ItemRecord(uniqueIdentifier: Self.canary, attributes: [:]))])
            // An app that donates by itself handles its error.
            await #expect(throws: BusError.self) { try await engine.receiver(for: .app).receive(batch) }
            #expect(job(Self.refresh, engine) == nil)
            await #expect(throws: BusError.self) { try await engine.receiver(for: .worker).receive(batch) }
            #expect(job(Self.refresh, engine)?.refusal == .locked)
            #expect(engine.owedWork(for: Self.bundle) == nil)
            try await unlock(engine)
            try await engine.lookAhead()
            #expect(engine.owedWork(for: Self.bundle)?.work == .reindexAll)
        }
        #expect(leaks() == [])
        // A forgotten bundle is not asked.
        try await place.withEngine { engine async throws in
            let batch = IndexBatch(scope: Self.scope, clientState: [1])
            await #expect(throws: BusError.self) { try await engine.receiver(for: .worker).receive(batch) }
            #expect(job(Self.refresh, engine)?.refusal == .locked)
            try await engine.forget(Self.bundle)
            #expect(engine.scheduledJobs().isEmpty)
        }
    }
}
