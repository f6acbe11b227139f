// SPDX-License-Identifier: Apache-2.0

/// Maps texts to embeddings using the model in a folder. The embeddings of texts with similar
/// meanings have a large dot product.
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
/// An embedder may be used by one thread at a time, and starts no threads. It keeps its model in
/// memory as long as it exists.
package final class TextEmbedder {
    private let encoder: SentenceEncoder
    private let splitter: PassageSplitter
    private let model: EmbeddingModel
    /// The tokenizer of the model.
    package var tokenizer: WordPieceTokenizer { model.tokenizer }
    /// The settings of the model.
    package var settings: ModelSettings { model.settings }

    /// The number of components of an embedding.
    package var width: Int { encoder.configuration.hiddenSize }

    /// Creates an embedder with its own copy of the model.
    package convenience init(folder: ModelFolder, level: KernelLevel = .best) throws(EmbeddingError) {
        self.init(model: try EmbeddingModel(folder: folder), level: level)
    }

    /// Creates an embedder.
    ///
    /// - Parameters:
    ///   - model: The model, which may be shared with other embedders.
    ///   - level: The instruction set to use; by default, the fastest one on this processor.
    ///   - passageLimit: The largest number of passages per text.
    package init(
        model: EmbeddingModel, level: KernelLevel = .best, passageLimit: Int = PassageSplitter.usualPassages
    ) {
        self.model = model
        encoder = SentenceEncoder(
            weights: model.weights, configuration: model.configuration, maximumTokens: model.settings.maximumTokens,
            level: level)
        splitter = PassageSplitter(
            tokenizer: model.tokenizer, prefix: model.settings.passagePrefix, tokens: model.settings.maximumTokens,
            passages: passageLimit)
    }

    /// Returns the embedding of a query, normalized to length 1.
    ///
    /// - Parameters:
    ///   - query: The query. Tokens beyond the limit are omitted.
    ///   - isCancelled: Called before each layer. A layer takes at most about 12 ms.
    /// - Throws: ``EmbeddingError/cancelled`` if `isCancelled` returned `true`.
    package func embed(query: String, isCancelled: () -> Bool = { false }) throws(EmbeddingError) -> [Float] {
        let tokens = tokenizer.tokens(of: query, prefix: settings.queryPrefix, limit: settings.maximumTokens)
        return try encoder.encode(tokens, pooling: settings.pooling, isCancelled: isCancelled)
    }

    /// Returns the words of a text that the model's vocabulary contains as whole words. Misspelled
    /// words are rarely among them, because the vocabulary consists of the frequent words of a
    /// large collection.
    package func knownWords(of text: String) -> [String] {
        var words: [String] = []
        tokenizer.forEachWord(in: text) { word, bytes in
            if word.tokens.count == 1, word.tokens[0] != tokenizer.vocabulary.unknown {
                words.append(String(decoding: bytes[word.range], as: UTF8.self))
            }
            return true
        }
        return words
    }

    /// Divides a text into passages to be embedded.
    package func passages(title: String, text: String) -> [TextPassage] { splitter.passages(title: title, text: text) }

    /// Returns the embedding of a passage, normalized to length 1.
    package func embed(
        _ passage: TextPassage, isCancelled: () -> Bool = { false }
    ) throws(EmbeddingError) -> [Float] {
        try encoder.encode(passage.tokens, pooling: settings.pooling, isCancelled: isCancelled)
    }

    /// Returns the similarity of two embeddings by the same model: the cosine, from -1 to 1.
    package static func similarity(_ one: [Float], _ other: [Float]) -> Float {
        zip(one, other).reduce(0) { $0 + $1.0 * $1.1 }
    }
}
