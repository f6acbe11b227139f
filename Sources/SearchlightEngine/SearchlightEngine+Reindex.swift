// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// See ``StoreService/reindexAll(_:onEvent:)``.
    public func reindexAll(
        _ identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Int {
        let listener = listeners.listen(to: identifier, onEvent)
        defer { listeners.end(listener) }
        return try await reindexAllUnheard(identifier)
    }

    private func reindexAllUnheard(_ identifier: String) async throws(EngineError) -> Int {
        let bundle = try bundle(identifier)
        guard replacements.begin(identifier) else { throw .alreadyReindexing(identifier) }
        defer { replacements.end(identifier) }
        let now = configuration.now()
        var job = Job(bundle: identifier, work: .reindexAll, requested: now)
        try jobStore.update { job = $0.add(job) }
        try await onIndex { (index) throws(SearchIndexError) in
            try await index.deleteExpired()
            try await index.beginReplacement(of: identifier)
        }
        do throws(ExtensionError) {
            try await host.reindexAll(bundle)
        } catch {
            let now = configuration.now()
            try jobStore.update { $0.fail(bundle: identifier, reason: error.description, now: now) }
            throw .extension(error)
        }
        try await onIndex { (index) throws(SearchIndexError) in try await index.finishReplacement(of: identifier) }
        try jobStore.update { $0.complete(job) }
        return try await itemCounts()[identifier] ?? 0
    }
}
