// SPDX-License-Identifier: Apache-2.0

/// The items that are similar to an item, most similar first.
package struct SimilarPage: Sendable {
    /// The hits. Their scores are comparable only within one page: they are the cosine of the
    /// meanings, or the score of the words.
    package var hits: [SearchHit]
    /// The kind of comparison that found the items.
    package var basis: SimilarBasis
    /// The words that were compared; empty if meanings were compared.
    package var words: [String] = []
    /// `true` if some items are not embedded yet, and may therefore be missing among the items with
    /// a similar meaning.
    package var isPartial = false
}

/// The kind of comparison that finds similar items.
package enum SimilarBasis: String, Hashable, Sendable, Codable, CaseIterable {
    /// Compares the meanings of the texts.
    case meaning
    /// Compares the rare words of the item, because no embedding model is installed.
    case wordsWithoutModel
    /// Compares the rare words of the item, because the item has no embeddings yet.
    case wordsWithoutEmbedding
    /// Compares nothing, because the item has no text.
    case noText
}
