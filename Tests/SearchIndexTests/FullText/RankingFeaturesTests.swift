// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Ranking features of an item")
struct RankingFeaturesTests {
    private static let names = [
        "title", "displayName", "alternateNames", "keywords", "contactKeywords", "contentDescription", "authorNames",
        "authors", "textContent", "transcribedTextContent", "languages", "contentURL", "rankingHint", "userCreated",
        "userOwned", "contentModificationDate", "lastUsedDate", "contentCreationDate", "rating", "com_example_a",
        "com_example_b",
    ]
    /// Attribute names that can be read only from the decoded record.
    private static let oddNames = ["größe", "contact\u{212A}eywords"]

    private static func record(_ random: inout SplitMix64) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: random.pick(["a", "é", "/x/y.pdf"]))
        if random.below(2) == 0 { record.domainIdentifier = "notes" }
        if random.below(2) == 0 { record.expiration = .at(queryTestNow) }
        for name in names where random.below(3) == 0 {
            switch random.below(3) {
            case 0: record.attributes[name] = .string(QueryRandomItems.text(&random))
            case 1: record.attributes[name] = .date(queryTestNow + Double(random.below(60) - 30) * 43_200)
            default: record.attributes[name] = QueryRandomItems.value(&random)
            }
            if random.below(6) == 0 { record.traits[name] = AttributeTraits(rawValue: UInt8(random.below(16))) }
        }
        if random.below(12) == 0 { record.attributes[random.pick(oddNames)] = .string("odd") }
        record.traits = record.traits.filter { $0.value != .standard }
        return record
    }

    @Test("The bytes of a record give the same features as the decoded record", arguments: UInt64(1)...6)
    func sameFeatures(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var scanned = 0
        for _ in 0..<500 {
            let record = Self.record(&random)
            let features = try record.encoded().withUnsafeBufferPointer {
                RankingFeatures(scanning: $0, donated: queryTestNow)
            }
            guard let features else { continue }
            scanned += 1
            #expect(features == RankingFeatures(record, donated: queryTestNow), "\(record)")
        }
        #expect(scanned > 100)
    }

    @Test("Ordinary items are not decoded")
    func ordinary() throws {
        let person = PersonValue(displayName: "Anna", handles: ["anna@example.com"], handleIdentifier: "emailAddresses")
        let record = ItemRecord(
            uniqueIdentifier: "1",
            attributes: [
                "title": .string("Report"), "displayName": .string("report.pdf"), "rankingHint": .integer(-7),
                "keywords": .array([.string("annual"), .string("sales")]), "authors": .array([.person(person)]),
                "contentURL": .url("file:///x/a%20b.pdf"), "userOwned": .boolean(true), "score": .double(0.5),
            ])
        let features = try record.encoded().withUnsafeBufferPointer { RankingFeatures(scanning: $0, donated: 9) }
        #expect(features == RankingFeatures(record, donated: 9))
        #expect(features?.fields == ["Report\nreport.pdf", "annual\nsales", "Anna\nanna@example.com", ""])
        #expect(features?.names == ["1", "a b.pdf", "a b"])
    }

    @Test("Damaged bytes give some features or none, and no crash")
    func damaged() throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        for _ in 0..<MutationLoop.inputs {
            var bytes = try Self.record(&random).encoded()
            if random.below(2) == 0 {
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
            } else {
                bytes.removeLast(random.below(bytes.count))
            }
            _ = bytes.withUnsafeBufferPointer { RankingFeatures(scanning: $0, donated: 0) }
        }
        #expect(RankingFeatures(scanning: UnsafeBufferPointer(start: nil, count: 0), donated: 0) == nil)
    }
}
