// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

/// One fault per test, and how much its repair has to rebuild.
@Suite("Recovery", .timeLimit(.minutes(10)))
struct RecoveryTests {
    private static let sample = Task { try await SampleStore() }

    private func sample() async throws -> SampleStore { try await Self.sample.value }

    /// Opens the store, and returns its recovery report and its content. Afterwards the whole store
    /// must be intact.
    private func repaired(
        _ folder: TemporaryFolder, knownGeneration: Int? = SampleStore.generation
    ) async throws -> (report: RecoveryReport, contents: SampleStore.Contents) {
        let result = try await SampleStore.withStore(folder, knownGeneration: knownGeneration) { index async throws in
            let contents = try await SampleStore.contents(of: index)
            return (index.recovery, contents)
        }
        let check = try StoreVerifier(directory: folder.path).verify()
        #expect(check.isClean, "\(check.findings)")
        return result
    }

    /// Opens a store for writing under a loss rule.
    ///
    /// - Returns: The error, and the number of connections that were opened.
    private func refused(
        _ folder: TemporaryFolder, _ rule: LossRule, now: Double = 0
    ) -> (error: SearchIndexError?, connections: Int) {
        let connections = Mutex(0)
        var seams = StoreHooks()
        seams.prepareDatabase = { _ in connections.withLock { $0 += 1 } }
        do throws(SearchIndexError) {
            try SearchIndex(
                directory: folder.path, access: .readWrite, knownGeneration: SampleStore.generation, now: { now },
                seams: seams, lossRule: rule
            ).abandon()
            return (nil, connections.withLock { $0 })
        } catch {
            return (error, connections.withLock { $0 })
        }
    }

