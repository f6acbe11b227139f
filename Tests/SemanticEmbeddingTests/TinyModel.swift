// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import SemanticEmbedding

/// A small model with random weights, and its folder.
struct TinyModel {
    /// A tensor of a file; its elements in row-major order.
    struct Tensor {
        var shape: [Int]
        var elements: [Float]
    }

    static let words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "anna", "sea", "##side", ".", "!", "the", "é"]

    var hidden = 32
    var layers = 2
    var heads = 2
    var intermediate = 64
    var positions = 40
    var vocabulary = Self.words
    private(set) var tensors: [String: Tensor] = [:]

    /// Fills a model with random weights. Its sizes can be changed before.
    mutating func fill(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func tensor(_ shape: Int..., scale: Float, around mean: Float = 0) -> Tensor {
            let count = shape.reduce(1, *)
            let elements = (0..<count).map { _ in mean + scale * (Float(random.below(20001)) / 10000 - 1) }
            return Tensor(shape: shape, elements: elements)
        }
        tensors["embeddings.word_embeddings.weight"] = tensor(vocabulary.count, hidden, scale: 0.5)
        tensors["embeddings.position_embeddings.weight"] = tensor(positions, hidden, scale: 0.3)
        tensors["embeddings.token_type_embeddings.weight"] = tensor(2, hidden, scale: 0.3)
        func norm(_ name: String) {
            tensors[name + ".weight"] = tensor(hidden, scale: 0.3, around: 1)
            tensors[name + ".bias"] = tensor(hidden, scale: 0.2)
        }
        func linear(_ name: String, _ rows: Int, _ columns: Int) {
            tensors[name + ".weight"] = tensor(rows, columns, scale: 0.25)
            tensors[name + ".bias"] = tensor(rows, scale: 0.2)
        }
        norm("embeddings.LayerNorm")
        for layer in 0..<layers {
            let name = "encoder.layer.\(layer)"
            for part in ["query", "key", "value"] { linear("\(name).attention.self.\(part)", hidden, hidden) }
            linear("\(name).attention.output.dense", hidden, hidden)
            norm("\(name).attention.output.LayerNorm")
            linear("\(name).intermediate.dense", intermediate, hidden)
            linear("\(name).output.dense", hidden, intermediate)
            norm("\(name).output.LayerNorm")
        }
    }

    mutating func replace(_ name: String, with tensor: Tensor?) { tensors[name] = tensor }

    static func random(seed: UInt64 = 1) -> TinyModel {
        var model = TinyModel()
        model.fill(seed: seed)
        return model
    }

    var configuration: String {
        """
        {"model_type": "bert", "hidden_act": "gelu", "hidden_size": \(hidden), "num_hidden_layers": \(layers),
         "num_attention_heads": \(heads), "intermediate_size": \(intermediate), "layer_norm_eps": 1e-12,
         "max_position_embeddings": \(positions), "vocab_size": \(vocabulary.count), "type_vocab_size": 2}
        """
    }

    /// Writes the model and returns its folder.
    func write(to folder: TemporaryFolder, type: String = "F32", prefix: String = "") throws -> ModelFolder {
        try folder.write(Array(configuration.utf8), to: "config.json")
        try folder.write(Array((vocabulary.joined(separator: "\n") + "\n").utf8), to: "vocab.txt")
        try folder.write(Self.safetensors(tensors, type: type, prefix: prefix), to: "model.safetensors")
        return try ModelFolder(path: folder.path)
    }

    /// The model with its weights as a type with fewer bits represents them.
    func rounded(to type: String) -> TinyModel {
        var model = self
        model.tensors = tensors.mapValues { tensor in
            Tensor(shape: tensor.shape, elements: tensor.elements.map { Self.value(Self.bytes($0, type), type) })
        }
        return model
    }

    static func safetensors(_ tensors: [String: Tensor], type: String = "F32", prefix: String = "") -> [UInt8] {
        var data: [UInt8] = []
        var fields: [String] = [#""__metadata__":{"format":"pt"}"#]
        for (name, tensor) in tensors.sorted(by: { $0.key < $1.key }) {
            let start = data.count
            for element in tensor.elements { data += bytes(element, type) }
            let (shape, offsets) = ("\(tensor.shape)", "[\(start),\(data.count)]")
            fields.append(
                #""\#(prefix + name)":{"dtype":"\#(type)","shape":\#(shape),"data_offsets":\#(offsets)}"#)
        }
        return file(table: "{\(fields.joined(separator: ","))}", data: data)
    }

    /// The bytes of a safetensors file.
    static func file(table: String, data: [UInt8]) -> [UInt8] {
        let length = UInt64(table.utf8.count)
        return (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + Array(table.utf8) + data
    }

    private static func bytes(_ element: Float, _ type: String) -> [UInt8] {
        func split(_ bits: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
        }
        switch type {
        case "BF16": return split((element.bitPattern + 0x8000) >> 16, 2)
        // Rounds toward zero. The weights of the tests are in the normal range of half precision,
        // or 0.
        case "F16":
            guard abs(element) >= 0x1p-14 else { return [0, 0] }
            let bits = element.bitPattern
            return split(bits >> 16 & 0x8000 | ((bits >> 23 & 0xFF) - 112) << 10 | bits >> 13 & 0x3FF, 2)
        default: return split(element.bitPattern, 4)
        }
    }

    private static func value(_ bytes: [UInt8], _ type: String) -> Float {
        let bits = bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        switch type {
        case "BF16": return Float(bitPattern: bits << 16)
        case "F16":
            guard bits & 0x7FFF != 0 else { return 0 }
            return Float(bitPattern: (bits & 0x8000) << 16 | ((bits >> 10 & 0x1F) + 112) << 23 | (bits & 0x3FF) << 13)
        default: return Float(bitPattern: bits)
        }
    }
}

/// The encoder as its definition says it, in double precision.
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
