// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import GRDB
import ItemRecord
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Waits of reads")
struct ReadPatienceTests {
    private static let other = IndexScope(bundle: "com.example.other")

    private static func batch(_ names: [String], in scope: IndexScope) throws -> IndexBatch {
        var batch = IndexBatch(scope: scope)
        batch.index(try names.map { try EncodedItem(item($0, title: "lemon")) })
        return batch
    }

    /// Returns a store whose reads do not wait.
    private static func impatient(_ folder: TemporaryFolder) throws -> SearchIndex {
        var seams = StoreHooks()
        (seams.readLimits.time, seams.readLimits.timeForLittle) = (.zero, .zero)
        return try SearchIndex(
            directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
    }

    @Test("A read with a short wait is answered while other donations are applied, and reports what it leaves out")
    func moment() async throws {
        let folder = try TemporaryFolder()
        let index = try Self.impatient(folder)
        let applier = try #require(index.applier)
        try await index.commit(try Self.batch(["known"], in: Store.app))
        try await index.settle()
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try Self.batch(["a", "b"], in: Self.other))
        try await ReadPatience.moment.during { () throws in
            let page = try await index.search(SearchRequest("lemon"))
            #expect(page.hits.map(\.item.record.uniqueIdentifier) == ["known"])
            let pending = try #require(page.pending)
            #expect(pending.total.donations == 1 && pending.total.items == 2 && pending.total.bytes > 0)
            #expect(pending.bundles == [Self.other.bundle: pending.total])
            let all = try await index.items(matching: .and([]))
            #expect(all.items.count == 1 && all.pending == pending)
            // Only the donations of the searched bundle may be missing from the results.
            for (bundle, expected) in [(Self.other.bundle, pending), (Store.app.bundle, nil)] {
                #expect(try await index.search(SearchRequest("lemon", bundle: bundle)).pending == expected)
                #expect(try await index.items(matching: .and([]), bundle: bundle).pending == expected)
            }
            #expect(try await index.items(uniqueIdentifier: "a").isEmpty)
            #expect(try await index.itemCounts() == [Store.app.bundle: 1])
            #expect(try await index.count(SearchRequest("lemon")) == 1)
        }
        // A caller without pending donations never waits, regardless of the patience.
        try await ReadPatience.own(Store.app.bundle).during { () throws in
            #expect(try await index.search(SearchRequest("lemon", bundle: Store.app.bundle)).hits.count == 1)
            #expect(try await index.clientState(of: Store.app) == nil)
        }
        gate.signal()
        try await index.settle()
        let page = try await index.search(SearchRequest("lemon"))
        #expect(page.hits.count == 3 && page.pending == nil)
        #expect(index.pending.isEmpty)
        try await index.close()
    }

    @Test("A read ends its short wait, and later ones are not affected")
    func givesUp() async throws {
        let folder = try TemporaryFolder()
        var seams = StoreHooks()
        seams.readLimits.timeForLittle = .milliseconds(1)
        let index = try SearchIndex(
            directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try Self.batch(["a"], in: Self.other))
        let found = try await ReadPatience.moment.during { () throws in try await index.search(SearchRequest("lemon")) }
        #expect(found.hits.isEmpty && found.pending?.total.items == 1)
        #expect(applier.state.withLock { $0.waiters.isEmpty })
        gate.signal()
        #expect(try await index.search(SearchRequest("lemon")).hits.count == 1)
        try await index.close()
    }

