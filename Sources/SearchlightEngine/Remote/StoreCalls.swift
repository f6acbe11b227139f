// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Promises
import SearchIndex
import ServiceMessages

/// An empty answer.
package struct Done: Codable, Sendable {}

/// Reports the findings from opening the store. A service reports losses only to the first client
/// that asks.
package struct OpeningCall: EngineCall {
    package var purpose: String { "list the findings of its opening" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> StoreOpeningReport {
        context.toldOnce(try await engine.opening())
    }
}

/// Reports the store's counts, findings and pending work. An exact answer measures everything,
/// which may take long.
package struct StatusCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "show the state of the index" }
    var isExact: Bool

    package init(isExact: Bool) { self.isExact = isExact }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> StoreStatus
    {
        var status = try await engine.status(isExact: isExact)
        status.service = context.service?.facts()
        if let followed = status.service?.followed { status.followed = followed }
        status.followed.pending = engine.pendingFiles
        return status
    }
}

/// Counts the items of each bundle.
package struct ItemCountsCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "count the items of each bundle" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> [String: Int] {
        try await engine.itemCounts()
    }
}

/// Counts the stored items of a bundle, including expired items that are not deleted yet.
package struct StoredItemCountCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "count the stored items of \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> Int {
        try await engine.storedItemCount(of: bundle)
    }
}

/// Returns the user-visible names of bundles (``SearchlightEngine/displayName(of:)``).
package struct DisplayNamesCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "show the names of apps" }
    var bundles: [String]

    /// The maximum number of bundles in a call; the names of further bundles are their identifiers.
    static let maximumBundles = 1000

    package init(of bundles: some Sequence<String>) { self.bundles = Set(bundles).sorted() }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> [String: String] {
        let known = bundles.prefix(Self.maximumBundles).map { ($0, engine.displayName(of: $0)) }
        return Dictionary(known, uniquingKeysWith: { first, _ in first })
    }
}

/// Returns a bundle's account: its indexed items and its missing content.
package struct AccountCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "show the account of a bundle" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> BundleAccount { try await engine.account(of: bundle) }
}

/// Returns the durable donations that searches do not include yet.
package struct PendingCall: EngineCall {
    package var purpose: String { "list pending donations" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> PendingDonations {
        try await engine.pendingDonations()
    }
}

/// Lists the reindexes that were requested but not acknowledged.
package struct PendingReindexesCall: EngineCall {
    package var purpose: String { "list the pending reindexes" }

    package init() {}

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError)
        -> [PendingReindexJob]
    {
        try await engine.owedReindexes()
    }
}

/// Makes a batch durable; see ``EngineClient/commit(_:)``.
struct CommitCall: EngineCall {
    var need: EngineNeed { .donating(bytes: Int(clamping: batch.length)) }
    var purpose: String { "store items" }
    /// The encoded batch.
    var batch: Payload

    /// The maximum size of a batch in bytes: the size limit for one entry in the write-ahead log.
    private static let maximumBytes = 64 << 20

    func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Done {
        let bytes = try await onDelivery { () throws(PromiseError) in
            try Delivery.collect(batch, limit: Self.maximumBytes)
        }
        let decoded: Result<IndexBatch, ItemRecordError> = bytes.withUnsafeBytes { buffer in
            Result { () throws(ItemRecordError) in
                try IndexBatch(decoding: buffer, maximumBytes: Self.maximumBytes)
            }
        }
        let decodedBatch: IndexBatch
        do throws(ItemRecordError) { decodedBatch = try decoded.get() } catch {
            throw .index(.invalidItem(identifier: "?", reason: "its batch cannot be read: \(error)"))
        }
        do throws(IndexBatch.InvalidItem) { try decodedBatch.checkItems() } catch {
            throw .index(.invalidItem(identifier: "?", reason: error.error.description))
        }
        try await engine.commit(decodedBatch)
        return Done()
    }
}

/// Reads the client state of a scope's last batch. A read-only engine knows the batches that were
/// durable when it was opened, minus ``StoreOpeningReport/waitingEntries``, and the batches that
/// were applied since.
package struct ClientStateCall: EngineCall {
    package var purpose: String { "read a client state" }
    var scope: IndexScope

    package init(scope: IndexScope) { self.scope = scope }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> [UInt8]? {
        try await engine.clientState(of: scope)
    }
}

/// Returns once searches can find every donation that was durable before the call.
package struct SettleCall: EngineCall {
    package var purpose: String { "include all pending donations" }

    package init() {}

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Done {
        try await engine.settle()
        return Done()
    }
}

/// Reports a scope's durable donations that were rejected after a mark. Without a mark, only
/// returns a mark for the next call.
package struct RejectionsCall: EngineCall {
    package var purpose: String { "list skipped items" }
    var scope: IndexScope
    var mark: Rejections.Mark?

    package init(scope: IndexScope, mark: Rejections.Mark?) {
        self.scope = scope
        self.mark = mark
    }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Rejections {
        try await engine.rejections(in: scope, after: mark)
    }
}

/// Reports facts about the service.
package struct FactsCall: ClientCall {
    package var purpose: String { "show its state" }

    package init() {}

    package func perform(_ context: CallContext) async throws(EngineError) -> ServiceFacts {
        try context.service(for: purpose).facts()
    }
}

/// Stops the service.
struct StopCall: ClientCall {
    var purpose: String { "end" }

    func perform(_ context: CallContext) async throws(EngineError) -> Done {
        try context.service(for: purpose).stop()
        return Done()
    }
}
