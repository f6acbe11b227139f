// SPDX-License-Identifier: Apache-2.0
import JSONText

/// The dimensions of a BERT encoder, from its `config.json`.
package struct EncoderConfiguration: Hashable, Sendable {
    /// The number of components of an embedding.
    package let hiddenSize: Int
    package let layers: Int
    package let heads: Int
    /// The width between the two matrix products of a feed-forward block.
    package let intermediateSize: Int
    /// The number of positions, which is also the largest number of tokens.
    package let positions: Int
    /// The number of rows in the word embedding table.
    package let vocabularySize: Int
    package let tokenTypes: Int
    /// The number added to a variance before taking the square root.
    package let epsilon: Float

    var headSize: Int { hiddenSize / heads }

    /// The widths of matrices and heads are multiples of this number, which is the panel width.
    static let granularity = 16

    /// Reads `config.json`.
    package init(reading bytes: ArraySlice<UInt8>) throws(ModelProblem) {
        let document = try ModelDocument(reading: bytes)
        let type = try document.text("model_type") ?? "unnamed"
        guard type == "bert" else { throw .unsupported("the type of the model is “\(type.cut)” and not “bert”.") }
        let activation = try document.text("hidden_act") ?? "gelu"
        guard activation == "gelu" else {
            throw .unsupported("the activation “\(activation.cut)” is not supported, only “gelu”.")
        }
        let positionType = try document.text("position_embedding_type") ?? "absolute"
        guard positionType == "absolute" else {
            throw .unsupported(
                "position embeddings of the type “\(positionType.cut)” are not supported, only “absolute”.")
        }
        hiddenSize = try Self.width("hidden_size", of: document, atMost: 4096)
        layers = try document.integer("num_hidden_layers", in: 1...48)
        heads = try document.integer("num_attention_heads", in: 1...256)
        intermediateSize = try Self.width("intermediate_size", of: document, atMost: 16384)
        positions = try document.integer("max_position_embeddings", in: 8...8192)
        vocabularySize = try document.integer("vocab_size", in: 3...WordPieceVocabulary.maximumEntries)
        tokenTypes = try document.integer("type_vocab_size", in: 1...16, default: 2)
        guard hiddenSize.isMultiple(of: heads), (hiddenSize / heads).isMultiple(of: Self.granularity) else {
            throw .unsupported(
                "a “hidden_size” of \(hiddenSize) with \(heads) heads has no head size that is a multiple of "
                    + "\(Self.granularity).")
        }
        // A very small number becomes 0 in single precision.
        let epsilon = (document["layer_norm_eps"].map(\.number) ?? 1e-12).map { Float($0) }
        guard let epsilon, epsilon.isNormal, epsilon > 0, epsilon <= 0.01 else {
            throw .unsupported("“layer_norm_eps” is not a number above 0 and up to 0.01.")
        }
        self.epsilon = epsilon
    }

    private static func width(
        _ key: String, of document: ModelDocument, atMost limit: Int
    ) throws(ModelProblem) -> Int {
        let width = try document.integer(key, in: granularity...limit)
        guard width.isMultiple(of: granularity) else {
            throw .unsupported("“\(key)” is \(width) and not a multiple of \(granularity).")
        }
        return width
    }
}
