// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

/// Queries that exceed SQLite's limits.
let hostileQueries: [String] = {
    let nested: [String] = (0..<60).map { "(rating == \($0) && title == \"*\" || (" }
    let numbers = 0..<1_000
    let alternatives: [[String]] = [
        numbers.map { "title == \"Oslo \($0)\"cd" },
        numbers.prefix(500).map { "title == \"*\($0 % 10)*\" || rating == \($0)" },
        numbers.map { "a\($0) == \($0)" } + ["rating == 3"],
        numbers.prefix(500).map { "(** == \"k\($0)\" && ** == \"Oslo*\")" },
    ]
    return alternatives.map { $0.joined(separator: " || ") } + [
        numbers.map { _ in "title == \"Oslo*\"" }.joined(separator: " && "),
        nested.joined() + "rating == 3" + String(repeating: "))", count: 60),
        String(repeating: "!(", count: 30) + "rating == 3" + String(repeating: ")", count: 30),
    ]
}()

@Suite("Plans of queries")
struct QueryPlanTests {
    static func store() async throws -> QueryTestStore {
        try await QueryTestStore(
            (0..<50).map { number in
                queryItem(
                    "id-\(number)", domain: "mail.inbox",
                    [
                        "title": .string("Oslo \(number)"), "rating": .integer(Int64(number)),
                        "dueDate": .date(queryTestNow + Double(number) * 3600),
                        "contentType": .string("public.image.jpeg"),
                        "keywords": .array([.string("fjord"), .string("k\(number)")]),
                    ])
            })
    }

    @Test(
        "Use an index, an exact one if possible",
        arguments: [
            ("title == \"Oslo 7\"", false, 1), ("title == \"oslo 7\"cd", true, 1), ("title == \"oslo 1*\"cd", true, 11),
            ("title == \"Oslo 1*\"", false, 11), ("title == \"*lo 7\"", false, 1), ("title == \"*O 7*\"c", false, 1),
            ("title == \"lo*\"w", false, 0), ("title == \"7 oslo\"ct", false, 1), ("rating == 7", true, 1),
            ("rating >= 40", true, 10), ("rating < 3", true, 3), ("InRange(rating, 10, 19)", true, 10),
            ("InRange(dueDate, $time.now, $time.now(3600))", true, 2), ("dueDate < $time.now(7200)", false, 2),
            ("dueDate > $time.now(7200)", true, 47), ("title == \"*\"", true, 50), ("keywords == k3", false, 1),
            ("keywords == \"K3\"cd", true, 1), ("contentTypeTree == \"public.image\"cd", true, 50),
            ("contentTypeTree == \"public.text\"cd", true, 0), ("domainIdentifier == \"mail.*\"cd", true, 50),
            ("uniqueIdentifier == \"id-7\"", true, 1), ("uniqueIdentifier == \"id-1*\"", true, 11),
            ("** == \"oslo 7\"cd", true, 1), ("* == \"k4*\"cd", true, 11), ("neverSeen == 5", true, 0),
            ("rating == 7 && title == \"*\"", true, 1), ("rating == 7 || rating == 8", true, 2),
            ("rating == 7 || title == \"Oslo 8\"", false, 2),
            ("(rating < 10 || rating > 45) && keywords == fjord", false, 14),
        ])
    func index(query: String, isExact: Bool, count: Int) async throws {
        let store = try await Self.store()
        let plan = try await store.plan(query)
        #expect(plan.usesIndex || count == 0)
        #expect(plan.isExact == isExact)
        #expect(plan.sql.contains("metadata_query_matches") != plan.isExact)
        if count > 0 {
            let searches = plan.steps.filter { $0.contains("attribute") || $0.contains("unique_identifier") }
            #expect(searches.contains { $0.hasPrefix("SEARCH") }, "\(plan.steps)")
            #expect(plan.steps.allSatisfy { !$0.hasPrefix("SCAN") }, "\(plan.steps)")
        }
        #expect(plan.steps.allSatisfy { !$0.contains("TEMP B-TREE") }, "\(plan.steps)")
        #expect(try await store.find(query).count == count)
        #expect(try await store.index.count(matching: .init(parsing: query), context: queryTestContext) == count)
    }

    @Test(
        "Scan all items if nothing else gives the answer",
        arguments: [
            ("title != \"Oslo 7\"", 49), ("!(title == \"*lo 7\")", 49), ("uniqueIdentifier == \"*7\"", 5),
            ("rating == 7 || uniqueIdentifier == \"*8\"", 6),
        ])
    func scan(query: String, count: Int) async throws {
        let store = try await Self.store()
        let plan = try await store.plan(query)
        #expect(!plan.usesIndex)
        #expect(plan.steps.allSatisfy { !$0.contains("TEMP B-TREE") }, "\(plan.steps)")
        #expect(try await store.find(query).count == count)
    }

    @Test("Values never become part of the statement")
    func injection() async throws {
        let store = try await Self.store()
        for text in ["'); DROP TABLE item; --", "\\\" OR 1 = 1 --", "x' OR 'a' = 'a", "\\?1", ":now"] {
            for query in [
                "title == \"\(text)\"", "title == \"\(text)*\"", "title == \"*\(text)*\"",
                "uniqueIdentifier == \"\(text)\"",
            ] {
                let plan = try await store.plan(query)
                #expect(!plan.sql.contains("DROP") && !plan.sql.contains("OR 1") && !plan.sql.contains("'a'"))
                #expect(try await store.find(query).isEmpty)
            }
        }
        #expect(try await store.find("title == \"*\"").count == 50)
    }

    @Test("Stay within SQLite's limits", arguments: hostileQueries)
    func hostile(query: String) async throws {
        let store = try await Self.store()
        var limits = QueryLimits.standard
        limits.maximumDepth = 200
        let expression = try QueryExpression(parsing: query, limits: limits)
        let matcher = QueryMatcher(expression, context: queryTestContext)
        let all = try await store.index.items(matching: .and([]), limit: 1_000).items.map(\.record)
        let page = try await store.index.items(matching: expression, limit: 1_000, context: queryTestContext)
        #expect(page.items.map(\.record) == all.filter { matcher.matches($0) })
        #expect(!page.items.isEmpty)
    }

    @Test("Trees that nest too deep or are too large are rejected with a reason")
    func refused() async throws {
        let store = try await QueryTestStore()
        let leaf = try QueryExpression(parsing: "rating == 3")
        var deep = leaf
        for _ in 0..<300 { deep = .and([deep, leaf]) }
        let wide = QueryExpression.or(Array(repeating: .and(Array(repeating: leaf, count: 100)), count: 100))
        for query in [deep, wide, .or(Array(repeating: leaf, count: 100_000))] {
            await #expect {
                _ = try await store.index.items(matching: query)
            } throws: { error in
                guard case .tooComplex(_, let value, let limit) = error as? IndexQueryError else { return false }
                return value > limit
            }
        }
    }
}
