// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

/// A store whose derived indexes have an older format, as in `Tests/Fixtures/Stores/2`.
@Suite("Migrating the indexes of a store")
struct MigrationTests {
    private static let kept =
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path + "/Fixtures/Stores/2"
    private static let count = 24

    private static func open(_ folder: TemporaryFolder) throws -> SearchIndex {
        let path = folder.path("store")
        if !FileManager.default.fileExists(atPath: path) {
            try FileManager.default.copyItem(atPath: kept, toPath: path)
            for file in try SampleStore.names(in: path) {
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + "/" + file)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path + "/journal")
        }
        var seams = StoreHooks()
        seams.itemsRebuiltAtOnce = 0
        let index = try SearchIndex(
            directory: path, access: .readWrite, knownGeneration: 1, now: { 700_000_000 }, seams: seams)
        // Background work is paused while a bundle is held.
        index.applier?.hold("com.example.none")
        return index
    }

    private static func found(_ text: String, _ index: SearchIndex) async throws -> Int {
        try await index.search(text, limit: 100).hits.count { $0.kind != .someWords }
    }

    private static func isMigrating(_ index: SearchIndex) async throws -> Bool {
        try await index.write("Asking") { try IndexMigration.current($0) != nil }
    }

    private static func step(_ index: SearchIndex, items: Int) async throws -> Bool {
        try await index.write("Migrating") { try IndexMigration.step($0, items: items) }
    }

    @Test("It answers after opening, and after each step", arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func answers(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let folder = try TemporaryFolder()
        var index = try Self.open(folder)
        #expect(try await Self.isMigrating(index))
        var present = Set((0..<Self.count).map { "kept \($0)" })
        var added = 0
        while try await Self.step(index, items: 1 + random.below(4)) {
            #expect(try await Self.found("strasse oslo", index) == present.count)
            let all = try await index.items(matching: .init(parsing: "title == \"STRASSE*\"cd"), limit: 1000).items
            #expect(Set(all.map(\.record.uniqueIdentifier)) == present)
            switch random.below(5) {
            case 0:
                guard let gone = present.sorted().randomElement(using: &random) else { break }
                present.remove(gone)
                for scope in [Store.app, SampleStore.other] {
                    var batch = IndexBatch(scope: scope)
                    batch.delete(identifiers: [gone])
                    try await index.commit(batch)
                }
            case 1:
                added += 1
                present.insert("new \(added)")
                let record = item("new \(added)", title: "Straße nach Oslo, O’Reilly \(added)", expires: .never)
                try await index.index([EncodedItem(record)], in: Store.app)
            case 2:
                // The same item with other words: in the old tables, the new tables or both.
                guard added > 0 else { break }
                let record = item("new \(added)", title: "Straße nach Oslo, d’Arc \(random.below(9))", expires: .never)
                try await index.index([EncodedItem(record)], in: Store.app)
            case 3:
                try await index.close()
                index = try Self.open(folder)
            default: break
            }
        }
        #expect(try await !Self.isMigrating(index))
        let record = item("last", title: "Tim O’Reilly v12.18.3", expires: .never)
        try await index.index([EncodedItem(record)], in: Store.app)
        #expect(try await Self.found("strasse oslo", index) == present.count)
        #expect(try await Self.found("tim o'reilly", index) == 1)
        #expect(try await Self.found("12.18", index) == 1)
        let left = try await index.write("Asking") { db in
            try String.fetchAll(
                db,
                sql:
                    "SELECT name FROM sqlite_schema WHERE name GLOB 'next_*' OR name GLOB 'old_*' OR name = 'index_migration'"
            )
        }
        #expect(left == [])
        try await index.close()
        let report = try StoreVerifier(directory: folder.path("store")).verify()
        #expect(report.isClean, "\(report.findings)")
    }

    @Test("It runs in the background without other work")
    func background() async throws {
        let folder = try TemporaryFolder()
        let index = try Self.open(folder)
        let applier = try #require(index.applier)
        applier.hold(nil)
        while applier.isRunning { await withCheckedContinuation { done in applier.onQueue { done.resume() } } }
        #expect(try await !Self.isMigrating(index))
        #expect(try await Self.found("strasse oslo", index) == Self.count)
        try await index.close()
        #expect(try StoreVerifier(directory: folder.path("store")).verify().isClean)
    }

    @Test("A store during a migration is not damaged, and may be verified")
    func verified() async throws {
        let folder = try TemporaryFolder()
        let index = try Self.open(folder)
        #expect(try await Self.step(index, items: 3))
        try await index.close()
        let report = try StoreVerifier(directory: folder.path("store")).verify()
        #expect(report.isClean, "\(report.findings)")
    }

    @Test("Small stores are rebuilt at once")
    func small() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: Self.kept, toPath: folder.path("store"))
        for file in try SampleStore.names(in: folder.path("store")) {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: folder.path("store/" + file))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path("store/journal"))
        let index = try SearchIndex(directory: folder.path("store"), access: .readWrite) { 700_000_000 }
        #expect(try await index.write("Asking") { db in try DerivedIndex.searched.allSatisfy { try $0.isCurrent(db) } })
        try await index.close()
    }
}
