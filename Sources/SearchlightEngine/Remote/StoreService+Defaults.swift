// SPDX-License-Identifier: Apache-2.0
import Dispatch
import MetadataQuery
import Promises
import SearchIndex
import UniformTypeIdentifiers

extension StoreService {
    /// ``items(matching:bundle:limit:after:place:)`` where this process is.
    public func items(
        matching query: QueryExpression, bundle: String? = nil, limit: Int = 100, after cursor: QueryCursor? = nil
    ) async throws(EngineError) -> QueryPage {
        try await items(matching: query, bundle: bundle, limit: limit, after: cursor, place: .current)
    }

    /// ``count(matching:bundle:place:)`` where this process is.
    public func count(matching query: QueryExpression, bundle: String? = nil) async throws(EngineError) -> Int {
        try await count(matching: query, bundle: bundle, place: .current)
    }

    /// ``explain(_:bundle:place:)`` where this process is.
    public func explain(_ query: QueryExpression, bundle: String? = nil) async throws(EngineError) -> QueryPlan {
        try await explain(query, bundle: bundle, place: .current)
    }

    /// ``item(named:bundle:)`` in any bundle.
    public func item(named name: String) async throws(EngineError) -> StoredItem {
        try await item(named: name, bundle: nil)
    }

    /// ``commit(_:clientState:expecting:)`` whatever the state is.
    public func commit(_ batch: IndexBatch, clientState: [UInt8]? = nil) async throws(EngineError) {
        try await commit(batch, clientState: clientState, expecting: .any)
    }

    /// ``provide(_:of:mayRetry:onProgress:)`` that nobody follows.
    public func provide(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool
    ) async throws(EngineError) -> ProvidedContent {
        try await provide(promise, of: item, mayRetry: mayRetry) { _ in }
    }

    /// ``reindexAll(_:onEvent:)`` that nobody follows.
    public func reindexAll(_ identifier: String) async throws(EngineError) -> Int {
        try await reindexAll(identifier) { _ in }
    }
}

/// Moves bytes on a thread that may block.
func onDelivery<Value: Sendable>(
    _ body: @escaping @Sendable () throws(PromiseError) -> Value
) async throws(EngineError) -> Value {
    let result: Result<Value, PromiseError> = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(returning: Result { () throws(PromiseError) in try body() })
        }
    }
    do throws(PromiseError) { return try result.get() } catch { throw .promise(error) }
}
