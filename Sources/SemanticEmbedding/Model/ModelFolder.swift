// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// The folder of a model: a published sentence transformer, or the output of ``ModelQuantization``.
/// The initializer reads and checks all files other than the weights.
package struct ModelFolder: Sendable {
    package let path: String
    package let configuration: EncoderConfiguration
    package let settings: ModelSettings
    package let tokenizer: WordPieceTokenizer
    /// The name of the file from which the vocabulary was read.
    let vocabularyName: String

    static let configurationName = "config.json"
    static let weightsName = "model.safetensors"
    private static let linesName = "vocab.txt"
    private static let tokenizerName = "tokenizer.json"

    /// The largest size of a small file, in bytes.
    private static let documentBytes = 1 << 20
    /// The largest size of a vocabulary, in bytes.
    static let vocabularyBytes = 32 << 20

    package var weightsPath: String { path + "/" + Self.weightsName }

    /// Reads a folder.
    ///
    /// - Parameter settings: The settings to use instead of the folder's own.
    package init(path: String, settings: ModelSettings? = nil) throws(EmbeddingError) {
        self.path = path
        let file = path + "/" + Self.configurationName
        let bytes = try Self.required(file, Self.documentBytes)
        do { configuration = try EncoderConfiguration(reading: bytes[...]) } catch { throw error.error(in: file) }
        var known = if let settings { settings } else { try Self.settings(path) }
        known.maximumTokens = min(known.maximumTokens, configuration.positions)

        let lines = path + "/" + Self.linesName
        let vocabulary: WordPieceVocabulary
        if let bytes = try Self.optional(lines, Self.vocabularyBytes) {
            vocabularyName = Self.linesName
            do { vocabulary = try WordPieceVocabulary(readingLines: bytes) } catch { throw error.error(in: lines) }
        } else {
            vocabularyName = Self.tokenizerName
            let file = path + "/" + Self.tokenizerName
            let bytes = try Self.required(file, Self.vocabularyBytes)
            do {
                let tokenizer = try TokenizerFile(reading: bytes)
                vocabulary = tokenizer.vocabulary
                if settings == nil { known.rules = tokenizer.rules }
            } catch { throw error.error(in: file) }
        }
        guard vocabulary.largest < configuration.vocabularySize else {
            throw .unsupported(
                path: path,
                reason: "its vocabulary has the number \(vocabulary.largest), and the table of word embeddings has "
                    + "\(configuration.vocabularySize) rows.")
        }
        self.settings = known
        tokenizer = WordPieceTokenizer(vocabulary: vocabulary, rules: known.rules)
    }

    /// Returns the settings given by the files in the folder.
    private static func settings(_ path: String) throws(EmbeddingError) -> ModelSettings {
        let own = path + "/" + ModelSettings.fileName
        if let bytes = try optional(own, documentBytes) {
            do { return try ModelSettings(reading: bytes) } catch { throw error.error(in: own) }
        }
        var settings = ModelSettings()
        try read(path + "/1_Pooling/config.json") { bytes throws(ModelProblem) in try settings.readPooling(bytes) }
        try read(path + "/config_sentence_transformers.json") { bytes throws(ModelProblem) in
            try settings.readPrompts(bytes)
        }
        try read(path + "/tokenizer_config.json") { bytes throws(ModelProblem) in
            try settings.readTokenizerRules(bytes)
        }
        return settings
    }

    private static func read(
        _ path: String, _ body: ([UInt8]) throws(ModelProblem) -> Void
    ) throws(EmbeddingError) {
        guard let bytes = try optional(path, documentBytes) else { return }
        do { try body(bytes) } catch { throw error.error(in: path) }
    }

    private static func required(_ path: String, _ limit: Int) throws(EmbeddingError) -> [UInt8] {
        do { return try BoundedFile.regular(path, limit: limit) } catch {
            throw .file(path: path, reason: error.description)
        }
    }

    /// Returns the bytes of a file; `nil` if it does not exist.
    private static func optional(_ path: String, _ limit: Int) throws(EmbeddingError) -> [UInt8]? {
        do { return try BoundedFile.regular(path, limit: limit) } catch .system(code: ENOENT) { return nil } catch {
            throw .file(path: path, reason: error.description)
        }
    }
}
