// SPDX-License-Identifier: Apache-2.0

/// The items that are similar to an item, the most similar first.
package struct SimilarPage: Sendable {
    /// The hits. Their scores are comparable only within one page: the cosine of meanings, or the
    /// score of the words.
    package var hits: [SearchHit]
    /// The comparison by which the items were found.
    package var basis: SimilarBasis
    /// The words that were compared; empty if meanings were.
    package var words: [String] = []
    /// `true` if items are not embedded yet, and are therefore missing among those of a similar
    /// meaning.
    package var isPartial = false
}

/// The comparison that finds similar items.
package enum SimilarBasis: String, Hashable, Sendable, Codable, CaseIterable {
    /// The meanings of the texts.
    case meaning
    /// The rare words of the item, since no embedding model is installed.
    case wordsWithoutModel
    /// The rare words of the item, since the item has no embeddings yet.
    case wordsWithoutEmbedding
    /// Nothing, since the item has no text.
    case noText
}
