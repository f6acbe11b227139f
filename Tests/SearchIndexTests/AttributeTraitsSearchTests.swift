// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

/// Returns an item whose attribute `mood` has these traits.
private func mood(
    _ identifier: String, _ mood: AttributeValue?, _ traits: AttributeTraits = [.searchable, .searchableByDefault],
    isUpdate: Bool = false
) -> ItemRecord {
    let attributes = mood.map { ["com_example_mood": $0] } ?? [:]
    return ItemRecord(
        uniqueIdentifier: identifier, isUpdate: isUpdate, attributes: attributes, traits: ["com_example_mood": traits])
}

@Suite("Traits of custom keys in the index")
struct AttributeTraitsSearchTests {
    @Test("A key that is searchable by default is found without its name, others are not")
    func queries() async throws {
        let store = try await QueryTestStore([
            mood("plain", .string("calm"), .standard), mood("default", .string("calm")),
            mood("hidden", .string("calm"), []), mood("contrary", .string("calm"), .searchableByDefault),
            mood("list", .array([.string("glad"), .string("calm")]), [.searchable, .searchableByDefault, .unique]),
            mood("many", .array([.string("calm")]), .multiValued), mood("number", .integer(7)),
        ])
        #expect(try await store.find("** == \"calm\"") == ["default", "list"])
        #expect(try await store.find("** == \"CALM\"cd") == ["default", "list"])
        #expect(try await store.find("* == 7") == ["number"])
        #expect(try await store.find("** == *") == ["default", "list", "number"])
        #expect(try await store.find("com_example_mood == calm") == ["plain", "default", "list"])
        #expect(try await store.find("com_example_mood == *") == ["plain", "default", "list", "number"])
        #expect(try await store.find("com_example_mood != *") == ["hidden", "contrary", "many"])
        #expect(try await store.find("com_example_mood != calm") == ["hidden", "contrary", "many", "number"])
    }

    @Test("The same value under several keys of an item is one row, removed with the last of them")
    func severalKeys() async throws {
        let names = ["a", "b"]
        func record(_ value: String) -> ItemRecord {
            ItemRecord(
                uniqueIdentifier: "i",
                attributes: Dictionary(uniqueKeysWithValues: names.map { ($0, .string($0 == "a" ? value : "x")) }),
                traits: Dictionary(uniqueKeysWithValues: names.map { ($0, .all) }))
        }
        let store = try await QueryTestStore([record("x")])
        #expect(try await store.find("** == x") == ["i"])
        try await store.add([record("y")])
        #expect(try await store.find("** == x") == ["i"])
        #expect(try await store.find("** == y") == ["i"])
        try await store.index.deleteAll(in: store.scope)
        #expect(try await AttributeIndexTests.rows(store.index).isEmpty)
    }

    @Test("Without such keys, a query without an attribute is compiled as if there were none")
    func plans() async throws {
        let query = "** == \"oslo*\"cd"
        let records = [mood("i", .string("Oslo"), .standard), queryItem("j", ["title": .string("Oslo")])]
        let store = try await QueryTestStore(records)
        let without = try await store.plan(query)
        #expect(without.isExact && without.usesIndex)
        try await store.add([mood("k", .string("Oslo"))])
        let with = try await store.plan(query)
        #expect(with.isExact && with.usesIndex)
        #expect(with.argumentCount == without.argumentCount + 1)
        #expect(try await store.find(query) == ["j", "k"])
        try await store.index.delete(identifiers: ["k"], in: store.scope)
        #expect(try await store.plan(query) == without)
    }

    @Test("Words of a key are found while it is searchable by default, and removed with the trait or the value")
    func words() async throws {
        let store = try Store()
        let update = { mood("i", $0, $1, isUpdate: true) }
        try await store.put(mood("i", .array([.string("quiet"), .string("sea")])))
        #expect(try await store.found("quiet sea") == ["i"])
        try await store.put(update(.string("quiet"), .all))
        #expect(try await store.found("quiet") == ["i"])
        #expect(try await store.found("sea") == [])
        try await store.put(update(nil, []))
        #expect(try await store.found("quiet") == ["i"])
        #expect(try await store.stored("i")?.traits == ["com_example_mood": .all])
        try await store.put(update(.string("quiet"), .standard))
        #expect(try await store.found("quiet") == [])
        try await store.put(update(.string("quiet"), .searchableByDefault))
        #expect(try await store.found("quiet") == [])
        try await store.put(update(.string("quiet"), [.searchable, .searchableByDefault]))
        #expect(try await store.found("quiet") == ["i"])
        try await store.put(update(.null, .all))
        #expect(try await store.found("quiet") == [])
        #expect(try await store.stored("i")?.traits == [:])
        #expect(try await store.vocabulary() == [])
        try await store.checkIntegrity()
    }

    @Test("A known attribute keeps its place among the words, and loses it when it is not searchable")
    func knownAttributes() async throws {
        let store = try Store()
        var record = item("i", title: "harbour", description: "mist")
        record.traits = ["title": .all, "contentDescription": []]
        try await store.put(record)
        #expect(try await store.found("harbour") == ["i"])
        #expect(try await store.found("mist") == [])
        #expect(try await store.vocabulary() == ["harbour title 1 1"])
    }

    @Test("Attributes that the index needs cannot be hidden")
    func reservedNames() async throws {
        let store = try await QueryTestStore([queryItem("parent", [:])])
        var child = queryItem(
            "child", domain: "d", ["relatedUniqueIdentifier": .string("parent"), "contentType": .string("public.text")])
        child.traits = ["relatedUniqueIdentifier": [], "contentType": [], "domainIdentifier": []]
        try await store.add([child])
        #expect(try await store.find("contentTypeTree == \"public\" && domainIdentifier == d") == ["child"])
        try await store.index.delete(identifiers: ["parent"], in: store.scope)
        #expect(try await store.find("uniqueIdentifier == *") == [])
    }

    @Test("The check of the derived tables finds nothing after random changes", arguments: [1, 2] as [UInt64])
    func check(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try await QueryTestStore((0..<40).map { QueryRandomItems.record(&random, $0) })
        var updates = (20..<60).map { QueryRandomItems.record(&random, $0) }
        for index in updates.indices { updates[index].isUpdate = random.below(2) == 0 }
        try await store.add(updates)
        for derived in [AttributeIndex.derived, FullTextIndex.derived] {
            let problems = try await store.index.write("Checking") { try derived.check($0) }
            #expect(problems.isEmpty, "\(derived.name), seed \(seed): \(problems)")
        }
        #expect(try await store.find("** == *").count > 10)
    }
}
