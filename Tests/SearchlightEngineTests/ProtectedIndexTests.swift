// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import MetadataQuery
import Protection
import SearchIndex
import TestSupport
import Testing

@testable import SearchlightEngine

/// An engine's protected indexes, without a service.
@Suite("Protected indexes", .timeLimit(.minutes(10)))
struct ProtectedIndexTests {
    private let place: EnginePlace
    private static let passphrase = Array("correct horse".utf8)
    private static let scope = IndexScope(bundle: "com.example.health", index: "notes")
    /// A word that no file may contain.
    private static let canary = "pulsecanaryword"

    init() throws { place = try EnginePlace() }

    private func batch(
        _ names: [String], _ protection: ProtectionClass? = .complete, in scope: IndexScope = scope,
        title: String = canary, clientState: [UInt8]? = nil
    ) throws -> IndexBatch {
        var batch = IndexBatch(scope: scope, clientState: clientState, protection: protection)
        batch.index(
            try names.map { name in
                try EncodedItem(
                    ItemRecord(uniqueIdentifier: name, attributes: ["title": .string("\(title) \(name)")]))
            })
        return batch
    }

    private func found(_ text: String, _ engine: SearchlightEngine) async throws -> [String] {
        try await engine.find(ItemSearch(text)).hits.map(\.item.record.uniqueIdentifier).sorted()
    }

    /// Returns the names of the store's files that contain a text.
    private func files(containing text: String) throws -> [String] {
        let files = FileManager.default.enumerator(atPath: place.store)?.compactMap { $0 as? String } ?? []
        #expect(files.contains { $0.hasPrefix("protected/") })
        return files.filter { name in
            (try? Data(contentsOf: URL(filePath: place.store + "/" + name)))?.range(of: Data(text.utf8)) != nil
        }
    }

    @Test("An answer without protected items has as many items as requested")
    func withoutProtected() async throws {
        try await place.withEngine { engine async throws in
            _ = try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(
                batch(["p", "q", "r"], nil, in: IndexScope(bundle: "com.example.app"), title: "text of a pulse"))
            try await engine.commit(batch(["a", "b", "c", "d"], title: "pulse"))
            var request = SearchRequest("pulse")
            request.limit = 3
            #expect(try await engine.search(request).hits.allSatisfy { $0.item.scope == Self.scope })
            let hits = try await engine.search(request, readsProtected: false).hits
            #expect(hits.map(\.item.record.uniqueIdentifier).sorted() == ["p", "q", "r"])
            let page = try await engine.items(
                matching: QueryExpression(parsing: "title == '*'"), bundle: nil, limit: 5, after: nil, place: .current,
                readsProtected: false)
            #expect(page.items.map(\.record.uniqueIdentifier) == ["p", "q", "r"] && page.next == nil)
        }
    }

