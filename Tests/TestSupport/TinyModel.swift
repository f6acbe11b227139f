// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A small model with random weights, and its folder.
public struct TinyModel: Sendable {
    /// A tensor in a file; its elements are in row-major order.
    public struct Tensor: Sendable {
        public var shape: [Int]
        public var elements: [Float]

        public init(shape: [Int], elements: [Float]) { (self.shape, self.elements) = (shape, elements) }
    }

    public static let words = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "anna", "sea", "##side", ".", "!", "the", "é",
    ]

    public var hidden = 32
    public var layers = 2
    public var heads = 2
    public var intermediate = 64
    public var positions = 40
    public var vocabulary = Self.words
    public private(set) var tensors: [String: Tensor] = [:]

    public init() {}

    /// Fills a model with random weights. Its sizes can be changed beforehand.
    public mutating func fill(seed: UInt64) {
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

    /// Gives two words in the vocabulary the same embedding, so that the model treats them as
    /// synonyms.
    public mutating func makeSynonyms(_ one: String, _ other: String) {
        let name = "embeddings.word_embeddings.weight"
        guard let first = vocabulary.firstIndex(of: one), let second = vocabulary.firstIndex(of: other),
            var table = tensors[name]
        else { return }
        for column in 0..<hidden { table.elements[second * hidden + column] = table.elements[first * hidden + column] }
        tensors[name] = table
    }

    public mutating func replace(_ name: String, with tensor: Tensor?) { tensors[name] = tensor }

    public static func random(seed: UInt64 = 1) -> TinyModel {
        var model = TinyModel()
        model.fill(seed: seed)
        return model
    }

    public var configuration: String {
        """
        {"model_type": "bert", "hidden_act": "gelu", "hidden_size": \(hidden), "num_hidden_layers": \(layers),
         "num_attention_heads": \(heads), "intermediate_size": \(intermediate), "layer_norm_eps": 1e-12,
         "max_position_embeddings": \(positions), "vocab_size": \(vocabulary.count), "type_vocab_size": 2}
        """
    }

    /// Writes the files of the model.
    public func writeFiles(to folder: TemporaryFolder, type: String = "F32", prefix: String = "") throws {
        try folder.write(Array(configuration.utf8), to: "config.json")
        try folder.write(Array((vocabulary.joined(separator: "\n") + "\n").utf8), to: "vocab.txt")
        try folder.write(Self.safetensors(tensors, type: type, prefix: prefix), to: "model.safetensors")
    }

    /// Returns the model with its weights rounded to a type with fewer bits.
    public func rounded(to type: String) -> TinyModel {
        var model = self
        model.tensors = tensors.mapValues { tensor in
            Tensor(shape: tensor.shape, elements: tensor.elements.map { Self.value(Self.bytes($0, type), type) })
        }
        return model
    }

    public static func safetensors(_ tensors: [String: Tensor], type: String = "F32", prefix: String = "") -> [UInt8] {
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

    /// Returns the bytes of a safetensors file.
    public static func file(table: String, data: [UInt8]) -> [UInt8] {
        let length = UInt64(table.utf8.count)
        return (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + Array(table.utf8) + data
    }

    private static func bytes(_ element: Float, _ type: String) -> [UInt8] {
        func split(_ bits: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt32($0))) }
        }
        switch type {
        case "BF16": return split((element.bitPattern + 0x8000) >> 16, 2)
        // Rounds toward zero. The tests' weights are 0 or in the normal range of half precision.
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
