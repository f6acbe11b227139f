// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import SearchIndex
import ServiceProtocol

extension SearchlightEngine {
    /// See ``StoreService/reindexAll(_:onEvent:)``. An app that is registered as a delegate is asked instead of its
    /// extension. If there is nobody to ask, the request stays owed too, provided that the bundle has donated before.
    public func reindexAll(
        _ identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Int {
        let listener = listeners.listen(to: identifier, onEvent)
        defer { listeners.end(listener) }
        return try await reindex(Job(bundle: identifier, work: .reindexAll, requested: configuration.now()))
    }

    /// Has some items of a bundle donated again, or deleted, as ``reindexAll(_:onEvent:)`` has all. What the bundle owes besides is
    /// asked for too: other items, or everything. While it is being reindexed, the request is only written down.
    ///
    /// - Parameters:
    ///   - items: Their unique identifiers. Very many ask for everything.
    ///   - identifier: The bundle identifier.
    /// - Returns: How many items the bundle has then.
    /// - Throws: ``EngineError``.
    @discardableResult
    public func reindexItems(_ items: Set<String>, of identifier: String) async throws(EngineError) -> Int {
        // There is no item of another name.
        let items = items.filter { (1...ItemRecord.maximumIdentifierBytes).contains($0.utf8.count) }
        guard !items.isEmpty else { return try await itemCounts()[identifier] ?? 0 }
        return try await reindex(
            Job(bundle: identifier, work: .reindexItems(items), requested: configuration.now()))
    }

    /// Asks for what a bundle owes, now.
    ///
    /// - Returns: How many items the bundle has then; `nil` if it owes nothing.
    /// - Throws: ``EngineError``; then it is still owed.
    @discardableResult
    public func reindexOwed(_ identifier: String) async throws(EngineError) -> Int? {
        guard jobStore[identifier] != nil else { return nil }
        return try await reindex(nil, of: identifier)
    }

    private func reindex(_ request: Job) async throws(EngineError) -> Int {
        try await reindex(request, of: request.bundle) ?? 0
    }

    /// - Parameter request: What is asked for besides what is owed.
    private func reindex(_ request: Job?, of identifier: String) async throws(EngineError) -> Int? {
        if !delegates.isRegistered(for: identifier) {
            do throws(ExtensionError) { _ = try registry.bundle(identifier) } catch {
                if let request, jobStore.isDonor(identifier) { try jobStore.update { $0.add(request) } }
                throw .extension(error)
            }
        }
        guard reindexes.begin(identifier) else {
            if let request, case .reindexItems = request.work { try jobStore.update { $0.add(request) } }
            throw .alreadyReindexing(identifier)
        }
        defer { reindexes.end(identifier) }
        if let request { try jobStore.update { $0.add(request) } }
        guard let job = jobStore[identifier] else { return nil }
        do throws(EngineError) {
            switch job.work {
            case .reindexAll: try await replaceAll(of: identifier)
            case .reindexItems(let items):
                try await onHost { (host) throws(ExtensionError) in
                    try await host.reindexItems(items.sorted(), identifier)
                }
            }
        } catch {
            if case .extension(let error) = error {
                let now = configuration.now()
                try jobStore.update { $0.fail(bundle: identifier, reason: error.description, now: now) }
            }
            throw error
        }
        try jobStore.update { $0.complete(job) }
        return try await itemCounts()[identifier] ?? 0
    }

    private func replaceAll(of identifier: String) async throws(EngineError) {
        reindexes.replace(identifier)
        try await onIndex { (index) throws(SearchIndexError) in
            try await index.deleteExpired()
            try await index.beginReplacement(of: identifier)
        }
        try await onHost { [reindexes] (host) throws(ExtensionError) in
            try await host.reindexAll(identifier) { reindexes.ask($0, identifier) }
        }
        // It was acknowledged: what is deleted from now on is not meant to be donated again.
        reindexes.ask(nil, identifier)
        let kept = reindexes.kept(identifier)
        try await onIndex { (index) throws(SearchIndexError) in
            if kept.isTooMuch {
                try await index.beginReplacement(of: identifier)
            } else {
                try await index.finishReplacement(of: identifier, keeping: kept.names)
            }
        }
    }
}
