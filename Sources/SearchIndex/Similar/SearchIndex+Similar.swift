// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

extension SearchIndex {
    /// Finds the items that are similar to an item, using the embeddings of its passages. Without
    /// embeddings, finds the items that contain its rare words.
    ///
    /// ```swift
    /// var request = SearchRequest("kind:pdf")
    /// request.limit = 5
    /// let page = try await index.similar(to: 12, request, model: model.identity)
    /// ```
    ///
    /// - Parameters:
    ///   - number: The number of the item.
    ///   - request: The limit, and the conditions for the hits. Its text may contain filters but no
    ///     words.
    ///   - model: The identity of the embedding model; `nil` if none is installed.
    /// - Returns: The hits, excluding the item itself; `nil` if there is no such item.
    /// - Throws: ``IndexQueryError``; `cancelled` soon after the task is cancelled.
    package func similar(
        to number: Int64, _ request: SearchRequest, model: String?
    ) async throws(IndexQueryError) -> SimilarPage? {
        var request = request
        // Similarity must not depend on the user's earlier searches.
        request.learnsFrom = nil
        let (empty, limit) = (SimilarPage(hits: [], basis: .noText), max(1, min(Self.maximumPage, request.limit)))
        guard let search = try PreparedSearch(self, request, findsAll: true) else { return empty }
        return try await query("Finding similar items", includingPending: request.includesPending) { [clock] db in
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT plain_record(record) AS record FROM item WHERE id = ? AND (expires IS NULL OR expires > ?)
                        """), arguments: [number, try clock.now(db)])
            guard let row else { return nil }
            let text = EmbeddedText(try ItemWriter.record(in: row))
            guard !text.title.isEmpty || !text.text.isEmpty else { return empty }
            if let model, let page = try search.itemsOfSimilarMeaning(to: number, model, limit, db) { return page }
            return try search.itemsWithWords(
                of: text, otherThan: number, limit, basis: model == nil ? .wordsWithoutModel : .wordsWithoutEmbedding,
                db)
        }
    }
}
