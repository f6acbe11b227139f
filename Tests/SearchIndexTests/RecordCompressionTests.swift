// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Compressed records")
struct RecordCompressionTests {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue(configuration: SearchIndex.configuration(isReadOnly: false)) }

    private func stored(_ record: Data) throws -> Data {
        try #require(try queue.read { try Data.fetchOne($0, sql: "SELECT stored_record(?)", arguments: [record]) })
    }

    private func plain(_ stored: Data) throws -> Data {
        try #require(try queue.read { try Data.fetchOne($0, sql: "SELECT plain_record(?)", arguments: [stored]) })
    }

    private func value(_ expression: String) throws -> DatabaseValue? {
        try queue.read { try DatabaseValue.fetchOne($0, sql: "SELECT \(expression)") }
    }

    @Test("Every record is restored unchanged, with any length and bytes", .timeLimit(.minutes(5)))
    func roundTrip() throws {
        var random = SplitMix64(seed: 7)
        let lengths = [0, 1, 5, 47, 48, 49, 100, 4095, 70_000, 1 << 20, (1 << 20) + 1]
        for length in lengths + (0..<200).map({ _ in random.below(3000) }) {
            // From a single repeated character to bytes that cannot be compressed.
            for variety in [1, 4, 30, 256] {
                let record = Data([1] + (0..<length).map { _ in UInt8(random.below(variety)) })
                let kept = try stored(record)
                #expect(kept.count <= record.count)
                #expect(try plain(kept) == record)
            }
        }
    }

    @Test("A usual record shrinks to less than two thirds; a very large or very short record does not grow")
    func sizes() throws {
        var record = item(
            "note 1", title: "Minutes of the meeting", keywords: ["meeting"],
            text:
                "This note is about the meeting that we had with the library of the university, and what has to be done."
        )
        record.attributes["contentType"] = .string("public.plain-text")
        record.attributes["contentModificationDate"] = .date(700_000_000)
        let bytes = Data(try record.encoded())
        let kept = try stored(bytes)
        #expect(kept.count * 3 < bytes.count * 2, "\(kept.count) of \(bytes.count)")
        #expect(kept.first == UInt8(ascii: "z"))
        for other in [Data(repeating: 1, count: 40), Data(repeating: 1, count: (1 << 20) + 1)] {
            #expect(try stored(other) == other)
        }
    }

    @Test("A record that is not compressed is returned unchanged")
    func damage() throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        let record = Data([1] + (0..<400).map { _ in UInt8(97 + random.below(6)) })
        let kept = try stored(record)
        for cut in 0..<kept.count { #expect(try plain(kept.prefix(cut)) == kept.prefix(cut)) }
        #expect(try plain(kept + [0]) == kept + [0])
        for _ in 0..<MutationLoop.inputs {
            var changed = kept
            changed[random.below(changed.count)] ^= UInt8(1 + random.below(255))
            let read = try plain(changed)
            // The checksum of the row detects a change that zstd does not notice.
            #expect(read == changed || read.count == record.count)
        }
        // An invalid length, and a length that differs from the record's.
        for length in [UInt32(0), 400, 402, 0xFF_FFFF] {
            let head = [UInt8(ascii: "z"), 2, UInt8(length & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length >> 16)]
            let changed = Data(head) + kept.dropFirst(5)
            #expect(try plain(changed) == changed)
        }
        #expect(try value("plain_record(NULL)") == .null)
        #expect(try value("plain_record('zz')") == "zz".databaseValue)
        #expect(try value("stored_record(5)") == 5.databaseValue)
    }

    @Test(
        "A store compresses records, even changed and renamed ones, and reads records of earlier versions")
    func store() async throws {
        let store = try Store()
        let text = String(repeating: "the words of the text ", count: 20)
        for number in 0..<6 { try await store.put(item("item \(number)", title: "apple \(number)", text: text)) }
        try await store.index.settle()
        // In the form that an earlier version wrote.
        try await store.index.write("Changing rows") { db in
            try db.execute(sql: "UPDATE item SET record = plain_record(record) WHERE id % 2 = 0")
        }
        func compressed() async throws -> [Bool] {
            try await store.index.readApplied("Reading rows") { db in
                try Bool.fetchAll(db, sql: "SELECT substr(record, 1, 1) = x'7a' FROM item ORDER BY id")
            }
        }
        #expect(try await compressed() == [true, false, true, false, true, false])
        #expect(try await store.found("apple").count == 6)
        #expect(try await store.found("words text").count == 6)
        var changed = item("item 1", title: "pear", text: text)
        changed.attributes["pageCount"] = .integer(3)
        try await store.put(changed)
        try await store.index.settle()
        #expect(try await compressed() == [true, true, true, false, true, false])
        #expect(try await store.stored("item 1") == changed)
        #expect(try await store.index.items(matching: .init(parsing: "pageCount == 3"), limit: 9).items.count == 1)
        try await store.checkIntegrity()
    }
}
