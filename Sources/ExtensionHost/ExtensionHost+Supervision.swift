// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import SystemSupport

extension ExtensionHost {
    /// Sends a request to an extension, unless its health record forbids it. Retries once if the
    /// worker exited.
    func ask(
        _ request: WorkerRequest, _ bundle: ExtensionBundle, _ origin: RequestOrigin, _ options: RequestOptions
    ) async throws(ExtensionError) -> [BusValue] {
        try await book.admit(bundle, origin)
        switch request {
        case .reindexItems(let items) where options.isConfidential:
            try await reindexUnrecordedInParts(items, bundle, origin) { .reindexItems($0) }
            return []
        case .reindexEncrypted(let items):
            try await reindexUnrecordedInParts(items.identifiers, bundle, origin) { part in
                .reindexEncrypted(
                    EncryptedItems(index: items.index, protection: items.protection, identifiers: part))
            }
            return []
        case .reindexItems(let items):
            try await reindexInParts(items, bundle, origin)
            return []
        case .updateFiles(let changes):
            try await updateFilesInParts(changes, bundle, origin)
            return []
        default: break
        }
        let answer: [BusValue]
        do throws(ExtensionError) {
            answer = try await attempt(request, bundle, origin, onProgress: options.onProgress)
        } catch {
            guard error.isWorthAnotherTry, options.mayRetry else { throw error }
            // The extension may be in quarantine by now. Then the original error is the more useful
            // one.
            guard (try? await book.admit(bundle, .person)) != nil else { throw error }
            onEvent(.retrying(bundle: bundle.identifier, after: error))
            options.onRetry()
            answer = try await attempt(request, bundle, origin, onProgress: options.onProgress)
        }
        let donatesAll = request.donatesAll(answer)
        // An extension that wants to be asked page by page has not done anything yet.
        guard donatesAll || request != .reindexAll else { return answer }
        await keep(bundle) { (book) throws(HealthStoreError) in
            try await book.noteSuccess(of: bundle.identifier)
            if donatesAll { try await book.giveBack(nil, of: bundle.identifier) }
        }
        return answer
    }

    /// Requests items in parts, by bisection, and skip-lists only items that make the extension
    /// fail on their own.
    private func reindexInParts(
        _ items: [String], _ bundle: ExtensionBundle, _ origin: RequestOrigin
    ) async throws(ExtensionError) {
        let identifier = bundle.identifier
        // An interactive request also retries skip-listed items.
        let left = origin == .person ? [] : Set(book[identifier].itemsSetAside.map(\.identifier))
        var search = BatchBisection(items.filter { !left.contains($0) }, configuration.limits)
        let problem = await look(with: &search, bundle, origin) {
            .reindexItems($0)
        } mayBeGuilty: {
            $0.mayBeAnItems
        }
        await conclude(search, search.setAside.map { ($0.item, $0.error) }, bundle) { [$0] }
        if let problem { throw problem }
    }

    /// Requests items in parts, by bisection, and skip-lists none, because their identifiers must
    /// not be recorded. Items that make the extension fail on their own are left out.
    private func reindexUnrecordedInParts(
        _ items: [String], _ bundle: ExtensionBundle, _ origin: RequestOrigin,
        asking request: @Sendable ([String]) -> WorkerRequest
    ) async throws(ExtensionError) {
        var search = BatchBisection(items, configuration.limits)
        let problem = await look(with: &search, bundle, origin, isConfidential: true, asking: request) {
            $0.mayBeAnItems
        }
        let hasSucceeded = !search.done.isEmpty
        await conclude(search, [], bundle) { _ in [] }
        if hasSucceeded {
            await keep(bundle) { (book) throws(HealthStoreError) in try await book.noteSuccess(of: bundle.identifier) }
        }
        if let problem { throw problem }
        if !hasSucceeded, let error = search.firstFailure { throw error }
    }

