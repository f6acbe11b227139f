// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import GRDB
import MetadataQuery
import Synchronization
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Results of queries")
struct QueryResultsTests {
    static func records(_ count: Int) -> [ItemRecord] {
        (0..<count).map {
            queryItem(
                "\($0)",
                [
                    "title": .string("Oslo \($0)"), "rating": .integer(Int64($0 % 10)),
                    "contentType": .string("public.note"),
                ])
        }
    }

    @Test(
        "Pages are stable while items are added and removed",
        arguments: ["rating == 3", "rating != 3", "title == \"*o*\""])
    func paging(query: String) async throws {
        let store = try await QueryTestStore(Self.records(200))
        let expression = try QueryExpression(parsing: query)
        let expected = try await store.find(query)
        var found: [String] = []
        var cursor: QueryCursor?
        repeat {
            let page = try await store.index.items(matching: expression, limit: 7, after: cursor)
            #expect(page.items.count <= 7)
            found += page.items.map(\.record.uniqueIdentifier)
            cursor = page.next
            // Deleting listed items, and adding new ones, shifts no results.
            if found.count == 7 {
                try await store.index.delete(identifiers: [found[0], found[6]], in: store.scope)
                try await store.add([queryItem("new", ["title": .string("x")])])
            }
        } while cursor != nil
        #expect(found.filter { $0 != "new" } == expected)
    }

    @Test("Filters, bundle and expiry restrict the results and counts")
    func restrictions() async throws {
        let store = try await QueryTestStore(Self.records(20))
        let other = IndexScope(bundle: "com.example.other", index: "named")
        try await store.add([queryItem("3", ["rating": .integer(3)])], to: other)
        var gone = queryItem("gone", ["rating": .integer(3)])
        gone.expiration = .at(queryTestNow - 1)
        try await store.add([gone])
        #expect(try await store.find("rating == 3") == ["3", "13", "3"])
        #expect(try await store.find("rating == 3", bundle: "com.example.other") == ["3"])
        #expect(try await store.find("rating == 3", bundle: "com.example.none").isEmpty)
        #expect(try await store.find("rating == 3", filters: ["title == \"*1*\"", "title == \"*\""]) == ["13"])
        let count = try await store.index.count(
            matching: .init(parsing: "rating != 4"), filters: [.init(parsing: "rating < 4")], bundle: other.bundle)
        #expect(count == 1)
    }

    @Test("Text without spaces is found by any part")
    func ideographs() async throws {
        let store = try await QueryTestStore([
            queryItem("title", ["title": .string("中文檢索")]),
            queryItem("body", ["textContent": .string(String(repeating: "長い前置き。", count: 50) + "日本語の文章")]),
            queryItem("korean", ["title": .string("한국어 문서")]), queryItem("none", ["title": .string("Oslo")]),
        ])
        #expect(try await store.find("** == \"*文*\"") == ["title", "body"])
        #expect(try await store.find("title == \"*文*\"") == ["title"])
        #expect(try await store.find("title == \"中文*\"") == ["title"])
        #expect(try await store.find("* == \"文\"w") == ["title", "body"])
        #expect(try await store.find("title == \"*국*\"") == ["korean"])
        #expect(try await store.find("title == \"한*\"") == ["korean"])
    }

    @Test("The standard context knows the declared types")
    func types() async throws {
        let store = try await QueryTestStore([
            queryItem("jpeg", ["contentType": .string("public.jpeg")]),
            queryItem("text", ["contentType": .string("public.plain-text")]),
            queryItem("tree", ["contentTypeTree": .array([.string("public.image")])]),
            queryItem("capital", ["contentType": .string("Public.PNG")]),
        ])
        let image = try QueryExpression(parsing: "contentTypeTree == \"public.image\"")
        let page = try await store.index.items(matching: image)
        #expect(page.items.map(\.record.uniqueIdentifier) == ["jpeg", "tree", "capital"])
        #expect(try await store.index.explain(image).usesIndex)
    }

    @Test("A cancelled query evaluates nothing further")
    func cancellation() async throws {
        let store = try await QueryTestStore(Self.records(3_000))
        let evaluated = Mutex(0)
        let cancel = Mutex<(@Sendable () -> Void)?>(nil)
        // The evaluator checks conformance once for each item. At the hundredth item, the check
        // itself cancels the query.
        let context = QueryContext(
            clock: QueryClock(now: queryTestNow),
            conforms: { _, _ in
                let count = evaluated.withLock { count in
                    count += 1
                    return count
                }
                if count == 100 { cancel.withLock { $0 }?() }
                return false
            })
        let query = try QueryExpression(parsing: "contentTypeTree != \"public.image\"w")
        let (start, go) = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in start { break }
            return try await store.index.count(matching: query, context: context)
        }
        cancel.withLock { $0 = { task.cancel() } }
        go.yield()
        await #expect(throws: IndexQueryError.cancelled) { try await task.value }
        #expect((100...101).contains(evaluated.withLock { $0 }))
        // The connection works as before.
        #expect(try await store.find("rating == 3").count == 300)
    }

    @Test("A cancelled search is cancelled, not failed, whichever statement is interrupted")
    func interrupted() async throws {
        let store = try await QueryTestStore(Self.records(1))
        let endless = "WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        func task(_ body: @escaping @Sendable (Database) throws -> Void) -> Task<Void, any Error> {
            Task { try await store.index.query("Searching") { try body($0) } }
        }
        let raw = task { db in
            try ReadStatement(db, sql: endless).forEachRow { _ in
            } _: { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                return true
            }
        }
        await #expect(throws: IndexQueryError.cancelled) { try await raw.value }
        let decoded = task { db in
            let rows = try Int.fetchCursor(db, sql: endless)
            while try rows.next() != nil { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: IndexQueryError.cancelled) { try await decoded.value }
        #expect(try await store.find("rating == 0").count == 1)
    }

    @Test("A search that is cancelled between two reads of items reads no further ones")
    func betweenReads() async throws {
        let store = try await QueryTestStore(Self.records(300))
        let reads = Mutex(0)
        let task = Task {
            try await store.index.query("Searching") { db in
                let items = try TextItemReader(db)
                for text in try Int64.fetchAll(db, sql: "SELECT id FROM text_row") {
                    _ = try items.withItem(ofText: text) { _ in
                        let count = reads.withLock { count in
                            count += 1
                            return count
                        }
                        // SQLite is interrupted while no statement goes on.
                        if count == 100 { withUnsafeCurrentTask { $0?.cancel() } }
                    }
                }
            }
        }
        await #expect(throws: IndexQueryError.cancelled) { try await task.value }
        #expect(reads.withLock { $0 } == 100)
    }

    @Test("A task that was cancelled before gets no results")
    func cancelledBefore() async throws {
        let store = try await QueryTestStore(Self.records(10))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.index.items(matching: .and([]))
        }
        await #expect(throws: IndexQueryError.cancelled) { _ = try await task.value }
    }

    @Test("A damaged record is an error, not a crash")
    func damaged() async throws {
        let store = try await QueryTestStore(Self.records(3))
        try await store.index.write("Damaging") { db in
            try db.execute(sql: "UPDATE item SET record = x'0102' WHERE unique_identifier = '1'")
        }
        for query in ["title == \"*o 1\"", "rating == 1"] {
            await #expect {
                _ = try await store.find(query)
            } throws: { error in
                guard case .index(.damaged) = error as? IndexQueryError else { return false }
                return true
            }
        }
    }
}
