// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import MetadataQuery
import Previews
import Promises
import SearchIndex
import ServiceMessages

extension RemoteEngine {
    /// Asks for fewer hits at a time where an answer would be too large.
    public func find(_ search: ItemSearch) async throws(EngineError) -> FoundItems {
        let wanted = max(1, min(search.limit, SearchIndex.maximumPage))
        var (step, search) = (wanted, search)
        var all: FoundItems?
        while true {
            search.limit = min(step, wanted - (all?.hits.count ?? 0))
            do throws(EngineError) {
                let page = try await connection.perform(SearchCall(search: search)).answer
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

    /// Asks again where an answer was cut.
    public func items(
        matching query: QueryExpression, bundle: String?, limit: Int, after cursor: QueryCursor?, place: QueryPlace
    ) async throws(EngineError) -> QueryPage {
        let wanted = max(1, min(limit, SearchIndex.maximumPage))
        var items: [StoredItem] = []
        var cursor = cursor
        var pending: PendingDonations?
        while true {
            let call = ItemsCall(
                query: QueryText(query), bundle: bundle, limit: wanted - items.count, cursor: cursor, place: place)
            let page = try await connection.perform(call).answer
            items += page.items
            pending = pending ?? page.pending
            if page.next == nil || page.items.isEmpty || items.count >= wanted {
                return QueryPage(items: items, next: page.next, pending: pending)
            }
            cursor = page.next
        }
    }

    /// See ``StoreService/count(matching:bundle:place:)``.
    public func count(
        matching query: QueryExpression, bundle: String?, place: QueryPlace
    ) async throws(EngineError) -> Int {
        try await connection.perform(CountCall(query: QueryText(query), bundle: bundle, place: place)).answer
    }

    /// See ``StoreService/explain(_:bundle:place:)``.
    public func explain(
        _ query: QueryExpression, bundle: String?, place: QueryPlace
    ) async throws(EngineError) -> QueryPlan {
        try await connection.perform(ExplainCall(query: QueryText(query), bundle: bundle, place: place)).answer
    }

    /// See ``StoreService/item(named:bundle:)``.
    public func item(named name: String, bundle: String?) async throws(EngineError) -> StoredItem {
        try await connection.perform(ItemCall(item: name, bundle: bundle)).answer
    }

    /// See ``StoreService/preview(of:query:)``.
    public func preview(of item: StoredItem, query: String?) async throws(EngineError) -> Preview {
        let call = PreviewCall(item: item, query: query)
        var (head, rest) = try await connection.perform(call)
        let payload = try read(&rest, of: call) { (rest) throws(BusError) in try Payload(&rest) }
        let content = try await onDelivery { () throws(PromiseError) in
            try Delivery.collect(payload, limit: PreviewCall.maximumContentBytes)
        }
        return Preview(
            title: head.title, contentType: head.contentType, content: content, source: head.source,
            problem: head.problem, size: head.size.flatMap { PreviewHeader.Size(width: $0.width, height: $0.height) },
            removals: head.removals)
    }

    /// See ``StoreService/provide(_:of:mayRetry:onProgress:)``.
    public func provide(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(EngineError) -> ProvidedContent {
        let call = FulfilCall(promise: promise, item: item, mayRetry: mayRetry)
        var (answer, rest) = try await connection.perform(call) { event in
            guard case .progress(_, let completed, let total) = event else { return }
            onProgress(ProviderProgress(completed: completed, total: total))
        }
        let content = try read(&rest, of: call) { (rest) throws(BusError) -> PromisedContent in
            answer.isFile ? .file(try FileReply(&rest)) : .data(try Payload(&rest))
        }
        return ProvidedContent(content, wasRetried: answer.wasRetried)
    }

    /// Reads what follows an answer.
    private func read<Value>(
        _ rest: inout BusArguments, of call: some EngineCall,
        _ body: (inout BusArguments) throws(BusError) -> Value
    ) throws(EngineError) -> Value {
        do throws(BusError) {
            let value = try body(&rest)
            try rest.finish()
            return value
        } catch {
            throw EngineError(error, during: call.purpose)
        }
    }
}
