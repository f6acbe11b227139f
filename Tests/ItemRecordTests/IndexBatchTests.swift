// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Testing

@Suite("A batch of changes")
struct IndexBatchTests {
    private static let impossible = String(repeating: "x", count: ItemLimit.identifierBytes.maximum + 1)

    @Test("An impossible name is left out, and a change without effect does not count as a change")
    func impossibleNames() {
        #expect(EncodedChange.deleteItems(["a", Self.impossible]).meaningful == .deleteItems(["a"]))
        #expect(EncodedChange.deleteDomains([Self.impossible, "b"]).meaningful == .deleteDomains(["b"]))
        for change: EncodedChange in [.put([]), .deleteItems([]), .deleteDomains([Self.impossible])] {
            #expect(change.meaningful == nil)
        }
        #expect(EncodedChange.deleteAll.meaningful == .deleteAll)
        var batch = IndexBatch(scope: IndexScope(bundle: "com.example.notes"))
        batch.delete(identifiers: [Self.impossible])
        batch.delete(domains: [])
        #expect(batch.changes.isEmpty)
    }

    @Test("The first of contradictory renames is used, and one without effect is no rename")
    func contradictions() {
        func renames(_ pairs: (String, String)...) -> [ItemRename] { pairs.map { ItemRename($0.0, to: $0.1) } }
        #expect(renames(("a", "b"), ("b", "a"), ("c", "d")).contradiction == nil)
        #expect(renames(("a", "b"), ("c", "b")).contradiction == ItemRename("c", to: "b"))
        #expect(renames(("a", "b"), ("a", "c")).contradiction == ItemRename("a", to: "c"))
        #expect(renames(("a", "a"), ("b", "a")).contradiction == ItemRename("b", to: "a"))
        // Two normalization forms of one text are two different identifiers.
        #expect(renames(("a", "\u{E9}"), ("b", "e\u{301}")).contradiction == nil)
        let all = renames(
            ("a", "a"), ("a", "b"), ("c", "b"), ("a", "d"), ("", "e"), ("f", ""), (Self.impossible, "g"),
            ("h", Self.impossible), ("b", "a"))
        #expect(all.effective == renames(("a", "b"), ("b", "a")))
        #expect(EncodedChange.renameItems(renames(("a", "a"), ("f", ""))).meaningful == nil)
        var batch = IndexBatch(scope: IndexScope(bundle: "b"))
        batch.rename(renames(("a", "a"), ("b", "c")))
        #expect(batch.itemIdentifiers == ["c"] && !batch.hasItems && batch.changes.count == 3)
    }

    @Test("Renames in a dictionary are applied at once")
    func dictionary() {
        var items = ["a": 1, "b": 2, "c": 3, "d": 4]
        let renames = [
            ItemRename("a", to: "b"), ItemRename("b", to: "a"), ItemRename("c", to: "d"), ItemRename("none", to: "x"),
        ]
        var changed: [String] = []
        renames.apply(to: &items, key: { $0 }) { changed.append("\($0) \($1)") }
        #expect(items == ["a": 2, "b": 1, "d": 3] && changed == ["1 b", "2 a", "3 d"])
    }

    @Test("An empty put has no items")
    func emptyPut() {
        let batch = IndexBatch(scope: IndexScope(bundle: "b"), changes: ChangeList([.put([])]))
        #expect(!batch.hasItems && batch.itemCount == 0)
    }

    @Test("A batch with too many items is rejected, however small they are")
    func tooManyItems() throws {
        let record = try ItemRecord(uniqueIdentifier: "a").encoded()
        var records: [UInt8] = []
        for _ in 0...ChangeList.maximumChanges { RecordBatch.append(record, to: &records) }
        let batch = IndexBatch(scope: IndexScope(bundle: "b"), changes: ChangeList([.put(records)]))
        let error = #expect(throws: IndexBatch.InvalidItem.self) { try batch.checkItems() }
        #expect(error?.number == ChangeList.maximumChanges + 1)
    }

    @Test("In a pending batch each name costs more than its bytes")
    func approximateBytes() {
        let names = Array(repeating: "x", count: 1000)
        let batch = IndexBatch(scope: IndexScope(bundle: "b"), changes: ChangeList([.deleteItems(names)]))
        #expect(batch.approximateBytes > 64 * 1000 && batch.byteCount < 3000)
    }
}
