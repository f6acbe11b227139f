// SPDX-License-Identifier: Apache-2.0
import Dispatch
import GRDB
import ItemRecord
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Applying the write-ahead log")
struct ApplyingTests {
    @Test("Donors that are faster than the index wait for it")
    func backPressure() async throws {
        let folder = try TemporaryFolder()
        var seams = StoreHooks()
        seams.maximumPendingBytes = 1
        let index = try SearchIndex(
            directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
        for number in 0..<20 {
            try await index.index([EncodedItem(item("\(number)", title: "lemon"))], in: Store.app)
            let applied = try await index.readApplied("Counting") { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM item") ?? 0
            }
            #expect(applied >= number)
        }
        try await index.close()
    }

    @Test("Discarding an index in memory interrupts the applying of its entries")
    func discarded() async throws {
        let index = try SearchIndex(inMemoryWith: { 1 })
        let applier = try #require(index.applier)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        let count = 2000
        for number in 0..<count {
            try await index.index([EncodedItem(item("\(number)", title: "lemon \(number)"))], in: Store.app)
        }
        let statements = Mutex(0)
        try await applier.pool.writeWithoutTransaction { db in
            db.trace { _ in statements.withLock { $0 += 1 } }
        }
        let end = Task { try await index.settle() }
        gate.signal()
        // All entries are one transaction.
        while statements.withLock({ $0 }) < 100 { await Task.yield() }
        await index.discard()
        await #expect(throws: SearchIndexError.closed) { try await end.value }
        #expect(applier.pending.total.donations > count / 2)
    }

    @Test("The processor time of writing covers donations and no searches")
    func writingTime() async throws {
        let store = try Store()
        func settled() async { while store.index.isApplying { await Task.yield() } }
        for number in 0..<20 { try await store.put(item("\(number)", title: "lemon \(number)")) }
        try await store.index.settle()
        await settled()
        let afterDonation = store.index.writingTime
        #expect(afterDonation > 0)
        for _ in 0..<20 { #expect(try await store.found("lemon").count == 20) }
        #expect(store.index.writingTime == afterDonation)
    }

    @Test("The applying state lasts until it is done, without deferred entries")
    func isApplying() async throws {
        let store = try Store()
        let applier = try #require(store.index.applier)
        func settled() async { while store.index.isApplying { await Task.yield() } }
        await settled()
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await store.index.index([EncodedItem(item("one", title: "lemon"))], in: Store.app)
        async let end: Void = store.index.settle()
        while !store.index.isApplying { await Task.yield() }
        gate.signal()
        try await end
        await settled()
        store.index.hold(Store.app.bundle)
        var batch = IndexBatch(scope: Store.app)
        batch.index([try EncodedItem(item("two", title: "lemon"))])
        try await store.index.commit(batch, isLowPriority: true)
        #expect(!store.index.isApplying)
        try await store.index.settle()
        #expect(try await store.found("lemon").count == 2)
        try await store.index.close()
    }

    @Test("Low-priority entries of a deferred bundle wait, unless a caller needs them or later ones")
    func held() async throws {
        let store = try Store()
        let applier = try #require(store.index.applier)
        func isDue() -> Bool { applier.state.withLock { $0.isDue } }
        func donate(_ name: String, to scope: IndexScope = Store.app, isLowPriority: Bool = true) async throws {
            var batch = IndexBatch(scope: scope)
            batch.index([try EncodedItem(item(name, title: "lemon"))])
            try await store.index.commit(batch, isLowPriority: isLowPriority)
        }
        func waiting() async throws -> Bool {
            // Waits until started work has ended.
            await withCheckedContinuation { done in applier.onQueue { done.resume() } }
            return try await store.found("lemon").isEmpty && !isDue()
        }
        // Donations logged before the hold wait too.
        applier.state.withLock { $0.isScheduled = true }
        try await donate("before")
        store.index.hold(Store.app.bundle)
        try await donate("after")
        #expect(try await waiting())
        try await store.index.settle()
        #expect(try await store.found("lemon").count == 2 && !isDue())
        // Other bundles' donations, and an app's own normal-priority donations, do not wait.
        // Earlier donations are applied together with them.
        try await donate("third")
        #expect(!isDue())
        try await donate("fourth", to: IndexScope(bundle: "com.example.other"))
        #expect(isDue())
        try await store.index.settle()
        try await donate("fifth")
        try await donate("sixth", isLowPriority: false)
        #expect(isDue())
        try await store.index.settle()
        try await donate("seventh")
        #expect(!isDue())
        store.index.hold(nil)
        #expect(isDue())
        // Closing the store applies the held donations.
        store.index.hold(Store.app.bundle)
        #expect(!isDue())
        try await store.index.close()
        #expect(applier.state.withLock { $0.applied == $0.target })
    }

    @Test("An entry that is being applied when its bundle is deferred is completed, and the rest waits")
    func heldInTheMiddle() async throws {
        let store = try Store()
        let (index, applier) = (store.index, try #require(store.index.applier))
        index.hold(Store.app.bundle)
        for number in 0..<20 {
            var batch = IndexBatch(scope: Store.app)
            batch.index([try EncodedItem(item("\(number)", title: "lemon"))])
            try await index.commit(batch, isLowPriority: true)
        }
        func apply() async throws {
            applier.state.withLock { $0.isScheduled = true }
            index.hold(nil)
            try await applier.pool.writeWithoutTransaction { db in
                db.trace { [index] event in
                    if "\(event)".contains("INSERT INTO item ") { index.hold(Store.app.bundle) }
                }
            }
            await withCheckedContinuation { done in
                applier.onQueue {
                    #expect(applier.drain() == nil)
                    done.resume()
                }
            }
        }
        for count in 1...3 {
            try await apply()
            #expect(try await store.found("lemon").count == count)
        }
        try await index.settle()
        #expect(try await store.found("lemon").count == 20)
        #expect(try await index.itemCounts() == [Store.app.bundle: 20])
    }

    @Test("Applying for another bundle ends with its entries, and later deferred entries wait")
    func heldAfterOthers() async throws {
        let store = try Store()
        let (index, applier) = (store.index, try #require(store.index.applier))
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        index.hold(Store.app.bundle)
        for number in 0..<6 {
            var batch = IndexBatch(scope: number == 0 ? IndexScope(bundle: "com.example.other") : Store.app)
            batch.index([try EncodedItem(item("\(number)", title: "lemon"))])
            try await index.commit(batch, isLowPriority: number > 0)
        }
        gate.signal()
        await withCheckedContinuation { done in
            applier.onQueue {
                #expect(applier.drain() == nil)
                done.resume()
            }
        }
        #expect(applier.state.withLock { $0.applied == 1 && $0.target == 6 && !$0.isDue })
        try await index.settle()
        #expect(try await store.found("lemon").count == 6)
        try await index.close()
    }

    @Test("A donor that waits for room is released when its bundle is deferred, and nothing is applied for it")
    func heldDonor() async throws {
        let folder = try TemporaryFolder()
        var seams = StoreHooks()
        seams.maximumPendingBytes = 1
        let index = try SearchIndex(
            directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
        let applier = try #require(index.applier)
        func batch(_ name: String, _ scope: IndexScope = Store.app) throws -> IndexBatch {
            var batch = IndexBatch(scope: scope)
            batch.index([try EncodedItem(item(name, title: "lemon"))])
            return batch
        }
        // Nothing is applied until the queue is released.
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.commit(try batch("first"), isLowPriority: true)
        let second = try batch("second")
        let donor = Task { try await index.commit(second, isLowPriority: true) }
        while applier.state.withLock({ $0.waiters.isEmpty }) { await Task.yield() }
        index.hold(Store.app.bundle)
        try await donor.value
        try await index.commit(try batch("third"), isLowPriority: true)
        gate.signal()
        await withCheckedContinuation { done in applier.onQueue { done.resume() } }
        #expect(applier.state.withLock { $0.applied == 0 && $0.target == 3 && !$0.isDue })
        // A donation from another app makes room for itself.
        try await index.commit(try batch("fourth", IndexScope(bundle: "com.example.other")))
        #expect(applier.state.withLock { $0.applied >= 3 })
        try await index.close()
    }

    @Test("A low-priority wait for deferred entries applies nothing, until their release or a cancellation")
    func heldWaiter() async throws {
        let store = try Store()
        let (index, applier) = (store.index, try #require(store.index.applier))
        func donate(_ name: String) async throws {
            var batch = IndexBatch(scope: Store.app)
            batch.index([try EncodedItem(item(name, title: "lemon"))])
            try await index.commit(batch, isLowPriority: true)
        }
        func begin() async -> Task<Bool, any Error> {
            let task = Task { try await index.settle(patientlyFor: Store.app.bundle) }
            while applier.state.withLock({ $0.waiters.isEmpty }) { await Task.yield() }
            await withCheckedContinuation { done in applier.onQueue { done.resume() } }
            #expect(applier.state.withLock { $0.applied < $0.target && !$0.isDue && !$0.waiters.isEmpty })
            return task
        }
        index.hold(Store.app.bundle)
        try await donate("first")
        let cancelled = await begin()
        cancelled.cancel()
        #expect(try await cancelled.value == false)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await index.settle(patientlyFor: Store.app.bundle)
        }
        #expect(try await early.value == false)
        #expect(try await store.found("lemon").isEmpty)
        let waiting = await begin()
        index.hold(nil)
        #expect(try await waiting.value)
        #expect(try await store.found("lemon").count == 1)
        // A waiter keeps waiting if its bundle is held during the wait.
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await donate("second")
        let second = Task { try await index.settle(patientlyFor: Store.app.bundle) }
        while applier.state.withLock({ $0.waiters.isEmpty }) { await Task.yield() }
        index.hold(Store.app.bundle)
        gate.signal()
        await withCheckedContinuation { done in applier.onQueue { done.resume() } }
        #expect(applier.state.withLock { $0.applied < $0.target && $0.waiters.count == 1 })
        index.hold(nil)
        #expect(try await second.value)
        // A waiter is notified when the store is abandoned.
        index.hold(Store.app.bundle)
        try await donate("third")
        let last = await begin()
        index.abandon()
        await #expect(throws: SearchIndexError.closed) { try await last.value }
        await #expect(throws: SearchIndexError.closed) { try await index.settle(patientlyFor: Store.app.bundle) }
    }

    @Test("The words of deleted titles are removed once there is no other work")
    func purging() async throws {
        let store = try Store()
        try await store.put(item("gone", title: "Zanzibar"), item("kept", title: "Madagascar"))
        try await store.index.delete(identifiers: ["gone"], in: Store.app)
        try await store.index.settle()
        let applier = try #require(store.index.applier)
        repeat { applier.tidy() } while applier.state.withLock { $0.needsTidying }
        let terms = try await store.index.write("Reading the words") { db in
            try String.fetchAll(db, sql: "SELECT text FROM term")
        }
        #expect(terms == ["madagascar"])
    }

    @Test("Many small commits leave at most two segments once there is no other work")
    func segments() async throws {
        let store = try Store()
        for number in 0..<100 {
            try await store.put(item("\(number)", title: "lemon \(number)", text: "sour"))
            try await store.index.settle()
        }
        let applier = try #require(store.index.applier)
        repeat { applier.tidy() } while applier.state.withLock { $0.needsTidying }
        // The page index of the segments has at least one row for each segment, for its first page.
        let segments = try await store.index.write("Counting segments") { db in
            try Int.fetchOne(db, sql: "SELECT count(DISTINCT segid) FROM item_text_idx") ?? .max
        }
        #expect(segments <= 2)
        try await store.checkIntegrity()
    }
}