    /// Reports changed files in parts, by bisection, and skip-lists only the files that make the
    /// extension fail, by their paths.
    private func updateFilesInParts(
        _ changes: [FileChange], _ bundle: ExtensionBundle, _ origin: RequestOrigin
    ) async throws(ExtensionError) {
        let known = Set(book[bundle.identifier].itemsSetAside.map(\.identifier))
        var search = BatchBisection(changes, configuration.limits)
        let problem = await look(with: &search, bundle, origin) {
            .updateFiles($0)
        } mayBeGuilty: {
            $0.mayBeAFiles
        }
        // If no part succeeded, a “cannot” status or a missing reply may have any cause. Then a
        // file is skip-listed only for a failure that justifies a retry. Files with other failures
        // can wait.
        let setAside = search.setAside.filter { !search.done.isEmpty || $0.error.isWorthAnotherTry }
        // A repeated failure with files that are already skip-listed does not count again.
        let isKnown = !setAside.isEmpty && setAside.allSatisfy { !known.isDisjoint(with: $0.item.paths) }
        await conclude(
            search, setAside.flatMap { one in one.item.paths.suffix(1).map { ($0, one.error) } }, bundle,
            isHeldAgainstIt: !isKnown
        ) { $0.paths }
        if let problem { throw problem }
        if setAside.count < search.guilty.count, let error = search.firstFailure { throw error }
    }

    /// Requests parts until the failing items are found or the search is abandoned.
    ///
    /// - Returns: The error that ended the search, or `nil` if the search is complete.
    private func look<Item: Sendable>(
        with search: inout BatchBisection<Item>, _ bundle: ExtensionBundle, _ origin: RequestOrigin,
        isConfidential: Bool = false, asking request: ([Item]) -> WorkerRequest, mayBeGuilty: (ExtensionError) -> Bool
    ) async -> ExtensionError? {
        let elapsed = stopwatch(configuration.clock)
        while let part = search.next() {
            do throws(ExtensionError) {
                _ = try await attempt(request(part), bundle, origin, counts: false, isConfidential: isConfidential)
                search.succeeded()
            } catch {
                guard mayBeGuilty(error), !Task.isCancelled else { return error }
                if search.failures == 0 { onEvent(.retrying(bundle: bundle.identifier, after: error)) }
                search.failed(error)
                if search.isGivenUp || elapsed() >= configuration.limits.reindex { return error }
            }
        }
        return nil
    }

    /// Records the result of a bisection in the health record and reports the skip-listed items.
    ///
    /// - Parameters:
    ///   - setAside: The items to skip-list, by name, with their errors.
    ///   - isHeldAgainstIt: `true` if failures count against the extension when every part failed.
    ///   - names: Returns the names under which an item may be skip-listed.
    private func conclude<Item>(
        _ search: BatchBisection<Item>, _ setAside: [(String, ExtensionError)], _ bundle: ExtensionBundle,
        isHeldAgainstIt: Bool = true, names: (Item) -> [String]
    ) async {
        let identifier = bundle.identifier
        let reasons = setAside.map { (identifier: $0, reason: $1.itemReason) }
        if isHeldAgainstIt, search.isExtensionAtFault, let error = search.firstFailure, let kind = error.kindAlone {
            await Self.note(kind, error, of: bundle, in: book, onEvent)
        }
        let done = Set(search.done.flatMap(names))
        let isAtFault = search.isExtensionAtFault
        await keep(bundle) { (book) throws(HealthStoreError) in
            if !isAtFault, !done.isEmpty { try await book.noteSuccess(of: identifier) }
            if !done.isEmpty { try await book.giveBack(done, of: identifier) }
            if !reasons.isEmpty { try await book.setAside(reasons, of: bundle) }
        }
        for (item, reason) in reasons { onEvent(.setAside(bundle: identifier, item: item, reason: reason)) }
    }

    /// Sends a request to an extension once.
    ///
    /// - Parameters:
    ///   - counts: `true` if a failure counts against the extension in its health record.
    ///   - isConfidential: `true` if the words of the extension may not be recorded.
    private func attempt(
        _ request: WorkerRequest, _ bundle: ExtensionBundle, _ origin: RequestOrigin, counts: Bool = true,
        isConfidential: Bool = false,
        onProgress: @escaping RequestOptions.ProgressListener = RequestOptions.standard.onProgress
    ) async throws(ExtensionError) -> [BusValue] {
        // The bundle may have been replaced since the request was made, or since the last attempt.
        let bundle = try registry.bundle(bundle.identifier)
        let lease = try await lease(bundle, origin)
        return try await use(lease) { [book, onEvent] (worker) throws(ExtensionError) in
            do throws(ExtensionError) {
                return try await worker.perform(request, isConfidential: isConfidential, onProgress: onProgress)
            } catch {
                // An item is not skip-listed if the worker got no processor time.
                if !counts, case .timedOut(_, _, let limit) = error, worker.wasStarved {
                    throw .noProcessor(for: bundle.identifier, "reindex that many items", within: limit)
                }
                if counts, let kind = worker.kind(of: error) {
                    await Self.note(kind, error, of: bundle, in: book, onEvent)
                }
                throw error
            }
        }
    }

