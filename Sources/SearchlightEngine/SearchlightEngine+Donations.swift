// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import MetadataQuery
import SearchIndex

extension SearchlightEngine {
    package func commit(_ batch: IndexBatch) async throws(EngineError) { try await commit(batch, from: .app) }

    /// Makes a batch durable, like ``EngineClient/commit(_:)``.
    ///
    /// - Parameter donor: The donor of the batch. It determines the effect of a “delete all” during
    ///   a reindex of the bundle. If it comes from the donor that the reindex requests items from,
    ///   it takes effect at the end, for items that were not donated again. If it comes from
    ///   another donor, it takes effect immediately, and the reindex becomes pending again. Items
    ///   that other donors donate during the reindex are kept.
    /// - Throws: ``EngineError``; then nothing has changed.
    package func commit(_ batch: IndexBatch, from donor: Donor) async throws(EngineError) {
        try await writer.commit(batch, from: donor)
    }

    /// Returns the client state of a scope's last batch; `nil` if there is none. A read-only engine
    /// knows the batches that were durable when it was opened, minus ``waitingEntries``, and the
    /// batches that were applied since.
    package func clientState(of scope: IndexScope) async throws(EngineError) -> [UInt8]? {
        try await writer.reading(scope) { (index) throws(SearchIndexError) in try await index.clientState(of: scope) }
    }

    /// Returns the index generation, which grows with each loss of donations.
    package func generation() async throws(EngineError) -> Int {
        try await onIndex { (index) throws(SearchIndexError) in try await index.generation() }
    }

    /// Returns once searches can find every donation that was durable before the call.
    package func settle() async throws(EngineError) {
        try await onIndex { (index) throws(SearchIndexError) in try await index.settle() }
        try await vault.whileUnlocked { (index) async throws(EngineError) in
            try await SearchlightEngine.onIndex(index) { (index) throws(SearchIndexError) in try await index.settle() }
        }
    }

    /// Releases caches, even if they may be needed again soon. Returns immediately.
    package func releaseMemory() { index.releaseMemory() }

    /// See ``RejectionsCall``.
    package func rejections(in scope: IndexScope, after mark: Rejections.Mark?) async throws(EngineError) -> Rejections
    {
        index.rejections(in: scope, after: mark)
    }

    /// See ``ItemsCall`` and
    /// ``SearchIndex/items(matching:filters:bundle:index:attributes:limit:maximumBytes:after:context:)``.
    ///
    /// - Parameter readsProtected: `false` leaves out items of protected indexes.
    package func items(
        matching query: QueryExpression, filters: [QueryExpression] = [], bundle: String?,
        index name: String? = nil, attributes: Set<String>? = nil, limit: Int, maximumBytes: Int? = nil,
        after cursor: QueryCursor?, place: QueryPlace, readsProtected: Bool = true
    ) async throws(EngineError) -> QueryPage {
        let limit = max(1, min(SearchIndex.maximumPage, limit))
        func page(
            of index: SearchIndex, _ limit: Int, after cursor: QueryCursor?
        ) async throws(IndexQueryError) -> QueryPage {
            try await index.items(
                matching: query, filters: filters, bundle: bundle, index: name, attributes: attributes, limit: limit,
                maximumBytes: maximumBytes, after: cursor, context: index.queryContext(in: place))
        }
        let vault = vault
        return try await onQuery { (index) throws(IndexQueryError) in
            var found = QueryPage(items: [], next: nil)
            if cursor.map({ index.mayHave(number: $0.number) }) ?? true {
                found = try await page(of: index, limit, after: cursor)
            }
            // Protected items have greater numbers than all other items.
            guard readsProtected, found.next == nil, vault.index != nil else { return found }
            if let last = found.items.last, maximumBytes != nil || found.items.count == limit {
                found.next = QueryCursor(after: last.number)
                return found
            }
            let left = limit - found.items.count
            let rest = try await vault.whileUnlocked { (protected) async throws(IndexQueryError) in
                try await page(of: protected, left, after: cursor)
            }
            guard let rest else { return found }
            let pending = (found.pending ?? PendingDonations()).merging(rest.pending).nonEmpty
            return QueryPage(items: found.items + rest.items, next: rest.next, pending: pending)
        }
    }

    /// See ``CountCall``.
    package func count(
        matching query: QueryExpression, bundle: String? = nil, place: QueryPlace = .current
    ) async throws(EngineError) -> Int {
        let vault = vault
        return try await onQuery { (index) throws(IndexQueryError) in
            func count(in index: SearchIndex) async throws(IndexQueryError) -> Int {
                try await index.count(matching: query, bundle: bundle, context: index.queryContext(in: place))
            }
            return try await count(in: index) + (vault.whileUnlocked(count) ?? 0)
        }
    }

    /// Returns the number of items in each bundle that satisfy a query.
    func counts(matching query: QueryExpression) async throws(EngineError) -> [String: Int] {
        try await onQuery { (index) throws(IndexQueryError) in try await index.counts(matching: query) }
    }

    /// See ``ExplainCall``.
    package func explain(
        _ query: QueryExpression, bundle: String? = nil, place: QueryPlace = .current
    ) async throws(EngineError) -> QueryPlan {
        try await onQuery { (index) throws(IndexQueryError) in
            try await index.explain(query, bundle: bundle, context: index.queryContext(in: place))
        }
    }

    func onQuery<Value>(
        _ body: (SearchIndex) async throws(IndexQueryError) -> Value
    ) async throws(EngineError) -> Value {
        do throws(IndexQueryError) {
            return try await body(index)
        } catch {
            if case .index(let error) = error { throw .index(error) }
            throw .query(error)
        }
    }
}
