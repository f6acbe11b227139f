// SPDX-License-Identifier: Apache-2.0
import GRDB
import ServiceProtocol
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Applying what was journaled")
struct ApplyingTests {
    @Test("Donors that are faster than the index wait for it")
    func backPressure() async throws {
        let folder = try TemporaryFolder()
        var seams = StoreSeams()
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

    @Test("The words of deleted titles are forgotten once nothing else is to be done")
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

    @Test("Many small commits leave few segments")
    func segments() async throws {
        let store = try Store()
        for number in 0..<100 {
            try await store.put(item("\(number)", title: "lemon \(number)", text: "sour"))
            try await store.index.settle()
        }
        let applier = try #require(store.index.applier)
        repeat { applier.tidy() } while applier.state.withLock { $0.needsTidying }
        // The index of the segments' pages has a row for the first page of each at least.
        let segments = try await store.index.write("Counting segments") { db in
            try Int.fetchOne(db, sql: "SELECT count(DISTINCT segid) FROM item_text_idx") ?? .max
        }
        #expect(segments <= 16)
        try await store.checkIntegrity()
    }
}
