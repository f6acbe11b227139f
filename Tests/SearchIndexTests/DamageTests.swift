// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("A damaged store")
struct DamageTests {
    /// Returns the bytes of an intact store with 200 items.
    private static func soundFile() async throws -> [UInt8] { try await soundFiles.value["index.sqlite"]! }

    private static let soundFiles = Task { try await makeSoundFiles() }

    private static func makeSoundFiles() async throws -> [String: [UInt8]] {
        let folder = try TemporaryFolder()
        let index = try SearchIndex(directory: folder.path, access: .readWrite) { 0 }
        var random = SplitMix64(seed: 5)
        let items = try (0..<200).map { number in
            try EncodedItem(
                item(
                    "item \(number)", title: "apple \(number)", text: random.text(length: 200),
                    domain: "d.\(number % 7)"))
        }
        try await index.index(items, in: Store.app)
        try await index.close()
        var files: [String: [UInt8]] = [:]
        for name in try SampleStore.names(in: folder.path) { files[name] = try folder.read(name) }
        return files
    }

    private static func writeSoundFiles(to folder: TemporaryFolder) async throws {
        try FileManager.default.createDirectory(atPath: folder.path("journal"), withIntermediateDirectories: false)
        for (name, bytes) in try await soundFiles.value { try folder.write(bytes, to: name) }
    }

    /// Performs every operation on a store, and returns the errors.
    ///
    /// - Parameter isJournaled: `true` to add the log of the undamaged store.
    private static func useEverything(
        _ bytes: [UInt8], access: SearchIndex.Access, isJournaled: Bool = true
    ) async throws -> [SearchIndexError] {
        let folder = try TemporaryFolder()
        if isJournaled { try await writeSoundFiles(to: folder) }
        try folder.write(bytes, to: "index.sqlite")
        var errors: [SearchIndexError] = []
        let index: SearchIndex
        do throws(SearchIndexError) {
            index = try SearchIndex(directory: folder.path, access: access) { 1 }
        } catch {
            return [error]
        }
        func attempt(_ body: () async throws -> Void) async {
            do { try await body() } catch {
                if let error = error as? SearchIndexError { errors.append(error) } else { Issue.record(error) }
            }
        }
        // Damage that was repaired when the store was opened counts as detected.
        if index.recovery.lostDonations { errors.append(.damaged(path: folder.path, detail: "repaired")) }
        let replacement = try (0..<40).map { try EncodedItem(item("item \($0 * 5)", title: "pear \($0)")) }
        let change = try [EncodedItem(update("item 3", ["title": .string("plum")]))]
        await attempt { _ = try await index.search("apple", limit: 1000) }
        await attempt { _ = try await index.search("a", limit: 1000) }
        await attempt { _ = try await index.itemCounts() }
        for number in stride(from: 0, to: 200, by: 20) {
            await attempt { _ = try await index.item(number: Int64(number)) }
            await attempt { _ = try await index.items(uniqueIdentifier: "item \(number)") }
        }
        if access == .readWrite {
            await attempt { try await index.index(replacement, in: Store.app) }
            await attempt { try await index.index(change, in: Store.app) }
            await attempt { try await index.delete(identifiers: ["item 1"], in: Store.app) }
            await attempt { try await index.delete(domains: ["d"], in: Store.app) }
            await attempt { try await index.deleteExpired() }
            await attempt { try await index.deleteAll(in: Store.app) }
        }
        return errors
    }

    private static func isDamaged(_ error: SearchIndexError) -> Bool {
        if case .damaged = error { true } else { false }
    }

    @Test("The original store of the tests is sound")
    func sound() async throws {
        let bytes = try await Self.soundFile()
        #expect(bytes.count > 100_000)
        #expect(try await Self.useEverything(bytes, access: .readWrite) == [])
        #expect(try await Self.useEverything(bytes, access: .readOnly) == [])
    }

    @Test("A file that is not a database is reported as damaged by readers, and replaced by writers")
    func notADatabase() async throws {
        for text in ["no database at all. ", "SQLite format 3\0"] {
            let bytes = Array(String(repeating: text, count: 1000).utf8)
            let errors = try await Self.useEverything(bytes, access: .readOnly)
            #expect(errors.count == 1 && errors.allSatisfy(Self.isDamaged), "\(errors)")
            let others = try await Self.useEverything(bytes, access: .readWrite)
            #expect(others.count == 1 && "\(others)".contains("repaired"), "\(others)")
        }
    }

    @Test("A truncated file is reported as damaged by readers, and repaired by writers")
    func truncated() async throws {
        let sound = try await Self.soundFile()
        for part in 1..<8 {
            let bytes = Array(sound.prefix(sound.count * part / 8))
            let errors = try await Self.useEverything(bytes, access: .readOnly)
            #expect(!errors.isEmpty && errors.allSatisfy(Self.isDamaged), "\(part): \(errors)")
            let others = try await Self.useEverything(bytes, access: .readWrite)
            #expect(others.allSatisfy(Self.isDamaged), "\(part): \(others)")
        }
    }