    @Test(
        "An item that is named with its bundle is found as soon as it is durable, by any caller",
        arguments: [
            ReadPatience.moment, .own("com.example.third"), .own("com.example.other"), .everything,
        ])
    func named(patience: ReadPatience) async throws {
        let folder = try TemporaryFolder()
        let index = try Self.impatient(folder)
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try Self.batch(["a"], in: Self.other))
        let isAnswered = Mutex(false)
        let asked = Task {
            defer { isAnswered.withLock { $0 = true } }
            return try await patience.during { () throws in
                try await index.items(uniqueIdentifier: "a", bundle: Self.other.bundle)
            }
        }
        while applier.state.withLock({ $0.waiters.isEmpty }), !isAnswered.withLock(\.self) { await Task.yield() }
        // A request for another bundle's item does not wait for this donation.
        if patience != .everything, patience != .own(Self.other.bundle) {
            try await patience.during { () throws in
                #expect(try await index.items(uniqueIdentifier: "a", bundle: Store.app.bundle).isEmpty)
            }
        }
        gate.signal()
        #expect(try await asked.value.count == 1)
        try await index.close()
    }

    @Test("Entries that an app waits for are applied before earlier ones of others, in the app's order")
    func ownFirst() async throws {
        let folder = try TemporaryFolder()
        let index = try Self.impatient(folder)
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        for number in 0..<5 { try await index.commit(try Self.batch(["other \(number)"], in: Self.other)) }
        try await index.commit(try Self.batch(["one", "gone"], in: Store.app))
        try await index.commit(try Self.batch(["other 5"], in: Self.other))
        var second = IndexBatch(scope: Store.app)
        second.delete(identifiers: ["gone"])
        try await index.commit(second.with(clientState: [7]))
        let own = Task {
            try await ReadPatience.own(Store.app.bundle).during { () throws in
                try await index.search(SearchRequest("lemon", bundle: Store.app.bundle)).hits
            }
        }
        while applier.state.withLock({ $0.waiters.isEmpty }) { await Task.yield() }
        gate.signal()
        let hits = try await own.value
        #expect(hits.map(\.item.record.uniqueIdentifier) == ["one"])
        #expect(try await index.clientState(of: Store.app) == [7])
        try await index.settle()
        // Numbers are assigned in the order in which entries are applied.
        let all = try await index.items(matching: .and([])).items
        #expect(all.first?.record.uniqueIdentifier == "one" && all.count == 7)
        #expect(applier.state.withLock { $0.early.isEmpty && $0.pending.isEmpty && $0.applied == $0.target })
        try await index.close()
    }

    /// `SEARCHLIGHT_ORDER_SEEDS` sets a larger number of seeds than an ordinary run has.
    private static let seeds =
        ProcessInfo.processInfo.environment["SEARCHLIGHT_ORDER_SEEDS"].flatMap { UInt64($0) } ?? 12

    /// Returns a random donation: items with domains and parents, updates that move items, or
    /// deletions of each kind.
    private static func anyBatch(in scope: IndexScope, _ random: inout SplitMix64) throws -> IndexBatch {
        let domains = ["a", "a.b", "ab", "c"]
        var batch = IndexBatch(scope: scope)
        for _ in 0...random.below(2) {
            let name = "\(random.below(5))"
            switch random.below(12) {
            case 0: batch.deleteAll()
            case 1, 2: batch.delete(identifiers: [name])
            case 3, 4: batch.delete(domains: [random.pick(domains)])
            case 5, 6, 7:
                var record = update(name, ["com_example_step": .integer(Int64(random.below(100)))])
                if random.below(3) > 0 { record.domainIdentifier = random.pick(domains) }
                if random.below(4) == 0 {
                    record.attributes[RelatedItems.attribute] =
                        random.below(2) == 0 ? .null : .string("\(random.below(5))")
                }
                batch.index([try EncodedItem(record)])
            default:
                var record = item(
                    name, title: "lemon \(random.below(100))", domain: random.below(4) == 0 ? nil : random.pick(domains)
                )
                if random.below(3) == 0 { record.attributes[RelatedItems.attribute] = .string("\(random.below(5))") }
                batch.index([try EncodedItem(record)])
            }
        }
        return batch
    }

    /// The content of a bundle: its items by identifier in each index, and its client states.
    private struct Contents: Equatable {
        var items: [String: ItemRecord] = [:]
        var states: [String: [UInt8]] = [:]

        init(_ index: SearchIndex, _ bundle: String, waiting: Bool) async throws {
            let items = try await (waiting ? ReadPatience.own(bundle) : .everything).during { () throws in
                try await index.read("Reading the items") { db in
                    try Row.fetchAll(db, sql: "SELECT \(ItemRow.columns) FROM item").map(ItemRow.init)
                }
            }
            for item in items where item.bundle == bundle {
                self.items[item.index + "/" + item.record.uniqueIdentifier] = item.record
            }
            for name in [nil, "second"] as [String?] {
                states[name ?? ""] = try await index.clientState(of: IndexScope(bundle: bundle, index: name))
            }
        }
    }

    /// Donations and waits of several bundles, with crashes between any two transactions. A second
    /// store gets the same actions and applies them in order.
    @Test("With any early entries, each bundle has its donations, even after a crash", arguments: 1...seeds)
    func anyOrder(seed: UInt64) async throws {
        var folder = try TemporaryFolder()
        var random = SplitMix64(seed: seed)
        let image = CrashImage()
        func open(_ folder: TemporaryFolder) throws -> SearchIndex {
            var seams = StoreHooks()
            (seams.readLimits.time, seams.readLimits.timeForLittle) = (.zero, .zero)
            // Small enough to be reached sometimes.
            seams.maximumEarlyEntries = 6
            image.watch(&seams)
            return try SearchIndex(
                directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
        }
        var index = try open(folder)
        let model = try Store()
        let bundles = (0..<3).map { "com.example.app\($0)" }
        for step in 0..<30 {
            let applier = try #require(index.applier)
            let gate = DispatchSemaphore(value: 0)
            applier.onQueue { gate.wait() }
            for _ in 0...random.below(8) {
                let scope = IndexScope(bundle: random.pick(bundles), index: random.below(4) == 0 ? "second" : nil)
                let batch = try Self.anyBatch(in: scope, &random)
                let state = random.below(4) == 0 ? [UInt8(random.below(256))] : nil
                try await index.commit(batch.with(clientState: state))
                try await model.index.commit(batch.with(clientState: state))
            }
            let crashes = random.below(2) == 0
            if crashes { try image.arm(folder.path("store"), after: random.below(6)) }
            let asked = (0...random.below(2)).map { _ in random.pick(bundles) }
            let store = index
            let reads = asked.map { bundle in Task { try await Contents(store, bundle, waiting: true) } }
            gate.signal()
            for (bundle, read) in zip(asked, reads) {
                let (found, wanted) = (try await read.value, try await Contents(model.index, bundle, waiting: false))
                #expect(found == wanted, "seed \(seed), step \(step): \(bundle)")
            }
            guard crashes, let copy = try image.take() else { continue }
            index.abandon()
            folder = copy
            index = try open(folder)
            #expect(!index.recovery.lostDonations)
            for bundle in bundles {
                let found = try await Contents(index, bundle, waiting: false)
                let wanted = try await Contents(model.index, bundle, waiting: false)
                #expect(found == wanted, "seed \(seed), after the crash in step \(step): \(bundle)")
            }
        }
        try await index.settle()
        for bundle in bundles {
            let found = try await Contents(index, bundle, waiting: false)
            #expect(found == (try await Contents(model.index, bundle, waiting: false)), "seed \(seed)")
        }
        let isEmpty = try await index.readApplied("Reading the list") { db in
            try EarlyEntries(db, after: 0).isEmpty
        }
        #expect(isEmpty)
        try await index.close()
        #expect(try StoreVerifier(directory: folder.path("store")).verify().isClean)
    }

    @Test("A read of an item of a bundle with many pending donations waits for a limited time")
    func namedIsLimited() async throws {
        let folder = try TemporaryFolder()
        var seams = StoreHooks()
        seams.readLimits = .init()
        seams.readLimits.timeForNamed = .milliseconds(1)
        (seams.readLimits.time, seams.readLimits.timeForLittle) = (.zero, .zero)
        let index = try SearchIndex(
            directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try Self.batch(["a"], in: Self.other))
        for patience in [ReadPatience.moment, .own("com.example.third")] {
            try await patience.during { () throws in
                #expect(try await index.items(uniqueIdentifier: "a", bundle: Self.other.bundle).isEmpty)
            }
        }
        #expect(applier.state.withLock { $0.waiters.isEmpty })
        gate.signal()
        #expect(try await index.items(uniqueIdentifier: "a", bundle: Self.other.bundle).count == 1)
        try await index.close()
    }

    @Test("An app that donates many items does not delay another app's small donation")
    func room() async throws {
        let folder = try TemporaryFolder()
        var seams = StoreHooks()
        seams.maximumPendingBytes = 64 << 10
        let index = try SearchIndex(
            directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        let text = String(repeating: "x ", count: 35 << 10)
        var large = IndexBatch(scope: Self.other)
        large.index([try EncodedItem(item("large", title: "lemon", text: text))])
        try await index.commit(large)
        let flood = large
        let waiting = Task { try await index.commit(flood) }
        while applier.state.withLock({ $0.waiters.isEmpty }) { await Task.yield() }
        try await index.commit(try Self.batch(["small"], in: Store.app))
        #expect(applier.state.withLock { $0.applied == 0 && $0.pending.count == 2 })
        gate.signal()
        try await waiting.value
        try await index.close()
    }
}
