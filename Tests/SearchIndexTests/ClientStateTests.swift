// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing

@testable import SearchIndex
@testable import ItemRecord

@Suite("Batches and client state", .timeLimit(.minutes(10)))
struct ClientStateTests {
    private func batch(_ identifiers: String..., in scope: IndexScope = Store.app) throws -> IndexBatch {
        var batch = IndexBatch(scope: scope)
        batch.index(try identifiers.map { try EncodedItem(item($0, title: $0)) })
        return batch
    }

    @Test("A batch and its client state are stored together, even after the store is opened again")
    func together() async throws {
        let folder = try TemporaryFolder()
        do {
            let index = try SearchIndex(directory: folder.path, access: .readWrite)
            #expect(try await index.clientState(of: Store.app) == nil)
            try await index.commit(try batch("one", "two").with(clientState: [1, 2, 3]))
            try await index.commit(try batch("three").with(clientState: []))
            #expect(try await index.clientState(of: Store.app) == [])
            try await index.commit(try batch("four"))
            try await index.close()
        }
        let index = try SearchIndex(directory: folder.path, access: .readWrite)
        #expect(try await index.clientState(of: Store.app) == [])
        #expect(try await index.itemCounts() == [Store.app.bundle: 4])
    }

    @Test("Acknowledged items are stored although the store was never closed")
    func neverClosed() async throws {
        let folder = try TemporaryFolder()
        do {
            let index = try SearchIndex(directory: folder.path, access: .readWrite)
            for number in 0..<40 {
                try await index.commit(try batch("item\(number)").with(clientState: [UInt8(number)]))
            }
            // As after a crash, the applier has applied only some of the entries.
        }
        let index = try SearchIndex(directory: folder.path, access: .readWrite)
        #expect(try await index.clientState(of: Store.app) == [39])
        #expect(try await index.itemCounts() == [Store.app.bundle: 40])
        #expect(index.recovery.lostDonations == false)
    }

    @Test("A batch that expects a different state is rejected as a whole")
    func expectation() async throws {
        let store = try Store()
        try await store.index.commit(try batch("one").with(clientState: [1], expecting: .exactly(nil)))
        await #expect(throws: SearchIndexError.mismatchedClientState) {
            try await store.index.commit(try batch("two").with(clientState: [2], expecting: .exactly(nil)))
        }
        await #expect(throws: SearchIndexError.mismatchedClientState) {
            try await store.index.commit(try batch("two").with(clientState: [2], expecting: .exactly([9])))
        }
        try await store.index.commit(try batch("three").with(clientState: [3], expecting: .exactly([1])))
        #expect(try await store.index.clientState(of: Store.app) == [3])
        #expect(try await store.stored("two") == nil)
        try await store.index.deleteAll(in: Store.app)
        #expect(try await store.index.clientState(of: Store.app) == nil)
        try await store.index.commit(try batch("four").with(clientState: [4], expecting: .exactly(nil)))
    }

    @Test("The expectation is compared with the database after the store was opened again")
    func expectationAfterOpening() async throws {
        let folder = try TemporaryFolder()
        do {
            let index = try SearchIndex(directory: folder.path, access: .readWrite)
            try await index.commit(try batch("one").with(clientState: [7]))
            try await index.close()
        }
        let index = try SearchIndex(directory: folder.path, access: .readWrite)
        await #expect(throws: SearchIndexError.mismatchedClientState) {
            try await index.commit(try batch("two").with(clientState: [8], expecting: .exactly([6])))
        }
        try await index.commit(try batch("two").with(clientState: [8], expecting: .exactly([7])))
    }

    @Test("One of many concurrent batches that expect the same state is accepted")
    func race() async throws {
        let store = try Store()
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<20 as Range<UInt8> {
                group.addTask {
                    let batch = try? batch("item\(number)")
                    guard let batch else { return false }
                    return (try? await store.index.commit(batch.with(clientState: [number], expecting: .exactly(nil))))
                        != nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(accepted == 1)
        #expect(try await store.index.itemCounts() == [Store.app.bundle: 1])
    }

    @Test("A client state has at most 250 bytes; each index of each bundle has its own")
    func limitsAndScopes() async throws {
        let store = try Store()
        let longest = [UInt8](repeating: 7, count: 250)
        try await store.index.commit(try batch("one").with(clientState: longest))
        await #expect(throws: SearchIndexError.clientStateTooLong(bytes: 251)) {
            try await store.index.commit(try batch("two").with(clientState: longest + [7]))
        }
        #expect(try await store.stored("two") == nil)
        let named = IndexScope(bundle: Store.app.bundle, index: "named")
        #expect(try await store.index.clientState(of: named) == nil)
        try await store.index.commit(IndexBatch(scope: named).with(clientState: [1]))
        #expect(try await store.index.clientState(of: named) == [1])
        #expect(try await store.index.clientState(of: Store.app) == longest)
    }

    @Test("Lost log entries raise the generation and are reported; later entries are kept")
    func lostEntries() async throws {
        let folder = try TemporaryFolder()
        do {
            let index = try SearchIndex(directory: folder.path, access: .readWrite)
            for number in 0..<6 { try await index.index([EncodedItem(item("item\(number)"))], in: Store.app) }
            try await index.close()
            // As if the database had been reset to an earlier state, so that the log entries are
            // needed again.
            let queue = try DatabaseQueue(
                path: folder.path("index.sqlite"), configuration: SearchIndex.configuration(isReadOnly: false))
            try await queue.write { db in
                try db.execute(sql: "DELETE FROM attribute; DELETE FROM item")
                try StoreRow.update(db) { $0.applied = 0 }
            }
            try queue.close()
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("journal"))
        let segment = folder.path("journal/") + (try #require(names.first { $0.hasSuffix(".journal") }))
        var bytes = try Data(contentsOf: URL(filePath: segment))
        bytes[bytes.count / 2] ^= 0x10
        try bytes.write(to: URL(filePath: segment))
        let index = try SearchIndex(directory: folder.path, access: .readWrite)
        #expect(index.recovery.lostDonations)
        #expect(index.recovery.findings.contains { $0.contains("cannot be read") })
        #expect(try await index.generation() == 2)
        #expect(try await index.itemCounts() == [Store.app.bundle: 5])
    }
}
