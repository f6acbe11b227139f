// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ExtensionHost
import ItemRecord
import MetadataQuery
import Previews
import Promises
import SearchIndex
import ServiceMessages

/// A command's interface to the store and its extensions: an engine in this process
/// (``SearchlightEngine``), or the service's engine (``RemoteEngine``). Both perform the same calls
/// with the same results.
///
/// May be used from any task. Every method throws ``EngineError``.
package protocol EngineClient: Sendable {
    /// Performs a call. It ends soon after the task is cancelled.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - onEvent: Called with the call's progress, on any thread; must not block.
    func perform<Call: ClientCall>(
        _ call: Call, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Call.Answer

    /// Makes a batch durable, either completely and with its client state, or not at all; see
    /// ``SearchIndex/commit(_:isLowPriority:terms:)``. An engine in this process does not encode
    /// the batch.
    func commit(_ batch: IndexBatch) async throws(EngineError)

    /// Releases the client's resources. Call it once, as the last call.
    func close() async
}

extension EngineClient {
    /// Performs a call and ignores its progress.
    @discardableResult
    package func perform<Call: ClientCall>(_ call: Call) async throws(EngineError) -> Call.Answer {
        try await perform(call) { _ in }
    }

    /// Finds items by words, best first. If an answer is too large, it halves the page size and
    /// tries again.
    package func find(_ search: ItemSearch) async throws(EngineError) -> FoundItems {
        let wanted = max(1, min(search.limit, SearchIndex.maximumPage))
        var (step, search) = (min(wanted, SearchCall.maximumHits), search)
        var all: FoundItems?
        while true {
            search.limit = min(step, wanted - (all?.hits.count ?? 0))
            do throws(EngineError) {
                let page = try await perform(SearchCall(search: search))
                var found = all ?? page
                if all != nil { (found.hits, found.next) = (found.hits + page.hits, page.next) }
                if page.next == nil || page.hits.isEmpty || found.hits.count >= wanted { return found }
                all = found
                (search.cursor, search.countsUpTo, search.notes) = (page.next, nil, nil)
            } catch {
                guard case .service(.answerTooLarge) = error, step > 1 else { throw error }
                step /= 2
            }
        }
    }

    /// Suggests completions for a text that the user is typing, the most likely first.
    package func suggestions(_ request: SuggestionRequest) async throws(EngineError) -> [Suggestion] {
        try await perform(SuggestCall(request: request))
    }

    /// Returns a page of the items that satisfy a query, in the order of their first donation.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - bundle: Only items of this bundle; `nil` means all.
    ///   - index: Only items of the index with this name; `nil` means all.
    ///   - limit: The maximum number of items, 1 to ``SearchIndex/maximumPage``.
    ///   - cursor: The end of the previous page; `nil` for the first page.
    package func items(
        matching query: QueryExpression, bundle: String? = nil, index: String? = nil, limit: Int = 100,
        after cursor: QueryCursor? = nil
    ) async throws(EngineError) -> QueryPage {
        let wanted = max(1, min(limit, SearchIndex.maximumPage))
        var items: [StoredItem] = []
        var cursor = cursor
        var pending: PendingDonations?
        while true {
            // An answer may have fewer items than requested.
            let page = try await perform(
                ItemsCall(
                    query: QueryText(query), bundle: bundle, index: index, limit: wanted - items.count, cursor: cursor))
            items += page.items
            pending = pending ?? page.pending
            if page.next == nil || page.items.isEmpty || items.count >= wanted {
                return QueryPage(items: items, next: page.next, pending: pending)
            }
            cursor = page.next
        }
    }

    /// Finds items by name: `@` and a number, or a unique identifier. Each request contains up to
    /// ``LookUpCall/maximumNames`` names.
    ///
    /// - Returns: The item for each name, or an error: ``EngineError/itemNotFound(_:)``,
    ///   ``EngineError/itemElsewhere(_:place:places:)`` if only other bundles or indexes have such
    ///   an item, or ``EngineError/ambiguousItem(_:candidates:)`` if there are several.
    package func items(
        named names: [String], bundle: String? = nil, index: String? = nil
    ) async throws(EngineError) -> [Result<StoredItem, EngineError>] {
        var results: [Result<StoredItem, EngineError>] = []
        while results.count < names.count {
            let rest = names[results.count...].prefix(LookUpCall.maximumNames)
            let answers = try await perform(LookUpCall(names: Array(rest), bundle: bundle, index: index))
            guard !answers.isEmpty, answers.count <= rest.count else {
                throw .service(.malformedAnswer(during: "find items", reason: "\(answers.count) answers"))
            }
            results += answers.map(\.result)
        }
        return results
    }

    /// Returns the only item with a name; see ``items(named:bundle:index:)``.
    package func item(named name: String, bundle: String? = nil) async throws(EngineError) -> StoredItem {
        guard let found = try await items(named: [name], bundle: bundle).first else { throw .itemNotFound(name) }
        return try found.get()
    }

    /// Makes a batch durable with a ``CommitCall``.
    package func commit(_ batch: IndexBatch) async throws(EngineError) {
        if let state = batch.clientState, state.count > ClientState.maximumBytes {
            throw .index(.clientStateTooLong(bytes: state.count))
        }
        let bytes: [UInt8]
        do throws(IndexBatch.TooLarge) { bytes = try batch.encoded() } catch {
            throw .index(.batchTooLarge(what: error.what, value: error.value, limit: error.limit))
        }
        try await perform(CommitCall(batch: try Payload.holding(bytes, for: "store items")))
    }

    /// Returns an item's preview, rendered by its app or its extension. If both are missing, render
    /// nothing, fail, or return disallowed content, the preview is made from the item's attributes.
    /// HTML content has passed `HTMLSanitizer`.
    package func preview(of item: StoredItem, query: String?) async throws(EngineError) -> Preview {
        let answer = try await perform(PreviewCall(item: item.number, query: query))
        let content = try await onDelivery { () throws(PromiseError) in
            try Delivery.collect(answer.content, limit: PreviewCall.maximumContentBytes)
        }
        return answer.preview(content)
    }

    /// Fulfils an item's promise, through its app if the app is registered as a delegate, or else
    /// through its extension.
    ///
    /// - Parameters:
    ///   - mayRetry: `true` to start another worker, once, if the worker exits during the request.
    ///   - onProgress: Called with the progress that the extension reports, on any thread; must not
    ///     block.
    package func provide(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void = { _ in }
    ) async throws(EngineError) -> ProvidedContent {
        let call = FulfilCall(promise: promise, item: item.number, mayRetry: mayRetry)
        let answer = try await perform(call) { event in
            guard case .progress(_, let completed, let total) = event else { return }
            onProgress(ProviderProgress(completed: completed, total: total))
        }
        return ProvidedContent(try answer.content(), wasRetried: answer.wasRetried)
    }
}

/// Transfers bytes on a thread that may block.
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
