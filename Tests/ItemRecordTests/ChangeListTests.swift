// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ItemRecord

@Suite("Lists of changes")
struct ChangeListTests {
    private static func changes(in bytes: [UInt8]) throws(ItemRecordError) -> [EncodedChange] {
        try ChangeList(decoding: bytes).changes.map { $0.withRecords { Array($0) } }
    }

    private static func randomChange(_ random: inout some RandomNumberGenerator) -> EncodedChange {
        func names() -> [String] {
            (0..<Int.random(in: 0...5, using: &random)).map { _ in
                String(repeating: "ä", count: .random(in: 0...90, using: &random))
            }
        }
        return switch Int.random(in: 0..<5, using: &random) {
        case 0: .put((0..<Int.random(in: 0...300, using: &random)).map { UInt8(truncatingIfNeeded: $0) })
        case 1: .deleteItems(names())
        case 2: .deleteDomains(names())
        case 3: .renameItems(names().map { ItemRename($0, to: "ö" + $0) })
        default: .deleteAll
        }
    }

    @Test("Appended changes are read in order")
    func roundTrip() throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        for _ in 0..<200 {
            let changes = (0..<Int.random(in: 0...12, using: &random)).map { _ in Self.randomChange(&random) }
            var list = ChangeList()
            for change in changes { list.append(change) }
            let read = try Self.changes(in: list.bytes)
            #expect(read == changes)
        }
    }

    @Test("A truncated list is rejected or shorter, and damaged bytes never trap")
    func damage() throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        var list = ChangeList()
        for _ in 0..<8 { list.append(Self.randomChange(&random)) }
        let whole = try Self.changes(in: list.bytes)
        for length in 0..<list.bytes.count {
            if let part = try? Self.changes(in: Array(list.bytes[..<length])) {
                #expect(part.count < whole.count && Array(whole.prefix(part.count)) == part)
            }
            var changed = list.bytes
            changed[length] = .random(in: 0...255, using: &random)
            _ = try? Self.changes(in: changed)
        }
    }

    @Test("An impossible count of names reserves no memory and is rejected")
    func hugeCount() {
        #expect(throws: ItemRecordError.self) {
            try Self.changes(in: [2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01])
        }
        #expect(throws: ItemRecordError.self) { try Self.changes(in: [2, 0xFF, 0xFF, 0x3F]) }
    }

    @Test("An empty new identifier, and too many renames, are rejected")
    func badRenames() throws {
        let rename = ItemRename("a", to: "b")
        #expect(try Self.changes(in: [5, 1, 1, 97, 1, 98]) == [.renameItems([rename])])
        for bytes in [[5, 1, 1, 97, 0], [5, 2, 1, 97, 1, 98], [5, 0x80, 0x80, 0x20], [5, 1, 0x81, 0x20]] as [[UInt8]] {
            #expect(throws: ItemRecordError.self) { try Self.changes(in: bytes) }
        }
        #expect(throws: ItemRecordError.self) { try Self.changes(in: [6]) }
        var list = ChangeList()
        let most = ChangeList.maximumChanges / 2 - 1
        try list.appendToBatch([.renameItems(Array(repeating: rename, count: most))])
        #expect(try ChangeList(decoding: list.bytes).count == 1 + 2 * most)
        #expect(throws: ChangeList.TooLarge.self) { try list.appendToBatch([.renameItems([rename])]) }
    }

    @Test("Too many empty names are rejected")
    func tooManyNames() {
        var list = ChangeList()
        for _ in 0..<3 { list.append(.deleteItems(Array(repeating: "", count: 400_000))) }
        #expect(throws: ItemRecordError.self) { try Self.changes(in: list.bytes) }
    }

    @Test("A batch accepts bytes and names up to its bounds, and is unchanged beyond them")
    func batchBounds() throws {
        var list = ChangeList()
        let room = ChangeList.maximumBatchBytes
        try list.appendToBatch([.put(Array(repeating: 0, count: room - 6 - 1))])
        let whole = list
        #expect(throws: ChangeList.TooLarge(bytes: whole.bytes.count + 7, count: 2)) {
            try list.appendToBatch([.put([0])])
        }
        #expect(throws: ChangeList.TooLarge.self) { try list.appendToBatch([.deleteAll, .deleteItems(["a"])]) }
        #expect(list == whole)
        try list.appendToBatch([.deleteAll])
        #expect(list.count == 2 && list.bytes.count <= room)

        var names = ChangeList()
        try names.appendToBatch([.deleteItems(Array(repeating: "", count: ChangeList.maximumChanges - 1))])
        #expect(throws: ChangeList.TooLarge.self) { try names.appendToBatch([.deleteAll]) }
        #expect(try Self.changes(in: names.bytes).count == 1)
    }

    @Test("The size of an encoded change does not exceed its estimate")
    func largestEncoding() {
        var random = SplitMix64(seed: MutationLoop.seed)
        for _ in 0..<200 {
            let change = Self.randomChange(&random)
            var list = ChangeList()
            list.append(change)
            #expect(list.bytes.count <= change.largestEncoding)
        }
    }

    @Test("Items that are added one by one are one put, until another change follows")
    func records() throws {
        var list = ChangeList()
        let records = (0..<300).map { number in (0..<number % 7).map { UInt8($0) } }
        for record in records { list.append(record: record) }
        list.append(.deleteAll)
        list.append(record: [7])
        let read = try ChangeList(decoding: list.bytes)
        #expect(read == list && read.count == 3)
        var changes = read.changes
        guard case .put(let batch)? = changes.next() else { throw ItemRecordError.truncated(offset: 0) }
        #expect(try RecordBatch.split(batch).map { Array($0) } == records)
        #expect(changes.next() == .deleteAll)
        #expect(read.afterDeletingAll?.bytes == Array(list.bytes.suffix(11)) && read.afterDeletingAll?.count == 1)
    }

    @Test("The names of an encoded item are read without its attributes")
    func names() throws {
        var record = ItemRecord(uniqueIdentifier: "i", attributes: ["title": .string("t")])
        #expect(try ItemRecord.names(in: record.encoded()[...]) == ("i", nil))
        record.domainIdentifier = "d"
        let bytes = try record.encoded()
        #expect(try ItemRecord.names(in: bytes[...]) == ("i", "d"))
        #expect(try ItemRecord.names(in: bytes.dropLast(4)) == ("i", "d"))
        #expect(throws: ItemRecordError.self) { try ItemRecord.names(in: bytes.prefix(3)) }
    }
}