    /// Returns a lease on a worker whose sandbox covers the files that exist now. The Landlock
    /// rules of a reused worker do not cover files that were created or replaced after it started.
    /// Such a worker exits once it is idle.
    func presentLease(
        _ bundle: ExtensionBundle, _ origin: RequestOrigin
    ) async throws(ExtensionError) -> WorkerPool.Lease {
        let lease = try await pool.lease(bundle, origin)
        guard !lease.isNew, case .success(let worker) = await lease.start.value, await !worker.reachesWhatIsThere()
        else { return lease }
        await pool.giveBack(lease, isUsable: false)
        // The second worker is used even if the files have changed again.
        return try await pool.lease(bundle, origin)
    }

    /// Runs a closure with the worker of a lease, then returns the lease to the pool.
    func use<Value: Sendable>(
        _ lease: WorkerPool.Lease, _ body: @Sendable (RunningWorker) async throws(ExtensionError) -> Value
    ) async throws(ExtensionError) -> Value {
        let result = await lease.start.value
        guard case .success(let worker) = result else {
            await pool.giveBack(lease, isUsable: false)
            throw result.failure ?? .cancelled
        }
        let outcome: Result<Value, ExtensionError>
        do throws(ExtensionError) { outcome = .success(try await body(worker)) } catch { outcome = .failure(error) }
        let isUsable = !outcome.isOfAWorkerUsedUp(worker.bundle)
        guard worker.fillsStreams else {
            await pool.giveBack(lease, isUsable: isUsable && !worker.isLeaving)
            return try outcome.get()
        }
        // The receiver reads the stream after this answer, and an idle worker may be ended.
        let work = onWork()
        Task { [pool] in
            defer { withExtendedLifetime(work) {} }
            await worker.streamsEnd()
            await pool.giveBack(lease, isUsable: isUsable && !worker.isLeaving)
        }
        return try outcome.get()
    }

    /// Records a failure, and reports the quarantine if the failure causes one.
    static func note(
        _ kind: ExtensionHealth.FailureKind, _ error: ExtensionError, of bundle: ExtensionBundle, in book: HealthBook,
        _ onEvent: (ExtensionEvent) -> Void
    ) async {
        do throws(HealthStoreError) {
            try await book.note(kind, error, of: bundle) { quarantine in
                onEvent(.quarantined(bundle: bundle.identifier, reason: quarantine.reason))
            }
        } catch {
            onEvent(.healthNotKept(bundle: bundle.identifier, path: error.path, reason: error.reason))
        }
    }

    private func keep(
        _ bundle: ExtensionBundle, _ body: (HealthBook) async throws(HealthStoreError) -> Void
    ) async {
        do throws(HealthStoreError) { try await body(book) } catch {
            onEvent(.healthNotKept(bundle: bundle.identifier, path: error.path, reason: error.reason))
        }
    }
}

extension ExtensionError {
    /// The kind of failure, for errors that ``mayBeAnItems``.
    fileprivate var kindAlone: ExtensionHealth.FailureKind? {
        switch self {
        case .crashed: .crashed
        case .memoryExceeded: .memoryExceeded
        case .timedOut: .hung
        default: nil
        }
    }

    /// The reason for skip-listing an item, to complete a sentence about the extension.
    fileprivate var itemReason: String {
        switch self {
        case .crashed(_, _, let exit, _): "\(exit.description) during the request for this item"
        case .memoryExceeded: "exceeded its memory limit during the request for this item"
        case .failed(_, _, _, let message): "failed the request for this item: \(message)"
        default: "did not answer the request for this item in time"
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension Result where Failure == ExtensionError {
    /// `true` if a fresh worker may have a resource that this worker has used up or cannot see: a
    /// callback, whose number is limited per worker, or a library that did not exist when the
    /// worker started. Only `true` for bindings, because an extension's own code may use the status
    /// for any purpose.
    fileprivate func isOfAWorkerUsedUp(_ bundle: ExtensionBundle) -> Bool {
        guard case .failed(_, _, .unavailable, _)? = failure else { return false }
        return bundle.manifest.access.bindsSymbols
    }
}
