// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// A store's embedding model, and the progress of its embeddings.
package struct SemanticStatus: Hashable, Sendable, Codable {
    /// The installed model.
    package var model: InstalledModel
    /// The number of items with at least one embedding.
    package var embedded: Int
    /// The number of items that are not completely embedded.
    package var pending: Int

    init(_ model: InstalledModel, _ counts: EmbeddingCounts) {
        (self.model, embedded, pending) = (model, counts.embedded, counts.pending)
    }
}
