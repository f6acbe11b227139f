// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import ExtensionHost
import MetadataQuery
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import struct SearchlightEngine.Comparison

/// The engine of the service as commands ask it: each question waits during a repair of the store, and a repair waits for each.
/// What apps have just donated is waited for a moment only.
struct LeasedStore: StoreService {
    let holder: EngineHolder
    let activity: ServiceActivity
    let persons: PersonWatch

    private func use<Value>(
        _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        let token = activity.beginRequest()
        defer { token.end() }
        return try await holder.use(EngineError.init, body)
    }

    /// Reads, and waits a moment for what cannot be found yet.
    private func read<Value: Sendable>(
        _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        try await use { (engine) throws(EngineError) in
            try await ReadPatience.moment.during { () throws(EngineError) in try await body(engine) }
        }
    }

    func opening() async throws(EngineError) -> StoreOpening {
        try await use { (engine) throws(EngineError) in try await engine.opening() }
    }

    func extensions() async throws(EngineError) -> InstalledExtensions {
        try await use { (engine) throws(EngineError) in try await engine.extensions() }
    }

    func extensionListing() async throws(EngineError) -> ExtensionListing {
        try await use { (engine) throws(EngineError) in try await engine.extensionListing() }
    }

    func extensionDetails(of identifier: String) async throws(EngineError) -> ExtensionDetails {
        try await use { (engine) throws(EngineError) in try await engine.extensionDetails(of: identifier) }
    }

    func extensionPlaces() async throws(EngineError) -> [ExtensionPlace] {
        try await use { (engine) throws(EngineError) in try await engine.extensionPlaces() }
    }

    func setEnabled(_ isEnabled: Bool, _ identifier: String) async throws(EngineError) {
        try await use { (engine) throws(EngineError) in try await engine.setEnabled(isEnabled, identifier) }
    }

    func releaseExtension(_ identifier: String) async throws(EngineError) -> ExtensionHealthReport {
        try await use { (engine) throws(EngineError) in try await engine.releaseExtension(identifier) }
    }

    func forgetBundle(_ bundle: String) async throws(EngineError) -> Int {
        try await use { (engine) throws(EngineError) in try await engine.forgetBundle(bundle) }
    }

    func reindexItems(
        _ items: Set<String>, of identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Int {
        try await use { (engine) throws(EngineError) in
            try await engine.reindexItems(items, of: identifier, onEvent: onEvent)
        }
    }

    func status(isExact: Bool) async throws(EngineError) -> StoreStatus {
        try await read { (engine) throws(EngineError) in try await engine.status(isExact: isExact) }
    }

    func pendingDonations() async throws(EngineError) -> PendingDonations {
        try await use { (engine) throws(EngineError) in try await engine.pendingDonations() }
    }

    func itemCounts() async throws(EngineError) -> [String: Int] {
        try await read { (engine) throws(EngineError) in try await engine.itemCounts() }
    }

    func owedReindexes() async throws(EngineError) -> [OwedJob] {
        try await use { (engine) throws(EngineError) in try await engine.owedReindexes() }
    }

    func find(_ search: ItemSearch) async throws(EngineError) -> FoundItems {
        try await read { (engine) throws(EngineError) in try await engine.find(search) }
    }

    func items(
        matching query: QueryExpression, bundle: String?, limit: Int, after cursor: QueryCursor?, place: QueryPlace
    ) async throws(EngineError) -> QueryPage {
        try await read { (engine) throws(EngineError) in
            try await engine.items(matching: query, bundle: bundle, limit: limit, after: cursor, place: place)
        }
    }

    func count(
        matching query: QueryExpression, bundle: String?, place: QueryPlace
    ) async throws(EngineError) -> Int {
        try await read { (engine) throws(EngineError) in
            try await engine.count(matching: query, bundle: bundle, place: place)
        }
    }

    func explain(
        _ query: QueryExpression, bundle: String?, place: QueryPlace
    ) async throws(EngineError) -> QueryPlan {
        try await use { (engine) throws(EngineError) in
            try await engine.explain(query, bundle: bundle, place: place)
        }
    }

    func item(named name: String, bundle: String?) async throws(EngineError) -> StoredItem {
        try await read { (engine) throws(EngineError) in try await engine.item(named: name, bundle: bundle) }
    }

    func preview(of item: StoredItem, query: String?) async throws(EngineError) -> Preview {
        try await persons.during { () throws(EngineError) in
            try await read { (engine) throws(EngineError) in try await engine.preview(of: item, query: query) }
        }
    }

    func provide(
        _ promise: Representation, of item: StoredItem, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(EngineError) -> ProvidedContent {
        try await persons.during { () throws(EngineError) in
            try await read { (engine) throws(EngineError) in
                try await engine.provide(promise, of: item, mayRetry: mayRetry, onProgress: onProgress)
            }
        }
    }

    func prewarm(_ bundle: String) async {
        try? await use { (engine) throws(EngineError) in await engine.prewarm(bundle) }
    }

    func reindexAll(
        _ identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Int {
        try await use { (engine) throws(EngineError) in try await engine.reindexAll(identifier, onEvent: onEvent) }
    }

    func compare(_ identifier: String) async throws(EngineError) -> Comparison {
        try await use { (engine) throws(EngineError) in try await engine.compare(identifier) }
    }

    func commit(
        _ batch: IndexBatch, clientState: [UInt8]?, expecting expectation: ClientStateExpectation
    ) async throws(EngineError) {
        try await use { (engine) throws(EngineError) in
            try await engine.commit(batch, clientState: clientState, expecting: expectation)
        }
    }

    func clientState(of scope: IndexScope) async throws(EngineError) -> [UInt8]? {
        try await use { (engine) throws(EngineError) in try await engine.clientState(of: scope) }
    }

    func settle() async throws(EngineError) {
        try await use { (engine) throws(EngineError) in try await engine.settle() }
    }

    func rejections(
        in scope: IndexScope, after mark: Rejections.Mark?
    ) async throws(EngineError) -> Rejections {
        try await use { (engine) throws(EngineError) in try await engine.rejections(in: scope, after: mark) }
    }

    /// Nothing was opened for whoever asks.
    func close() async {}
}

extension EngineError {
    /// What a command is told of an engine that it cannot use.
    init(_ absence: EngineUnavailable) {
        switch absence {
        case .failed(let error): self = error
        case .cancelled: self = .query(.cancelled)
        default: self = .service(.refused(during: "use the store", reason: absence.description))
        }
    }
}
