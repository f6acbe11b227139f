// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import MetadataQuery
import SearchIndex

extension SearchlightEngine {
    package func commit(_ batch: IndexBatch) async throws(EngineError) { try await commit(batch, from: .app) }

    /// Makes a batch durable, as ``EngineClient/commit(_:)`` does.
    ///
    /// - Parameter donor: Who donates. While everything of the bundle is reindexed, a deletion of everything by the one who
    ///   is asked is carried out at the end, for what was not donated again; by others at once, and then that reindex is
    ///   owed once more. What others donate meanwhile stays.
    /// - Throws: ``EngineError``; then nothing is changed.
    package func commit(_ batch: IndexBatch, from donor: Donor) async throws(EngineError) {
        try await writer.commit(batch, from: donor)
    }

    /// The client state of the last batch of a scope; `nil` if there is none. An engine that only reads knows what was
    /// durable when it was opened, unless ``waitingEntries`` says otherwise, and what has been applied since.
    package func clientState(of scope: IndexScope) async throws(EngineError) -> [UInt8]? {
        try await onIndex { (index) throws(SearchIndexError) in try await index.clientState(of: scope) }
    }

    /// Grows whenever donations were lost.
    package func generation() async throws(EngineError) -> Int {
        try await onIndex { (index) throws(SearchIndexError) in try await index.generation() }
    }

    /// Returns when everything that was durable before can be found.
    package func settle() async throws(EngineError) {
        try await onIndex { (index) throws(SearchIndexError) in try await index.settle() }
    }

    /// Gives back memory that is only kept because it may be of use again, soon, and returns at once.
    package func releaseMemory() { index.releaseMemory() }

    /// See ``RejectionsCall``.
    package func rejections(in scope: IndexScope, after mark: Rejections.Mark?) async throws(EngineError) -> Rejections
    {
        index.rejections(in: scope, after: mark)
    }

    /// See ``ItemsCall`` and ``SearchIndex/items(matching:filters:bundle:attributes:limit:maximumBytes:after:context:)``.
    package func items(
        matching query: QueryExpression, filters: [QueryExpression] = [], bundle: String?,
        attributes: Set<String>? = nil, limit: Int, maximumBytes: Int? = nil, after cursor: QueryCursor?,
        place: QueryPlace
    ) async throws(EngineError) -> QueryPage {
        try await onQuery { (index) throws(IndexQueryError) in
            try await index.items(
                matching: query, filters: filters, bundle: bundle, attributes: attributes, limit: limit,
                maximumBytes: maximumBytes, after: cursor, context: index.queryContext(in: place))
        }
    }

    /// See ``CountCall``.
    package func count(
        matching query: QueryExpression, bundle: String? = nil, place: QueryPlace = .current
    ) async throws(EngineError) -> Int {
        try await onQuery { (index) throws(IndexQueryError) in
            try await index.count(matching: query, bundle: bundle, context: index.queryContext(in: place))
        }
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
