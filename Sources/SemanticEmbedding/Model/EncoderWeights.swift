// SPDX-License-Identifier: Apache-2.0
import CEmbeddingKernels
import SystemSupport

/// The weights of a BERT encoder. Matrices remain in the mapped file; biases, norms and scales are
/// copied.
///
/// The elements of a matrix are of type `F32`, `F16` or `BF16` as trained, or `I8` as written by
/// ``ModelQuantization``, with the scales in a tensor with the suffix `_scale`.
final class EncoderWeights {
    /// A matrix, and the memory that it needs in addition to the file.
    struct Matrix {
        let view: cembedding_matrix
        private let scales: FloatBuffer?

        fileprivate init(view: cembedding_matrix, scales: FloatBuffer? = nil) {
            (self.view, self.scales) = (view, scales)
        }
    }

    /// A matrix product with a bias.
    struct Linear {
        let name: String
        let weights: Matrix
        let bias: FloatBuffer
    }

    struct Norm {
        let name: String
        let gain: FloatBuffer
        let shift: FloatBuffer
    }

    struct Layer {
        let query: Linear
        let key: Linear
        let value: Linear
        let attentionOutput: Linear
        let attentionNorm: Norm
        let intermediate: Linear
        let output: Linear
        let outputNorm: Norm
    }

    let words: Matrix
    let positions: Matrix
    let tokenTypes: Matrix
    let embeddingNorm: Norm
    let layers: [Layer]
    /// Holds the mapping of the matrices.
    private let file: SafetensorsFile

    /// The names of the embedding tables in the file, without the model's prefix.
    static let wordsName = "embeddings.word_embeddings.weight"
    static let positionsName = "embeddings.position_embeddings.weight"
    static let tokenTypesName = "embeddings.token_type_embeddings.weight"
    /// The suffix of the tensor that contains the scales of an `I8` matrix.
    static let scaleSuffix = "_scale"

    /// Returns the number of column groups with their own scale, in matrices used in products.
    static func groups(_ columns: Int) -> Int { (columns + Int(CEMBEDDING_GROUP) - 1) / Int(CEMBEDDING_GROUP) }

    /// Maps a weights file, and checks that it contains all tensors of the configuration.
    init(path: String, configuration: EncoderConfiguration) throws(EmbeddingError) {
        let file = try SafetensorsFile(path: path)
        // In models trained for a task, the names of the encoder's tensors have a prefix.
        let prefix = ["", "bert."].first { file.contains($0 + Self.wordsName) } ?? ""
        let reader = WeightReader(file: file, prefix: prefix)
        let (hidden, intermediate) = (configuration.hiddenSize, configuration.intermediateSize)
        words = try reader.table(Self.wordsName, configuration.vocabularySize, hidden)
        positions = try reader.table(Self.positionsName, configuration.positions, hidden)
        tokenTypes = try reader.table(Self.tokenTypesName, configuration.tokenTypes, hidden)
        embeddingNorm = try reader.norm("embeddings.LayerNorm", hidden)
        var layers: [Layer] = []
        for index in 0..<configuration.layers {
            let name = "encoder.layer.\(index)"
            layers.append(
                Layer(
                    query: try reader.linear("\(name).attention.self.query", hidden, hidden),
                    key: try reader.linear("\(name).attention.self.key", hidden, hidden),
                    value: try reader.linear("\(name).attention.self.value", hidden, hidden),
                    attentionOutput: try reader.linear("\(name).attention.output.dense", hidden, hidden),
                    attentionNorm: try reader.norm("\(name).attention.output.LayerNorm", hidden),
                    intermediate: try reader.linear("\(name).intermediate.dense", intermediate, hidden),
                    output: try reader.linear("\(name).output.dense", hidden, intermediate),
                    outputNorm: try reader.norm("\(name).output.LayerNorm", hidden)))
        }
        self.layers = layers
        self.file = file
    }
}

private struct WeightReader {
    let file: SafetensorsFile
    let prefix: String

