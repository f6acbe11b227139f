// SPDX-License-Identifier: Apache-2.0
import CEmbeddingKernels

/// A BERT encoder that processes one text at a time: tokens in, one embedding of length 1 out.
///
/// An encoder may be used by one thread at a time, and starts no threads. It allocates its memory
/// once: about 4 MB for 256 tokens and a model with a hidden size of 384.
final class SentenceEncoder {
    let configuration: EncoderConfiguration
    private let weights: EncoderWeights
    private let kernels: cembedding_kernels
    /// The largest number of tokens.
    let maximumTokens: Int
    /// The hidden states, one row per token.
    private let states: FloatBuffer
    /// The queries, keys and values of a layer, and later the results of its matrix products.
    private let projections: FloatBuffer
    /// The attention of a layer.
    private let context: FloatBuffer
    private let intermediate: FloatBuffer
    private let scratch: FloatBuffer

    init(weights: EncoderWeights, configuration: EncoderConfiguration, maximumTokens: Int, level: KernelLevel) {
        self.weights = weights
        self.configuration = configuration
        self.maximumTokens = min(maximumTokens, configuration.positions)
        kernels = level.kernels
        let (tokens, hidden) = (self.maximumTokens, configuration.hiddenSize)
        states = FloatBuffer(count: tokens * hidden)
        projections = FloatBuffer(count: tokens * 3 * hidden)
        context = FloatBuffer(count: tokens * hidden)
        intermediate = FloatBuffer(count: tokens * configuration.intermediateSize)
        scratch = FloatBuffer(
            count: max(
                cembedding_linear_scratch(max(hidden, configuration.intermediateSize)),
                cembedding_attention_scratch(tokens, configuration.headSize)))
    }

    /// Returns the embedding of a text.
    ///
    /// - Parameters:
    ///   - tokens: The tokens of the text, including the start and end tokens; at least one.
    ///   - isCancelled: Called before each layer. A layer takes a few milliseconds.
    func encode(
        _ tokens: [Int32], pooling: ModelSettings.Pooling, isCancelled: () -> Bool
    ) throws(EmbeddingError) -> [Float] {
        guard (1...maximumTokens).contains(tokens.count) else {
            throw .tooLong(tokens: tokens.count, limit: maximumTokens)
        }
        try embed(tokens)
        for layer in weights.layers {
            if isCancelled() { throw .cancelled }
            run(layer, tokens.count)
        }
        return try pool(tokens.count, pooling)
    }

    /// Computes the hidden states before the first layer.
    private func embed(_ tokens: [Int32]) throws(EmbeddingError) {
        let hidden = configuration.hiddenSize
        states.base.update(repeating: 0, count: tokens.count * hidden)
        for (position, token) in tokens.enumerated() {
            guard token >= 0, token < configuration.vocabularySize else { throw .unknownToken(token) }
            let state = states.base + position * hidden
            add(weights.words, Int(token), to: state)
            add(weights.positions, position, to: state)
            // In a single text, all tokens are of the first type.
            add(weights.tokenTypes, 0, to: state)
        }
        normalize(states, adding: nil, tokens.count, weights.embeddingNorm)
    }

    private func run(_ layer: EncoderWeights.Layer, _ count: Int) {
        let hidden = configuration.hiddenSize
        for (index, linear) in [layer.query, layer.key, layer.value].enumerated() {
            multiply(states, linear, projections.base + index * hidden, stride: 3 * hidden, count)
        }
        kernels.attention(
            projections.base, count, configuration.heads, configuration.headSize, context.base, scratch.base)
        multiply(context, layer.attentionOutput, projections.base, stride: hidden, count)
        normalize(states, adding: projections, count, layer.attentionNorm)
        multiply(states, layer.intermediate, intermediate.base, stride: configuration.intermediateSize, count)
        kernels.gelu(intermediate.base, count * configuration.intermediateSize)
        multiply(intermediate, layer.output, projections.base, stride: hidden, count)
        normalize(states, adding: projections, count, layer.outputNorm)
    }

    private func add(_ matrix: EncoderWeights.Matrix, _ row: Int, to result: UnsafeMutablePointer<Float>) {
        withUnsafePointer(to: matrix.view) { kernels.add_row($0, row, result) }
    }

    private func multiply(
        _ input: FloatBuffer, _ linear: EncoderWeights.Linear, _ result: UnsafeMutablePointer<Float>, stride: Int,
        _ count: Int
    ) {
        withUnsafePointer(to: linear.weights.view) {
            kernels.linear(input.base, count, $0, linear.bias.base, result, stride, scratch.base)
        }
    }

    private func normalize(
        _ buffer: FloatBuffer, adding addend: FloatBuffer?, _ count: Int, _ norm: EncoderWeights.Norm
    ) {
        kernels.add_layer_norm(
            buffer.base, addend?.base, count, configuration.hiddenSize, norm.gain.base, norm.shift.base,
            configuration.epsilon)
    }

    /// Returns the embedding computed from the hidden states, normalized to length 1.
    private func pool(_ count: Int, _ pooling: ModelSettings.Pooling) throws(EmbeddingError) -> [Float] {
        let hidden = configuration.hiddenSize
        let rows = pooling == .mean ? count : 1
        var sums = [Double](repeating: 0, count: hidden)
        for row in 0..<rows {
            let state = states.base + row * hidden
            for index in 0..<hidden { sums[index] += Double(state[index]) }
        }
        // The mean has the same direction as the sum, so the number of rows is irrelevant.
        let length = sums.reduce(0) { $0 + $1 * $1 }.squareRoot()
        guard length.isFinite, length > 0 else { throw .notFinite }
        return sums.map { Float($0 / length) }
    }
}
