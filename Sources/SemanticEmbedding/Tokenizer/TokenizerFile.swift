// SPDX-License-Identifier: Apache-2.0
import JSONText

/// The contents of `tokenizer.json`: the vocabulary and the normalization rules.
package struct TokenizerFile {
    package let vocabulary: WordPieceVocabulary
    package let rules: TextRules

    package init(reading bytes: [UInt8]) throws(ModelProblem) {
        let document = try ModelDocument(reading: bytes[...])
        guard let model = try document.object("model") else { throw .damaged("it has no “model”.") }
        try Self.check(try model.text("type") ?? "WordPiece", is: "WordPiece", "model")
        guard try model.text("unk_token") ?? "[UNK]" == "[UNK]" else {
            throw .unsupported("its token of unknown words is not “[UNK]”.")
        }
        guard try model.text("continuing_subword_prefix") ?? "##" == WordPieceVocabulary.continuation else {
            throw .unsupported("its prefix of continuing pieces is not “##”.")
        }
        guard case .object(let fields) = model["vocab"] else { throw .damaged("its model has no object “vocab”.") }
        var entries: [(String, Int)] = []
        entries.reserveCapacity(fields.count)
        for field in fields {
            guard case .integer(let number) = field.value, let number = Int(exactly: number) else {
                throw .damaged("the entry “\(field.key.cut)” of its vocabulary is not an integer.")
            }
            entries.append((field.key, number))
        }
        var controls: Set<String> = []
        for value in try document.list("added_tokens") {
            let token = try ModelDocument(value, "an added token")
            guard let content = try token.text("content") else { throw .damaged("an added token has no content.") }
            controls.insert(content)
        }
        vocabulary = try WordPieceVocabulary(entries: entries, controls: controls)
        rules = try Self.rules(document)
    }

    private static func rules(_ document: ModelDocument) throws(ModelProblem) -> TextRules {
        if let splitter = try document.object("pre_tokenizer") {
            try check(try splitter.text("type"), is: "BertPreTokenizer", "division into words")
        }
        guard let normalizer = try document.object("normalizer") else {
            throw .unsupported("it has no normalizer, and “BertNormalizer” is needed.")
        }
        try check(try normalizer.text("type"), is: "BertNormalizer", "normalizer")
        guard try normalizer.bool("clean_text") ?? true else {
            throw .unsupported("its normalizer keeps control characters.")
        }
        let lowercases = try normalizer.bool("lowercase") ?? true
        return TextRules(
            lowercases: lowercases, stripsAccents: try normalizer.bool("strip_accents") ?? lowercases,
            separatesIdeographs: try normalizer.bool("handle_chinese_chars") ?? true)
    }

    private static func check(_ type: String?, is expected: String, _ part: String) throws(ModelProblem) {
        guard type == expected else {
            throw .unsupported("its \(part) is “\((type ?? "unnamed").cut)” and not “\(expected)”.")
        }
    }
}
