// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

/// Returns an item that is deleted together with a related item.
private func activity(_ identifier: String, of related: String?, domain: String? = nil) -> ItemRecord {
    var record = item(identifier, title: "common", domain: domain)
    record.attributes["relatedUniqueIdentifier"] = related.map(AttributeValue.string)
    return record
}

/// A model of the related-item rule for one bundle, as simple as possible.
private struct RelatedModel {
    struct Key: Hashable {
        var index: String?
        var identifier: String
    }

    var items: [Key: (related: String?, domain: String?)] = [:]

    mutating func delete(_ index: String?, where condition: (Key, String?) -> Bool) {
        var gone = items.filter { $0.key.index == index && condition($0.key, $0.value.domain) }
        while !gone.isEmpty {
            for key in gone.keys { items[key] = nil }
            let identifiers = Set(gone.keys.map(\.identifier)).subtracting(items.keys.map(\.identifier))
            gone = items.filter { $0.value.related.map(identifiers.contains) ?? false }
        }
    }

    /// Applied at the end of a batch: repeatedly removes items whose related item is missing.
    mutating func settle() {
        while true {
            let present = Set(items.keys.map(\.identifier))
            let kept = items.filter { $0.value.related.map(present.contains) ?? true }
            if kept.count == items.count { return }
            items = kept
        }
    }
}

@Suite("Related items")
struct RelatedItemsTests {
    private let store: Store

    init() throws { store = try Store() }

    private var all: [String] { get async throws { try await store.found("common").sorted() } }

    @Test("An item without its related item in the index is dropped, including its earlier version")
    func dropped() async throws {
        try await store.put(activity("a", of: "missing"))
        #expect(try await all == [])
        try await store.put(item("a", title: "common"))
        try await store.put(activity("a", of: "missing"))
        #expect(try await all == [])
        // Nothing remains of the item.
        #expect(try await store.vocabulary() == [])
    }

    @Test("The related item may follow in the same batch, and may be in another index of the bundle")
    func sameBatch() async throws {
        try await store.put(activity("b", of: "a"), item("a", title: "common"))
        #expect(try await all == ["a", "b"])
        try await store.put(
            activity("c", of: "a"), in: IndexScope(bundle: Store.app.bundle, index: "other"))
        #expect(try await all == ["a", "b", "c"])
        try await store.put(activity("d", of: "a"), in: IndexScope(bundle: "com.example.stranger"))
        #expect(try await all == ["a", "b", "c"])
    }

    @Test("An item related to itself, to nothing, or weakly, depends on nothing")
    func independent() async throws {
        var weak = item("weak", title: "common")
        weak.attributes["weakRelatedUniqueIdentifier"] = .string("missing")
        try await store.put(activity("self", of: "self"), activity("empty", of: ""), weak)
        #expect(try await all == ["empty", "self", "weak"])
    }

    @Test("Chains and cycles are deleted together, in the transaction of the deletion", arguments: ["a0", "a40"])
    func chain(first: String) async throws {
        var chain = (1...60).map { activity("a\($0)", of: "a\($0 - 1)") }
        chain.append(activity("a0", of: "a60"))
        try await store.index.index(chain.map { try EncodedItem($0) }, in: Store.app)
        #expect(try await all.count == 61)
        try await store.index.delete(identifiers: [first], in: Store.app)
        #expect(try await all == [])
        try await store.checkIntegrity()
    }

    @Test("Dependants are deleted with a domain, with everything, by expiry, and at the end of a reindex")
    func everyDeletion() async throws {
        let other = IndexScope(bundle: Store.app.bundle, index: "other")
        func prepare(expires: ItemRecord.Expiration = .never) async throws {
            try await store.put(item("main", title: "common", domain: "d.e", expires: expires))
            var dependent = activity("dependent", of: "main")
            dependent.expiration = .never
            try await store.put(dependent, in: other)
            #expect(try await all == ["dependent", "main"])
        }
        try await prepare()
        try await store.index.delete(domains: ["d"], in: Store.app)
        #expect(try await all == [])
        try await prepare()
        try await store.index.deleteAll(in: Store.app)
        #expect(try await all == [])
        try await prepare()
        try await store.index.beginReplacement(of: Store.app.bundle)
        try await store.index.replaceAll(in: Store.app)
        #expect(try await all == ["dependent", "main"])
        try await store.index.finishReplacement(of: Store.app.bundle)
        #expect(try await all == [])
        try await prepare(expires: .at(store.clock.now + 10))
        store.clock.advance(by: 11)
        #expect(try await store.index.deleteExpired() == 1)
        #expect(try await all == [])
    }

    @Test("An expired item does not count as present for later donations")
    func expired() async throws {
        try await store.put(item("main", title: "common", expires: .at(store.clock.now + 10)))
        store.clock.advance(by: 11)
        try await store.put(activity("late", of: "main"))
        #expect(try await all == [])
    }

    @Test("Similar identifiers differ: long ones, composed and decomposed ones")
    func lookAlikes() async throws {
        let long = String(repeating: "x", count: 100)
        let names = [long + "1", long + "2", "caf\u{E9}", "cafe\u{301}", "CAF\u{C9}"]
        for (number, name) in names.enumerated() {
            try await store.put(item(name, title: "common"), activity("of \(number)", of: name))
        }
        for (number, name) in names.enumerated() {
            try await store.index.delete(identifiers: [name], in: Store.app)
            let left = try await all.filter { $0.hasPrefix("of ") }
            #expect(left == (number + 1..<names.count).map { "of \($0)" })
        }
    }

    @Test(
        "After any sequence of changes the index matches the rule", arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func sameAsModel(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        var model = RelatedModel()
        let indexes: [String?] = [nil, "other"]
        for step in 0..<150 {
            let index = random.pick(indexes)
            var batch = IndexBatch(scope: IndexScope(bundle: Store.app.bundle, index: index))
            for _ in 0..<(1 + random.below(5)) {
                switch random.below(8) {
                case 0:
                    let name = "i\(random.below(10))"
                    batch.delete(identifiers: [name])
                    model.delete(index) { key, _ in key.identifier == name }
                case 1 where random.below(3) == 0:
                    let domain = "d\(random.below(3))"
                    batch.delete(domains: [domain])
                    model.delete(index) { $1 == domain }
                default:
                    let related = random.below(2) == 0 ? "i\(random.below(10))" : nil
                    let domain = "d\(random.below(3))"
                    let record = activity("i\(random.below(10))", of: related, domain: domain)
                    let tied = related == record.uniqueIdentifier ? nil : related
                    batch.index([try EncodedItem(record)])
                    model.items[.init(index: index, identifier: record.uniqueIdentifier)] = (tied, domain)
                }
            }
            model.settle()
            try await store.index.commit(batch)
            let hits = try await store.index.search("common", limit: 100).hits.map {
                RelatedModel.Key(index: $0.item.scope.index, identifier: $0.item.record.uniqueIdentifier)
            }
            #expect(Set(hits) == Set(model.items.keys) && hits.count == model.items.count, "seed \(seed), step \(step)")
        }
        try await store.checkIntegrity()
    }
}
