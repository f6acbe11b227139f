// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A loop over a query's results. Leaving the loop before its end cancels the query.
final class QueryReading: Sendable {
    private let run: QueryRun
    private let reader: QueryRun.Reader
    /// The error if the results cannot be read; otherwise `nil`.
    private let refusal: CSSearchQueryError?
    private let isFinished = Atomic(false)

    init(_ run: QueryRun, _ reader: QueryRun.Reader) {
        self.run = run
        self.reader = reader
        do throws(CSSearchQueryError) {
            try run.iterate(reader)
            refusal = nil
        } catch {
            refusal = error
        }
    }

    deinit { if refusal == nil, !isFinished.load(ordering: .relaxed) { run.cancel() } }

    /// Returns the next items; `nil` at the end.
    func items<Item: Sendable>(_ wrap: @Sendable @escaping (CSSearchableItem) -> Item) async throws -> [Item]? {
        try await wait { run async throws(CSSearchQueryError) in
            guard let items = try await run.items.next()?.map(wrap) else { return nil }
            run.count(items: items.count)
            return items
        }
    }

    /// Returns all suggestions.
    func suggestions() async throws -> [CSUserQuery.Suggestion] {
        try await wait { run async throws(CSSearchQueryError) in
            let suggestions = try await run.suggestions.all().map(CSUserQuery.Suggestion.init)
            run.count(suggestions: suggestions.count)
            return suggestions
        } ?? []
    }

    /// Records that all results were read.
    func finish() {
        isFinished.store(true, ordering: .relaxed)
        run.finish(reader)
    }

    /// Waits for a part of the query's results. Cancelling the task cancels the query.
    ///
    /// - Throws: `CancellationError` if the task was cancelled, otherwise ``CSSearchQueryError``.
    private func wait<Value: Sendable>(
        _ body: @Sendable (QueryRun) async throws(CSSearchQueryError) -> Value?
    ) async throws -> Value? {
        if let refusal { throw refusal }
        if isFinished.load(ordering: .relaxed) { return nil }
        do {
            return try await withTaskCancellationHandler {
                try await body(run)
            } onCancel: {
                run.cancel()
            }
        } catch {
            finish()
            if Task.isCancelled { throw CancellationError() }
            throw error
        }
    }
}
