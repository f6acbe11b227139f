// SPDX-License-Identifier: Apache-2.0
import JSONText

/// The settings for using a model that are not part of `config.json`.
///
/// Models of the e5 family require `query: ` and `passage: ` before texts. Models of the bge family
/// require a sentence before queries, and use the output of the start token.
package struct ModelSettings: Hashable, Sendable {
    /// The method for combining the outputs of all tokens into one embedding.
    package enum Pooling: String, Hashable, Sendable {
        case mean
        /// Uses the output of the start token.
        case start
    }

    package var pooling = Pooling.mean
    /// The text before every query.
    package var queryPrefix = ""
    /// The text before every passage.
    package var passagePrefix = ""
    /// The largest number of tokens in a passage.
    package var maximumTokens = Self.usualTokens
    package var rules = TextRules()

    /// The largest number of tokens, unless the model has fewer positions.
    static let usualTokens = 256
    private static let maximumPrefixBytes = 512

    package init() {}

    /// The file in which an installed model stores its settings.
    static let fileName = "searchlight-model.json"

    /// Reads `searchlight-model.json`.
    package init(reading bytes: [UInt8]) throws(ModelProblem) {
        let document = try ModelDocument(reading: bytes[...])
        if let name = try document.text("pooling") {
            guard let pooling = Pooling(rawValue: name) else {
                throw .unsupported("the pooling “\(name.cut)” is not “mean” or “start”.")
            }
            self.pooling = pooling
        }
        queryPrefix = try Self.prefix("query_prefix", of: document)
        passagePrefix = try Self.prefix("passage_prefix", of: document)
        maximumTokens = try document.integer("maximum_tokens", in: 8...512, default: Self.usualTokens)
        rules.lowercases = try document.bool("lowercase") ?? true
        rules.stripsAccents = try document.bool("strip_accents") ?? rules.lowercases
        rules.separatesIdeographs = try document.bool("separate_ideographs") ?? true
    }

    private static func prefix(_ key: String, of document: ModelDocument) throws(ModelProblem) -> String {
        let prefix = try document.text(key) ?? ""
        guard prefix.utf8.count <= maximumPrefixBytes else {
            throw .unsupported("“\(key)” has more than \(maximumPrefixBytes) bytes.")
        }
        return prefix
    }

    /// The settings as the content of `searchlight-model.json`.
    package var json: String {
        let fields: [(String, JSONValue)] = [
            ("pooling", .text(pooling.rawValue)), ("query_prefix", .text(queryPrefix)),
            ("passage_prefix", .text(passagePrefix)), ("maximum_tokens", .integer(Int64(maximumTokens))),
            ("lowercase", .bool(rules.lowercases)), ("strip_accents", .bool(rules.stripsAccents)),
            ("separate_ideographs", .bool(rules.separatesIdeographs)),
        ]
        return JSONValue.object(fields.map { JSONValue.Field(key: $0.0, value: $0.1) }).json + "\n"
    }
}

extension ModelSettings {
    /// Reads the pooling method from a sentence transformer's `1_Pooling/config.json`.
    mutating func readPooling(_ bytes: [UInt8]) throws(ModelProblem) {
        let document = try ModelDocument(reading: bytes[...])
        let isStart = try document.bool("pooling_mode_cls_token") ?? false
        let isMean = try document.bool("pooling_mode_mean_tokens") ?? !isStart
        let others = ["max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"]
        for name in others where try document.bool("pooling_mode_\(name)") ?? false {
            throw .unsupported("the pooling “\(name)” is not supported, only the mean or the start token.")
        }
        guard isStart != isMean else {
            throw .unsupported("the pooling is not exactly one of the mean and the start token.")
        }
        pooling = isStart ? .start : .mean
    }

    /// Reads the prompts from `config_sentence_transformers.json`.
    mutating func readPrompts(_ bytes: [UInt8]) throws(ModelProblem) {
        guard let prompts = try ModelDocument(reading: bytes[...]).object("prompts") else { return }
        queryPrefix = try Self.prefix("query", of: prompts)
        passagePrefix = try Self.prefix(prompts["passage"] == nil ? "document" : "passage", of: prompts)
    }

    /// Reads the text rules from `tokenizer_config.json`.
    mutating func readTokenizerRules(_ bytes: [UInt8]) throws(ModelProblem) {
        let document = try ModelDocument(reading: bytes[...])
        rules.lowercases = try document.bool("do_lower_case") ?? true
        rules.stripsAccents = try document.bool("strip_accents") ?? rules.lowercases
        rules.separatesIdeographs = try document.bool("tokenize_chinese_chars") ?? true
    }
}
