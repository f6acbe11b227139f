// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import Promises
import SearchIndex
import SearchlightEngine
import Synchronization

/// A good extension and its items' expected state: each acknowledged reindex adds a batch
/// (ledger.c).
final class Ledger: Sendable {
    let bundle: String
    private struct Known {
        var attempted = 0
        var acknowledged = 0
    }
    private let known = Mutex(Known())

    private static let itemsPerBatch = 5

    init(bundle: String) { self.bundle = bundle }

    /// Requests a reindex, which adds a batch.
    func add(_ store: any EngineClient) async throws {
        // A retried request may add two batches.
        known.withLock { $0.attempted += 2 }
        try await store.perform(ReindexCall(bundle: bundle))
        known.withLock { $0.acknowledged += 1 }
    }

    /// Requests the data of the last item, which is the item's name.
    func drag(_ store: any EngineClient) async throws {
        guard known.withLock({ $0.acknowledged > 0 }) else { return }
        let item = try await store.item(named: "last", bundle: bundle)
        let promise = Representation(type: "public.html", form: .data)
        guard case .data(let payload) = try await store.fulfil(promise, of: item) else {
            throw TortureProblem("\(bundle) gave no data")
        }
        let bytes = try Delivery.collect(payload, limit: 100)
        guard bytes == Array("last".utf8) else { throw TortureProblem("\(bundle) gave other data: \(bytes)") }
    }

    /// Requests a preview of the last item.
    func show(_ store: any EngineClient) async throws {
        guard known.withLock({ $0.acknowledged > 0 }) else { return }
        let item = try await store.item(named: "last", bundle: bundle)
        let preview = try await store.preview(of: item, query: nil)
        guard preview.source == .attributes || preview.content == Array("last".utf8) else {
            throw TortureProblem("\(bundle) rendered something else")
        }
    }

    /// Compares the items in the store with the acknowledged reindexes.
    func check(_ store: any EngineClient, _ figures: TortureFigures) async throws {
        try await store.perform(SettleCall())
        let scope = IndexScope(bundle: bundle, index: "ledger")
        let state =
            try await store.perform(ClientStateCall(scope: scope)).map { String(decoding: $0, as: UTF8.self) } ?? "0"
        guard let batches = Int(state) else { return figures.complain("\(bundle): the client state is “\(state)”") }
        let known = known.withLock { $0 }
        if batches < known.acknowledged || batches > known.attempted {
            figures.complain("\(bundle): \(batches) batches; \(known.acknowledged) acknowledged of \(known.attempted)")
        }
        var expected: [String: Int] = batches > 0 ? ["last": batches] : [:]
        for batch in 0..<batches {
            for item in 0..<Self.itemsPerBatch { expected["\(batch + 1)-\(item)"] = batch + 1 }
        }
        var found: [String: Int] = [:]
        var cursor: QueryCursor?
        repeat {
            let page = try await store.items(matching: .and([]), bundle: bundle, limit: 1000, after: cursor)
            for item in page.items {
                guard case .integer(let batch)? = item.record.attributes["pageCount"],
                    found.updateValue(Int(batch), forKey: item.record.uniqueIdentifier) == nil
                else {
                    figures.complain(
                        "\(bundle): \(item.record.uniqueIdentifier) occurs twice, or belongs to another extension")
                    continue
                }
            }
            cursor = page.next
        } while cursor != nil
        figures.checked.add(found.count)
        if found != expected {
            let missing = expected.keys.filter { found[$0] != expected[$0] }.sorted().prefix(5)
            let extra = found.keys.filter { expected[$0] == nil }.sorted().prefix(5)
            figures.complain("\(bundle), \(batches) batches: missing \(missing), extra \(extra)")
        }
    }
}
