// SPDX-License-Identifier: Apache-2.0
import GRDB
import Glibc
import ItemRecord
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

/// A flag that all tasks see.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}

@Suite("Concurrent readers and writers")
struct ConcurrencyTests {
    @Test("Readers see whole batches only, and never fewer than before")
    func wholeBatches() async throws {
        let store = try Store()
        let index = store.index
        let isDone = Flag()
        let batches = 30
        let size = 20
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                defer { isDone.raise() }
                for batch in 0..<batches {
                    let items = try (0..<size).map { try EncodedItem(item("\(batch) \($0)", title: "common word")) }
                    try await index.index(items, in: Store.app)
                }
                return 0
            }
            for _ in 0..<3 {
                group.addTask {
                    var last = 0
                    var reads = 0
                    while !isDone.isRaised {
                        let count = try await index.search("common", limit: 10_000).hits.count
                        #expect(count % size == 0 && count >= last)
                        last = count
                        reads += 1
                    }
                    return reads
                }
            }
            for try await _ in group {}
        }
        #expect(try await index.search("common").total == batches * size)
    }

    @Test("Concurrent writers lose nothing")
    func writers() async throws {
        let store = try Store()
        let index = store.index
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<25 {
                        let scope = IndexScope(bundle: "com.example.\(writer)")
                        try await index.index([EncodedItem(item("\(number)", title: "word"))], in: scope)
                        if number % 5 == 0 { try await index.delete(identifiers: ["\(number)"], in: scope) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let expected = Dictionary(uniqueKeysWithValues: (0..<4).map { ("com.example.\($0)", 20) })
        #expect(try await index.itemCounts() == expected)
        #expect(try await index.search("word").total == 80)
        try await store.checkIntegrity()
    }

    @Test("An interruption while a virtual table opens is a cancelled read; without a cancellation it is damage")
    func interruptedOpening() async throws {
        let store = try Store()
        let index = store.index
        let fault = DatabaseError(resultCode: .SQLITE_ERROR, message: "vtable constructor failed: term_trigram")
        let cancel = Mutex<(@Sendable () -> Void)?>(nil)
        let reading = Task {
            var isCancelled = false
            do throws(IndexQueryError) {
                let _: Int = try await index.query("Searching", includingPending: false) { _ in
                    while true {
                        if let cancel = cancel.withLock({ $0 }) {
                            cancel()
                            throw fault
                        }
                        sched_yield()
                    }
                }
            } catch {
                if case .cancelled = error { isCancelled = true }
            }
            return (index.failure(fault, "Searching").isDamage, isCancelled)
        }
        cancel.withLock { $0 = { reading.cancel() } }
        let (isDamage, isCancelled) = await reading.value
        #expect(!isDamage && isCancelled && !SearchIndex.isMarkedDamaged(in: store.folder.path("store")))
        #expect(index.failure(fault, "Searching").isDamage)
        #expect(SearchIndex.isMarkedDamaged(in: store.folder.path("store")))
    }
}
