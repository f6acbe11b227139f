// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

@Suite("The index and the evaluator agree")
struct QueryAgreementTests {
    @Test("On random items and queries", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let records = (0..<100).map { QueryRandomItems.record(&random, $0) }
        let store = try await QueryTestStore(records)
        var found = 0
        var exact = 0
        var indexed = 0
        for number in 0..<160 {
            let query = QueryRandomItems.expression(&random, depth: number % 2 == 0 ? 4 : 0)
            let matcher = QueryMatcher(query, context: queryTestContext)
            let expected = records.filter { matcher.matches($0) }.map(\.uniqueIdentifier)
            let page = try await store.index.items(matching: query, limit: 1_000, context: queryTestContext)
            #expect(page.items.map(\.record.uniqueIdentifier) == expected, "seed \(seed), query \(number): \(query)")
            #expect(try await store.index.count(matching: query, context: queryTestContext) == expected.count)
            let plan = try await store.index.explain(query, context: queryTestContext)
            found += expected.isEmpty || expected.count == records.count ? 0 : 1
            exact += plan.isExact ? 1 : 0
            indexed += plan.usesIndex ? 1 : 0
        }
        // All outcomes must be frequent; otherwise the agreement would prove little.
        #expect(found > 40)
        #expect(exact > 16)
        #expect(indexed > 32)
    }

    @Test("After items were replaced, updated and deleted", arguments: [11, 12] as [UInt64])
    func changes(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try await QueryTestStore((0..<60).map { QueryRandomItems.record(&random, $0) })
        var again = (0..<60).map { QueryRandomItems.record(&random, $0) }
        for index in again.indices { again[index].isUpdate = random.below(2) == 0 }
        try await store.add(again)
        try await store.index.delete(identifiers: (0..<20).map { "\($0)" }, in: store.scope)
        let all = try await store.index.items(matching: .and([]), limit: 1_000)
        let records = all.items.map(\.record)
        #expect(records.count > 30)
        for number in 0..<100 {
            let query = QueryRandomItems.expression(&random, depth: 4)
            let matcher = QueryMatcher(query, context: queryTestContext)
            let page = try await store.index.items(matching: query, limit: 1_000, context: queryTestContext)
            let expected = records.filter { matcher.matches($0) }.map(\.uniqueIdentifier)
            #expect(page.items.map(\.record.uniqueIdentifier) == expected, "seed \(seed), \(number): \(query)")
        }
        try await store.index.deleteAll(in: store.scope)
        let rows = try await store.index.read("Counting") {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM attribute")
        }
        #expect(rows == 0)
    }

    @Test("Evaluating the named attributes equals evaluating all of them", arguments: [21, 22] as [UInt64])
    func projection(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for number in 0..<1_000 {
            let record = QueryRandomItems.record(&random, number)
            let query = QueryRandomItems.expression(&random, depth: 2)
            let projection = RecordProjection(query, context: queryTestContext)
            let reduced = try projection.record(decoding: try record.encoded())
            let matcher = QueryMatcher(query, context: queryTestContext)
            #expect(matcher.matches(reduced) == matcher.matches(record), "seed \(seed), \(number): \(query)")
            #expect(reduced.attributes.count <= record.attributes.count)
        }
    }

    @Test("Damaged records are errors or records, never a crash", arguments: [31, 32] as [UInt64])
    func damagedRecords(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var refused = 0
        for number in 0..<2_000 {
            var bytes = try QueryRandomItems.record(&random, number).encoded()
            if random.below(2) == 0 {
                bytes.removeLast(1 + random.below(bytes.count - 1))
            } else {
                bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
            }
            let projection = RecordProjection(QueryRandomItems.expression(&random), context: queryTestContext)
            if (try? projection.record(decoding: bytes)) == nil { refused += 1 }
        }
        #expect(refused > 500)
    }
}
