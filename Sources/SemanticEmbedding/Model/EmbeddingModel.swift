// SPDX-License-Identifier: Apache-2.0

/// A model in memory: its settings, its tokenizer and its mapped weights. The embedders of several
/// threads share one, so that the weights are in memory once. They are unmapped with the last
/// reference.
package final class EmbeddingModel: @unchecked Sendable {
    // Sendable: nothing changes after the initializer. The matrices are mapped read-only, and the
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
