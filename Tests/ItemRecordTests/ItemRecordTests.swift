// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import ItemRecord

@Suite("Item records")
struct ItemRecordTests {
    static func randomText(_ random: inout SplitMix64) -> String {
        let alphabet: [Character] = ["a", "é", "日", "🙂", " ", "\u{0}", "Z", "\u{301}"]
        return String((0..<Int.random(in: 0...9, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
    }

    static func randomValue(_ random: inout SplitMix64, depth: Int = 0) -> AttributeValue {
        switch Int.random(in: 0...(depth < 3 ? 12 : 9), using: &random) {
        case 0: .null
        case 1: .string(randomText(&random))
        case 2: .integer(Int64(bitPattern: random.next()))
        case 3: .double(Double(Int64(bitPattern: random.next())) / 3)
        case 4: .boolean(true)
        case 5: .boolean(false)
        case 6: .date(Double(random.next() % 1_000_000_000) / 7)
        case 7: .data((0..<5).map { _ in UInt8.random(in: 0...255, using: &random) })
        case 8: .url("https://example.com/" + String(random.next()))
        case 9:
            .person(
                PersonValue(
                    displayName: Bool.random(using: &random) ? randomText(&random) : nil,
                    handles: [randomText(&random)], handleIdentifier: "k"))
        case 10: .localizedString(["en": randomText(&random), "de": randomText(&random)])
        case 11: .array((0..<3).map { _ in randomValue(&random, depth: depth + 1) })
        default: .dictionary(["x": randomValue(&random, depth: depth + 1)])
        }
    }

    static func randomRecord(_ random: inout SplitMix64) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: "i" + randomText(&random), isUpdate: Bool.random(using: &random))
        if Bool.random(using: &random) { record.domainIdentifier = randomText(&random) }
        record.expiration = [.standard, .never, .at(12.5)].randomElement(using: &random)!
        for index in 0..<Int.random(in: 0...12, using: &random) {
            record.attributes["a\(index)"] = randomValue(&random)
            let traits = AttributeTraits(rawValue: UInt8.random(in: 0...15, using: &random))
            if traits != .standard, Bool.random(using: &random) { record.traits["a\(index)"] = traits }
        }
        return record
    }

    @Test("Encoded records are decoded unchanged", arguments: [1, 2, 3] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let record = Self.randomRecord(&random)
            let bytes = try record.encoded()
            #expect(try ItemRecord(decoding: bytes) == record)
            #expect(try ItemRecord(decoding: bytes).encoded() == bytes)
        }
    }

    @Test("Damaged bytes give an error or another record, never a trap", arguments: [11, 12, 13] as [UInt64])
    func damage(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var refused = 0
        for _ in 0..<300 {
            var bytes = try Self.randomRecord(&random).encoded()
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            do { _ = try ItemRecord(decoding: bytes) } catch { refused += 1 }
        }
        #expect(refused > 100)
    }

    @Test("Every proper prefix of a record is rejected")
    func truncation() throws {
        let record = ItemRecord(
            uniqueIdentifier: "one", domainIdentifier: "d", expiration: .at(4),
            attributes: ["title": .string("T"), "n": .array([.integer(-7), .double(2)])])
        let bytes = try record.encoded()
        for length in 0..<bytes.count {
            #expect(throws: ItemRecordError.self) { try ItemRecord(decoding: bytes[0..<length]) }
        }
    }

