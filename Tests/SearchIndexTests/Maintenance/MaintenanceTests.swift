// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Maintenance of the index in steps", .timeLimit(.minutes(10)))
struct MaintenanceTests {
    private let store: Store

    init() throws { store = try Store() }

    /// Donates items in several transactions, which create as many segments.
    private func fill(
        _ count: Int, in groups: Int = 1, noise: Int = 0, expires: ItemRecord.Expiration = .never
    ) async throws {
        var random = SplitMix64(seed: 9)
        for group in 0..<groups {
            let records = (0..<count).map { number in
                var record = item(
                    "\(group)-\(number)", title: "title \(group) \(number)",
                    text: String(repeating: "word\(number % 97) ", count: 60), expires: expires)
                // Random text, which cannot be compressed.
                if noise > 0 {
                    record.attributes["noise"] = .data((0..<noise).map { _ in UInt8(random.below(256)) })
                }
                return record
            }
            try await store.index.index(records.map { try EncodedItem($0) }, in: Store.app)
            try await store.index.settle()
        }
    }

    @Test("Expired items are deleted in steps, with their dependants, and nothing else")
    func purge() async throws {
        let end = store.clock.now + 100
        for number in 0..<300 { try await store.put(item("old \(number)", expires: .at(end))) }
        var dependent = item("dependent", title: "common", expires: .never)
        dependent.attributes["relatedUniqueIdentifier"] = .string("old 7")
        try await store.put(dependent, item("kept", title: "common", expires: .never))
        #expect(try await store.index.purgeStep() == 0)
        store.clock.advance(by: 100)
        var steps: [Int] = []
        repeat { steps.append(try await store.index.purgeStep()) } while steps.last != 0
        #expect(steps.reduce(0, +) == 300)
        #expect(steps.dropLast().allSatisfy { (1...64).contains($0) }, "\(steps)")
        #expect(try await store.found("common") == ["kept"])
        #expect(try await store.index.itemCounts() == [Store.app.bundle: 1])
        try await store.checkIntegrity()
    }

    @Test("Merging ends with one segment in each table, with any donations in between, and all items are found")
    func merge() async throws {
        // Prevents the store from merging automatically.
        store.index.hold("com.example.held")
        try await fill(40, in: 9)
        let before = try await store.index.wear()
        #expect(before.segments > 1 && before.items == 360)
        #expect(before.texts >= 360)
        var steps = 0
        while try await store.index.mergeStep(isFirst: steps == 0) {
            steps += 1
            if steps == 1 { try await store.put(item("late", title: "late", text: "late")) }
            try #require(steps < 1000)
        }
        // The late donation may be in its own segment.
        #expect(try await store.index.wear().segments <= 2)
        #expect(try await store.found("word5").count == 9)
        #expect(try await store.found("late") == ["late"])
        try await store.checkIntegrity()
    }

    @Test("The number of segments equals FTS5's own")
    func segments() async throws {
        store.index.hold("com.example.held")
        try await fill(5, in: 30)
        let (told, real) = try await store.index.readApplied("Counting segments") { db in
            // Each segment has its own pages in the prefix index.
            let counts = try [FullTextIndex.rankedTable, FullTextIndex.textTable, FullTextIndex.trigramTable].map {
                try Int.fetchOne(db, sql: "SELECT count(DISTINCT segid) FROM \($0)_idx") ?? 0
            }
            return (try FullTextMerging.segments(db), counts.max())
        }
        #expect(told == real && told > 1)
    }

    @Test("Merges left by an earlier process continue when a store is opened, without a donation")
    func goesOnMerging() async throws {
        // During a hold, only due segments up to a byte limit are merged.
        store.index.hold("com.example.held")
        for number in 0..<12 {
            try await store.put(item("\(number)", title: "title \(number)"))
            try await store.index.settle()
            // The bytes are counted only after the item can be found.
            while store.index.isApplying { await Task.yield() }
            store.index.applier?.state.withLock { $0.unmergedBytes = 0 }
        }
        try await store.index.close()
        let left = try SearchIndex(directory: store.folder.path("store"), access: .readOnly)
        let segments = try await left.wear().segments
        try #require(segments == 12)
        try await left.close()
        let index = try SearchIndex(directory: store.folder.path("store"), access: .readWrite)
        while try await index.wear().segments == segments { await Task.yield() }
        try await index.close()
    }

    @Test("Free pages are returned a few at a time, even after the store is opened again")
    func vacuum() async throws {
        store.index.hold("com.example.held")
        try await fill(2000, noise: 600)
        try await store.index.deleteAll(in: Store.app)
        try await store.index.settle()
        let before = try await store.index.wear()
        #expect(before.canGiveBack && before.freePages > 100)
        var left = [before.freePages]
        repeat { left.append(try await store.index.vacuumStep()) } while (left.last ?? 0) > 0
        #expect(zip(left, left.dropFirst()).allSatisfy { (1...64).contains($0 - $1) }, "\(left)")
        // A pointer map page, which is not a free page, may be removed too.
        #expect((63...64).contains(left[0] - left[1]), "\(left)")
        let after = try await store.index.wear()
        #expect(after.freePages == 0 && after.pages <= before.pages - before.freePages)
        try await store.checkIntegrity()
    }

    @Test("A closed store has few free pages, and no applied entry in the log")
    func closed() async throws {
        store.index.hold("com.example.held")
        try await fill(2000, noise: 600)
        try await store.index.deleteAll(in: Store.app)
        try await store.index.settle()
        #expect(try await store.index.wear().freePages > 100)
        try await store.index.close()
        let path = store.folder.path("store")
        let journal = try FileManager.default.contentsOfDirectory(atPath: path + "/journal")
        let sizes = try journal.map {
            try FileManager.default.attributesOfItem(atPath: path + "/journal/" + $0)[.size] as? Int ?? 0
        }
        #expect(sizes.reduce(0, +) < 1 << 20, "\(journal) \(sizes)")
        let index = try SearchIndex(directory: path, access: .readOnly)
        let wear = try await index.wear()
        #expect(wear.freePages < 128 || wear.freePages * 64 <= wear.pages, "\(wear)")
        try await index.close()
    }

    @Test("A file without this support reuses its free pages for later donations")
    func noVacuum() async throws {
        let folder = try TemporaryFolder()
        try await DatabaseQueue(path: folder.path("index.sqlite")).write { db in
            try db.execute(sql: "CREATE TABLE made_before (id INTEGER)")
        }
        let index = try SearchIndex(directory: folder.path, access: .readWrite) { 0 }
        #expect(try await index.wear().canGiveBack == false)
        #expect(try await index.vacuumStep() == 0)
        try await index.close()
    }
}
