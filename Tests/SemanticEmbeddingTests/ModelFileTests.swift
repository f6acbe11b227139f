// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import SemanticEmbedding

@Suite("Safetensors files")
struct SafetensorsTests {
    private static let table =
        #"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"I8","shape":[1],"data_offsets":[8,9]}}"#

    private static func header(_ file: [UInt8]) throws(ModelProblem) -> SafetensorsHeader {
        let length = try SafetensorsHeader.length(file.prefix(8), fileBytes: file.count)
        return try SafetensorsHeader(reading: file[8..<8 + length], fileBytes: file.count)
    }

    @Test("Tensors are found by name, with their ranges in the file")
    func read() throws {
        let header = try Self.header(TinyModel.file(table: Self.table + "  ", data: [UInt8](repeating: 0, count: 9)))
        let start = 8 + Self.table.utf8.count + 2
        #expect(header.tensors["a"] == .init(type: .float32, shape: [2], range: start..<start + 8))
        #expect(header.tensors["b"] == .init(type: .int8, shape: [1], range: start + 8..<start + 9))
    }

    @Test(
        "A table that does not describe the data is rejected, with the reason",
        arguments: [
            ("[]", 0, "not a JSON object"), ("{", 0, "cannot be read"), (" {}", 0, "not a JSON object"),
            (#"{"a":{"dtype":"Q4","shape":[1],"data_offsets":[0,1]}}"#, 1, "“a” has elements of the type “Q4”"),
            (#"{"a":{"shape":[1],"data_offsets":[0,1]}}"#, 1, "of the type “none”"),
            (#"{"a":{"dtype":"I8","shape":[-1],"data_offsets":[0,1]}}"#, 1, "no valid shape"),
            (#"{"a":{"dtype":"I8","shape":[1.5],"data_offsets":[0,1]}}"#, 1, "no valid shape"),
            (#"{"a":{"dtype":"I8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}}"#, 1, "no valid shape"),
            (#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[0]}}"#, 1, "no valid offsets"),
            (#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[1,0]}}"#, 1, "no valid offsets"),
            (#"{"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}}"#, 1, "exceed the file"),
            (#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,9223372036854775807]}}"#, 1, "exceed the file"),
            (#"{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,1]}}"#, 1, "too large"),
            (#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,1]}}"#, 1, "has 1 bytes, and its shape needs 4"),
            (#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}"#, 2, "1 bytes that belong to no tensor"),
            (#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[1,2]}}"#, 2, "“a” leaves a gap"),
            (
                #"{"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"I8","shape":[2],"data_offsets":[1,3]}}"#,
                3, "“b” overlaps"
            ),
            (
                #"{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}"#,
                1, "the key “a” twice"
            ),
            (#"{"a":1}"#, 0, "“a” is 1 and not an object"),
        ])
    func refused(table: String, data: Int, reason: String) {
        let file = TinyModel.file(table: table, data: [UInt8](repeating: 0, count: data))
        let problem = #expect(throws: ModelProblem.self) { try Self.header(file) }
        #expect(problem?.text.contains(reason) == true, "\(problem?.text ?? "")")
    }

    @Test("A short file, or one with a huge table, is rejected without reading it")
    func refusedLength() {
        let files: [([UInt8], String)] = [
            ([1, 2, 3], "it has 3 bytes"), ([2, 0, 0, 0, 0, 0, 0, 0, 0x7B], "the file ends earlier"),
            ([UInt8](repeating: 0xFF, count: 16), "the limit is"),
        ]
        for (file, reason) in files {
            let problem = #expect(throws: ModelProblem.self) { try Self.header(file) }
            #expect(problem?.text.contains(reason) == true, "\(problem?.text ?? "")")
        }
    }

    @Test("Accepted tensors are within the file, disjoint, and of their size, with any bytes")
    func fuzz() throws {
        let environment = ProcessInfo.processInfo.environment
        let inputs = environment["SEARCHLIGHT_MODEL_FUZZ"].flatMap { Int($0) } ?? 10_000
        let one = #"{"a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}}"#
        let corpus = [
            TinyModel.file(table: Self.table, data: [UInt8](repeating: 7, count: 9)),
            TinyModel.file(table: one, data: [UInt8](repeating: 1, count: 8)), TinyModel.file(table: "{}", data: []),
        ]
        let tokens = [
            "\"dtype\"", "\"F32\"", "\"I64\"", "[0,0]", "[", "]", "{", "}", ",", ":", "9223372036854775807", "-1",
        ]
        var loop = MutationLoop(seed: MutationLoop.seed, corpus: corpus, tokens: tokens.map { Array($0.utf8) })
        let accepted = try loop.run(inputs) { file in
            // The length is mutated too, but most mutations should reach the content that follows.
            let table = file.count >= 8 ? Int(file[0]) : 0
            let tries = [
                file,
                TinyModel.file(
                    table: String(decoding: file.dropFirst(8).prefix(table), as: UTF8.self),
                    data: Array(file.dropFirst(8 + table))),
            ]
            var isAccepted = false
            for bytes in tries {
                guard let header = try? Self.header(bytes) else { continue }
                isAccepted = true
                var end = 0
                for tensor in header.tensors.values.sorted(by: {
                    ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
                }) {
                    guard tensor.range.lowerBound >= max(end, 8), tensor.range.upperBound <= bytes.count,
                        tensor.shape.reduce(tensor.type.size, *) == tensor.range.count
                    else { throw ModelProblem.damaged("\(tensor)") }
                    end = tensor.range.upperBound
                }
            }
            return isAccepted
        }
        #expect(accepted > 0)
    }
}

@Suite("The folder of a model")
struct ModelFolderTests {
    @Test(
        "An unsupported configuration is rejected by name",
        arguments: [
            (#""bert""#, #""roberta""#, "the type of the model is “roberta”"),
            (#""gelu""#, #""relu""#, "the activation “relu”"), ("1e-12", "0", "“layer_norm_eps”"),
            ("1e-12", "1e-99", "“layer_norm_eps”"),
            (#""hidden_size": 32"#, #""hidden_size": 40"#, "“hidden_size” is 40 and not a multiple of 16"),
            (#""hidden_size": 32"#, #""hidden_size": 8192"#, "“hidden_size” is 8192; supported are 16 to 4096"),
            (#""hidden_size": 32, "#, "", "it has no “hidden_size”"),
            (#""hidden_size": 32"#, #""hidden_size": "32""#, "“hidden_size” is “32” and not an integer"),
            (#""num_attention_heads": 2"#, #""num_attention_heads": 4"#, "no head size"),
            (#""num_attention_heads": 2"#, #""num_attention_heads": 3"#, "no head size"),
            (#""num_hidden_layers": 2"#, #""num_hidden_layers": 1000"#, "“num_hidden_layers” is 1000"),
            (#""hidden_act""#, #""position_embedding_type": "relative_key", "hidden_act""#, "“relative_key”"),
            (#""vocab_size": 12"#, #""vocab_size": 11"#, "table of word embeddings has 11 rows"),
            ("{", "[", "not valid JSON"),
        ])
    func refusedConfiguration(part: String, replacement: String, reason: String) throws {
        let folder = try TemporaryFolder()
        let model = TinyModel.random()
        _ = try model.write(to: folder)
        let changed = model.configuration.replacingOccurrences(of: part, with: replacement)
        #expect(changed != model.configuration)
        try folder.write(Array(changed.utf8), to: "config.json")
        let error = #expect(throws: EmbeddingError.self) { try ModelFolder(path: folder.path) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test("A missing tensor, or one with another shape or type, is rejected by name")
    func refusedTensors() throws {
        let folder = try TemporaryFolder()
        func error(_ change: (inout TinyModel) -> Void, type: String = "F32") throws -> String {
            var model = TinyModel.random()
            change(&model)
            let written = try model.write(to: folder, type: type)
            let error = #expect(throws: EmbeddingError.self) {
                try EncoderWeights(path: written.weightsPath, configuration: written.configuration)
            }
            return error?.description ?? ""
        }
        let name = "encoder.layer.1.output.dense.weight"
        #expect(try error { $0.replace(name, with: nil) }.contains("it has no tensor “\(name)”"))
        let shape = try error {
            $0.replace(name, with: .init(shape: [64, 32], elements: .init(repeating: 0, count: 2048)))
        }
        #expect(
            shape.contains("“\(name)” is F32 [64, 32], and F32, F16 or BF16 [32, 64], or I8 [2, 64, 16], is needed"))
        #expect(try error({ _ in }, type: "I32").contains("is I32 [12, 32]"))
        let bias = "encoder.layer.0.intermediate.dense.bias"
        let short = try error { $0.replace(bias, with: .init(shape: [1], elements: [1])) }
        #expect(short.contains("“\(bias)” is F32 [1], and F32, F16 or BF16 [64] is needed"))
    }

    @Test("A file that is missing, empty, truncated or a folder is rejected with its path")
    func refusedFiles() throws {
        let folder = try TemporaryFolder()
        let written = try TinyModel.random().write(to: folder)
        let whole = try folder.read("model.safetensors")
        func error() -> String {
            let error = #expect(throws: EmbeddingError.self) { try TextEmbedder(folder: written) }
            return error?.description ?? ""
        }
        try folder.write(whole.dropLast(), to: "model.safetensors")
        #expect(error().contains("exceed the file"))
        try folder.write([], to: "model.safetensors")
        #expect(error().contains("it is empty"))
        try FileManager.default.removeItem(atPath: folder.path("model.safetensors"))
        #expect(error().contains(folder.path("model.safetensors")) && error().contains("No such file"))
        try FileManager.default.createDirectory(
            atPath: folder.path("model.safetensors"), withIntermediateDirectories: false)
        #expect(error().contains("not a regular file"))
        try FileManager.default.removeItem(atPath: folder.path("vocab.txt"))
        let missing = #expect(throws: EmbeddingError.self) { try ModelFolder(path: folder.path) }
        #expect(missing?.description.contains("tokenizer.json") == true)
    }

    @Test("The files of a sentence transformer describe its use, as does an installed model's own file")
    func settings() throws {
        let folder = try TemporaryFolder()
        _ = try TinyModel.random().write(to: folder)
        try FileManager.default.createDirectory(
            atPath: folder.path("1_Pooling"), withIntermediateDirectories: false)
        let pooling = #"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#
        try folder.write(Array(pooling.utf8), to: "1_Pooling/config.json")
        let prompts = #"{"prompts": {"query": "query: ", "document": "passage: "}}"#
        try folder.write(Array(prompts.utf8), to: "config_sentence_transformers.json")
        try folder.write(Array(#"{"do_lower_case": false}"#.utf8), to: "tokenizer_config.json")
        let settings = try ModelFolder(path: folder.path).settings
        #expect(settings.pooling == .start && settings.maximumTokens == 40)
        #expect(settings.queryPrefix == "query: " && settings.passagePrefix == "passage: ")
        #expect(settings.rules == TextRules(lowercases: false, stripsAccents: false))

        var own = settings
        own.queryPrefix = "find: "
        try folder.write(Array(own.json.utf8), to: "searchlight-model.json")
        #expect(try ModelFolder(path: folder.path).settings == own)

        try FileManager.default.removeItem(atPath: folder.path("searchlight-model.json"))
        try folder.write(Array(#"{"pooling_mode_max_tokens": true}"#.utf8), to: "1_Pooling/config.json")
        let error = #expect(throws: EmbeddingError.self) { try ModelFolder(path: folder.path) }
        #expect(error?.description.contains("“max_tokens” is not supported") == true)
    }

    @Test("A query and a passage are embedded with their prefixes")
    func prefixes() throws {
        let folder = try TemporaryFolder()
        let written = try TinyModel.random().write(to: folder)
        var settings = ModelSettings()
        (settings.queryPrefix, settings.passagePrefix) = ("sea ", "the ")
        let prefixed = try TextEmbedder(folder: try ModelFolder(path: folder.path, settings: settings))
        let plain = try TextEmbedder(folder: written)
        #expect(try prefixed.embed(query: "anna") == plain.embed(query: "sea anna"))
        let passage = try #require(prefixed.passages(title: "anna", text: "sea").first)
        #expect(try prefixed.embed(passage) == plain.embed(query: "the anna sea"))
        #expect(prefixed.width == 32)
        #expect(TextEmbedder.similarity(try plain.embed(query: "anna"), try plain.embed(query: "anna")) > 0.999)
    }
}
