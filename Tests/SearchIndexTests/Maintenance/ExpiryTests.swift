// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import GRDB
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Items that expire soon")
struct ExpiryTests {
    private let store: Store
    private static let day = 86400.0
    private static let app = Store.app.bundle

    init() throws { store = try Store() }

    private func expiring(
        after mark: ExpiryMark? = nil, days: Double = 7, lifetime: Double = 14 * day, limit: Int = 1000
    ) async throws -> ExpiringItems {
        try await store.index.expiringItems(
            of: Self.app, after: mark, through: store.clock.now + days * Self.day, lifetime: lifetime, limit: limit)
    }

    @Test("Only the bundle's items are listed, in the order of their expiry, each once")
    func order() async throws {
        try await store.put(item("old"), item("never", expires: .never))
        store.clock.advance(by: Self.day)
        try await store.put(item("new"))
        try await store.put(item("foreign"), in: IndexScope(bundle: "com.example.other"))
        #expect(try await expiring().identifiers.isEmpty)
        store.clock.advance(by: 22.5 * Self.day)
        let first = try await expiring()
        #expect(first.identifiers == ["old"])
        #expect(first.earliest == 1_000_000 + 30 * Self.day)
        #expect(first.next == 1_000_000 + 31 * Self.day)
        store.clock.advance(by: Self.day)
        let second = try await expiring(after: first.mark)
        #expect(second.identifiers == ["new"] && second.next == nil)
        #expect(try await expiring(after: second.mark).identifiers.isEmpty)
        #expect(
            try await store.index.firstExpiries() == [
                Self.app: 1_000_000 + 30 * Self.day, "com.example.other": 1_000_000 + 31 * Self.day,
            ])
    }

    @Test("A limit divides items with the same expiry, and the next page continues there")
    func limit() async throws {
        let names = (0..<25).map { "item \($0)" }
        for name in names { try await store.put(item(name)) }
        store.clock.advance(by: 25 * Self.day)
        var mark: ExpiryMark?
        var found: [Set<String>] = []
        repeat {
            let page = try await expiring(after: mark, limit: 10)
            mark = page.mark
            found.append(page.identifiers)
        } while found.last?.isEmpty == false
        #expect(found.map(\.count) == [10, 10, 5, 0])
        #expect(found.reduce(Set()) { $0.union($1) } == Set(names))
    }

    @Test("Items with a short life are skipped, but not later ones")
    func shortLives() async throws {
        let now = store.clock.now
        for number in 0..<10 { try await store.put(item("short \(number)", expires: .at(now + 13 * Self.day))) }
        try await store.put(item("long", expires: .at(now + 14 * Self.day)))
        store.clock.advance(by: 10 * Self.day)
        #expect(try await expiring(limit: 1).identifiers == ["long"])
    }

    @Test("Items that are donated again expire later, and are listed again then")
    func renewed() async throws {
        try await store.put(item("a"), item("b"))
        store.clock.advance(by: 24 * Self.day)
        let first = try await expiring()
        #expect(first.identifiers == ["a", "b"])
        try await store.put(item("a"))
        #expect(try await expiring(after: first.mark).identifiers.isEmpty)
        store.clock.advance(by: 24 * Self.day)
        #expect(try await expiring(after: first.mark).identifiers == ["a"])
    }

    @Test("Each page reads only what it needs, through an index")
    func plan() async throws {
        try await store.put(item("a"))
        let plans = try await store.index.readApplied("Explaining") { db in
            try [
                "SELECT expires, id FROM item WHERE bundle = 1 AND expires >= 2 AND (expires > 2 OR id > 3) "
                    + "ORDER BY expires, id LIMIT 4",
                "SELECT expires FROM item WHERE bundle = 1 AND expires IS NOT NULL ORDER BY expires LIMIT 1",
                "SELECT id FROM item WHERE bundle IN (SELECT id FROM bundle) AND expires <= 5 LIMIT 2",
            ].map { sql in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
                    .joined(separator: "; ")
            }
        }
        for plan in plans {
            #expect(plan.contains("item_bundle_expires") && !plan.contains("SCAN item"), "\(plan)")
            #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
        }
    }
}
