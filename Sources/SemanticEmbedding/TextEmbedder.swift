// SPDX-License-Identifier: Apache-2.0

/// Maps texts to embeddings with the model of a folder. Texts of similar meaning have embeddings
/// with a large dot product.
///
/// ```swift
/// let embedder = try TextEmbedder(folder: ModelFolder(path: "/home/anna/models/all-MiniLM-L6-v2"))
/// let query = try embedder.embed(query: "cheap flights to Tokyo")
/// for passage in embedder.passages(title: "Offer", text: letter) {
///     let embedding = try embedder.embed(passage)
///     print(TextEmbedder.similarity(query, embedding), passage.range)
/// }
/// ```
///
/// An embedder belongs to one thread at a time and starts no others. It maps the weights of the
/// model while it exists.
package final class TextEmbedder {
    private let encoder: SentenceEncoder
    private let splitter: PassageSplitter
    /// The tokenizer of the model.
    package let tokenizer: WordPieceTokenizer
    /// The settings of the model.
    package let settings: ModelSettings

    /// The number of components of an embedding.
    package var width: Int { encoder.configuration.hiddenSize }

    /// Maps the weights of a model.
    ///
    /// - Parameters:
    ///   - folder: The folder of the model.
    ///   - level: The instructions to use; the fastest of this processor by default.
    ///   - passageLimit: The largest number of passages of a text.
    package init(
        folder: ModelFolder, level: KernelLevel = .best, passageLimit: Int = PassageSplitter.usualPassages
    ) throws(EmbeddingError) {
        let weights = try EncoderWeights(path: folder.weightsPath, configuration: folder.configuration)
        tokenizer = folder.tokenizer
        settings = folder.settings
        encoder = SentenceEncoder(
            weights: weights, configuration: folder.configuration, maximumTokens: folder.settings.maximumTokens,
            level: level)
        splitter = PassageSplitter(
            tokenizer: folder.tokenizer, prefix: folder.settings.passagePrefix, tokens: folder.settings.maximumTokens,
            passages: passageLimit)
    }

    /// Returns the embedding of a query, with a length of 1.
    ///
    /// - Parameters:
    ///   - query: The query. Tokens beyond the largest number are left out.
    ///   - isCancelled: Called before each layer. A layer takes about 12 ms at most.
    /// - Throws: ``EmbeddingError/cancelled`` if `isCancelled` returned `true`.
    package func embed(query: String, isCancelled: () -> Bool = { false }) throws(EmbeddingError) -> [Float] {
        let tokens = tokenizer.tokens(of: query, prefix: settings.queryPrefix, limit: settings.maximumTokens)
        return try encoder.encode(tokens, pooling: settings.pooling, isCancelled: isCancelled)
    }

    /// Divides a text into the passages to embed.
    package func passages(title: String, text: String) -> [TextPassage] { splitter.passages(title: title, text: text) }

    /// Returns the embedding of a passage, with a length of 1.
    package func embed(
        _ passage: TextPassage, isCancelled: () -> Bool = { false }
    ) throws(EmbeddingError) -> [Float] {
        try encoder.encode(passage.tokens, pooling: settings.pooling, isCancelled: isCancelled)
    }

    /// Returns the similarity of two embeddings of one model: the cosine, from -1 to 1.
    package static func similarity(_ one: [Float], _ other: [Float]) -> Float {
        zip(one, other).reduce(0) { $0 + $1.0 * $1.1 }
    }
}
