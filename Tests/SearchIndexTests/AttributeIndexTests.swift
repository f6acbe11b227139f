// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("The attribute index")
struct AttributeIndexTests {
    /// Returns all rows with the names of their attributes.
    static func rows(_ index: SearchIndex) async throws -> [String] {
        try await index.read("Reading the rows") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT coalesce(attribute_name.name, '**'), attribute.value, attribute.item FROM attribute
                    LEFT JOIN attribute_name ON attribute_name.id = attribute.name ORDER BY 1, 2, 3
                    """
            ).map { row in
                let value: DatabaseValue = row[1]
                return "\(row[0] as String) \(value) \(row[2] as Int)"
            }
        }
    }

    @Test("Lists the keys of each kind of value")
    func values() throws {
        func values(_ value: AttributeValue) -> [DatabaseValue] {
            AttributeRows(queryItem("i", ["a": value])).values.first?.values ?? []
        }
        #expect(values(.string("Ósló")) == ["oslo".databaseValue])
        #expect(values(.url("https://Example.com")) == ["https://example.com".databaseValue])
        #expect(values(.integer(.max)) == [Int64.max.databaseValue])
        #expect(values(.double(5)).map(\.storage) == [.int64(5)])
        #expect(values(.double(0.5)) == [(0.5).databaseValue])
        #expect(values(.double(-.infinity)) == [(-Double.infinity).databaseValue])
        #expect(values(.boolean(true)) == [Int64(1).databaseValue])
        #expect(values(.date(0.25)) == [(0.25).databaseValue])
        #expect(values(.localizedString(["nb": "Å", "en": "A"])) == ["a".databaseValue])
        let person = PersonValue(displayName: "Kari", handles: ["k@x.no"], handleIdentifier: "emailAddresses")
        #expect(values(.person(person)) == ["kari".databaseValue, "k@x.no".databaseValue])
        #expect(
            values(.array([.integer(1), .string("x"), .null, .double(1)])) == [
                Int64(1).databaseValue, "x".databaseValue,
            ])
        #expect(values(.dictionary(["From": .array([.string("x")])])) == ["x".databaseValue])
    }

    @Test("Distinguishes presence and absence")
    func presence() {
        func values(_ value: AttributeValue) -> [DatabaseValue]? {
            AttributeRows(queryItem("i", ["a": value])).values.first?.values
        }
        #expect(values(.null) == nil)
        #expect(values(.array([])) == nil)
        #expect(values(.array([.null, .array([])])) == nil)
        #expect(values(.localizedString([:])) == nil)
        #expect(values(.string("")) == ["".databaseValue])
        #expect(values(.data([])) == [AttributeRows.present])
        #expect(values(.double(.nan)) == [AttributeRows.present])
        #expect(
            values(.person(PersonValue(displayName: nil, handles: [], handleIdentifier: ""))) == [AttributeRows.present]
        )
        #expect(values(.string("\0")) == [AttributeRows.unknown])
    }

    @Test("Bounds the rows of one attribute and of one item")
    func bounds() throws {
        let many = AttributeValue.array((0..<60_000).map { .integer($0) })
        let record = queryItem("i", Dictionary(uniqueKeysWithValues: (0..<20).map { ("a\($0)", many) }))
        let rows = AttributeRows(record).values
        #expect(rows.count == 20)
        #expect(rows.allSatisfy { $0.values.count <= AttributeRows.maximumPerAttribute + 1 })
        #expect(rows.allSatisfy { $0.values.last == AttributeRows.unknown })
        #expect(rows.reduce(0) { $0 + $1.values.count } <= AttributeRows.maximumPerItem + 20)
    }

    @Test("Follows every change of the items, and can be rebuilt from them", arguments: [1, 2] as [UInt64])
    func changes(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try await QueryTestStore((0..<40).map { QueryRandomItems.record(&random, $0) })
        try await store.add((20..<60).map { QueryRandomItems.record(&random, $0) })
        try await store.index.delete(identifiers: (0..<30).map { "\($0)" }, in: store.scope)
        try await store.index.delete(domains: ["", "Oslo", "a", "ab"], in: store.scope)
        let kept = try await Self.rows(store.index)
        #expect(kept.count > 100)
        try await store.index.write("Rebuilding") { try AttributeIndex.derived.rebuild($0) }
        #expect(try await Self.rows(store.index) == kept, "seed \(seed)")
    }

    @Test("Rows of a different format are not used")
    func otherFormat() async throws {
        let store = try await QueryTestStore([queryItem("i", ["title": .string("Oslo")])])
        try await store.index.write("Changing the format") { db in
            try db.execute(sql: "UPDATE derived_index SET format = format + 1; DELETE FROM attribute")
        }
        #expect(try await store.find("title == Oslo") == ["i"])
        #expect(try await store.plan("title == Oslo").usesIndex == false)
    }
}
