// SPDX-License-Identifier: Apache-2.0
import GRDB
import Testing

@testable import SearchIndex
@testable import ItemRecord

@Suite("The replacement of all items of a bundle")
struct ReplacementTests {
    private let bundle = Store.app.bundle

    @Test("deletes the client state at once and the items at the end, as the next conditional batch shows")
    func clientState() async throws {
        let store = try Store()
        var batch = IndexBatch(scope: Store.app)
        batch.index([try EncodedItem(item("one"))])
        let named = IndexScope(bundle: bundle, index: "named")
        var other = IndexBatch(scope: named)
        other.index([try EncodedItem(item("one"))])
        for _ in 0..<2 {
            try await store.index.commit(batch.with(clientState: [1]))
            try await store.index.commit(other.with(clientState: [2]))
            try await store.index.beginReplacement(of: bundle)
            try await store.index.replaceAll(in: Store.app)
            #expect(try await store.index.clientState(of: Store.app) == nil)
            #expect(try await store.index.clientState(of: named) == [2])
            #expect(try await store.index.itemCounts() == [bundle: 2])
            await #expect(throws: SearchIndexError.mismatchedClientState) {
                try await store.index.commit(batch.with(clientState: [3], expecting: .exactly([1])))
            }
            try await store.index.commit(batch.with(clientState: [3], expecting: .exactly(nil)))
            try await store.index.finishReplacement(of: bundle)
            #expect(try await store.index.clientState(of: Store.app) == [3])
            #expect(try await store.index.itemCounts() == [bundle: 2])
        }
    }

    @Test("keeps the named items, by index and name")
    func keeping() async throws {
        let store = try Store()
        let named = IndexScope(bundle: bundle, index: "named")
        let stranger = IndexScope(bundle: "com.example.other")
        for scope in [Store.app, named, stranger] { try await store.put(item("one"), item("two"), in: scope) }
        try await store.index.beginReplacement(of: bundle)
        for scope in [Store.app, named] { try await store.index.replaceAll(in: scope) }
        try await store.index.finishReplacement(of: bundle, keeping: [nil: ["one", "none", "a\0b"], "named": ["two"]])
        let left = try await store.index.items(matching: .and([]), limit: 10).items
        #expect(
            left.map { "\($0.scope.bundle) \($0.scope.index ?? "-") \($0.record.uniqueIdentifier)" } == [
                "\(bundle) - one", "\(bundle) named two", "com.example.other - one", "com.example.other - two",
            ])
    }

    @Test("keeps the items that a rule selects by their records, with any number of items")
    func keepingByRule() async throws {
        let store = try Store()
        let names = (0..<700).map { String(format: "%03d", $0) }
        for name in names { try await store.put(item(name)) }
        try await store.put(item("other"), in: IndexScope(bundle: "com.example.other"))
        try await store.index.beginReplacement(of: bundle)
        try await store.index.replaceAll(in: Store.app)
        try await store.index.keepItems(of: bundle) { $0.uniqueIdentifier.hasSuffix("7") }
        try await store.index.finishReplacement(of: bundle)
        #expect(try await store.index.itemCounts() == [bundle: 70, "com.example.other": 1])
    }

    @Test("continues after the store is opened again, if it was started for that")
    func whole() async throws {
        let store = try Store()
        let named = IndexScope(bundle: bundle, index: "named")
        let stranger = IndexScope(bundle: "com.example.other")
        for scope in [Store.app, named, stranger] { try await store.put(item("one"), item("two"), in: scope) }
        #expect(try await store.index.replacement(of: bundle) == nil)
        let number = try await store.index.beginWholeReplacement(of: bundle)
        #expect(try await store.index.replacement(of: bundle) == number)
        #expect(try await store.index.replacementCounts(of: bundle) == (4, 4))
        try await store.put(item("one"), item("three"), in: Store.app)
        #expect(try await store.index.replacementCounts(of: bundle) == (5, 3))
        try await store.index.close()

        let again = try SearchIndex(directory: store.folder.path("store"), access: .readWrite) {
            [clock = store.clock] in
            clock.now
        }
        #expect(try await again.replacement(of: bundle) == number)
        try await again.finishReplacement(of: bundle)
        #expect(try await again.itemCounts() == [bundle: 2, "com.example.other": 2])
        #expect(try await again.replacement(of: bundle) == nil)
        let next = try await again.beginWholeReplacement(of: bundle, keeping: [nil: ["one"], "named": ["one"]])
        #expect(try await again.replacementCounts(of: bundle) == (2, 1))
        #expect(next != number)
        try await again.beginReplacement(of: bundle)
        #expect(try await again.replacement(of: bundle) == nil)
        #expect(try await again.replacementCounts(of: bundle) == (2, 0))
        try await again.close()
        #expect(try StoreVerifier(directory: store.folder.path("store")).verify().isClean)
    }

    @Test("A forgotten bundle leaves nothing, and others are unchanged")
    func forget() async throws {
        let store = try Store()
        for name in [nil, "named"] as [String?] {
            for bundle in [bundle, "com.example.other"] {
                var batch = IndexBatch(scope: IndexScope(bundle: bundle, index: name))
                batch.index([try EncodedItem(item("one", title: "found"))])
                try await store.index.commit(batch.with(clientState: [1]))
            }
        }
        try await store.index.settle()
        #expect(try store.index.bundles(upTo: 1).count == 1)
        #expect(try await store.index.forget(bundle: bundle) == 2)
        #expect(try store.index.bundles(upTo: 10) == ["com.example.other"])
        #expect(
            try await store.index.pool.read { try String.fetchAll($0, sql: "SELECT identifier FROM bundle") }
                == ["com.example.other"])
        #expect(try await store.index.clientState(of: Store.app) == nil)
        #expect(try await store.found("found").count == 2)
        #expect(try await store.index.forget(bundle: bundle) == 0)
        try await store.index.close()
        #expect(try StoreVerifier(directory: store.folder.path("store")).verify().isClean)
    }

    @Test("Changes after a deletion of everything in a batch are distinguished from earlier ones")
    func afterDeletingAll() throws {
        var batch = IndexBatch(scope: Store.app)
        #expect(!batch.hasItems && batch.afterDeletingAll == nil)
        batch.index([try EncodedItem(item("one"))])
        #expect(batch.hasItems && batch.afterDeletingAll == nil)
        batch.deleteAll()
        #expect(batch.afterDeletingAll?.itemIdentifiers == [])
        batch.index([try EncodedItem(item("two"))])
        batch.deleteAll()
        batch.index([try EncodedItem(item("three")), try EncodedItem(item("four"))])
        #expect(batch.afterDeletingAll?.itemIdentifiers == ["three", "four"])
        #expect(batch.itemIdentifiers == ["one", "two", "three", "four"])
    }
}
