// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import SemanticEmbedding

extension TinyModel {
    /// Writes the model and returns its folder.
    func write(to folder: TemporaryFolder, type: String = "F32", prefix: String = "") throws -> ModelFolder {
        try writeFiles(to: folder, type: type, prefix: prefix)
        return try ModelFolder(path: folder.path)
    }
}

/// The encoder by its definition, in double precision.
struct EncoderOracle {
    let model: TinyModel

    private func elements(_ name: String) -> [Double] { model.tensors[name]?.elements.map(Double.init) ?? [] }

    /// Returns the embedding of tokens.
    func embedding(_ tokens: [Int32], pooling: ModelSettings.Pooling) -> [Double] {
        let hidden = model.hidden
        let words = elements("embeddings.word_embeddings.weight")
        let positions = elements("embeddings.position_embeddings.weight")
        let types = elements("embeddings.token_type_embeddings.weight")
        var states = tokens.enumerated().map { position, token in
            (0..<hidden).map {
                words[Int(token) * hidden + $0] + positions[position * hidden + $0] + types[$0]
            }
        }
        states = states.map { norm($0, "embeddings.LayerNorm") }
        for layer in 0..<model.layers { states = run("encoder.layer.\(layer)", states) }
        let rows = pooling == .mean ? states : [states[0]]
        let mean = (0..<hidden).map { index in rows.reduce(0) { $0 + $1[index] } / Double(rows.count) }
        let length = mean.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return mean.map { $0 / length }
    }

    private func run(_ name: String, _ states: [[Double]]) -> [[Double]] {
        let size = model.hidden / model.heads
        let queries = states.map { linear($0, "\(name).attention.self.query") }
        let keys = states.map { linear($0, "\(name).attention.self.key") }
        let values = states.map { linear($0, "\(name).attention.self.value") }
        var context = states.map { _ in [Double](repeating: 0, count: model.hidden) }
        for head in 0..<model.heads {
            let columns = head * size..<(head + 1) * size
            for (row, query) in queries.enumerated() {
                let scores = keys.map { key in
                    columns.reduce(0) { $0 + query[$1] * key[$1] } / Double(size).squareRoot()
                }
                let powers = scores.map { exp($0) }
                let sum = powers.reduce(0, +)
                for column in columns {
                    context[row][column] = zip(powers, values).reduce(0) { $0 + $1.0 / sum * $1.1[column] }
                }
            }
        }
        let attended = zip(states, context).map { state, context in
            norm(add(state, linear(context, "\(name).attention.output.dense")), "\(name).attention.output.LayerNorm")
        }
        return attended.map { state in
            let wide = linear(state, "\(name).intermediate.dense").map { 0.5 * $0 * (1 + erf($0 / 2.0.squareRoot())) }
            return norm(add(state, linear(wide, "\(name).output.dense")), "\(name).output.LayerNorm")
        }
    }

    private func add(_ one: [Double], _ other: [Double]) -> [Double] { zip(one, other).map(+) }

    private func linear(_ input: [Double], _ name: String) -> [Double] {
        let weights = elements(name + ".weight")
        return elements(name + ".bias").enumerated().map { row, bias in
            input.indices.reduce(bias) { $0 + input[$1] * weights[row * input.count + $1] }
        }
    }

    private func norm(_ input: [Double], _ name: String) -> [Double] {
        let count = Double(input.count)
        let mean = input.reduce(0, +) / count
        let variance = input.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
        let (gain, shift) = (elements(name + ".weight"), elements(name + ".bias"))
        return input.indices.map { (input[$0] - mean) / (variance + 1e-12).squareRoot() * gain[$0] + shift[$0] }
    }
}