    @Test("A protected item is found while the store is unlocked, even after a restart, and is on no disk")
    func unlocked() async throws {
        try await place.withEngine { engine async throws in
            try await engine.commit(batch(["plain"], nil, in: IndexScope(bundle: "com.example.app"), title: "pulse"))
            let report = try await engine.unlock(passphrase: Self.passphrase, creates: true)
            #expect(report.items == 0 && report.hasCreatedKeys && report.findings == [])
            let memory = try #require(report.memory)
            #expect((1...memory.limit).contains(memory.bytes))
            try await engine.commit(batch(["a", "b"], clientState: [1, 2]))
            try await engine.commit(batch(["c"], nil))
            #expect(try await found(Self.canary, engine) == ["a", "b", "c"])
            #expect(try await found("pulse", engine) == ["a", "b", "c", "plain"])
            #expect(try await engine.clientState(of: Self.scope) == [1, 2])
            #expect(try await engine.itemCounts() == ["com.example.app": 1, "com.example.health": 3])
        }
        #expect(try files(containing: Self.canary) == [])
        try await place.withEngine { engine async throws in
            let answer = try await engine.find(ItemSearch("pulse"))
            #expect(answer.hits.map(\.item.record.uniqueIdentifier) == ["plain"])
            #expect(answer.isLocked)
            await #expect(throws: EngineError.protection(.wrongPassphrase)) {
                try await engine.unlock(passphrase: Array("correct horsf".utf8), creates: true)
            }
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).items == 3)
            let again = try await engine.find(ItemSearch("pulse"))
            #expect(again.hits.count == 4 && !again.isLocked)
            #expect(try await engine.clientState(of: Self.scope) == [1, 2])
        }
        #expect(try files(containing: Self.canary) == [])
    }

    @Test("A locked store answers nothing about a protected index, and the class complete takes no donation")
    func locked() async throws {
        try await place.withEngine { engine async throws in
            await #expect(throws: EngineError.protection(.noKeys)) { try await engine.commit(batch(["a"])) }
            await #expect(throws: EngineError.protection(.noKeys)) {
                try await engine.unlock(passphrase: Self.passphrase, creates: false)
            }
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["a"], clientState: [7]))
            let number = try #require(try await engine.find(ItemSearch(Self.canary)).hits.first).item.number
            #expect(try await engine.item(named: "@\(number)").record.uniqueIdentifier == "a")
            #expect(await engine.lock())
            #expect(await !engine.lock())
            #expect(try await found(Self.canary, engine) == [])
            #expect(try await engine.count(matching: .and([])) == 0)
            #expect(try await engine.suggestions(SuggestionRequest(String(Self.canary.prefix(6)))).isEmpty)
            await #expect(throws: EngineError.itemNotFound("a")) { try await engine.item(named: "a") }
            await #expect(throws: EngineError.protection(.locked)) { try await engine.item(named: "@\(number)") }
            await #expect(throws: EngineError.protection(.locked)) { try await engine.clientState(of: Self.scope) }
            await #expect(throws: EngineError.protection(.locked)) { try await engine.commit(batch(["b"])) }
            await #expect(throws: EngineError.protection(.locked)) { try await engine.commit(batch(["b"], nil)) }
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(try await found(Self.canary, engine) == ["a"])
        }
    }

    @Test("completeUnlessOpen takes donations while the store is locked")
    func donatedWhileLocked() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["a"], .completeUnlessOpen))
            await engine.lock()
            try await engine.commit(batch(["b"], .completeUnlessOpen, clientState: [9]))
            var deletion = IndexBatch(scope: Self.scope)
            deletion.delete(identifiers: ["a"])
            try await engine.commit(deletion)
            await #expect(throws: EngineError.protection(.locked)) {
                try await engine.commit(
                    batch(["c"], .completeUnlessOpen).with(clientState: nil, expecting: .exactly([9])))
            }
            #expect(try await found(Self.canary, engine) == [])
        }
        #expect(try files(containing: Self.canary) == [])
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(try await found(Self.canary, engine) == ["b"])
            await #expect(throws: EngineError.index(.mismatchedClientState)) {
                try await engine.commit(batch(["c"]).with(clientState: [1], expecting: .exactly([8])))
            }
            try await engine.commit(batch(["c"], nil).with(clientState: [1], expecting: .exactly([9])))
            #expect(try await found(Self.canary, engine) == ["b", "c"])
            await #expect(throws: EngineError.protection(.weakerClass(index: "com.example.health (notes)"))) {
                try await engine.commit(batch(["d"], .complete))
            }
        }
    }

    @Test("An index with items without protection does not become protected before they are deleted")
    func unprotectedFirst() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["a"], nil))
            await #expect(throws: EngineError.protection(.unprotectedItems(index: "com.example.health (notes)"))) {
                try await engine.commit(batch(["b"]))
            }
            var deletion = IndexBatch(scope: Self.scope, protection: .complete)
            deletion.deleteAll()
            try await engine.commit(deletion)
            try await engine.commit(batch(["b"]))
            #expect(try await found(Self.canary, engine) == ["b"])
            #expect(engine.protectionStatus.indexes.map(\.protection) == [.complete])
        }
    }

    @Test("Pages of searches and of queries go through both indexes without a gap or a repetition")
    func pages() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            let plain = (0..<25).map { "plain\($0)" }
            let protected = (0..<25).map { "protected\($0)" }
            try await engine.commit(batch(plain, nil, in: IndexScope(bundle: "com.example.app")))
            try await engine.commit(batch(protected))
            var search = ItemSearch(Self.canary)
            search.limit = 7
            search.countsUpTo = 100
            var names: [String] = []
            repeat {
                let page = try await engine.find(search)
                #expect(page.hits.count <= 7)
                if names.isEmpty { #expect(page.total == SearchTotal(count: 50, isExact: true)) }
                names += page.hits.map(\.item.record.uniqueIdentifier)
                search.cursor = page.next
            } while search.cursor != nil
            #expect(names.count == 50 && Set(names) == Set(plain + protected))
            for limit in [1, 7, 25, 50] {
                var cursor: QueryCursor?
                names = []
                repeat {
                    let page = try await engine.items(
                        matching: .and([]), bundle: nil, limit: limit, after: cursor, place: .current)
                    #expect(page.items.count <= limit)
                    names += page.items.map(\.record.uniqueIdentifier)
                    cursor = page.next
                } while cursor != nil
                #expect(names == plain + protected)
            }
        }
    }

    @Test("forget destroys the keys, the files and the items of a bundle, even while the store is locked")
    func forgotten() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["a", "b"]))
            #expect(try await engine.forget(Self.scope.bundle) == 2)
            #expect(try await found(Self.canary, engine) == [])
            try await engine.commit(batch(["c"]))
            await engine.lock()
            try await engine.forget(Self.scope.bundle)
            #expect(engine.protectionStatus.indexes.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.store + "/protected") == ["key"])
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).items == 0)
        }
    }

    @Test("A file that grew by replaced items is rewritten with other keys, and keeps items, dates and state")
    func rewritten() async throws {
        var kept: [StoredItem] = []
        let long = String(repeating: "word ", count: 20_000)
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["related"], clientState: [4]))
            var child = ItemRecord(uniqueIdentifier: "child", attributes: ["title": .string(Self.canary)])
            child.attributes["relatedUniqueIdentifier"] = .string("related")
            var related = IndexBatch(scope: Self.scope)
            related.index([try EncodedItem(child)])
            try await engine.commit(related)
            place.time.pass(days: 1)
            for round in 0..<30 {
                try await engine.commit(batch(["a"], title: "\(Self.canary) \(round) \(long)"))
            }
            kept = try await engine.items(matching: .and([]), bundle: nil, limit: 10, after: nil, place: .current).items
        }
        try await place.withEngine { engine async throws in
            let old = try #require(engine.protectionStatus.indexes.first)
            #expect(old.bytes > 3_000_000)
            try await engine.unlock(passphrase: Self.passphrase, creates: false)
            let new = try #require(engine.protectionStatus.indexes.first)
            #expect(new.bytes < 300_000)
        }
        try await place.withEngine { engine async throws in
            #expect(try await engine.unlock(passphrase: Self.passphrase, creates: false).findings == [])
            let items = try await engine.items(matching: .and([]), bundle: nil, limit: 10, after: nil, place: .current)
                .items
            #expect(Set(items.map(\.record)) == Set(kept.map(\.record)))
            #expect(Set(items.map(\.expires)) == Set(kept.map(\.expires)))
            #expect(try await engine.clientState(of: Self.scope) == [4])
        }
    }

    @Test("Without its file of keys, the protected items of a store are unreadable and the others whole")
    func withoutKeys() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["a"]))
            try await engine.commit(batch(["plain"], nil, in: IndexScope(bundle: "com.example.app")))
        }
        try FileManager.default.removeItem(atPath: place.store + "/protected/key")
        try await place.withEngine { engine async throws in
            #expect(try await found(Self.canary, engine) == ["plain"])
            // With new keys, the old files would seem to be files of this store.
            let path = place.store + "/protected/key"
            await #expect(throws: EngineError.protection(.missingKeys(path: path))) {
                try await engine.unlock(passphrase: Self.passphrase, creates: true)
            }
            #expect(engine.protectionStatus.indexes.count == 1 && !engine.protectionStatus.hasKeys)
        }
    }

    @Test("A damaged file is reported, and the other indexes are read")
    func damaged() async throws {
        let other = IndexScope(bundle: "com.example.other", index: "x")
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["a"]))
            try await engine.commit(batch(["b"], in: other))
        }
        let folder = place.store + "/protected/"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name != "key" {
            let path = URL(filePath: folder + name)
            var bytes = try Data(contentsOf: path)
            guard bytes.range(of: Data(other.bundle.utf8)) != nil else { continue }
            bytes[bytes.count - 1] ^= 1
            try bytes.write(to: path)
        }
        try await place.withEngine { engine async throws in
            let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(report.items == 1 && report.findings.count == 1)
            #expect(try await found(Self.canary, engine) == ["a"])
            #expect(engine.protectionStatus.findings == report.findings)
        }
    }

    @Test("Locking during donations, searches and unlocking neither crashes nor reveals anything afterwards")
    func lockedAtAnyMoment() async throws {
        try await place.withEngine { engine async throws in
            try await engine.unlock(passphrase: Self.passphrase, creates: true)
            try await engine.commit(batch(["first"]))
            for round in 0..<15 {
                await withTaskGroup { group in
                    group.addTask { _ = try? await engine.unlock(passphrase: Self.passphrase, creates: false) }
                    group.addTask { _ = try? await engine.commit(batch(["round\(round)"])) }
                    group.addTask { _ = try? await found(Self.canary, engine) }
                    group.addTask { await engine.lock() }
                }
                await engine.lock()
                #expect(try await found(Self.canary, engine) == [])
            }
            // Each donation, acknowledged or not, is either stored or not, and the file is intact.
            let report = try await engine.unlock(passphrase: Self.passphrase, creates: false)
            #expect(report.findings == [] && report.items >= 1)
        }
    }
}
