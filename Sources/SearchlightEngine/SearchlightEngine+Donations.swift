// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import MetadataQuery
import SearchIndex
import ServiceProtocol

extension SearchlightEngine {
    /// Makes a batch durable: all of it, its client state included, or nothing; see
    /// ``SearchIndex/commit(_:clientState:expecting:)``.
    ///
    /// - Parameters:
    ///   - batch: The changes, in order.
    ///   - clientState: The state from now on; `nil` leaves it as it is. At most 250 bytes.
    ///   - expectation: What the state must be for this batch to be accepted.
    ///   - donor: Who donates. While everything of the bundle is reindexed, a deletion of everything by the one who is
    ///     asked is carried out at the end, for what was not donated again; by others at once, and then that reindex is
    ///     owed once more. What others donate meanwhile stays.
    /// - Throws: ``EngineError``; then nothing is changed.
    public func commit(
        _ batch: IndexBatch, clientState: [UInt8]? = nil, expecting expectation: ClientStateExpectation = .any,
        from donor: Donor = .app
    ) async throws(EngineError) {
        try await writer.commit(batch, clientState: clientState, expecting: expectation, from: donor)
    }

    /// The client state of the last batch of a scope; `nil` if there is none. An engine that only reads knows what was
    /// durable when it was opened, unless ``waitingEntries`` says otherwise, and what has been applied since.
    ///
    /// - Throws: ``EngineError``.
    public func clientState(of scope: IndexScope) async throws(EngineError) -> [UInt8]? {
        try await onIndex { (index) throws(SearchIndexError) in try await index.clientState(of: scope) }
    }

    /// Returns when everything that was durable before can be found.
    ///
    /// - Throws: ``EngineError``.
    public func settle() async throws(EngineError) {
        try await onIndex { (index) throws(SearchIndexError) in try await index.settle() }
    }

    /// Items that were durable and could not be indexed since the engine was opened, and why.
    public var rejectedItems: [SearchIndexError] { index.rejectedItems }

    /// The items that satisfy a query, a page at a time, in the order in which they were first donated.
    ///
    /// - Parameters:
    ///   - query: What is asked.
    ///   - bundle: Only items of this bundle; `nil` means all.
    ///   - limit: At most so many, 1 to ``SearchIndex/maximumPage``.
    ///   - cursor: Where the page before ended; `nil` for the first.
    /// - Throws: ``EngineError``.
    public func items(
        matching query: QueryExpression, bundle: String? = nil, limit: Int = 100, after cursor: QueryCursor? = nil
    ) async throws(EngineError) -> QueryPage {
        try await onQuery { (index) throws(IndexQueryError) in
            try await index.items(matching: query, bundle: bundle, limit: limit, after: cursor)
        }
    }

    /// How many items satisfy a query.
    ///
    /// - Throws: ``EngineError``.
    public func count(matching query: QueryExpression, bundle: String? = nil) async throws(EngineError) -> Int {
        try await onQuery { (index) throws(IndexQueryError) in
            try await index.count(matching: query, bundle: bundle)
        }
    }

    /// How a query would be answered; nothing is searched.
    ///
    /// - Throws: ``EngineError``.
    public func explain(_ query: QueryExpression, bundle: String? = nil) async throws(EngineError) -> QueryPlan {
        try await onQuery { (index) throws(IndexQueryError) in try await index.explain(query, bundle: bundle) }
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
