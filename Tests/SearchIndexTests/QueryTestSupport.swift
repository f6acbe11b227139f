// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import TestSupport

@testable import SearchIndex

/// The tests' current time: 2024-05-15 12:00 UTC.
let queryTestNow = 737_467_200.0

/// A store in its own folder, whose current time is ``queryTestNow``.
struct QueryTestStore: Sendable {
    let index: SearchIndex
    private let folder: TemporaryFolder
    let scope = IndexScope(bundle: "com.example.notes")

    init(_ records: [ItemRecord] = []) async throws {
        folder = try TemporaryFolder()
        index = try SearchIndex(directory: folder.path("store"), access: .readWrite) { queryTestNow }
        try await add(records)
    }

    func add(_ records: [ItemRecord], to scope: IndexScope? = nil) async throws {
        try await index.index(records.map { try EncodedItem($0) }, in: scope ?? self.scope)
    }

    /// Returns the identifiers of the matching items, in order.
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
}

/// Types conform to their prefix, ignoring case. "private" is not searchable by default.
let queryTestContext = QueryContext(
    clock: QueryClock(now: queryTestNow),
    conforms: { $0.lowercased() == $1.lowercased() || $0.lowercased().hasPrefix($1.lowercased() + ".") },
    isSearchableByDefault: { AttributeNames.searchableByDefault.contains($0) || $0 == "größe" })

func queryItem(_ identifier: String, domain: String? = nil, _ attributes: [String: AttributeValue]) -> ItemRecord {
    ItemRecord(uniqueIdentifier: identifier, domainIdentifier: domain, attributes: attributes)
}
