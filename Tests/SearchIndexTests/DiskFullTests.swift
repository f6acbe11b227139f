// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

/// With a file layer and a database that run out of space on request. EndToEndTests test the same
/// on a real file system.
@Suite("No room left")
struct DiskFullTests {
    private let folder: TemporaryFolder
    private let disk = FullDisk()

    init() throws { folder = try TemporaryFolder() }

    private func open(pages: Int? = nil) throws(SearchIndexError) -> SearchIndex {
        var seams = StoreHooks()
        seams.logFiles = disk
        seams.log = LogConfiguration(segmentBytes: 4096)
        if let pages { seams.prepareDatabase = { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") } }
        return try SearchIndex(directory: folder.path("store"), access: .readWrite, now: { 0 }, seams: seams)
    }

    private func donate(_ numbers: ClosedRange<Int>, to index: SearchIndex, bytes: Int = 200) async throws {
        for number in numbers {
            var batch = IndexBatch(scope: Store.app)
            // Random letters, which compress badly.
            var random = SplitMix64(seed: UInt64(number))
            let text = String(decoding: (0..<bytes).map { _ in UInt8(97 + random.below(26)) }, as: UTF8.self)
            batch.index([try EncodedItem(item("\(number)", title: "common", text: "\(text) \(number)"))])
            batch.index([try EncodedItem(item("latest", title: "newest \(number)"))])
            try await index.commit(batch.with(clientState: Array("\(number)".utf8)))
        }
    }

    private func numbers(in index: SearchIndex) async throws -> [Int] {
        try await index.search("common", limit: 10_000).hits.compactMap { Int($0.item.record.uniqueIdentifier) }
            .sorted()
    }

    private func state(of index: SearchIndex) async throws -> String? {
        try await index.clientState(of: Store.app).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "A donation without room for the log fails with the reason; existing items stay, and it works with room",
        arguments: [0, 1, 100, 300, 500])
    func log(room: Int) async throws {
        let index = try open()
        try await donate(1...20, to: index)
        disk.leave(room)
        let error = await #expect(throws: SearchIndexError.self) { try await donate(21...23, to: index) }
        guard case .full = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(error?.description.contains("is full. Make room.") == true)
        let last = Int(try await state(of: index) ?? "") ?? 0
        #expect((20...22).contains(last))
        #expect(try await numbers(in: index) == Array(1...last))
        // Nothing is half-written: a copy opens without a trace of the failure.
        try await checkCopy(last: last)
        disk.leave(nil)
        try await donate((last + 1)...(last + 10), to: index)
        #expect(try await numbers(in: index) == Array(1...(last + 10)))
        try await index.close()
        try await checkCopy(last: last + 10)
    }

    private func checkCopy(last: Int) async throws {
        let copy = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path("store"), toPath: copy.path("store"))
        let index = try SearchIndex(directory: copy.path("store"), access: .readWrite) { 0 }
        #expect(index.recovery.findings.isEmpty && index.recovery.generation == 1, "\(index.recovery)")
        #expect(try await state(of: index) == "\(last)")
        #expect(try await numbers(in: index) == Array(1...last))
        try await index.close()
    }

    @Test("Without room for the database, donations wait in the log; applied items are found, the rest with room")
    func database() async throws {
        let index = try open()
        try await donate(1...5, to: index)
        #expect(try await numbers(in: index) == Array(1...5))
        let pages = try await limit(index, toPagesMore: 2)
        try await donate(6...60, to: index, bytes: 2000)
        let found = try await numbers(in: index)
        #expect(found == Array(1...found.count) && (5..<60).contains(found.count), "\(found.count)")
        let error = await #expect(throws: SearchIndexError.self) { try await index.settle() }
        guard case .full = error else { return #expect(Bool(false), "\(String(describing: error))") }
        // The state of unapplied entries would be wrong.
        await #expect(throws: SearchIndexError.self) { try await index.clientState(of: Store.app) }
        #expect(index.rejectedItems.isEmpty)
        try await limit(index, toPages: pages * 100)
        // An attempt from before there was space may report its failure only now.
        for _ in 0..<10 where (try? await index.settle()) == nil {}
        #expect(try await numbers(in: index) == Array(1...60))
        #expect(try await state(of: index) == "60")
        #expect(try await index.generation() == 1)
        try await index.close()
        // The disk had free space, so the database may have been damaged. The next opening checks
        // it and finds it intact.
        #expect(index.folder.isSuspect)
        let later = try open()
        #expect(later.recovery.findings == [] && !later.folder.isSuspect)
        #expect(try await numbers(in: later) == Array(1...60))
        try await later.close()
    }

    @Test("A store that cannot apply its pending donations reports it when opened, and loses nothing")
    func opening() async throws {
        let index = try open()
        try await donate(1...5, to: index)
        try await index.settle()
        let pages = try await limit(index, toPagesMore: 1)
        try await donate(6...60, to: index, bytes: 2000)
        _ = try? await index.settle()
        index.abandon()
        try index.pool.close()
        let error = #expect(throws: SearchIndexError.self) { _ = try open(pages: pages) }
        guard case .full = error else { return #expect(Bool(false), "\(String(describing: error))") }
        let later = try open()
        #expect(try await numbers(in: later) == Array(1...60))
        #expect(later.recovery.generation == 1)
        try await later.close()
    }

    @Test(
        "A closed store applies no further entries, even if some are still pending",
        arguments: [true, false])
    func givenBack(closes: Bool) async throws {
        let index = try open()
        try await donate(1...5, to: index)
        let pages = try await limit(index, toPagesMore: 2)
        try await donate(6...60, to: index, bytes: 2000)
        if closes {
            let error = await #expect(throws: SearchIndexError.self) { try await index.close() }
            guard case .full = error else { return #expect(Bool(false), "\(String(describing: error))") }
        } else {
            index.abandon()
            // There would be enough space now.
            try await limit(index, toPages: pages * 100)
        }
        await #expect(throws: SearchIndexError.closed) { try await index.settle() }
        await #expect(throws: SearchIndexError.closed) { try await donate(61...61, to: index) }
        try index.pool.close()
        let later = try open()
        #expect(try await numbers(in: later) == Array(1...60))
        try await later.close()
    }

    @discardableResult
    private func limit(_ index: SearchIndex, toPagesMore pages: Int) async throws -> Int {
        let now = try await index.pool.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        try await limit(index, toPages: now + pages)
        return now + pages
    }

    private func limit(_ index: SearchIndex, toPages pages: Int) async throws {
        try await index.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
    }
}