    private static func form(of type: SafetensorsHeader.ElementType) -> cembedding_form? {
        switch type {
        case .float32: CEMBEDDING_FLOAT32
        case .float16: CEMBEDDING_FLOAT16
        case .bfloat16: CEMBEDDING_BFLOAT16
        default: nil
        }
    }

    /// Returns an embedding table, stored row by row.
    func table(_ name: String, _ rows: Int, _ columns: Int) throws(EmbeddingError) -> EncoderWeights.Matrix {
        try matrix(
            name, rows, columns, int8: CEMBEDDING_INT8_ROWS, shape: [rows, columns], scaleShape: [rows])
    }

    func linear(_ name: String, _ rows: Int, _ columns: Int) throws(EmbeddingError) -> EncoderWeights.Linear {
        let panel = Int(CEMBEDDING_PANEL)
        let weights = try matrix(
            name + ".weight", rows, columns, int8: CEMBEDDING_INT8_PANELS, shape: [rows / panel, columns, panel],
            scaleShape: [rows / panel, EncoderWeights.groups(columns), panel])
        return EncoderWeights.Linear(name: name, weights: weights, bias: try vector(name + ".bias", [rows]))
    }

    func norm(_ name: String, _ count: Int) throws(EmbeddingError) -> EncoderWeights.Norm {
        EncoderWeights.Norm(
            name: name, gain: try vector(name + ".weight", [count]), shift: try vector(name + ".bias", [count]))
    }

    private func matrix(
        _ name: String, _ rows: Int, _ columns: Int, int8: cembedding_form, shape: [Int], scaleShape: [Int]
    ) throws(EmbeddingError) -> EncoderWeights.Matrix {
        let (tensor, bytes) = try file.tensor(prefix + name)
        guard let base = bytes.baseAddress else {
            throw file.mismatch(name, tensor, expected: "a matrix with elements")
        }
        if tensor.type == .int8, tensor.shape == shape {
            let scales = try vector(name + EncoderWeights.scaleSuffix, scaleShape)
            let view = cembedding_matrix(elements: base, scales: scales.base, rows: rows, columns: columns, form: int8)
            return EncoderWeights.Matrix(view: view, scales: scales)
        }
        guard let form = Self.form(of: tensor.type), tensor.shape == [rows, columns] else {
            throw file.mismatch(name, tensor, expected: "F32, F16 or BF16 [\(rows), \(columns)], or I8 \(shape),")
        }
        return EncoderWeights.Matrix(
            view: cembedding_matrix(elements: base, scales: nil, rows: rows, columns: columns, form: form))
    }

    /// Returns a copy of a vector as floats.
    private func vector(_ name: String, _ shape: [Int]) throws(EmbeddingError) -> FloatBuffer {
        let (tensor, bytes) = try file.tensor(prefix + name)
        guard tensor.shape == shape, Self.form(of: tensor.type) != nil else {
            throw file.mismatch(name, tensor, expected: "F32, F16 or BF16 \(shape)")
        }
        let count = shape.reduce(1, *)
        let buffer = FloatBuffer(count: count)
        for index in 0..<count {
            let element: Float
            switch tensor.type {
            case .float16:
                element = Float16Bits.float(bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
            case .bfloat16:
                element = Float(
                    bitPattern: UInt32(bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self)) << 16)
            default: element = bytes.loadUnaligned(fromByteOffset: index * 4, as: Float.self)
            }
            buffer.base[index] = element
        }
        return buffer
    }
}

/// The binary format of half-precision numbers. Swift's `Float16` is only available on some
/// processors.
enum Float16Bits {
    /// Returns the value of a half-precision number.
    static func float(_ bits: UInt16) -> Float {
        let magnitude = Float(bitPattern: UInt32(bits & 0x7FFF) << 13) * 0x1p112
        let special: UInt32 = bits & 0x7C00 == 0x7C00 ? 0x7F80_0000 : 0
        return Float(bitPattern: magnitude.bitPattern | special | UInt32(bits & 0x8000) << 16)
    }
}
