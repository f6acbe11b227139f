// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling
import ItemRecord
import SearchIndex

extension SearchlightEngine {
    /// See ``ReindexCall``. The request goes to the bundle's registered delegate, or else to its
    /// extension. If there is neither, the request is rejected and does not become pending.
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

    /// Asks a bundle to donate some items again, or to delete them. The bundle's other pending work
    /// is requested too. The request for items that may be encrypted is not recorded, because the
    /// job file is not encrypted. During a reindex of the bundle, the request is only recorded.
    ///
    /// - Parameters:
    ///   - items: The unique identifiers. Above a limit, a recorded request becomes a reindex of
    ///     everything.
    ///   - identifier: The bundle identifier.
    ///   - origin: The origin of the request. A user's request overrides a back-off and includes
    ///     skip-listed items.
    /// - Returns: The bundle's item count after the reindex.
    /// - Throws: ``EngineError/protection(_:)`` if any of the items may be locked; then none is
    ///   requested.
    @discardableResult
    package func reindexItems(
        _ items: Set<String>, of identifier: String, origin: RequestOrigin = .person
    ) async throws(EngineError) -> Int {
        // No item has an empty or longer identifier.
        let items = items.filter { (1...ItemRecord.maximumIdentifierBytes).contains($0.utf8.count) }
        guard !items.isEmpty else { return try await itemCounts()[identifier] ?? 0 }
        let (recorded, unrecorded) = try await unrecorded(items, of: identifier)
        var count = 0
        if !recorded.isEmpty || unrecorded.all.isEmpty {
            count = try await reindex(
                Job(
                    bundle: identifier, work: .reindexItems(recorded), requested: configuration.now(), cause: .asked),
                origin)
        }
        guard !unrecorded.all.isEmpty else { return count }
        return try await reindex(unrecorded, of: identifier, origin)
    }

    /// Requests a bundle's pending work now.
    ///
    /// - Parameters:
    ///   - origin: The origin of the request. Background requests respect the extension's back-off.
    ///   - checkpoint: Called between pages; `false` ends the reindex.
    /// - Returns: The bundle's item count after the reindex; `nil` if no work was pending.
    /// - Throws: ``EngineError``; the work then stays pending.
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

    /// Runs a bundle's pending work.
    ///
    /// - Parameter request: The work to add to the pending work.
    private func reindex(
        _ request: Job?, of identifier: String, _ origin: RequestOrigin,
        _ checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) -> Int? {
        if !delegates.isRegistered(for: identifier) {
            // An extension may never be installed again, so the request does not become pending.
            // The caller receives the error.
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
        if job.work == .reindexAll { try await checkNotWhollyLocked(identifier) }
        omissions.begin(identifier)
        do throws(EngineError) {
            switch job.work {
            case .reindexAll:
                job = try await replaceAll(of: identifier, job, origin, checkpoint)
            case .reindexItems(let all):
                let items = await withoutAway(all, of: identifier)
                if !items.isEmpty {
                    try await onHost { (host) throws(ExtensionError) in
                        try await host.reindexItems(items.sorted(), identifier, origin: origin)
                    }
                    omissions.settle(identifier, .names(items.sorted()))
                }
            }
        } catch {
            // A rejected or cancelled request is not a failure. Its work stays pending.
            let isOfExtension: Bool
            if case .extension(let error) = error {
                if error.isRefusal || error == .cancelled { throw EngineError.extension(error) }
                isOfExtension = true
            } else {
                isOfExtension = false
            }
            let now = configuration.now()
            activity.noteFailure(of: identifier)
            // If the store rejected a donation, that caused the extension's later failure.
            let cause = isOfExtension ? reindexes.storeError(identifier).map(EngineError.index) ?? error : error
            do throws(EngineError) {
                try jobStore.update { $0.fail(bundle: identifier, reason: cause.description, now: now) }
            } catch let unwritten {
                // On a full disk neither write succeeds. Then the cause is the more useful error.
                if !isOfExtension { throw unwritten }
            }
            throw cause
        }
        let done = job
        try jobStore.update { $0.complete(done) }
        noteAcknowledged(identifier)
        // A success clears the back-off of its followed files.
        outlook.withLock { $0.noteSuccess(of: .files(bundle: identifier)) }
        do throws(EngineError) { return try await itemCounts()[identifier] ?? 0 } catch {
            // The reindex is complete, although its task was cancelled.
            guard error == .extension(.cancelled) else { throw error }
            return nil
        }
    }

    /// Ends a bundle's background request, because the user requests the same or more work, or a
    /// deletion of everything.
    func takeOver(_ identifier: String) async {
        func isUnderWay() -> Bool { outlook.withLock { $0.inBackground[identifier] != nil } }
        index.hold(nil)
        guard isUnderWay() else { return }
        await endBackground(identifier)
        for _ in 0..<Self.takeOverLooks where isUnderWay() {
            try? await ContinuousClock().sleep(for: .milliseconds(10))
        }
    }

    /// The number of polls, 10 ms apart. They take 5 s: longer than the 3 s after which an
    /// unresponsive worker is killed.
    private static let takeOverLooks = 500
}
