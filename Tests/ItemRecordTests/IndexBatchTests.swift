// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Testing

@Suite("A batch of changes")
struct IndexBatchTests {
    private static let impossible = String(repeating: "x", count: ItemLimit.identifierBytes.maximum + 1)

    @Test("A name that no item can have is left out, and what then does nothing is no change")
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

    @Test("An empty put has no items")
    func emptyPut() {
        let batch = IndexBatch(scope: IndexScope(bundle: "b"), changes: ChangeList([.put([])]))
        #expect(!batch.hasItems && batch.itemCount == 0)
    }

    @Test("A batch with more items than changes are allowed is refused, however small they are")
    func tooManyItems() throws {
        let record = try ItemRecord(uniqueIdentifier: "a").encoded()
        var records: [UInt8] = []
        for _ in 0...ChangeList.maximumChanges { RecordBatch.append(record, to: &records) }
        let batch = IndexBatch(scope: IndexScope(bundle: "b"), changes: ChangeList([.put(records)]))
        let error = #expect(throws: IndexBatch.InvalidItem.self) { try batch.checkItems() }
        #expect(error?.number == ChangeList.maximumChanges + 1)
    }

    @Test("While it is pending each name costs more than its bytes")
    func approximateBytes() {
        let names = Array(repeating: "x", count: 1000)
        let batch = IndexBatch(scope: IndexScope(bundle: "b"), changes: ChangeList([.deleteItems(names)]))
        #expect(batch.approximateBytes > 64 * 1000 && batch.byteCount < 3000)
    }
}
