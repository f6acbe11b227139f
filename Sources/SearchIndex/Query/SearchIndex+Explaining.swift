// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery

/// A description of how a query is executed.
public struct QueryPlan: Hashable, Sendable, Codable {
    /// The SQL statement, with a question mark for each value.
    public var sql: String
    /// The number of values bound to the statement.
    public var argumentCount: Int
    /// The steps of SQLite's query plan.
    public var steps: [String]
    /// `true` if indexes select the items to examine; otherwise all items are examined.
    public var usesIndex: Bool
    /// `true` if the indexes alone decide which items match; otherwise the records of the
    /// candidates are read and evaluated.
    public var isExact: Bool
}

extension SearchIndex {
    /// Returns the execution plan of a query without running it. Parameters and errors are the same
    /// as in ``items(matching:filters:bundle:attributes:limit:maximumBytes:after:context:)``.
    public func explain(
        _ query: QueryExpression, filters: [QueryExpression] = [], bundle: String? = nil,
        context: QueryContext? = nil
    ) async throws(IndexQueryError) -> QueryPlan {
        let prepared = try PreparedQuery(
            query, filters: filters, bundle: bundle, context: context ?? queryContext())
        return try await explain(prepared)
    }

    func explain(_ prepared: PreparedQuery) async throws(IndexQueryError) -> QueryPlan {
        try await self.query("Explaining a query") { [clock] db in
            try prepared.run(db, now: clock.now(db)) { compiled in
                let select = compiled.page(limit: 100, after: QueryCursor(after: 0))
                let steps = try Row.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN " + select.sql, arguments: StatementArguments(select.arguments)
                ).map { $0["detail"] as String }
                return QueryPlan(
                    sql: select.sql, argumentCount: select.arguments.count, steps: steps,
                    usesIndex: compiled.hasCandidates, isExact: compiled.isExact)
            }
        }
    }
}
