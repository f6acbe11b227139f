// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import SearchIndex
import ServiceMessages
import Testing

@testable import ExtensionHost
@testable import SearchlightEngine

@Suite("Donations that survive a reindex")
struct ReindexesTests {
    private let delegates = LiveDelegates(
        WorkerConfiguration(workerPath: "/nowhere", frameworkFolder: nil, environment: [:]))

    private func batch(_ names: [String], bundle: String = "a", index: String? = nil) throws -> IndexBatch {
        var batch = IndexBatch(scope: IndexScope(bundle: bundle, index: index))
        batch.index(try names.map { try EncodedItem(ItemRecord(uniqueIdentifier: $0)) })
        return batch
    }

    private struct Nobody: LiveDelegate {
        func perform(_ request: WorkerRequest) async throws(BusError) -> [BusValue] { [] }
        func settle() async {}
        func takeLoss() -> BusError? { nil }
    }

    @Test("are those in transit at its start and later ones, but not earlier or requested ones")
    func kept() throws {
        let reindexes = Reindexes(delegates: delegates)
        reindexes.finish(reindexes.begin(try batch(["done"]), from: .app))
        let early = reindexes.begin(try batch(["early"]), from: .app)
        _ = reindexes.begin(try batch(["elsewhere"], bundle: "b"), from: .app)
        #expect(reindexes.begin("a"))
        #expect(!reindexes.begin("a"))
        reindexes.replace("a")
        reindexes.finish(early)
        reindexes.ask(.worker, "a")
        reindexes.finish(reindexes.begin(try batch(["asked"]), from: .worker))
        reindexes.finish(reindexes.begin(try batch(["late"], index: "named"), from: .app))
        #expect(reindexes.kept("a").names == [nil: ["early"], "named": ["late"]])
        reindexes.end("a")
        #expect(reindexes.kept("a").names == [:])
        #expect(reindexes.begin("a"))
    }

    @Test("are all, if there are too many to remember")
    func tooMuch() {
        var kept = Reindexes.Kept()
        let names = (0..<Reindexes.Kept.maximum).map { "item \($0)" }
        kept.add(names, index: nil)
        kept.add(names, index: nil)
        #expect(!kept.isTooMuch && kept.names[nil]?.count == names.count)
        kept.add(["one more"], index: "named")
        #expect(kept.isTooMuch && kept.names.isEmpty)
        var long = Reindexes.Kept()
        long.add((0..<10).map { String(repeating: "\($0)", count: Reindexes.Kept.maximumBytes / 9) }, index: nil)
        #expect(long.isTooMuch)
    }

    @Test("A donor's deletion of everything is marked while it is asked for everything, and undone while another is")
    func deletions() throws {
        let reindexes = Reindexes(delegates: delegates)
        let token = try delegates.register(Nobody(), for: "a")
        let delegate = Donor.delegate(token)
        #expect(reindexes.begin("a"))
        reindexes.ask(.worker, "a")
        #expect(!reindexes.marks(.worker, "a") && !reindexes.undoes(.app, "a"), "some items only")
        reindexes.end("a")

        #expect(reindexes.begin("a"))
        reindexes.replace("a")
        #expect(!reindexes.marks(delegate, "a") && !reindexes.undoes(delegate, "a"), "no request was made yet")
        reindexes.ask(delegate, "a")
        #expect(reindexes.marks(delegate, "a") && !reindexes.undoes(delegate, "a"))
        #expect(!reindexes.marks(.app, "a") && reindexes.undoes(.app, "a") && reindexes.undoes(.worker, "a"))
        #expect(!reindexes.undoes(.app, "b"))
        reindexes.ask(.worker, "a")
        #expect(!reindexes.marks(delegate, "a") && reindexes.undoes(delegate, "a") && reindexes.marks(.worker, "a"))
        reindexes.ask(nil, "a")
        #expect(!reindexes.marks(.worker, "a") && !reindexes.undoes(.app, "a"), "it was acknowledged")
        reindexes.end("a")
        #expect(reindexes.undoes(delegate, "a"), "it may begin with what it was asked at any time")
        reindexes.forget(token)
        #expect(!reindexes.undoes(delegate, "a"))

        delegates.unregister(token)
        #expect(reindexes.begin("a"))
        reindexes.replace("a")
        reindexes.ask(delegate, "a")
        reindexes.end("a")
        #expect(!reindexes.undoes(delegate, "a"), "who has gone is not remembered")
    }
}
