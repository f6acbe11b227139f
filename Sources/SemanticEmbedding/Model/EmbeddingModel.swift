// SPDX-License-Identifier: Apache-2.0

/// A model in memory: its settings, its tokenizer and its mapped weights. Embedders on several
/// threads share one model, so that the weights are in memory only once. The weights are unmapped
/// when the last reference is released.
package final class EmbeddingModel: @unchecked Sendable {
    // Sendable: nothing changes after initialization. The matrices are mapped read-only, and the
    // copied biases, norms and scales are only read.

    let configuration: EncoderConfiguration
    let settings: ModelSettings
    let tokenizer: WordPieceTokenizer
    let weights: EncoderWeights

    /// Maps the weights of a model.
    package init(folder: ModelFolder) throws(EmbeddingError) {
        weights = try EncoderWeights(path: folder.weightsPath, configuration: folder.configuration)
        (configuration, settings, tokenizer) = (folder.configuration, folder.settings, folder.tokenizer)
    }
}
