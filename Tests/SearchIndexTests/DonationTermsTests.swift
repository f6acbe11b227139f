// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ItemRecord
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Conditions of a batch")
struct DonationTermsTests {
    private let folder: TemporaryFolder
    private let index: SearchIndex
    private let gate = DispatchSemaphore(value: 0)

    init() throws {
        folder = try TemporaryFolder()
        var seams = StoreHooks()
        seams.maximumPendingBytes = 1000
        index = try SearchIndex(
            directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
    }

    private func batch(_ name: String, bytes: Int = 10) throws -> IndexBatch {
        var batch = IndexBatch(scope: Store.app)
        batch.index([try EncodedItem(item(name, title: String(repeating: "x", count: bytes)))])
        return batch
    }

    /// Fills the log. Nothing is applied until ``gate`` is signalled.
    private func fill() async throws -> LogApplier {
        let applier = try #require(index.applier)
        let gate = gate
        applier.onQueue { gate.wait() }
        try await index.commit(try batch("first", bytes: 5000))
        #expect(!index.hasRoom(for: Store.app.bundle))
        return applier
    }

    @Test("The conditions of a batch are checked after it has waited for room")
    func decidedLast() async throws {
        let applier = try await fill()
        let isWanted = Mutex(true)
        var terms = DonationTerms()
        terms.isWanted = { isWanted.withLock(\.self) }
        let waiting = Task { [terms] in try await index.commit(try batch("second"), terms: terms) }
        while applier.state.withLock({ $0.waiters.isEmpty }) { await Task.yield() }
        isWanted.withLock { $0 = false }
        gate.signal()
        await #expect(throws: SearchIndexError.mismatchedClientState) { try await waiting.value }
        await #expect(throws: SearchIndexError.mismatchedClientState) {
            try await index.replaceAll(in: Store.app, if: terms.isWanted)
        }
        try await index.settle()
        #expect(try await index.itemCounts() == [Store.app.bundle: 1])
        isWanted.withLock { $0 = true }
        try await index.commit(try batch("second"), terms: terms)
        #expect(try await index.itemCounts() == [Store.app.bundle: 2])
        try await index.close()
    }

    @Test("A wait for room ends when there is room or its task is cancelled, even if it was cancelled before")
    func waiting() async throws {
        let applier = try await fill()
        let cancelled = Task { try await index.waitForRoom(for: Store.app.bundle) }
        let patient = Task { try await index.waitForRoom(for: Store.app.bundle) }
        while applier.state.withLock({ $0.waiters.count < 2 }) { await Task.yield() }
        cancelled.cancel()
        try await cancelled.value
        #expect(applier.state.withLock { $0.waiters.count } == 1)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            try await index.waitForRoom(for: Store.app.bundle)
        }
        late.cancel()
        try await late.value
        // A donor that has already waited does not wait again.
        var terms = DonationTerms()
        terms.waitsForRoom = false
        try await index.commit(try batch("second"), terms: terms)
        gate.signal()
        try await patient.value
        try await index.settle()
        #expect(index.hasRoom(for: Store.app.bundle))
        try await index.waitForRoom(for: Store.app.bundle)
        try await index.close()
    }
}
