// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ItemRecord

@Suite("Traits of attributes in item records")
struct AttributeTraitsTests {
    /// Returns a record "i" with a single attribute "a", which has these bytes as traits and value.
    private static func encoded(_ value: [UInt8]) -> [UInt8] { [1, 0, 1, 0x69, 1, 1, 0x61] + value }

    private static func record(_ traits: AttributeTraits, _ value: AttributeValue = .string("x")) -> ItemRecord {
        ItemRecord(uniqueIdentifier: "i", attributes: ["a": value], traits: ["a": traits])
    }

    @Test("Precede the value, and default traits are left out, so records without traits are unchanged")
    func place() throws {
        // Encoded by hand from docs/ITEM-RECORD.md.
        #expect(try Self.record(.standard).encoded() == Self.encoded([1, 1, 0x78]))
        for bits in UInt8(0)...15 where bits != 1 {
            let record = Self.record(AttributeTraits(rawValue: bits))
            #expect(try record.encoded() == Self.encoded([13, bits, 1, 1, 0x78]))
            #expect(try ItemRecord(decoding: Self.encoded([13, bits, 1, 1, 0x78])) == record)
        }
        #expect(Self.record(.standard) == ItemRecord(uniqueIdentifier: "i", attributes: ["a": .string("x")]))
    }

    @Test("Default traits may be written, and are read as absent")
    func explicitStandard() throws {
        let record = try ItemRecord(decoding: Self.encoded([13, 1, 1, 1, 0x78]))
        #expect(record == Self.record(.standard))
        #expect(try record.encoded() == Self.encoded([1, 1, 0x78]))
    }

    @Test(
        "Are rejected at a wrong position, and if they are unknown",
        arguments: [
            [13, 16, 0], [13, 255, 0], [13], [13, 3], [13, 3, 13, 3, 0], [11, 1, 13, 3, 0], [12, 1, 1, 0x62, 13, 3, 0],
            [13, 3, 0, 0],
        ] as [[UInt8]])
    func hostile(value: [UInt8]) {
        #expect(throws: ItemRecordError.self) { try ItemRecord(decoding: Self.encoded(value)) }
    }

    @Test("Unknown traits are reported with their position")
    func unknown() {
        #expect(throws: ItemRecordError.malformed(offset: 8, reason: "unknown traits 16")) {
            try ItemRecord(decoding: Self.encoded([13, 16, 0]))
        }
    }

    @Test("Traits of a missing attribute, and unknown ones, are not encoded")
    func meaningless() throws {
        var record = ItemRecord(uniqueIdentifier: "i", attributes: ["a": .null], traits: ["b": .all])
        #expect(record.traits.isEmpty)
        record.traits = ["b": .all, "a": AttributeTraits(rawValue: 0xF3)]
        #expect(try record.encoded() == Self.encoded([13, 3, 0]))
    }

    @Test("Decide whether an attribute is found, except for attributes that the index relies on")
    func effect() {
        let names = ["a", "title", "uniqueIdentifier", "domainIdentifier", "contentType", "relatedUniqueIdentifier"]
        func record(_ traits: AttributeTraits) -> ItemRecord {
            ItemRecord(
                uniqueIdentifier: "i", attributes: Dictionary(uniqueKeysWithValues: names.map { ($0, .null) }),
                traits: Dictionary(uniqueKeysWithValues: names.map { ($0, traits) }))
        }
        #expect(names.filter { !record([]).isSearchable($0) } == ["a", "title"])
        #expect(names.filter { record(.all).isSearchableByDefault($0) } == ["a", "title"])
        #expect(!record(.searchableByDefault).isSearchableByDefault("a"))
        #expect(record(.standard).isSearchable("a") && !record(.standard).isSearchableByDefault("a"))
        #expect(record([]).isSearchable("b") && !record(.all).isSearchableByDefault("b"))
    }
}
