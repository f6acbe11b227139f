// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import ItemRecord
import SearchIndex

extension SearchlightEngine {
    /// See ``ReindexCall``. An app that is registered as a delegate is asked instead of its
    /// extension. If there is nobody to ask, the request is refused and not owed.
    package func reindexAll(
        _ identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void = { _ in }
    ) async throws(EngineError) -> Int {
        let listener = listeners.listen(to: identifier, onEvent)
        defer { listeners.end(listener) }
        return try await reindex(
            Job(bundle: identifier, work: .reindexAll, requested: configuration.now(), cause: .asked), .person)
    }

    /// See ``ReindexItemsCall``.
    package func reindexItems(
        _ items: Set<String>, of identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Int {
        let listener = listeners.listen(to: identifier, onEvent)
        defer { listeners.end(listener) }
        return try await reindexItems(items, of: identifier)
    }

    /// Has some items of a bundle donated again, or deleted, as ``reindexAll(_:onEvent:)`` has all. What the bundle owes
    /// besides is asked for too: other items, or everything. While it is being reindexed, the request is only written down.
    ///
    /// - Parameters:
    ///   - items: Their unique identifiers. Very many ask for everything.
    ///   - identifier: The bundle identifier.
    ///   - origin: Who wants it. A person overrides a back-off, and has items tried that were set aside.
    /// - Returns: How many items the bundle has then.
    @discardableResult
    package func reindexItems(
        _ items: Set<String>, of identifier: String, origin: RequestOrigin = .person
    ) async throws(EngineError) -> Int {
        // There is no item of another name.
        let items = items.filter { (1...ItemRecord.maximumIdentifierBytes).contains($0.utf8.count) }
        guard !items.isEmpty else { return try await itemCounts()[identifier] ?? 0 }
        return try await reindex(
            Job(
                bundle: identifier, work: .reindexItems(items), requested: configuration.now(), cause: .asked), origin)
    }

    /// Asks for what a bundle owes, now.
    ///
    /// - Parameters:
    ///   - origin: Who wants it. The engine's own requests heed a back-off of the extension.
    ///   - checkpoint: Asked between pages.
    /// - Returns: How many items the bundle has then; `nil` if it owes nothing.
    /// - Throws: ``EngineError``; then it is still owed.
    @discardableResult
    package func reindexOwed(
        _ identifier: String, origin: RequestOrigin = .background, checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) -> Int? {
        guard jobStore[identifier] != nil else { return nil }
        return try await reindex(nil, of: identifier, origin, checkpoint)
    }

    private func reindex(_ request: Job, _ origin: RequestOrigin) async throws(EngineError) -> Int {
        try await reindex(request, of: request.bundle, origin) ?? 0
    }

    /// - Parameter request: What is asked for besides what is owed.
    private func reindex(
        _ request: Job?, of identifier: String, _ origin: RequestOrigin,
        _ checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) -> Int? {
        if !delegates.isRegistered(for: identifier) {
            // Nobody can be asked, perhaps never again; so nothing is owed, and whoever asks is told so.
            do throws(ExtensionError) { _ = try registry.bundle(identifier) } catch { throw .extension(error) }
        }
        if origin == .person { await takeOver(identifier) }
        guard reindexes.begin(identifier) else {
            if let request, case .reindexItems = request.work { try jobStore.update { $0.add(request) } }
            throw .alreadyReindexing(identifier)
        }
        jobsFollower.tell()
        defer {
            reindexes.end(identifier)
            jobsFollower.tell()
        }
        if let request { try jobStore.update { $0.add(request) } }
        guard var job = jobStore[identifier] else { return nil }
        do throws(EngineError) {
            switch job.work {
            case .reindexAll: job = try await replaceAll(of: identifier, job, origin, checkpoint)
            case .reindexItems(let all):
                let items = await withoutAway(all, of: identifier)
                if !items.isEmpty {
                    try await onHost { (host) throws(ExtensionError) in
                        try await host.reindexItems(items.sorted(), identifier, origin: origin)
                    }
                }
            }
        } catch {
            // One that was not asked, or that nobody waited for, has not failed; what it owes it owes on.
            let isOfExtension: Bool
            if case .extension(let error) = error {
                if error.isRefusal || error == .cancelled { throw EngineError.extension(error) }
                isOfExtension = true
            } else {
                isOfExtension = false
            }
            let now = configuration.now()
            activity.noteFailure(of: identifier)
            do throws(EngineError) {
                try jobStore.update { $0.fail(bundle: identifier, reason: error.description, now: now) }
            } catch {
                // Without room for the one there is none for the other; the first reason says more then.
                if isOfExtension { throw error }
            }
            throw error
        }
        let done = job
        try jobStore.update { $0.complete(done) }
        noteAcknowledged(identifier)
        // It can be asked again.
        outlook.withLock { $0.noteSuccess(of: .files(bundle: identifier)) }
        do throws(EngineError) { return try await itemCounts()[identifier] ?? 0 } catch {
            // It was to end, and is done all the same.
            guard error == .extension(.cancelled) else { throw error }
            return nil
        }
    }

    /// Has what is asked of a bundle in the background give way to a person, who wants the same or more, or all of it gone.
    func takeOver(_ identifier: String) async {
        func isUnderWay() -> Bool { outlook.withLock { $0.inBackground[identifier] != nil } }
        index.hold(nil)
        guard isUnderWay() else { return }
        await endBackground(identifier)
        for _ in 0..<Self.takeOverLooks where isUnderWay() {
            try? await ContinuousClock().sleep(for: .milliseconds(10))
        }
    }

    /// As long as it takes to end a worker that heeds nothing (3 s), and a little more.
    private static let takeOverLooks = 500
}
