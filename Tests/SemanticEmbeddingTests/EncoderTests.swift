// SPDX-License-Identifier: Apache-2.0
import CEmbeddingKernels
import Foundation
import TestSupport
import Testing

@testable import SemanticEmbedding

@Suite("The encoder")
struct EncoderTests {
    private static let tokens: [Int32] = [2, 5, 6, 7, 1, 10, 11, 8, 6, 5, 9, 10, 7, 7, 6, 3]

    private func encoder(_ folder: ModelFolder, _ level: KernelLevel) throws -> SentenceEncoder {
        SentenceEncoder(
            weights: try EncoderWeights(path: folder.weightsPath, configuration: folder.configuration),
            configuration: folder.configuration, maximumTokens: 40, level: level)
    }

    private func encode(
        _ folder: ModelFolder, _ tokens: [Int32], _ level: KernelLevel, _ pooling: ModelSettings.Pooling = .mean
    ) throws -> [Float] {
        try encoder(folder, level).encode(tokens, pooling: pooling) { false }
    }

    private func difference(_ one: [Float], _ other: [Double]) -> Double {
        zip(one, other).reduce(0) { max($0, abs(Double($1.0) - $1.1)) }
    }

    @Test("Every level and every number of tokens gives the embedding by the definition")
    func definition() throws {
        let folder = try TemporaryFolder()
        var model = TinyModel()
        (model.hidden, model.heads, model.intermediate) = (48, 3, 80)
        model.fill(seed: 3)
        let oracle = EncoderOracle(model: model)
        let written = try model.write(to: folder)
        for count in [1, 2, 3, 7, 11, 12, 13, 16, 17, 25, 31, 40] {
            let tokens = (0..<count).map { Self.tokens[$0 % Self.tokens.count] }
            let expected = oracle.embedding(tokens, pooling: .mean)
            for level in KernelLevel.available {
                let embedding = try encode(written, tokens, level)
                #expect(difference(embedding, expected) < 2e-6, "\(level), \(count) tokens")
            }
        }
    }

    @Test("The words of a text that the vocabulary has whole are known; pieces and unknown words are not")
    func knownWords() throws {
        let folder = try TemporaryFolder()
        var model = TinyModel()
        model.fill(seed: 3)
        let embedder = TextEmbedder(model: try EmbeddingModel(folder: try model.write(to: folder)))
        #expect(embedder.knownWords(of: "Anna by the seaside [SEP] sea") == ["Anna", "the", "sea"])
        #expect(embedder.knownWords(of: "").isEmpty)
    }

    @Test("Levels with fused operations give equal bits")
    func equalBits() throws {
        let folder = try TemporaryFolder()
        let written = try TinyModel.random(seed: 9).write(to: folder)
        let fused = KernelLevel.available.filter { $0 != .portable }
        let embeddings = try fused.map { try encode(written, Self.tokens, $0) }
        #expect(Set(embeddings).count <= 1)
    }

    @Test("The embedding of the start token agrees with the definition")
    func startPooling() throws {
        let folder = try TemporaryFolder()
        let model = TinyModel.random(seed: 4)
        let written = try model.write(to: folder)
        let embedding = try encode(written, Self.tokens, .best, .start)
        #expect(difference(embedding, EncoderOracle(model: model).embedding(Self.tokens, pooling: .start)) < 2e-6)
    }

    @Test("Weights of 16 bits are read exactly, even where a name precedes theirs", arguments: ["F16", "BF16"])
    func halfPrecision(type: String) throws {
        let folder = try TemporaryFolder()
        let model = TinyModel.random(seed: 5)
        let written = try model.write(to: folder, type: type, prefix: "bert.")
        let expected = EncoderOracle(model: model.rounded(to: type)).embedding(Self.tokens, pooling: .mean)
        for level in KernelLevel.available {
            #expect(difference(try encode(written, Self.tokens, level), expected) < 2e-6, "\(level)")
        }
    }

