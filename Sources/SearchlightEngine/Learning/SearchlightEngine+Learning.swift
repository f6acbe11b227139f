// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import UserSearch

extension SearchlightEngine {
    /// Counts item uses; see ``SearchIndex/countEngagement(_:)``.
    package func countEngagement(_ engagements: [Engagement]) async throws(EngineError) -> Int {
        guard index.learns, !engagements.isEmpty else { return 0 }
        // A read-only engine does not upgrade a store's format.
        if configuration.access == .readOnly {
            let isCurrent = try await onIndex { (index) throws(SearchIndexError) in try await index.hasCurrentFormat() }
            guard isCurrent else { return 0 }
        }
        return try await onWritableIndex { (index) throws(SearchIndexError) in
            try await index.countEngagement(engagements)
        }
    }

    /// Counts uses that an app reports for its own items; see
    /// ``SearchIndex/countEngagement(withItem:of:text:kind:)``.
    package func countEngagement(
        withItem identifier: String, of bundle: String, text: String, kind: EngagementKind
    ) async throws(EngineError) -> Bool {
        try await onIndex { (index) throws(SearchIndexError) in
            try await index.countEngagement(withItem: identifier, of: bundle, text: text, kind: kind)
        }
    }

    /// Returns the use counts; see ``SearchIndex/engagementHistory(from:limit:)``.
    package func engagementHistory(from offset: Int, limit: Int) async throws(EngineError) -> EngagementHistory {
        try await onIndex { (index) throws(SearchIndexError) in
            try await index.engagementHistory(from: offset, limit: limit)
        }
    }

    /// Erases all use counts; see ``SearchIndex/clearEngagement()``.
    package func clearEngagement() async throws(EngineError) -> Int {
        try await onWritableIndex { (index) throws(SearchIndexError) in try await index.clearEngagement() }
    }

    /// Enables or disables the counting of uses; see ``SearchIndex/setLearning(_:)``.
    package func setLearning(_ isOn: Bool) async throws(EngineError) -> Bool {
        try await onIndex { (index) throws(SearchIndexError) in try index.setLearning(isOn) }
    }

    /// Changes the index. A read-only engine opens the index for writing during the call, unless
    /// another process is writing.
    ///
    /// - Throws: ``EngineError/storeInUse(path:process:)`` if another process is writing.
    private func onWritableIndex<Value>(
        _ body: (SearchIndex) async throws(SearchIndexError) -> Value
    ) async throws(EngineError) -> Value {
        guard configuration.access == .readOnly else { return try await onIndex(body) }
        let directory = configuration.storeDirectory
        let lock = try StoreLock(directory: directory)
        defer { lock.release() }
        let writer = try Self.openIndex(configuration, .readWrite, JobStore(directory: directory)) {
            [registry, configuration] in Self.donating(registry, configuration)
        }
        let result: Result<Value, SearchIndexError>
        do throws(SearchIndexError) { result = .success(try await body(writer)) } catch { result = .failure(error) }
        // The remaining log entries are applied when the store is opened next.
        try? await writer.close()
        do throws(SearchIndexError) { return try result.get() } catch { throw .index(error) }
    }
}
