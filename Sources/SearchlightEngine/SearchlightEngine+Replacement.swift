// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// How old a reindex in pages may become, in seconds: what its first pages brought would be too far from what is true.
    static let maximumPagedAge = 7 * 86400.0

    /// Has everything of a bundle donated again; what was there and is not donated is deleted at the end.
    ///
    /// - Parameter job: What is owed, and how far an earlier attempt came.
    /// - Returns: What was done: where it was begun anew, without a place.
    func replaceAll(
        of identifier: String, _ job: Job, _ origin: RequestOrigin,
        _ checkpoint: @escaping JobCheckpoint = { true }
    ) async throws(EngineError) -> Job {
        reindexes.replace(identifier)
        var job = job
        let files: FilesInReindex
        if let place = job.place, try await isValid(place, of: identifier) {
            files = await beginReindexOfFiles(identifier, isResumed: true)
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
            let answer = try await onHost { [reindexes] (host) throws(ExtensionError) in
                try await host.reindexAll(identifier, origin: origin) { reindexes.ask($0, identifier) }
            }
            if answer == .inPages { try await reindexPages(of: identifier, job, origin, checkpoint) }
        }
        // It was acknowledged: what is deleted from now on is not meant to be donated again.
        reindexes.ask(nil, identifier)
        // Much of it may still have to be indexed, which takes longer than donating it and is to be as quiet while it is paused.
        // One that is to end is finished, for then nothing is held any more, and what was acknowledged is not asked for again.
        _ = try await onIndex { (index) throws(SearchIndexError) in
            try await index.settle(patientlyFor: identifier)
        }
        let followed = await endReindexOfFiles(identifier, files)
        let kept = reindexes.kept(identifier)
        try await onIndex { (index) throws(SearchIndexError) in
            if kept.isTooMuch || followed.isUnknown {
                try await index.beginReplacement(of: identifier)
            } else {
                if !followed.away.isEmpty {
                    try await index.keepItems(of: identifier) { followed.mayHold($0) }
                }
                try await index.finishReplacement(of: identifier, keeping: kept.names)
            }
        }
        try? await noteReindex(of: identifier, followed)
        return job
    }

    /// Whether a reindex in pages can go on. An app that has registered meanwhile is asked for everything instead.
    private func isValid(_ place: ReindexPlace, of identifier: String) async throws(EngineError) -> Bool {
        let age = configuration.now() - place.began
        guard !delegates.isRegistered(for: identifier), (0..<Self.maximumPagedAge).contains(age),
            place.fingerprint == fingerprint(of: identifier)
        else { return false }
        return try await onIndex { (index) throws(SearchIndexError) in
            // First, since it waits for what was donated, and what was lost of that counts.
            let replacement = try await index.replacement(of: identifier)
            let generation = try await index.generation()
            return generation == place.generation && replacement == place.replacement
        }
    }

    private func fingerprint(of identifier: String) -> String {
        (try? registry.bundle(identifier))?.fingerprint(workerPath: configuration.worker.workerPath) ?? ""
    }

    /// What asks for pages, within the limits of the engine and of the extension's manifest.
    func pagedReindex(
        of identifier: String, _ host: ExtensionHost, _ origin: RequestOrigin = .person
    ) -> PagedReindex {
        let declared = (try? registry.bundle(identifier))?.manifest.access.memoryLimit
        return PagedReindex(
            host: host, bundle: identifier, limits: configuration.pages,
            memory: declared ?? DeclaredAccess.defaultMemoryLimit, origin: origin)
    }

    /// Asks for the pages from the first one on.
    private func reindexPages(
        of identifier: String, _ job: Job, _ origin: RequestOrigin, _ checkpoint: @escaping JobCheckpoint
    ) async throws(EngineError) {
        // What others donated since the reindex began stays; what they donate from now on bears no mark.
        let kept = reindexes.kept(identifier)
        let (replacement, generation) = try await onIndex { (index) throws(SearchIndexError) in
            (
                try await index.beginWholeReplacement(of: identifier, keeping: kept.names),
                try await index.generation()
            )
        }
        let place = ReindexPlace(
            cursor: Data(), pages: 0, began: configuration.now(), replacement: replacement, generation: generation,
            fingerprint: fingerprint(of: identifier), request: job.request)
        try await reindexPages(of: identifier, from: place, nil, origin, checkpoint)
    }

    private func reindexPages(
        of identifier: String, from place: ReindexPlace, _ cursor: [UInt8]?, _ origin: RequestOrigin,
        _ checkpoint: @escaping JobCheckpoint
    ) async throws(EngineError) {
        var pages = pagedReindex(of: identifier, host, origin)
        pages.checkpoint = checkpoint
        do throws(EngineError) {
            try await pages.run(from: cursor, after: place.pages) { () throws(EngineError) in
                // What is held is not counted.
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
                place.failures = 0
                let reached = place
                try jobStore.update { if !reindexes.isUndone(identifier) { $0.setPlace(reached, of: identifier) } }
            }
        } catch {
            if case .extension(let error) = error, !error.isRefusal, error != .cancelled {
                try jobStore.update { $0.failPage(of: identifier, isFinal: error.isOfItsCursor) }
            }
            throw error
        }
    }
}

extension ExtensionError {
    /// Whether the extension would answer the same to the same page.
    fileprivate var isOfItsCursor: Bool {
        switch self {
        case .malformedAnswer, .failed(_, _, .unsupported, _), .failed(_, _, .notFound, _),
            .failed(_, _, .invalidArgument, _):
            true
        default: false
        }
    }
}
