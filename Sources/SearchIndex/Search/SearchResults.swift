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
        var walk = SearchWalk(
            plan, request, filter: filter, bound: min(cursor?.bound ?? newest, newest),
            now: try cursor?.now ?? clock.now(db))
        try resume(&walk, db)
        return walk
    }

    /// Goes on in another transaction: the clock may have been set since, and the dates of items have moved along.
    func resume(_ walk: inout SearchWalk, _ db: Database) throws { walk.setPresent(try clock.now(db)) }

    /// The hit with the attributes that are wanted.
    func projected(_ hit: SearchHit) -> SearchHit {
        guard let wanted = request.attributes else { return hit }
        var hit = hit
        hit.item.record.attributes = hit.item.record.attributes.filter { wanted.contains($0.key) }
        return hit
    }
}

/// The results of a search as a sequence of batches (``SearchIndex/results(_:)``).
public struct SearchResults: AsyncSequence, Sendable {
    let index: SearchIndex
    let search: PreparedSearch?

    /// Begins at the best hit.
    public func makeAsyncIterator() -> Iterator { Iterator(index: index, search: search) }

    /// Searches for one batch after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let index: SearchIndex
        let search: PreparedSearch?
        private var walk: SearchWalk?

        init(index: SearchIndex, search: PreparedSearch?) {
            self.index = index
            self.search = search
        }

        /// The next batch, never empty; `nil` after the last.
        ///
        /// - Throws: ``IndexQueryError``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(IndexQueryError) -> [SearchHit]? {
            guard let search else { return nil }
            let last = walk
            let includesPending = last == nil && search.request.includesPending
            let (walk, hits) = try await index.query("Searching", includingPending: includesPending) { db in
                var walk = try last ?? search.walk(db, at: nil)
                if last != nil { try search.resume(&walk, db) }
                let hits = try walk.next(db)
                return (walk, hits)
            }
            self.walk = walk
            return hits?.map { search.projected($0) }
        }

        /// The next batch, never empty; `nil` after the last.
        public mutating func next() async throws(IndexQueryError) -> [SearchHit]? {
            try await next(isolation: nil)
        }
    }
}
