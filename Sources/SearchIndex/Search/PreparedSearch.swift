// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import MetadataQuery

/// A search that is ready to be walked through.
struct PreparedSearch: Sendable {
    let request: SearchRequest
    private let plan: SearchPlan
    private let filter: QueryEvaluator?
    private let clock: StoreClock

    /// `nil` if nothing can be found.
    ///
    /// - Throws: ``IndexQueryError/tooComplex(what:value:limit:)``.
    init?(_ index: SearchIndex, _ request: SearchRequest) throws(IndexQueryError) {
        guard let plan = SearchPlan(request.text), SearchIndex.canBeStored(request.bundle) else { return nil }
        self.plan = plan
        self.request = request
        clock = index.clock
        guard !request.filters.isEmpty else {
            filter = nil
            return
        }
        let context = index.queryContext()
        let prepared = try PreparedQuery(.and(request.filters), filters: [], bundle: nil, context: context)
        filter = QueryEvaluator(prepared.expression, context: context)
    }

    /// Begins, with what is there now or was at the cursor's first page.
    func walk(_ db: Database, at cursor: SearchCursor?) throws -> SearchWalk {
        let newest = try Int64.fetchOne(db, sql: "SELECT max(id) FROM text_row") ?? 0
        // The tables of the previous format have no variants.
        let plan =
            try FullTextIndex.derived.isCurrent(db) ? plan : SearchPlan(request.text, findsVariants: false) ?? plan
        var walk = SearchWalk(
            plan, request, filter: filter, bound: min(cursor?.bound ?? newest, newest),
            now: try cursor?.now ?? clock.now(db))
        // Since the cursor was made the clock may have been set, and the dates of items have moved along.
        walk.setPresent(try clock.now(db))
        return walk
    }

    /// The hit with the attributes that are wanted.
    func projected(_ hit: SearchHit) -> SearchHit {
        guard let wanted = request.attributes else { return hit }
        var hit = hit
        hit.item.record.attributes = hit.item.record.attributes.filter { wanted.contains($0.key) }
        return hit
    }
}