    @Test("Limits are reported by name")
    func limits() {
        let long = String(repeating: "x", count: ItemRecord.maximumIdentifierBytes + 1)
        #expect(throws: ItemRecordError.tooLarge(.identifierBytes, value: 4097)) {
            try ItemRecord(uniqueIdentifier: long).encoded()
        }
        #expect(throws: ItemRecordError.self) { try ItemRecord(uniqueIdentifier: "").encoded() }
        var nested = AttributeValue.null
        for _ in 0..<6 { nested = .array([nested]) }
        #expect(throws: ItemRecordError.self) {
            try ItemRecord(uniqueIdentifier: "n", attributes: ["a": nested]).encoded()
        }
    }

    /// Returns an item that exceeds only this limit.
    static func excess(_ limit: ItemLimit) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: "too much")
        let long = String(repeating: "x", count: ItemRecord.maximumIdentifierBytes + 1)
        switch limit {
        case .identifierBytes: record.uniqueIdentifier = long
        case .domainBytes: record.domainIdentifier = long
        case .attributeNameBytes: record.attributes[long] = .boolean(true)
        case .attributes: for number in 0...ItemRecord.maximumAttributes { record.attributes["\(number)"] = .null }
        case .elements: record.attributes["keywords"] = .array(Array(repeating: .null, count: 65537))
        case .values:
            let row = AttributeValue.array(Array(repeating: .null, count: 60_000))
            record.attributes["keywords"] = .array(Array(repeating: row, count: 5))
        case .depth:
            var value = AttributeValue.null
            for _ in 0...ItemRecord.maximumDepth { value = .array([value]) }
            record.attributes["keywords"] = value
        case .recordBytes: record.attributes["textContent"] = .string(String(repeating: "x", count: 16 << 20))
        }
        return record
    }

    @Test("Each limit has its own name when an item is written", arguments: ItemLimit.allCases)
    func namedLimits(limit: ItemLimit) throws {
        let error = #expect(throws: ItemRecordError.self) { try Self.excess(limit).encoded() }
        guard case .tooLarge(limit, let value)? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(value > limit.maximum)
        #expect(error?.description.hasSuffix("and the limit is \(limit.maximum).") == true)
    }

    @Test("A record of tiny values alone is rejected before it fills the memory")
    func valueBudget() throws {
        let rows = [AttributeValue](repeating: .array([AttributeValue](repeating: .null, count: 60_000)), count: 5)
        #expect(throws: ItemRecordError.tooLarge(.values, value: 262_145)) {
            try ItemRecord(uniqueIdentifier: "bomb", attributes: ["a": .array(rows)]).encoded()
        }
        // The same record as a different encoder would write it.
        var bytes: [UInt8] = [1, 0, 1, 0x62, 5]
        for name in UInt8(ascii: "a")...UInt8(ascii: "e") {
            bytes += [1, name, 11, 0xE0, 0xD4, 0x03] + [UInt8](repeating: 0, count: 60_000)
        }
        #expect(throws: ItemRecordError.tooLarge(.values, value: 262_145)) {
            try ItemRecord(decoding: bytes)
        }
    }

    @Test("The first version of the format stays readable")
    func keptBytes() throws {
        // Encoded by hand from docs/ITEM-RECORD.md.
        let bytes: [UInt8] = [
            1, 2 | 8, 2, 0x69, 0x31, 1, 0x64, 2,  // version, flags, "i1", "d", two attributes
            1, 0x6E, 2, 13,  // n = -7
            5, 0x74, 0x69, 0x74, 0x6C, 0x65, 1, 2, 0x48, 0x69,  // title = "Hi"
        ]
        let record = ItemRecord(
            uniqueIdentifier: "i1", domainIdentifier: "d", expiration: .never,
            attributes: ["n": .integer(-7), "title": .string("Hi")])
        #expect(try ItemRecord(decoding: bytes) == record)
        #expect(try record.encoded() == bytes)
    }

    @Test("A batch is divided where it was joined, and a wrong length is rejected")
    func batches() throws {
        var batch: [UInt8] = []
        let records = try (0..<5).map { try ItemRecord(uniqueIdentifier: "i\($0)").encoded() }
        for record in records { RecordBatch.append(record, to: &batch) }
        #expect(try RecordBatch.split(batch).map(Array.init) == records)
        #expect(throws: ItemRecordError.self) { try RecordBatch.split(Array(batch.dropLast())) }
        batch[3] = 0xFF
        #expect(throws: ItemRecordError.self) { try RecordBatch.split(batch) }
    }
}
