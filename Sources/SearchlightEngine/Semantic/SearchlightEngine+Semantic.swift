// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import SearchIndex

extension SearchlightEngine {
    /// The time after which a background step starts no further passage. The step still finishes
    /// its current passage, so it takes less than half a second.
    private static let embeddingStep = Duration.milliseconds(150)
    /// The maximum number of items in a step.
    private static let itemsPerStep = 64

    /// Returns the model and the progress of its embeddings; `nil` if there is no model.
    package func semanticStatus() async throws(EngineError) -> SemanticStatus? {
        guard let model = semanticModel.installed else { return nil }
        let counts = try await onIndex { (index) throws(SearchIndexError) in
            let known = try await index.embeddingCounts(model: model.identity)
            if let known { return known }
            let items = try await index.itemCounts().values.reduce(0, +)
            return EmbeddingCounts(embedded: 0, pending: items)
        }
        return SemanticStatus(model, counts)
    }

    /// Returns a request with the meaning of its text, if the store has a model and the text is a
    /// question. If the model cannot be used, the search only compares words; `semantic status`
    /// reports the reason.
    func withMeaning(_ request: SearchRequest) async -> SearchRequest {
        guard request.usesMeaning, request.meaning == nil, let model = semanticModel.installed,
            let text = index.meaningText(of: request)
        else { return request }
        var request = request
        request.meaning = try? await semanticModel.meaning(of: text, model)
        return request
    }

    /// Maps the model and reads the embeddings, so that the next search is faster.
    ///
    /// - Throws: ``EngineError/semantic(_:)`` if the model cannot be used.
    package func prepareMeaning() async throws(EngineError) {
        guard let model = semanticModel.installed else { return }
        try await semanticModel.prepare(model)
        try await onIndex { (index) throws(SearchIndexError) in
            try await index.prepareEmbeddings(model: model.identity)
        }
    }

    /// Embeds the passages of some items, for a fraction of a second. Each step is one transaction.
    ///
    /// - Parameters:
    ///   - isInBackground: `true` if no user waits for the embeddings.
    ///   - isPaused: Called between layers, on another thread; `true` ends the step, which keeps
    ///     the finished passages.
    /// - Returns: `true` if there may be more to embed.
    package func embedStep(
        isInBackground: Bool = true, isPaused: @escaping @Sendable () -> Bool = { false }
    ) async throws(EngineError) -> Bool {
        guard let model = semanticModel.installed else {
            _ = try await onIndex { (index) throws(SearchIndexError) in try await index.dropEmbeddings() }
            return false
        }
        let (jobs, lists) = try await onIndex { (index) throws(SearchIndexError) in
            try await index.embeddingJobs(model: model.identity, width: model.width, count: Self.itemsPerStep)
        }
        guard !jobs.isEmpty else { return lists }
        let embedded = try await semanticModel.embed(
            jobs, model, for: Self.embeddingStep, isInBackground: isInBackground, isPaused: isPaused)
        try await onIndex { (index) throws(SearchIndexError) in
            try await index.store(embedded, model: model.identity)
        }
        return true
    }

    /// Called after a model was installed or removed. Deletes the embeddings of a removed model,
    /// and schedules the work for a new one.
    package func semanticModelChanged() async throws(EngineError) -> SemanticStatus? {
        semanticModel.release()
        if semanticModel.installed == nil {
            _ = try await onIndex { (index) throws(SearchIndexError) in try await index.dropEmbeddings() }
        }
        lookSoon()
        return try await semanticStatus()
    }
}
