// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// Has an extension donate everything again; returns once it has acknowledged.
    ///
    /// What the extension deletes as a whole stays findable until then, and is deleted if it was not donated again. The
    /// request is written down before it is made. If it fails, nothing that was there is gone, and it stays owed:
    /// ``owedJobs`` shows it until a later reindex of the same bundle is acknowledged.
    ///
    /// - Parameter identifier: The bundle identifier.
    /// - Returns: How many items the bundle has then.
    /// - Throws: ``EngineError``.
    public func reindexAll(_ identifier: String) async throws(EngineError) -> Int {
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
