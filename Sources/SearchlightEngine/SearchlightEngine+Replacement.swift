// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// The maximum age of a reindex in pages, in seconds. After that the items in its first pages
    /// may be outdated.
    static let maximumPagedAge = 7 * 86400.0

    /// Runs a reindex of everything. At the end, deletes the items that were not donated again.
    ///
    /// - Parameter job: The pending job, with the resume position of an earlier attempt.
    /// - Returns: The completed job. It has no resume position if the reindex restarted.
    func replaceAll(
        of identifier: String, _ job: Job, _ origin: RequestOrigin,
        _ checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) -> Job {
        reindexes.replace(identifier)
        var job = job
        let files: FilesInReindex
        if let place = job.place, try await isValid(place, of: identifier) {
            files = await beginReindexOfFiles(identifier, isResumed: true)
            try await keepItems(of: identifier, files)
            reindexes.ask(.worker, identifier)
            try await reindexPages(of: identifier, from: place, Array(place.cursor), origin, checkpoint)
        } else {
            files = await beginReindexOfFiles(identifier, isResumed: false)
            if job.place != nil {
                try jobStore.update { $0.setPlace(nil, of: identifier) }
                job = jobStore[identifier] ?? job
            }
            try await onIndex { (index) throws(SearchIndexError) in
                try await index.deleteExpired()
                try await index.beginReplacement(of: identifier)
            }
            // The delegates of locked indexes are not asked.
            let locked = vault.lockedIndexes(of: identifier)
            let answer = try await onHost { [reindexes] (host) throws(ExtensionError) in
                try await host.reindexAll(identifier, origin: origin, lockedIndexes: locked) {
                    reindexes.ask($0, identifier)
                }
            }
            if !locked.isEmpty, case .delegate? = reindexes.asked(identifier) { writer.onLocked(identifier) }
            if answer == .inPages {
                try await reindexPages(of: identifier, job, files, origin, checkpoint)
            } else {
                omissions.settle(identifier, .everything)
            }
        }
        // The donor has acknowledged the request. From now on a deletion is final and must not be
        // undone by another reindex.
        reindexes.ask(nil, identifier)
        // Indexing may take longer than donating, and must respect a pause of background work like
        // the other steps. A cancelled reindex is still finished: nothing is deferred then, and
        // acknowledged pages are not requested again.
        _ = try await onIndex { (index) throws(SearchIndexError) in
            try await index.settle(patientlyFor: identifier)
        }
        let followed = await endReindexOfFiles(identifier, files)
        let kept = reindexes.kept(identifier)
        try await onIndex { (index) throws(SearchIndexError) in
            if kept.isTooMuch || followed.isUnknown {
                try await index.beginReplacement(of: identifier)
            } else {
                if followed.keepsItems {
                    try await index.keepItems(of: identifier) { followed.mayHold($0) }
                }
                try await index.finishReplacement(of: identifier, keeping: kept.names)
            }
        }
        try? await noteReindex(of: identifier, followed)
        return job
    }

    /// Returns `true` if a reindex in pages can resume. If an app has registered as a delegate,
    /// everything is requested from the app instead.
    private func isValid(_ place: ReindexPlace, of identifier: String) async throws(EngineError) -> Bool {
        let age = configuration.now() - place.began
        guard !delegates.isRegistered(for: identifier), (0..<Self.maximumPagedAge).contains(age),
            place.fingerprint == fingerprint(of: identifier)
        else { return false }
        return try await onIndex { (index) throws(SearchIndexError) in
            // Read first, since this call waits for pending donations, whose loss would change the
            // generation.
            let replacement = try await index.replacement(of: identifier)
            let generation = try await index.generation()
            return generation == place.generation && replacement == place.replacement
        }
    }

    private func fingerprint(of identifier: String) -> String {
        (try? registry.bundle(identifier))?.fingerprint(workerPath: configuration.worker.workerPath) ?? ""
    }

    /// Returns the page requester, within the limits of the engine and of the extension's manifest.
    func pagedReindex(
        of identifier: String, _ host: ExtensionHost, _ origin: RequestOrigin = .person
    ) -> PagedReindex {
        let declared = (try? registry.bundle(identifier))?.manifest.access.memoryLimit
        return PagedReindex(
            host: host, bundle: identifier, limits: configuration.pages,
            memory: declared ?? DeclaredAccess.defaultMemoryLimit, origin: origin)
    }

    /// Requests all pages, starting with the first.
    private func reindexPages(
        of identifier: String, _ job: Job, _ files: FilesInReindex, _ origin: RequestOrigin,
        _ checkpoint: @escaping JobCheckpoint
    ) async throws(EngineError) {
        // Marks all items for deletion, except those that other processes have donated since the
        // reindex began. Later donations of these processes are not marked either.
        let kept = reindexes.kept(identifier)
        let (replacement, generation) = try await onIndex { (index) throws(SearchIndexError) in
            (
                try await index.beginWholeReplacement(of: identifier, keeping: kept.names),
                try await index.generation()
            )
        }
        try await keepItems(of: identifier, files)
        let place = ReindexPlace(
            cursor: Data(), pages: 0, began: configuration.now(), replacement: replacement, generation: generation,
            fingerprint: fingerprint(of: identifier), request: job.request)
        try await reindexPages(of: identifier, from: place, nil, origin, checkpoint)
    }

    /// Keeps the items in missing paths at the end of a reindex in pages. If the reindex is
    /// interrupted and the paths exist again when it resumes, the first pages did not include them.
    private func keepItems(of identifier: String, _ files: FilesInReindex) async throws(EngineError) {
        guard files.keepsItems else { return }
        try await onIndex { (index) throws(SearchIndexError) in
            try await index.keepItems(of: identifier) { files.mayHold($0) }
        }
    }

    private func reindexPages(
        of identifier: String, from place: ReindexPlace, _ cursor: [UInt8]?, _ origin: RequestOrigin,
        _ checkpoint: @escaping JobCheckpoint
    ) async throws(EngineError) {
        var pages = pagedReindex(of: identifier, host, origin)
        pages.checkpoint = checkpoint
        // An acknowledged page is not requested again, so its omissions are recorded at once.
        var acknowledged = place.pages
        func settlePage() {
            omissions.settle(identifier, acknowledged == 0 ? .everything : .rest)
            acknowledged += 1
        }
        do throws(EngineError) {
            try await pages.run(from: cursor, after: place.pages) { () throws(EngineError) in
                // The counts do not include deferred donations.
                let isSettled = try await onIndex { (index) throws(SearchIndexError) in
                    try await index.settle(patientlyFor: identifier)
                }
                guard isSettled else { throw .extension(.cancelled) }
                return try await onIndex { (index) throws(SearchIndexError) in
                    let counts = try await index.replacementCounts(of: identifier)
                    return PagedReindex.Yield(items: counts.items, unconfirmed: counts.unconfirmed)
                }
            } onPage: { (next, pages) throws(EngineError) in
                var place = place
                place.cursor = Data(next)
                place.pages = pages
                settlePage()
                place.failures = 0
                let reached = place
                try jobStore.update { if !reindexes.isUndone(identifier) { $0.setPlace(reached, of: identifier) } }
            }
            settlePage()
        } catch {
            if case .extension(let error) = error, !error.isRefusal, error != .cancelled {
                try jobStore.update { $0.failPage(of: identifier, isFinal: error.isOfItsCursor) }
            }
            throw error
        }
    }
}

extension ExtensionError {
    /// `true` if the extension would fail again for the same page.
    fileprivate var isOfItsCursor: Bool {
        switch self {
        case .malformedAnswer, .failed(_, _, .unsupported, _), .failed(_, _, .notFound, _),
            .failed(_, _, .invalidArgument, _):
            true
        default: false
        }
    }
}