    @Test(
        "A repair that would lose items for good changes nothing, and is refused at once later",
        arguments: [true, false])
    func refusedRepair(isStructural: Bool) async throws {
        let folder = try await SampleStore(isClosed: true).unpacked()
        if isStructural {
            var bytes = try folder.read("index.sqlite")
            // A leaf page of the item table.
            let needle = Data("item 7".utf8)
            let pages = stride(from: 8192, to: bytes.count, by: 8192)
            let leaf = try #require(
                pages.first { start in
                    bytes[start] == 13 && Data(bytes[start..<start + 8192]).range(of: needle) != nil
                })
            bytes.replaceSubrange(leaf..<leaf + 8192, with: [UInt8](repeating: 0x5A, count: 8192))
            try folder.write(bytes, to: "index.sqlite")
        } else {
            try SampleStore.alter(folder, "UPDATE item SET checksum = checksum + 1 WHERE id = 7")
        }
        StoreVerifier(directory: folder.path).requestRepair()
        let lone = LossRule { bundles in bundles?.filter { $0 == Store.app.bundle } }
        // Closing a connection may move pages, so the readable rows are compared.
        func stored() throws -> [String] {
            if isStructural { return [String(try folder.read("index.sqlite").hashValue)] }
            return try DatabaseQueue(path: folder.path("index.sqlite")).read { db in
                try Row.fetchAll(db, sql: "SELECT id, checksum, record FROM item ORDER BY id").map(\.description)
            }
        }
        let before = try stored()
        let first = refused(folder, lone)
        guard case .losingRepair(_, let detail, let bundles)? = first.error else {
            Issue.record("\(first)")
            return
        }
        #expect(bundles == [Store.app.bundle] && first.connections > 0)
        #expect(try stored() == before)
        #expect(SearchIndex.refusedRepair(in: folder.path) == detail)
        // The damage is not examined again until a day has passed.
        let second = refused(folder, lone, now: 1000)
        #expect(second.error == first.error && second.connections == 0)
        #expect(refused(folder, lone, now: 100_000).connections > 0)
        // Once every bundle can donate again, the store is repaired.
        let last = refused(folder, LossRule { $0.map { _ in [] } }, now: 100_001)
        #expect(last.error == nil)
        #expect(SearchIndex.refusedRepair(in: folder.path) == nil)
    }

    @Test("A sound store is opened without a message, and has all items")
    func sound() async throws {
        let sample = try await sample()
        let (report, contents) = try await repaired(try sample.unpacked())
        #expect(report.findings == [] && !report.lostDonations && !report.isNew)
        #expect(report.generation == SampleStore.generation)
        #expect(contents == sample.contents)
        #expect(contents.items.count == 126 && contents.found["apple"]?.count == 126)
    }

    @Test(
        "A derived index that is missing, of another format, or with other rows is rebuilt, and nothing is pending",
        arguments: [
            "DROP TABLE attribute", "DROP TABLE item_text", "DROP TABLE unconfirmed", "DELETE FROM derived_index",
            "UPDATE derived_index SET format = 99", "DROP TABLE attribute_name",
        ])
    func derivedMissing(change: String) async throws {
        let sample = try await sample()
        let folder = try sample.unpacked()
        try SampleStore.alter(folder, change)
        let (report, contents) = try await repaired(folder)
        #expect(!report.lostDonations && contents == sample.contents)
    }

    @Test(
        "A derived index that contradicts the items is found by a check and rebuilt by the repair",
        arguments: [
            "DELETE FROM attribute WHERE item = 7", "INSERT INTO attribute VALUES (1, 'x', 5000)",
            "UPDATE attribute_name SET name = 'wrong' WHERE name = 'title'",
            "DELETE FROM text_row WHERE id = 9", "UPDATE item SET text_row = 5 WHERE id = 9",
            "UPDATE item SET text_row = NULL WHERE id = 9", "INSERT INTO text_row VALUES (7000, 3)",
            "INSERT INTO ranked_word (rowid, words) VALUES (9000, 'amore')",
            "INSERT INTO item_text (item_text, rowid, title) VALUES ('delete', 9, 'apple')",
            "UPDATE item_text_data SET block = zeroblob(length(block)) WHERE id > 10",
            "INSERT INTO unconfirmed VALUES (4000)",
        ])
    func derivedWrong(change: String) async throws {
        let sample = try await sample()
        let folder = try sample.unpacked()
        try SampleStore.alter(folder, change)
        let verifier = StoreVerifier(directory: folder.path)
        let before = try verifier.verify()
        #expect(!before.isClean && before.findings.allSatisfy { $0.repair == .rebuildIndex }, "\(before.findings)")
        verifier.requestRepair()
        let (report, contents) = try await repaired(folder)
        #expect(!report.lostDonations && contents == sample.contents)
        #expect(report.findings.contains { $0.contains("was rebuilt") }, "\(report.findings)")
    }

    @Test("Donations continue with a damaged full-text index, which is rebuilt at once")
    func damagedWhileWriting() async throws {
        let folder = try await sample().unpacked()
        try SampleStore.alter(folder, "DELETE FROM item_text_data; DELETE FROM item_text_idx")
        try await SampleStore.withStore(folder) { index async throws in
            try await index.delete(identifiers: ["item 3"], in: SampleStore.other)
            try await index.index([EncodedItem(item("item 4", title: "banana"))], in: Store.app)
            let (banana, apple) = (try await index.search("banana").total, try await index.search("apple").total)
            #expect(banana == 1 && apple == 125)
            #expect(try await index.generation() == SampleStore.generation)
        }
        _ = try await repaired(folder)
    }

    @Test(
        "A damaged item is deleted, everything is pending and no client state is left",
        arguments: [
            "record = x'ff'", "record = zeroblob(length(record))", "checksum = checksum + 1", "expires = 99999.5",
            "donated = 1.5", "unique_identifier = 'other'", "index_name = 'third'",
        ])
    func damagedItem(change: String) async throws {
        let sample = try await sample()
        let folder = try sample.unpacked()
        try SampleStore.alter(folder, "UPDATE item SET \(change) WHERE unique_identifier = 'item 7'")
        let verifier = StoreVerifier(directory: folder.path)
        let before = try verifier.verify()
        #expect(before.findings.contains { $0.repair == .deleteItems }, "\(before.findings)")
        verifier.requestRepair()
        let (report, contents) = try await repaired(folder)
        #expect(report.lostDonations && report.generation == SampleStore.generation + 1)
        #expect(contents.states.isEmpty)
        var expected = sample.contents.items
        expected["item 7"] = nil
        #expect(contents.items == expected)
    }

    @Test("A damaged item can be replaced by its app, and is pending then")
    func damagedItemReplaced() async throws {
        let sample = try await sample()
        let folder = try sample.unpacked()
        try SampleStore.alter(folder, "UPDATE item SET record = x'ff' WHERE unique_identifier = 'item 7'")
        try await SampleStore.withStore(folder) { index async throws in
            let record = try #require(sample.contents.items["item 7"])
            try await index.index([EncodedItem(record)], in: Store.app)
            let contents = try await SampleStore.contents(of: index)
            #expect(contents.items == sample.contents.items && contents.found == sample.contents.found)
            #expect(contents.states.isEmpty)
            #expect(try await index.generation() == SampleStore.generation + 1)
        }
        _ = try await repaired(folder)
    }

    @Test("Columns that contradict their record are corrected, and nothing is pending")
    func wrongColumns() async throws {
        let sample = try await sample()
        let folder = try sample.unpacked()
        try SampleStore.alter(folder, "UPDATE item SET domain = 'x' WHERE id < 4")
        let verifier = StoreVerifier(directory: folder.path)
        #expect(try verifier.verify().findings.map(\.repair) == [.rewriteColumns])
        verifier.requestRepair()
        let (report, contents) = try await repaired(folder)
        #expect(!report.lostDonations && contents == sample.contents)
    }

    @Test("A damaged client state is dropped: its app starts from the beginning")
    func damagedState() async throws {
        let sample = try await sample()
        let folder = try sample.unpacked()
        try SampleStore.alter(folder, "UPDATE client_state SET state = x'00' WHERE index_name = 'second'")
        let verifier = StoreVerifier(directory: folder.path)
        #expect(try verifier.verify().findings.map(\.repair) == [.deleteClientStates])
        try await SampleStore.withStore(folder) { index async throws in
            #expect(try await index.clientState(of: SampleStore.other) == nil)
        }
        verifier.requestRepair()
        let (report, contents) = try await repaired(folder)
        #expect(!report.lostDonations && contents.items == sample.contents.items)
    }

    @Test(
        "Damaged facts of the store about itself are ignored; all items are kept, and everything is pending",
        arguments: [
            "UPDATE store SET applied = applied + 4", "UPDATE store SET generation = 1", "DELETE FROM store",
            "UPDATE store SET identifier = x'00112233445566778899aabbccddeeff'", "DROP TABLE store",
            "UPDATE store SET stateless_through = 5", "UPDATE store SET applied = 'x'",
        ])
    func damagedStoreRow(change: String) async throws {
        let sample = try await sample()
        let folder = try sample.unpacked()
        if change.contains("'x'") {
            try SampleStore.alter(
                folder, "UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'store'")
        }
        try SampleStore.alter(folder, change)
        let (report, contents) = try await repaired(folder)
        #expect(report.lostDonations && report.generation == SampleStore.generation + 1)
        #expect(contents.items == sample.contents.items && contents.found == sample.contents.found)
        #expect(contents.states.isEmpty)
    }

    @Test("A damaged list of format steps does not count as a later version")
    func damagedSteps() async throws {
        for change in [
            "INSERT INTO grdb_migrations VALUES ('9')", "DELETE FROM grdb_migrations WHERE identifier = '2'",
            "DROP TABLE grdb_migrations",
        ] {
            let sample = try await sample()
            let folder = try sample.unpacked()
            try SampleStore.alter(folder, change)
            let (report, contents) = try await repaired(folder)
            #expect(!report.lostDonations && contents == sample.contents, "\(change)")
        }
    }

    @Test("An impossible page number is damage, not a full device")
    func pageNumbers() async throws {
        let sample = try await SampleStore(isClosed: true)
        let bytes = try #require(sample.files["index.sqlite"])
        let size = 256 * Int(bytes[16]) + Int(bytes[17])
        // The page after the last page on which a table starts must make room for the next table
        // and its row pointers.
        let last = bytes[52..<56].reduce(0) { $0 << 8 | Int($1) }
        // With this seed, the first damage has such a number. If the store's format changes, a
        // later damage may have it.
        var random = SplitMix64(seed: 28)
        var isFound = false
        for _ in 0..<200 where !isFound {
            let start = last * size + size / 4 + random.below(size / 2)
            let folder = try sample.unpacked { files in
                for place in start..<start + 1 + random.below(5000) where place < bytes.count {
                    files["index.sqlite"]?[place] = UInt8(random.below(256))
                }
            }
            let (report, contents) = try await SampleStore.withStore(folder) { index async throws in
                (index.recovery, try? await SampleStore.contents(of: index))
            }
            isFound = report.findings.contains { $0.contains("an invalid page number") }
            if isFound { #expect(report.lostDonations || contents == sample.contents) }
        }
        #expect(isFound)
    }

    @Test("A loss recorded before the damage is reported, wherever the damage is")
    func lossBeforeDamage() async throws {
        let sample = try await sample()
        let size = try #require(sample.files["index.sqlite"]).count
        for kept in stride(from: 4096, to: size, by: 4096) {
            let folder = try sample.unpacked { files in
                files["journal/journal.head"] = nil
                files["index.sqlite"]?.removeSubrange(kept...)
            }
            let report = try await SampleStore.withStore(folder) { index async throws in index.recovery }
            #expect(report.lostDonations == (report.generation > SampleStore.generation), "\(kept): \(report)")
        }
    }

    @Test("A store with missing tables keeps the rows of the others")
    func missingTables() async throws {
        for change in ["DROP TABLE client_state", "DROP TABLE recovery", "DROP TABLE derived_index"] {
            let sample = try await sample()
            let folder = try sample.unpacked()
            try SampleStore.alter(folder, change)
            let (_, contents) = try await repaired(folder)
            #expect(contents.items == sample.contents.items && contents.found == sample.contents.found, "\(change)")
        }
        let folder = try await sample().unpacked()
        try SampleStore.alter(folder, "DROP TABLE item")
        let (report, _) = try await repaired(folder)
        #expect(report.lostDonations)
    }

    @Test("A database that is missing, empty, truncated or invalid is rebuilt, and the log is applied")
    func lostDatabase() async throws {
        let changes: [(inout [String: [UInt8]]) -> Void] = [
            { $0["index.sqlite"] = nil }, { $0["index.sqlite"] = [] },
            { $0["index.sqlite"] = Array("no database at all".utf8) },
            { $0["index.sqlite"] = $0["index.sqlite"].map { Array($0.prefix(5000)) } },
        ]
        for change in changes {
            let sample = try await sample()
            let folder = try sample.unpacked { files in
                files["index.sqlite-wal"] = nil
                change(&files)
            }
            let (report, contents) = try await repaired(folder)
            #expect(report.lostDonations && report.generation == SampleStore.generation + 1)
            // The log had a single segment, so everything is restored.
            #expect(contents.items == sample.contents.items)
            #expect(contents.states.isEmpty)
        }
    }

    @Test("Numbers of log entries and items continue after the last ones, and none is reused")
    func numbersGoOn() async throws {
        let sample = try await sample()
        let folder = try sample.unpacked {
            $0["index.sqlite"] = nil; $0["index.sqlite-wal"] = nil
        }
        try await SampleStore.withStore(folder) { index async throws in
            let before = try await index.pool.read { try StoreRow($0).applied }
            try await index.index([EncodedItem(item("new"))], in: Store.app)
            try await index.settle()
            let after = try await index.pool.read { try StoreRow($0).applied }
            #expect(before == 12 && after == 13)
            let number = try #require(try await index.items(uniqueIdentifier: "new").first?.number)
            #expect(number > 4000)
        }
    }

    @Test("If the last generation is unknown, the next is later than any before")
    func unknownGeneration() async throws {
        let folder = try await sample().unpacked {
            $0["index.sqlite"] = nil; $0["index.sqlite-wal"] = nil
        }
        let (report, _) = try await repaired(folder, knownGeneration: nil)
        #expect(report.lostDonations && report.generation == Int(SampleStore.moment))
    }

    @Test("If the jobs imply a store and nothing is left, everything is pending")
    func nothingLeft() async throws {
        let folder = try TemporaryFolder()
        let (report, contents) = try await repaired(folder)
        #expect(report.lostDonations && report.generation == SampleStore.generation + 1)
        #expect(contents.items.isEmpty)
        let fresh = try TemporaryFolder()
        let (other, _) = try await repaired(fresh, knownGeneration: nil)
        #expect(!other.lostDonations && other.isNew && other.generation == 1 && other.findings.isEmpty)
    }

    @Test("A restored older database is noticed by its generation")
    func olderDatabase() async throws {
        let (report, contents) = try await repaired(try await sample().unpacked(), knownGeneration: 9)
        #expect(report.lostDonations && report.generation == 10 && contents.states.isEmpty)
    }

    @Test("Only one damaged database is kept, under a new name")
    func setAside() async throws {
        let folder = try await sample().unpacked { $0["index.sqlite-wal"] = nil }
        for number in 1...2 {
            try folder.write(Array("garbage \(number)".utf8), to: "index.sqlite")
            _ = try await SampleStore.withStore(folder) { $0.recovery }
            #expect(try folder.read("index.sqlite.damaged") == Array("garbage \(number)".utf8))
        }
        #expect(try folder.names.filter { $0.contains(".new") || $0 == "suspect" } == [])
    }

    @Test("A reader that meets damage leaves a mark, and the next opening repairs it")
    func mark() async throws {
        let sample = try await sample()
        let folder = try sample.unpacked()
        try SampleStore.alter(folder, "DELETE FROM item_text_data WHERE id > 10")
        let reader = try SearchIndex(directory: folder.path, access: .readOnly) { SampleStore.moment }
        await #expect(throws: SearchIndexError.self) { _ = try await reader.search("apple") }
        #expect(reader.needsRepair)
        try reader.pool.close()
        let (report, contents) = try await repaired(folder)
        #expect(!report.lostDonations && contents == sample.contents)
        #expect(try !folder.names.contains("suspect"))
    }

    @Test("The findings of an opening are kept for the status")
    func keptFindings() async throws {
        let folder = try await sample().unpacked()
        try SampleStore.alter(folder, "DELETE FROM store")
        let (report, _) = try await repaired(folder)
        let reader = try SearchIndex(directory: folder.path, access: .readOnly)
        let kept = try await reader.lastFindings()
        #expect(kept?.findings == report.findings && kept?.moment == SampleStore.moment)
        try reader.pool.close()
    }

    @Test("A client state that relies on lost entries is not restored by later entries")
    func stateBehindLoss() async throws {
        let sample = try await sample()
        let name = try #require(sample.files.keys.first { $0.hasSuffix(".journal") })
        let folder = try sample.unpacked { files in
            // The first of the pending entries is damaged. The later entries are intact.
            let text = Array("late 121".utf8)
            let bytes = files[name]!
            let place = bytes.indices.last { bytes[$0...].starts(with: text) }!
            files[name]![place] ^= 1
        }
        let (report, contents) = try await repaired(folder)
        #expect(report.lostDonations && contents.states.isEmpty)
        #expect(contents.items.count == 125)
    }
}