    @Test("Random bytes in the middle give typed errors, never a crash", arguments: [31, 32, 33] as [UInt64])
    func randomBytes(seed: UInt64) async throws {
        let sound = try await Self.soundFile()
        var random = SplitMix64(seed: seed)
        var damaged = 0
        for _ in 0..<25 {
            var bytes = sound
            for _ in 0..<(1 + random.below(8)) {
                let start = random.below(bytes.count - 4096)
                for offset in start..<(start + 1 + random.below(4096)) { bytes[offset] = UInt8(random.below(256)) }
            }
            let errors = try await Self.useEverything(bytes, access: .readWrite)
            #expect(errors.allSatisfy(Self.isDamaged), "seed \(seed): \(errors.filter { !Self.isDamaged($0) })")
            if !errors.isEmpty { damaged += 1 }
        }
        #expect(damaged > 5)
    }

    @Test("Single flipped bytes do no worse", arguments: [41, 42] as [UInt64])
    func flippedBytes(seed: UInt64) async throws {
        let sound = try await Self.soundFile()
        var random = SplitMix64(seed: seed)
        var damaged = 0
        for _ in 0..<30 {
            var bytes = sound
            for _ in 0..<200 { bytes[100 + random.below(bytes.count - 100)] ^= UInt8(1 + random.below(255)) }
            let errors = try await Self.useEverything(bytes, access: .readWrite)
            #expect(errors.allSatisfy(Self.isDamaged), "seed \(seed): \(errors.filter { !Self.isDamaged($0) })")
            if !errors.isEmpty { damaged += 1 }
        }
        #expect(damaged > 5)
    }

    @Test(
        "A length that no memory suffices for is damage, and the next opening repairs it",
        arguments: [FullTextIndex.rankedTable, FullTextIndex.textTable])
    func impossibleLength(table: String) async throws {
        let folder = try TemporaryFolder()
        try await Self.writeSoundFiles(to: folder)
        let damaged = try DatabaseQueue(path: folder.path("index.sqlite"))
        try await damaged.write { db in
            // FTS5's list of segments: its cookie, then 1 level and 1 segment, then a level that
            // says it has 2 ** 31 - 1 segments.
            try db.execute(
                sql: "UPDATE \(table)_data SET block = substr(block, 1, 4) || x'0101000087ffffff7f' WHERE id = 10")
        }
        _ = try await damaged.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try damaged.close()
        let bytes = try folder.read("index.sqlite")
        let errors = try await Self.useEverything(bytes, access: .readOnly)
        #expect(!errors.isEmpty && errors.allSatisfy(Self.isDamaged), "\(errors)")
        let others = try await Self.useEverything(bytes, access: .readWrite)
        #expect(others.allSatisfy(Self.isDamaged), "\(others)")

        func found() async throws -> Int {
            let index = try SearchIndex(directory: folder.path, access: .readWrite) { 1 }
            let found = try? await index.search("apple", limit: 1000).hits.count
            try await index.close()
            return found ?? 0
        }
        _ = try await found()
        #expect(try await found() == 200)
    }

    @Test("A lack of memory is damage only if the process can have memory")
    func memoryShortage() {
        let lacking = DatabaseError(resultCode: .SQLITE_NOMEM)
        #expect(MemoryShortage.isDamage(lacking))
        #expect(!MemoryShortage.isDamage(lacking) { _ in false })
        #expect(!MemoryShortage.isDamage(DatabaseError(resultCode: .SQLITE_IOERR_NOMEM)))
        #expect(MemoryShortage.hasMemory(4096))
        #expect(!MemoryShortage.hasMemory(1 << 50))
    }

    @Test("A column with an impossible value is damage, not a crash")
    func wrongColumnTypes() async throws {
        let wrong = [
            "record = NULL", "record = 5", "record = 'text'", "record = x''", "record = x'ff'", "donated = NULL",
            "donated = 'text'", "expires = 'zzz'", "index_name = NULL",
        ]
        for change in wrong {
            let folder = try TemporaryFolder()
            do {
                let index = try SearchIndex(directory: folder.path, access: .readWrite) { 0 }
                try await index.index([EncodedItem(item("one", title: "apple"))], in: Store.app)
                try await index.close()
            }
            // A table that is not strict accepts any value, as a damaged page may contain.
            var configuration = Configuration()
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
            let queue = try DatabaseQueue(path: folder.path("index.sqlite"), configuration: configuration)
            try await queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT', ')'), 'NOT NULL', '')
                        WHERE name = 'item'
                        """)
            }
            try queue.close()
            let second = try DatabaseQueue(path: folder.path("index.sqlite"))
            try await second.write { try $0.execute(sql: "UPDATE item SET \(change)") }
            _ = try await second.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try second.close()
            let errors = try await Self.useEverything(
                try folder.read("index.sqlite"), access: .readWrite, isJournaled: false)
            #expect(!errors.isEmpty && errors.allSatisfy(Self.isDamaged), "\(change): \(errors)")
        }
    }
}
