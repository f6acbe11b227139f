// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery

/// How a query is answered.
public struct QueryPlan: Hashable, Sendable, Codable {
    /// The statement, with a question mark for each value.
    public var sql: String
    /// How many values the statement is given.
    public var argumentCount: Int
    /// What SQLite says it does, step by step.
    public var steps: [String]
    /// Whether indexes choose the items that are looked at; otherwise all are.
    public var usesIndex: Bool
    /// Whether the indexes alone decide; otherwise the records of the candidates are read and evaluated.
    public var isExact: Bool
}

extension SearchIndex {
    /// How a query is answered; nothing is searched. Parameters and errors are those of
    /// ``items(matching:filters:bundle:attributes:limit:maximumBytes:after:context:)``.
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
