// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import SystemSupport

extension ExtensionHost {
    /// Asks an extension, if it may be asked.
    func ask(
        _ request: WorkerRequest, _ bundle: ExtensionBundle, _ origin: RequestOrigin, _ options: RequestOptions
    ) async throws(ExtensionError) -> [BusValue] {
        try await book.admit(bundle, origin)
        switch request {
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
            // It may be in quarantine by now; then what happened is the better answer.
            guard (try? await book.admit(bundle, .person)) != nil else { throw error }
            onEvent(.retrying(bundle: bundle.identifier, after: error))
            options.onRetry()
            answer = try await attempt(request, bundle, origin, onProgress: options.onProgress)
        }
        let donatesAll = request.donatesAll(answer)
        // One that is to be asked in pages has done nothing yet.
        guard donatesAll || request != .reindexAll else { return answer }
        await keep(bundle) { (book) throws(HealthStoreError) in
            try await book.noteSuccess(of: bundle.identifier)
            if donatesAll { try await book.giveBack(nil, of: bundle.identifier) }
        }
        return answer
    }

    /// Has items donated again, with regard to those with which the extension fails: these alone are set aside.
    private func reindexInParts(
        _ items: [String], _ bundle: ExtensionBundle, _ origin: RequestOrigin
    ) async throws(ExtensionError) {
        let identifier = bundle.identifier
        // A person who asks for an item wants it tried.
        let left = origin == .person ? [] : Set(book[identifier].itemsSetAside.map(\.identifier))
        var search = BatchHalving(items.filter { !left.contains($0) }, configuration.limits)
        let problem = await look(with: &search, bundle, origin) {
            .reindexItems($0)
        } mayBeGuilty: {
            $0.mayBeAnItems
        }
        await conclude(search, search.setAside.map { ($0.item, $0.error) }, bundle) { [$0] }
        if let problem { throw problem }
    }

    /// Tells of changed files, with regard to those with which the extension fails: these alone are set aside, by their paths.
    private func updateFilesInParts(
        _ changes: [FileChange], _ bundle: ExtensionBundle, _ origin: RequestOrigin
    ) async throws(ExtensionError) {
        let known = Set(book[bundle.identifier].itemsSetAside.map(\.identifier))
        var search = BatchHalving(changes, configuration.limits)
        let problem = await look(with: &search, bundle, origin) {
            .updateFiles($0)
        } mayBeGuilty: {
            $0.mayBeAFiles
        }
        // If nothing went well, an answer that it cannot, or none, may be about anything. Then nothing is lost by waiting.
        let setAside = search.setAside.filter { !search.done.isEmpty || $0.error.isWorthAnotherTry }
        // With a file that it was set aside for before, an extension fails once more, which is no news.
        let isKnown = !setAside.isEmpty && setAside.allSatisfy { !known.isDisjoint(with: $0.item.paths) }
        await conclude(
            search, setAside.flatMap { one in one.item.paths.suffix(1).map { ($0, one.error) } }, bundle,
            isHeldAgainstIt: !isKnown
        ) { $0.paths }
        if let problem { throw problem }
        if setAside.count < search.guilty.count, let error = search.firstFailure { throw error }
    }

    /// Asks for parts until the items are found with which it fails, or the search is given up.
    ///
    /// - Returns: Why it was.
    private func look<Item: Sendable>(
        with search: inout BatchHalving<Item>, _ bundle: ExtensionBundle, _ origin: RequestOrigin,
        asking request: ([Item]) -> WorkerRequest, mayBeGuilty: (ExtensionError) -> Bool
    ) async -> ExtensionError? {
        let elapsed = stopwatch(configuration.clock)
        while let part = search.next() {
            do throws(ExtensionError) {
                _ = try await attempt(request(part), bundle, origin, counts: false)
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

    /// - Parameters:
    ///   - setAside: What is set aside, by name, and for what.
    ///   - isHeldAgainstIt: Whether failures count if everything failed.
    ///   - names: By which names an item may have been set aside before.
    private func conclude<Item>(
        _ search: BatchHalving<Item>, _ setAside: [(String, ExtensionError)], _ bundle: ExtensionBundle,
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

    /// Asks an extension once.
    ///
    /// - Parameter counts: Whether a failure is held against it.
    private func attempt(
        _ request: WorkerRequest, _ bundle: ExtensionBundle, _ origin: RequestOrigin, counts: Bool = true,
        onProgress: @escaping RequestOptions.ProgressListener = RequestOptions.standard.onProgress
    ) async throws(ExtensionError) -> [BusValue] {
        // It may have been replaced since the request was made, or tried the last time.
        let bundle = try registry.bundle(bundle.identifier)
        let lease = try await lease(bundle, origin)
        return try await use(lease) { [book, onEvent] (worker) throws(ExtensionError) in
            do throws(ExtensionError) {
                return try await worker.perform(request, onProgress: onProgress)
            } catch {
                // An item that got no processor is not set aside for it.
                if !counts, case .timedOut(_, _, let limit) = error, worker.wasStarved {
                    throw .noProcessor(for: bundle.identifier, "reindex so many items", within: limit)
                }
                if counts, let kind = worker.kind(of: error) {
                    await Self.note(kind, error, of: bundle, in: book, onEvent)
                }
                throw error
            }
        }
    }

    /// A worker that reaches what is there now: one that was kept knows of no file that was put in the place of another, or
    /// that was not there, since it began. It ends once it has nothing to do.
    func presentLease(
        _ bundle: ExtensionBundle, _ origin: RequestOrigin
    ) async throws(ExtensionError) -> WorkerPool.Lease {
        let lease = try await pool.lease(bundle, origin)
        guard !lease.isNew, case .success(let worker) = await lease.start.value, await !worker.reachesWhatIsThere()
        else { return lease }
        await pool.giveBack(lease, isUsable: false)
        // Whatever may have changed again meanwhile.
        return try await pool.lease(bundle, origin)
    }

    /// Does something with a worker, and gives it back.
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
        await pool.giveBack(lease, isUsable: !worker.isLeaving && !outcome.isOfAWorkerUsedUp(worker.bundle))
        return try outcome.get()
    }

    /// Notes a failure, and tells of what follows from it.
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
    /// What it says of an extension; for errors that ``mayBeAnItems``.
    fileprivate var kindAlone: ExtensionHealth.FailureKind? {
        switch self {
        case .crashed: .crashed
        case .memoryExceeded: .memoryExceeded
        case .timedOut: .hung
        default: nil
        }
    }

    /// Why an item is set aside, as the rest of a sentence about the extension.
    fileprivate var itemReason: String {
        switch self {
        case .crashed(_, _, let exit, _): "\(exit.description) while it was asked for it"
        case .memoryExceeded: "took more memory than it may while it was asked for it"
        case .failed(_, _, _, let message): "could not do what it was asked for it: \(message)"
        default: "did not answer in time when it was asked for it"
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension Result where Failure == ExtensionError {
    /// Whether what its worker says it has not, a fresh one may have: callbacks, of which each makes only so many, or a library
    /// that was not there. Code of an extension's own means by the same word what it likes.
    fileprivate func isOfAWorkerUsedUp(_ bundle: ExtensionBundle) -> Bool {
        guard case .failed(_, _, .unavailable, _)? = failure else { return false }
        return bundle.manifest.access.bindsSymbols
    }
}
