// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import SemanticEmbedding

/// Models with damaged files, and texts with arbitrary characters. `SEARCHLIGHT_MODEL_FUZZ` sets
/// the number of inputs for each test.
@Suite("Damaged models and any text", .timeLimit(.minutes(60)))
struct ModelFuzzTests {
    private static func inputs(_ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["SEARCHLIGHT_MODEL_FUZZ"].flatMap { Int($0) } ?? usual
    }

    private struct Broken: Error, CustomStringConvertible { var description: String }

    /// Returns a model whose weights take about 7 KB, so that many can be written.
    private static func model() -> TinyModel {
        var model = TinyModel()
        (model.hidden, model.heads, model.layers, model.intermediate, model.positions) = (16, 1, 1, 16, 8)
        model.fill(seed: 5)
        return model
    }

    /// Embeds a text at each level. The results are unit vectors, and levels with fused operations
    /// give identical bits.
    private static func check(_ folder: ModelFolder, _ text: String) throws -> [[Float]] {
        let model = try EmbeddingModel(folder: folder)
        var embeddings: [[Float]] = []
        for level in KernelLevel.available {
            let embedder = TextEmbedder(model: model, level: level)
            let embedding = try embedder.embed(query: text)
            let length = embedding.reduce(0) { $0 + Double($1) * Double($1) }
            guard embedding.count == embedder.width, abs(length - 1) < 1e-3 else {
                throw Broken(description: "\(level): a length of \(length.squareRoot())")
            }
            embeddings.append(embedding)
        }
        let fused = zip(KernelLevel.available, embeddings).filter { $0.0 != .portable }.map { $0.1.map(\.bitPattern) }
        guard Set(fused).count <= 1 else { throw Broken(description: "the levels differ") }
        return embeddings
    }

    @Test(
        "A damaged file of a model is rejected, or the model gives embeddings that all levels share",
        arguments: ["config.json", "vocab.txt", "model.safetensors", "searchlight-model.json"])
    func damagedFile(name: String) throws {
        let folder = try TemporaryFolder()
        try Self.model().writeFiles(to: folder)
        try folder.write(
            Array(#"{"pooling": "mean", "query_prefix": "q: ", "maximum_tokens": 8, "lowercase": true}"#.utf8),
            to: "searchlight-model.json")
        let original = Array(try Data(contentsOf: URL(filePath: folder.path(name))))
        let tokens = [
            "16", "4096", "0", "-1", "1e99", "9223372036854775807", "\"", "{", "}", "[", "]", "null", "true", "bert",
            "[CLS]\n", "\n", "##", "F16", "I8", "BF16",
        ]
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: [original], tokens: tokens.map { Array($0.utf8) })
        let accepted = try loop.run(Self.inputs(200)) { bytes in
            try folder.write(bytes, to: name)
            do {
                _ = try Self.check(try ModelFolder(path: folder.path), "Anna by the sea side.")
                return true
            } catch let error as EmbeddingError {
                // Damaged weights may produce numbers that are not finite.
                return error == .notFinite
            }
        }
        #expect(accepted > 0)
    }

    @Test("Any text has passages, and an embedding that all levels share")
    func anyText() throws {
        let folder = try TemporaryFolder()
        let written = try Self.model().write(to: folder)
        let corpus = ["Anna by the sea side.", "é日👨‍👩‍👧\u{0}\u{FFFD}\u{200D}", String(repeating: "sea ", count: 300)]
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: corpus.map { Array($0.utf8) },
            tokens: ["[SEP]", "[CLS]", "##side", "\n\n", "́", "日", "\u{1F600}"].map { Array($0.utf8) })
        let portable = KernelLevel.available.firstIndex(of: .portable) ?? 0
        let splitter = TextEmbedder(model: try EmbeddingModel(folder: written), passageLimit: 4)
        let accepted = try loop.run(Self.inputs(200)) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let embeddings = try Self.check(written, text)
            for other in embeddings {
                let difference = zip(other, embeddings[portable]).reduce(0) { max($0, abs($1.0 - $1.1)) }
                guard difference < 1e-5 else { throw Broken(description: "portable differs by \(difference)") }
            }
            var end = 0
            for passage in splitter.passages(title: String(text.prefix(9)), text: text) {
                guard passage.range.lowerBound >= end, passage.range.upperBound <= text.utf8.count,
                    (1...8).contains(passage.tokens.count), passage.tokens.allSatisfy({ (0..<12).contains($0) })
                else { throw Broken(description: "\(passage)") }
                end = passage.range.upperBound
                _ = try splitter.embed(passage)
            }
            return true
        }
        #expect(accepted == Self.inputs(200))
    }
}
