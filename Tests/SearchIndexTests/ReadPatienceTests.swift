// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ServiceProtocol
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("What reads wait for")
struct ReadPatienceTests {
    private static let other = IndexScope(bundle: "com.example.other")

    private static func batch(_ names: [String], in scope: IndexScope) throws -> IndexBatch {
        var batch = IndexBatch(scope: scope)
        batch.index(try names.map { try EncodedItem(item($0, title: "lemon")) })
        return batch
    }

    /// A store of which reads wait for nothing.
    private static func impatient(_ folder: TemporaryFolder) throws -> SearchIndex {
        var seams = StoreSeams()
        (seams.readLimits.time, seams.readLimits.timeForLittle) = (.zero, .zero)
        return try SearchIndex(
            directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
    }

    @Test("A read that waits a moment is answered while others' donations are applied, and says what it leaves out")
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
            #expect(try await index.items(uniqueIdentifier: "a").isEmpty)
            #expect(try await index.itemCounts() == [Store.app.bundle: 1])
            #expect(try await index.count(SearchRequest("lemon")) == 1)
        }
        // Who donated nothing of what is pending waits for nothing, whatever its patience.
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

    @Test("A read that waits a moment gives up its wait, and later ones are not disturbed by it")
    func givesUp() async throws {
        let folder = try TemporaryFolder()
        var seams = StoreSeams()
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
        "An item that is named with its bundle is found as soon as it is durable, whoever asks",
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
        // Who asks for an item of another bundle waits for nothing of this one.
        if patience != .everything, patience != .own(Self.other.bundle) {
            try await patience.during { () throws in
                #expect(try await index.items(uniqueIdentifier: "a", bundle: Store.app.bundle).isEmpty)
            }
        }
        gate.signal()
        #expect(try await asked.value.count == 1)
        try await index.close()
    }

    @Test("What an app waits for is applied before what others donated earlier, in the app's own order")
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
        try await index.commit(second, clientState: [7])
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
        // Numbers are given in the order in which items are applied.
        let all = try await index.items(matching: .and([])).items
        #expect(all.first?.record.uniqueIdentifier == "one" && all.count == 7)
        #expect(applier.state.withLock { $0.ahead.isEmpty && $0.pending.isEmpty && $0.applied == $0.target })
        try await index.close()
    }

    /// What several bundles do, some of it waited for by its bundle, some of it lost with the process before it is applied
    /// in order.
    @Test(
        "Whatever is applied early, each bundle has what it donated, also after a crash",
        arguments: 1...12 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: seed)
        var index = try Self.impatient(folder)
        let scopes = (0..<3).map { IndexScope(bundle: "com.example.app\($0)") }
        var model = [Set<String>](repeating: [], count: scopes.count)
        for _ in 0..<30 {
            let applier = try #require(index.applier)
            let gate = DispatchSemaphore(value: 0)
            applier.onQueue { gate.wait() }
            for _ in 0...random.below(8) {
                let app = random.below(scopes.count)
                let name = "\(random.below(4))"
                var batch = IndexBatch(scope: scopes[app])
                switch random.below(6) {
                case 0:
                    batch.deleteAll()
                    model[app] = []
                case 1:
                    batch.delete(identifiers: [name])
                    model[app].remove(name)
                default:
                    batch.index([try EncodedItem(item(name, title: "lemon"))])
                    model[app].insert(name)
                }
                try await index.commit(batch)
            }
            let app = random.below(scopes.count)
            let asked = scopes[app]
            let (store, wanted) = (index, model[app])
            let own = Task {
                let hits = try await ReadPatience.own(asked.bundle).during { () throws in
                    try await store.search(SearchRequest("lemon", bundle: asked.bundle)).hits
                }
                #expect(Set(hits.map(\.item.record.uniqueIdentifier)) == wanted)
            }
            gate.signal()
            try await own.value
            guard random.below(4) == 0 else { continue }
            index.abandon()
            index = try Self.impatient(folder)
        }
        for (app, scope) in scopes.enumerated() {
            let hits = try await index.search(SearchRequest("lemon", bundle: scope.bundle)).hits
            #expect(Set(hits.map(\.item.record.uniqueIdentifier)) == model[app])
        }
        try await index.close()
    }

    @Test("One app that donates much does not keep another's small donation from becoming durable")
    func room() async throws {
        let folder = try TemporaryFolder()
        var seams = StoreSeams()
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