    @Test("Half precision has all its numbers")
    func halfPrecisionNumbers() {
        #expect(Float16Bits.float(0x3C00) == 1 && Float16Bits.float(0xC000) == -2)
        #expect(Float16Bits.float(0x7BFF) == 65504 && Float16Bits.float(0x0001) == 0x1p-24)
        #expect(Float16Bits.float(0x8000).sign == .minus && Float16Bits.float(0x03FF) == 0x3FFp-24)
        #expect(Float16Bits.float(0x7C00) == .infinity && Float16Bits.float(0x7E00).isNaN)
        // The kernels convert 16 numbers at once.
        for level in KernelLevel.available {
            for first in stride(from: 0, to: 0x10000, by: 16) {
                let halves = (first..<first + 16).map { UInt16($0) }
                var floats = [Float](repeating: 0, count: 16)
                halves.withUnsafeBytes { bytes in
                    guard let base = bytes.baseAddress else { return }
                    var matrix = cembedding_matrix(
                        elements: base, scales: nil, rows: 1, columns: 16, form: CEMBEDDING_FLOAT16)
                    level.kernels.add_row(&matrix, 0, &floats)
                }
                let expected = halves.map(Float16Bits.float)
                #expect(zip(floats, expected).allSatisfy { $0 == $1 || $0.isNaN && $1.isNaN }, "\(level) \(first)")
            }
        }
    }

    @Test("A quantized model is a quarter of the size, and its embeddings point in the same direction")
    func quantized() throws {
        let (source, target) = (try TemporaryFolder(), try TemporaryFolder())
        var model = TinyModel()
        (model.hidden, model.heads, model.intermediate) = (64, 2, 128)
        model.fill(seed: 6)
        let written = try model.write(to: source)
        try ModelQuantization.write(written, to: target.path)
        let quantized = try ModelFolder(path: target.path)
        #expect(quantized.configuration == written.configuration && quantized.settings == written.settings)
        let exact = EncoderOracle(model: model).embedding(Self.tokens, pooling: .mean)
        for level in KernelLevel.available {
            let embedding = try encode(quantized, Self.tokens, level)
            let cosine = zip(embedding, exact).reduce(0) { $0 + Double($1.0) * $1.1 }
            #expect(cosine > 0.999, "\(level): \(cosine)")
        }
        #expect(try target.read("model.safetensors").count * 2 < source.read("model.safetensors").count)
        // A second writer must not mix its files with the first writer's files.
        let error = #expect(throws: EmbeddingError.self) { try ModelQuantization.write(written, to: target.path) }
        #expect(error?.description.contains("File exists") == true)
    }

    @Test("A cancelled encoder stops before the next layer, and can be used again")
    func cancelled() throws {
        let folder = try TemporaryFolder()
        let encoder = try encoder(try TinyModel.random().write(to: folder), .best)
        let expected = try encoder.encode(Self.tokens, pooling: .mean) { false }
        var asked = 0
        #expect(throws: EmbeddingError.cancelled) {
            try encoder.encode(Self.tokens, pooling: .mean) {
                asked += 1
                return asked == 2
            }
        }
        #expect(asked == 2)
        #expect(try encoder.encode(Self.tokens, pooling: .mean) { false } == expected)
    }

    @Test("Tokens outside the vocabulary are rejected")
    func badTokens() throws {
        let folder = try TemporaryFolder()
        let encoder = try encoder(try TinyModel.random().write(to: folder), .best)
        func encode(_ tokens: [Int32]) throws { _ = try encoder.encode(tokens, pooling: .mean) { false } }
        #expect(throws: EmbeddingError.tooLong(tokens: 41, limit: 40)) {
            try encode([Int32](repeating: 2, count: 41))
        }
        #expect(throws: EmbeddingError.tooLong(tokens: 0, limit: 40)) { try encode([]) }
        #expect(throws: EmbeddingError.unknownToken(12)) { try encode([2, 12]) }
        #expect(throws: EmbeddingError.unknownToken(-1)) { try encode([-1]) }
    }

    @Test("Invalid weights are reported, not returned")
    func notFinite() throws {
        let folder = try TemporaryFolder()
        var model = TinyModel()
        model.fill(seed: 1)
        model.spoil("encoder.layer.1.output.dense.bias")
        let written = try model.write(to: folder)
        #expect(throws: EmbeddingError.notFinite) { try encode(written, Self.tokens, .best) }
    }
}

extension TinyModel {
    /// Sets the first element of a tensor to NaN.
    fileprivate mutating func spoil(_ name: String) {
        var tensor = tensors[name] ?? Tensor(shape: [0], elements: [])
        tensor.elements[0] = .nan
        replace(name, with: tensor)
    }
}
