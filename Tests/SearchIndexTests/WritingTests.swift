// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Writing to the index")
struct WritingTests {
    @Test("Donated items are found and returned unchanged")
    func add() async throws {
        let store = try Store()
        let record = item("one", title: "Apple pie", keywords: ["cake"], text: "Bake it.", domain: "recipes.sweet")
        try await store.put(record)
        let hit = try #require(try await store.index.search("apple").hits.first)
        #expect(hit.item.record == record)
        #expect(hit.item.scope == Store.app)
        #expect(hit.item.donated == store.clock.now)
        #expect(hit.item.expires == store.clock.now + SearchIndex.standardLifetime)
        #expect(try await store.index.item(number: hit.item.number)?.record == record)
        #expect(try await store.index.item(number: hit.item.number + 1) == nil)
    }

    @Test("Donating an identifier again replaces the item, keeps its number and removes its old words")
    func replace() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Apple", keywords: ["fruit"]))
        let number = try await store.index.items(uniqueIdentifier: "one").first?.number
        store.clock.advance(by: 5)
        try await store.put(item("one", title: "Pear"))
        #expect(try await store.found("apple").isEmpty)
        #expect(try await store.found("fruit").isEmpty)
        #expect(try await store.found("pear") == ["one"])
        let again = try #require(try await store.index.items(uniqueIdentifier: "one").first)
        #expect(again.number == number)
        #expect(again.donated == store.clock.now)
        #expect(again.record.attributes["keywords"] == nil)
    }

    @Test("The number of a deleted item is not reused")
    func numbers() async throws {
        let store = try Store()
        try await store.put(item("one"))
        let number = try #require(try await store.index.items(uniqueIdentifier: "one").first?.number)
        try await store.index.delete(identifiers: ["one"], in: Store.app)
        try await store.put(item("two"))
        #expect(try #require(try await store.index.items(uniqueIdentifier: "two").first?.number) > number)
    }

    @Test("The later of two items with one identifier in a batch is kept")
    func sameBatch() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Apple"), item("one", title: "Pear"))
        #expect(try await store.found("apple").isEmpty)
        #expect(try await store.found("pear") == ["one"])
    }

    // MARK: Updates

    @Test("An update merges its attributes: new ones are added, given ones replaced, and null removes")
    func merge() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Apple", keywords: ["fruit"], text: "sweet", domain: "a"))
        try await store.put(
            update("one", ["title": .string("Pear"), "keywords": .null, "contentDescription": .string("green")]))
        let stored = try #require(try await store.stored("one"))
        #expect(stored == item("one", title: "Pear", description: "green", text: "sweet", domain: "a"))
        #expect(try await store.found("fruit").isEmpty)
        #expect(try await store.found("apple").isEmpty)
        #expect(try await store.found("pear green sweet") == ["one"])
        try await store.checkIntegrity()
    }

    @Test("An update moves an item to another domain only if it names one")
    func mergeDomain() async throws {
        let store = try Store()
        try await store.put(item("one", domain: "a"))
        try await store.put(update("one", ["title": .string("x")], domain: "b"))
        try await store.index.delete(domains: ["a"], in: Store.app)
        #expect(try await store.stored("one")?.domainIdentifier == "b")
    }

    @Test("An update of a missing item is ignored")
    func updateMissing() async throws {
        let store = try Store()
        try await store.put(update("one", ["title": .string("Apple")]))
        #expect(try await store.stored("one") == nil)
        #expect(try await store.found("apple").isEmpty)
        #expect(try await store.index.itemCounts().isEmpty)
    }

    @Test("An update does not bring an expired item back")
    func updateExpired() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Apple", expires: .at(store.clock.now + 10)))
        store.clock.advance(by: 10)
        try await store.put(update("one", ["title": .string("Pear")], expires: .never))
        #expect(try await store.stored("one") == nil)
        #expect(try await store.found("pear").isEmpty)
    }

    @Test("An update without an expiry keeps a chosen one, and restarts the standard month")
    func updateExpiry() async throws {
        let store = try Store()
        let end = store.clock.now + 100 * 86400
        try await store.put(item("never", expires: .never), item("late", expires: .at(end)), item("month"))
        store.clock.advance(by: 86400)
        for name in ["never", "late", "month"] { try await store.put(update(name, ["title": .string("x")])) }
        #expect(try await store.index.items(uniqueIdentifier: "never").first?.expires == nil)
        #expect(try await store.index.items(uniqueIdentifier: "late").first?.expires == end)
        let month = try await store.index.items(uniqueIdentifier: "month").first?.expires
        #expect(month == store.clock.now + SearchIndex.standardLifetime)
        try await store.put(update("never", [:], expires: .at(end)))
        #expect(try await store.index.items(uniqueIdentifier: "never").first?.expires == end)
    }

    @Test("An update that makes an item too large is left out and reported, and the rest is kept")
    func updateTooLarge() async throws {
        let store = try Store()
        var record = item("one", title: "Apple")
        for number in 0..<(ItemRecord.maximumAttributes - 1) { record.attributes["a\(number)"] = .boolean(true) }
        try await store.put(record)
        let items = try [item("two", title: "Pear"), update("one", ["another": .boolean(true)])].map {
            try EncodedItem($0)
        }
        try await store.index.index(items, in: Store.app)
        #expect(try await store.found("pear") == ["two"])
        guard case .invalidItem("one", _)? = store.index.rejectedItems.first else {
            Issue.record("\(store.index.rejectedItems)")
            return
        }
        #expect(try await store.stored("one") == record)
        try await store.checkIntegrity()
    }

    // MARK: Deleting

    @Test("Items are deleted by identifier, with their words, and an unknown identifier is not an error")
    func deleteIdentifiers() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Apple"), item("two", title: "Apple"))
        try await store.index.delete(identifiers: ["one", "three", ""], in: Store.app)
        #expect(try await store.found("apple") == ["two"])
        #expect(try await store.stored("one") == nil)
        try await store.checkIntegrity()
    }

    @Test("Deleting a domain deletes its subdomains and no siblings")
    func deleteDomains() async throws {
        let store = try Store()
        let domains = ["a", "a.b", "a.b.c", "ab", "a-b", "a/b", "A", "b.a", "a b", ""]
        for domain in domains { try await store.put(item("in \(domain)", title: "word", domain: domain)) }
        try await store.put(item("none", title: "word"))
        try await store.index.delete(domains: ["a"], in: Store.app)
        let left = domains.filter { $0 != "a" && !$0.hasPrefix("a.") }.map { "in \($0)" } + ["none"]
        #expect(Set(try await store.found("word")) == Set(left))
        try await store.index.delete(domains: [""], in: Store.app)
        #expect(Set(try await store.found("word")) == Set(left.filter { $0 != "in " }))
    }

    @Test("Wildcards of SQL have no meaning in a domain")
    func deleteDomainWildcards() async throws {
        let store = try Store()
        try await store.put(item("one", title: "word", domain: "axb"), item("two", title: "word", domain: "a%b.c"))
        try await store.index.delete(domains: ["a_b", "%", "a*b"], in: Store.app)
        #expect(try await store.found("word").count == 2)
        try await store.index.delete(domains: ["a%b"], in: Store.app)
        #expect(try await store.found("word") == ["one"])
    }

    @Test("Deleting an index leaves the other indexes and bundles")
    func deleteAll() async throws {
        let store = try Store()
        let scopes = [
            Store.app, IndexScope(bundle: "com.example.app", index: "mail"), IndexScope(bundle: "com.example.other"),
        ]
        for (number, scope) in scopes.enumerated() { try await store.put(item("i\(number)", title: "word"), in: scope) }
        try await store.index.deleteAll(in: scopes[1])
        #expect(Set(try await store.found("word")) == ["i0", "i2"])
        try await store.index.deleteAll(in: Store.app)
        #expect(try await store.found("word") == ["i2"])
        #expect(try await store.index.itemCounts() == ["com.example.other": 1])
    }

    // MARK: Scopes

    @Test("The same identifier and domain in another index or bundle is another item")
    func scopes() async throws {
        let store = try Store()
        let mail = IndexScope(bundle: "com.example.app", index: "mail")
        let other = IndexScope(bundle: "com.example.other")
        for scope in [Store.app, mail, other] {
            try await store.put(item("one", title: "word", domain: "d"), in: scope)
        }
        #expect(try await store.index.search("word").total == 3)
        #expect(try await store.found("word", bundle: "com.example.other").count == 1)
        #expect(try await store.index.items(uniqueIdentifier: "one").map(\.scope) == [Store.app, mail, other])
        #expect(try await store.index.items(uniqueIdentifier: "one", bundle: "com.example.app").count == 2)
        #expect(try await store.index.itemCounts() == ["com.example.app": 2, "com.example.other": 1])

        try await store.put(update("one", ["title": .string("changed")]), in: mail)
        #expect(try await store.index.search("word").total == 2)
        try await store.index.delete(identifiers: ["one"], in: mail)
        try await store.index.delete(domains: ["d"], in: other)
        #expect(try await store.index.items(uniqueIdentifier: "one").map(\.scope) == [Store.app])
    }

    @Test("Two bundles with similar names are counted without a crash")
    func lookalikeBundles() async throws {
        let store = try Store()
        // Two names that are equal as Swift strings but have different bytes in SQLite.
        try await store.put(item("one"), in: IndexScope(bundle: "com.caf\u{E9}"))
        try await store.put(item("two"), in: IndexScope(bundle: "com.cafe\u{301}"))
        #expect(try await store.index.itemCounts() == ["com.café": 2])
    }

    // MARK: NUL

    @Test("Identifiers with a NUL are rejected by name, so that they do not match shorter ones")
    func nulInIdentifiers() async throws {
        let store = try Store()
        try await store.put(item("one", title: "word", domain: "a"))
        for record in [item("one\0x"), item("two", domain: "a\0x")] {
            let encoded = try EncodedItem(record)
            await #expect {
                try await store.index.index([encoded], in: Store.app)
            } throws: { error in
                guard case .invalidItem(record.uniqueIdentifier, _)? = error as? SearchIndexError else { return false }
                return true
            }
        }
        await #expect(throws: SearchIndexError.self) {
            try await store.put(item("three"), in: IndexScope(bundle: Store.app.bundle + "\0x"))
        }
        await #expect(throws: SearchIndexError.self) {
            try await store.put(item("three"), in: IndexScope(bundle: Store.app.bundle, index: "\0"))
        }
        try await store.index.delete(identifiers: ["one\0y"], in: Store.app)
        try await store.index.delete(domains: ["a\0y"], in: Store.app)
        #expect(try await store.stored("one\0z") == nil)
        #expect(try await store.found("word") == ["one"])
        #expect(try await store.index.search("word", bundle: Store.app.bundle + "\0").total == 0)
    }

    @Test("Text after a NUL is found, and removed with its item")
    func nulInText() async throws {
        let store = try Store()
        try await store.put(item("one", title: "before\0after", text: "\0hidden"))
        #expect(try await store.found("after") == ["one"])
        #expect(try await store.found("hidden") == ["one"])
        try await store.index.delete(identifiers: ["one"], in: Store.app)
        #expect(try await store.vocabulary().isEmpty)
    }

    // MARK: Expiry

    @Test("An expired item is hidden from every answer, and then deleted")
    func expiry() async throws {
        let store = try Store()
        let now = store.clock.now
        try await store.put(
            item("soon", title: "word", expires: .at(now + 10)), item("month", title: "word"),
            item("never", title: "word", expires: .never), item("past", title: "word", expires: .at(now - 1)),
            item("infinite", title: "word", expires: .at(.infinity)))
        #expect(Set(try await store.found("word")) == ["soon", "month", "never", "infinite"])
        store.clock.advance(by: 9.5)
        #expect(try await store.found("word").count == 4)
        store.clock.advance(by: 0.5)
        #expect(Set(try await store.found("word")) == ["month", "never", "infinite"])
        #expect(try await store.index.search("word").total == 3)
        #expect(try await store.stored("soon") == nil)
        #expect(try await store.index.itemCounts() == [Store.app.bundle: 3])
        #expect(try await store.index.deleteExpired() == 2)
        #expect(try await store.index.deleteExpired() == 0)
        store.clock.advance(by: SearchIndex.standardLifetime)
        #expect(Set(try await store.found("word")) == ["never", "infinite"])
        #expect(try await store.index.deleteExpired() == 1)
        try await store.checkIntegrity()
    }

    @Test("An expiry that is not a number is ignored")
    func expiryNaN() async throws {
        let store = try Store()
        try await store.put(item("one", title: "word", expires: .at(.nan)))
        #expect(
            try await store.index.items(uniqueIdentifier: "one").first?.expires
                == store.clock.now + SearchIndex.standardLifetime)
    }

    @Test("Names that are too long for any item are unknown: deleting them is not an error")
    func longNames() async throws {
        let store = try Store()
        try await store.put(item("kept", title: "apple", domain: "d"))
        let long = String(repeating: "x", count: 4097)
        try await store.index.delete(identifiers: [long, "other"], in: Store.app)
        try await store.index.delete(domains: [long], in: Store.app)
        #expect(try await store.found("apple") == ["kept"])
    }

    @Test("A batch that exceeds a limit of the log is rejected with the name of the limit")
    func tooLargeBatch() async throws {
        let store = try Store()
        let scope = IndexScope(bundle: String(repeating: "x", count: 4097))
        await #expect(
            throws: SearchIndexError.batchTooLarge(what: "bytes of bundle identifier", value: 4097, limit: 4096)
        ) { try await store.put(item("one"), in: scope) }
    }
}
