// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import SemanticEmbedding

private enum ReferenceModel {
    static let path = ProcessInfo.processInfo.environment["SEARCHLIGHT_MODEL"]
}

/// Tests with the real model all-MiniLM-L6-v2. `SEARCHLIGHT_MODEL` is the path of its folder.
@Suite(
    "The reference model",
    .enabled(if: ReferenceModel.path != nil, "skipped: SEARCHLIGHT_MODEL does not name the folder of the model"))
struct ReferenceModelTests {
    private struct Reference: Decodable {
        struct Vector: Decodable {
            let text: String
            let tokens: Int
            let first8: [Float]
            let last4: [Float]
        }

        let cosine_matrix: [[Float]]
        let vectors: [Vector]
    }

    private static func reference<Form: Decodable>(_ name: String, _: Form.Type) throws -> Form {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Reference")
        return try JSONDecoder().decode(Form.self, from: try Data(contentsOf: folder.appending(path: name)))
    }

    private func folder() throws -> ModelFolder { try ModelFolder(path: try #require(ReferenceModel.path)) }

    private static func check(_ embeddings: [[Float]], _ reference: Reference, _ level: KernelLevel) {
        for (embedding, vector) in zip(embeddings, reference.vectors) {
            let known = vector.first8 + vector.last4
            let difference = zip(embedding.prefix(8) + embedding.suffix(4), known).map { abs($0 - $1) }.max() ?? 1
            #expect(difference <= 1e-5, "\(level) \(vector.text.prefix(40))")
        }
        for (row, one) in embeddings.enumerated() {
            for (column, other) in embeddings.enumerated() {
                let cosine = TextEmbedder.similarity(one, other)
                #expect(abs(cosine - reference.cosine_matrix[row][column]) <= 1e-5, "\(level) \(row) \(column)")
            }
        }
    }

    @Test("Every level gives the vectors of the reference implementation within 0.00001")
    func vectors() throws {
        let reference = try Self.reference("minilm-vectors.json", Reference.self)
        let folder = try folder()
        var all: [[[Float]]] = []
        for level in KernelLevel.available {
            let embedder = try TextEmbedder(folder: folder, level: level)
            let embeddings = try reference.vectors.map { vector in
                #expect(embedder.tokenizer.tokens(of: vector.text, limit: 256).count == vector.tokens)
                return try embedder.embed(query: vector.text)
            }
            Self.check(embeddings, reference, level)
            if level != .portable { all.append(embeddings) }
        }
        #expect(Set(all).count <= 1, "levels with fused operations differ")
    }

    @Test("A quantized copy gives embeddings with a cosine of at least 0.999")
    func quantized() throws {
        let (folder, target) = (try folder(), try TemporaryFolder())
        try ModelQuantization.write(folder, to: target.path)
        #expect(try target.read("model.safetensors").count < 24 << 20)
        let (exact, quantized) = (
            try TextEmbedder(folder: folder), try TextEmbedder(folder: try ModelFolder(path: target.path))
        )
        var least: Float = 1
        for vector in try Self.reference("minilm-vectors.json", Reference.self).vectors {
            let (one, other) = (try exact.embed(query: vector.text), try quantized.embed(query: vector.text))
            least = min(least, TextEmbedder.similarity(one, other))
        }
        #expect(least >= 0.999)
        print("the smallest cosine of a quantized embedding: \(least)")
    }

    @Test("The whole vocabulary gives the tokens of the reference, from either file")
    func tokens() throws {
        struct Tokens: Decodable {
            struct Vector: Decodable {
                let text: String
                let ids: [Int32]
            }
            let vectors: [Vector]
        }
        let path = try #require(ReferenceModel.path)
        let tokenizer = try folder().tokenizer
        let file = try TokenizerFile(reading: Array(try Data(contentsOf: URL(filePath: path + "/tokenizer.json"))))
        let other = WordPieceTokenizer(vocabulary: file.vocabulary, rules: file.rules)
        for vector in try Self.reference("wordpiece-vectors.json", Tokens.self).vectors {
            let tokens = tokenizer.tokens(of: vector.text, limit: 512)
            #expect(other.tokens(of: vector.text, limit: 512) == tokens)
            // The only text with control tokens.
            if !vector.text.contains("[CLS]") { #expect(tokens == vector.ids, "\(vector.text)") }
        }
        let texts = ["[CLS] literal [SEP] markers [MASK] in text [UNK]"]
        #expect(
            tokenizer.tokens(of: texts[0], limit: 512) == [
                101, 1031, 18856, 2015, 1033, 18204, 1031, 19802, 1033, 16387, 1031, 7308, 1033, 1999, 3793, 1031, 4895,
                2243, 1033, 102,
            ])
    }
}
