// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Testing

@testable import ExtensionValidation

/// The content that an extension donates during a validation, kept as in an index.
@Suite("The index of a validation")
struct DonationCollectorTests {
    private static func record(_ identifier: String, _ title: String) -> ItemRecord {
        ItemRecord(uniqueIdentifier: identifier, attributes: ["title": .string(title)])
    }

    private static func batch(_ items: [ItemRecord]) throws -> IndexBatch {
        var batch = IndexBatch(scope: IndexScope(bundle: "com.example.test"))
        batch.index(try items.map { try EncodedItem($0) })
        return batch
    }

    @Test("accepts items beyond its bound, forgets and counts them; repeated items need no more room")
    func limits() async throws {
        let collector = DonationCollector(limits: .init(items: 2, bytes: 10_000))
        for _ in 0..<3 { try await collector.receive(Self.batch(["a", "b", "c"].map { Self.record($0, $0) })) }
        #expect(collector.items.keys.map(\.identifier).sorted() == ["a", "b"])
        #expect(collector.unkept == 1)
        let long = String(repeating: "x", count: 4000)
        let small = DonationCollector(limits: .init(items: 100, bytes: 10_000))
        for _ in 0..<10 { try await small.receive(Self.batch([Self.record("a", long), Self.record("b", long)])) }
        #expect(small.count == 2 && small.unkept == 0)
        try await small.receive(Self.batch([Self.record("c", long)]))
        #expect(small.count == 2 && small.unkept == 1)
        var deletion = IndexBatch(scope: IndexScope(bundle: "com.example.test"))
        deletion.delete(identifiers: ["a"])
        try await small.receive(deletion)
        try await small.receive(Self.batch([Self.record("d", long)]))
        #expect(small.items.keys.map(\.identifier).sorted() == ["b", "d"])
    }

    @Test("counts all attributes that updates add to an item, and a replaced value once")
    func updates() async throws {
        let collector = DonationCollector(limits: .init(items: 100, bytes: 10_000))
        try await collector.receive(Self.batch([Self.record("a", "a")]))
        func update(_ attribute: String) async throws {
            var item = ItemRecord(
                uniqueIdentifier: "a", attributes: [attribute: .string(String(repeating: "x", count: 3000))])
            item.isUpdate = true
            try await collector.receive(Self.batch([item]))
        }
        for _ in 0..<9 { try await update("textContent") }
        #expect(collector.unkept == 0)
        for number in 0..<9 { try await update("com_example_\(number)") }
        let stored = try #require(collector.items.values.first)
        #expect(try stored.encoded().count <= 10_000 && collector.unkept == 1)
    }

    @Test("renames items at once, including items of an earlier reindex, and replaces existing ones")
    func renames() async throws {
        func name(_ identifier: String) -> DonationCollector.Name { .init(index: nil, identifier: identifier) }
        let collector = DonationCollector(known: [
            name("old"): Self.record("old", "0"), name("b"): Self.record("b", "earlier"),
        ])
        var batch = IndexBatch(scope: IndexScope(bundle: "com.example.test"))
        batch.index(try ["a", "b", "c"].map { try EncodedItem(Self.record($0, $0)) })
        batch.rename([
            ItemRename("a", to: "b"), ItemRename("b", to: "a"), ItemRename("old", to: "c"), ItemRename("none", to: "d"),
        ])
        try await collector.receive(batch)
        #expect(collector.items == [name("b"): Self.record("b", "a"), name("a"): Self.record("a", "b")])
        #expect(collector.touched == ["a", "b", "c", "old", "none", "d"])
        #expect(!collector.stillKnows(name("old")) && collector.stillKnows(name("c")))
        let reply = try await collector.record(of: "c", bundle: "com.example.test")
        #expect(try reply.record.map { try ItemRecord(decoding: $0) } == Self.record("c", "0"))
        var elsewhere = IndexBatch(scope: IndexScope(bundle: "com.example.test", index: "other"))
        elsewhere.rename([ItemRename("a", to: "x")])
        try await collector.receive(elsewhere)
        #expect(collector.items.keys.contains(name("a")))
    }
}
