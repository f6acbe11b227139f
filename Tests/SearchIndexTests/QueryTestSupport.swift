// SPDX-License-Identifier: Apache-2.0
import Foundation
import MetadataQuery
import ServiceProtocol
import Synchronization

@testable import SearchIndex

/// A generator whose seed is printed with a failure, so that it can be had again (SplitMix64).
struct QueryRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }
}

/// The present of the tests: 2024-05-15 12:00 UTC.
let queryTestNow = 737_467_200.0

/// A store in a folder of its own, removed with it.
final class QueryTestStore: Sendable {
    let index: SearchIndex
    let directory: String
    let scope = IndexScope(bundle: "com.example.notes")

    init(_ records: [ItemRecord] = []) async throws {
        directory = NSTemporaryDirectory() + "searchlight-query-" + UUID().uuidString
        index = try SearchIndex(directory: directory, access: .readWrite) { queryTestNow }
        try await add(records)
    }

    func add(_ records: [ItemRecord], to scope: IndexScope? = nil) async throws {
        try await index.index(records.map { try EncodedItem($0) }, in: scope ?? self.scope)
    }

    /// The identifiers of the items that match, in order.
    func find(
        _ query: String, filters: [String] = [], bundle: String? = nil, context: QueryContext = queryTestContext
    ) async throws -> [String] {
        try await index.items(
            matching: QueryExpression(parsing: query), filters: filters.map { try QueryExpression(parsing: $0) },
            bundle: bundle, limit: SearchIndex.maximumPage, context: context
        ).items.map(\.record.uniqueIdentifier)
    }

    func plan(_ query: String, context: QueryContext = queryTestContext) async throws -> QueryPlan {
        try await index.explain(QueryExpression(parsing: query), context: context)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }
}

/// Types that conform to what they begin with, whatever their case; "private" is not searchable by default.
let queryTestContext = QueryContext(
    clock: QueryClock(now: queryTestNow),
    conforms: { $0.lowercased() == $1.lowercased() || $0.lowercased().hasPrefix($1.lowercased() + ".") },
    isSearchableByDefault: { AttributeNames.searchableByDefault.contains($0) || $0 == "größe" })

func item(_ identifier: String, domain: String? = nil, _ attributes: [String: AttributeValue]) -> ItemRecord {
    ItemRecord(uniqueIdentifier: identifier, domainIdentifier: domain, attributes: attributes)
}
