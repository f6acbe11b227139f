// SPDX-License-Identifier: Apache-2.0
import SemanticEmbedding
import TestSupport

extension FuzzTarget {
    private static let json = [
        "{", "}", "[", "]", "\"", ":", ",", "null", "true", "16", "0", "-1", "1e99", "9223372036854775807", "512",
    ]
    private static let settings = """
        {"pooling": "mean", "query_prefix": "query: ", "passage_prefix": "passage: ", "maximum_tokens": 256,
         "lowercase": true, "strip_accents": true, "separate_ideographs": true}
        """
    private static let tokenizer = """
        {"version": "1.0", "added_tokens": [{"id": 0, "content": "[PAD]"}], "pre_tokenizer": {"type": "BertPreTokenizer"},
         "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
         "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                   "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "sea": 4, "##side": 5, "é": 6}}}
        """
    private static let tensors = """
        {"a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
         "b": {"dtype": "I8", "shape": [3], "data_offsets": [8, 11]}, "__metadata__": {"format": "pt"}}
        """
    private static let vocabulary = Result {
        try WordPieceVocabulary(readingLines: Array(TinyModel.words.joined(separator: "\n").utf8))
    }
    private static let words = ["[SEP]", "[CLS]", "##side", "\n\n", ". ", "\u{301}", "日", "\u{1F600}", "\u{0}", "##"]

    /// The files of an embedding model, and the texts that it reads.
    static let models = [
        FuzzTarget(name: "modelSettings", tokens: json, samples: { [Array(settings.utf8)] }) { bytes in
            guard let settings = try accepted({ try ModelSettings(reading: bytes) }) else {
                return false
            }
            try require(try ModelSettings(reading: Array(settings.json.utf8)) == settings, "other settings")
            return true
        },
        FuzzTarget(
            name: "modelConfiguration", tokens: json + ["bert", "gelu"],
            samples: { [Array(TinyModel().configuration.utf8)] }
        ) { bytes in
            let read = try accepted { try EncoderConfiguration(reading: bytes[...]) }
            guard let read else { return false }
            try require(
                read.hiddenSize.isMultiple(of: read.heads) && read.epsilon > 0 && read.epsilon.isFinite
                    && (1...48).contains(read.layers) && (8...8192).contains(read.positions), "\(read)")
            return true
        },
        FuzzTarget(
            name: "tokenizerFile", tokens: json + words + ["\"vocab\"", "[UNK]"],
            samples: { [Array(tokenizer.utf8)] }
        ) { bytes in
            let read = try accepted { try TokenizerFile(reading: bytes) }
            guard let read else { return false }
            try check(WordPieceTokenizer(vocabulary: read.vocabulary, rules: read.rules), "Das Seaside-Café\n\n日本")
            return true
        },
        FuzzTarget(
            name: "vocabulary", tokens: words + ["\n", "\r\n", "[UNK]\n"],
            samples: { [Array(TinyModel.words.joined(separator: "\n").utf8)] }
        ) { bytes in
            let read = try accepted { try WordPieceVocabulary(readingLines: bytes) }
            guard let read else { return false }
            try check(WordPieceTokenizer(vocabulary: read, rules: TextRules()), "Anna by the seaside. É!")
            return true
        },
        FuzzTarget(
            name: "safetensors", tokens: json + ["\"F32\"", "\"I8\"", "[0,0]", "\"dtype\""],
            samples: { [Array(tensors.utf8)] }
        ) { bytes in
            // The samples have 11 bytes of data.
            let fileBytes = SafetensorsHeader.lengthBytes + bytes.count + 11
            let read = try accepted { try SafetensorsHeader(reading: bytes[...], fileBytes: fileBytes) }
            guard let read else { return false }
            var end = SafetensorsHeader.lengthBytes + bytes.count
            for range in read.tensors.values.map(\.range).sorted(by: {
                ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound)
            }) {
                try require(range.lowerBound == end, "a gap or an overlap at \(end)")
                end = range.upperBound
            }
            try require(end == fileBytes, "the data ends at \(end)")
            return true
        },
        text(
            "passages", tokens: words,
            samples: ["Anna by the sea. The seaside!\n\nAnna", "é日👨‍👩‍👧\u{FFFD}\u{200D}", "[CLS] sea [SEP]"]
        ) { text in
            let vocabulary = try vocabulary.get()
            for lowercases in [true, false] {
                let rules = TextRules(lowercases: lowercases, stripsAccents: lowercases)
                try check(WordPieceTokenizer(vocabulary: vocabulary, rules: rules), text)
            }
            return true
        },
    ]

    /// Returns the result of a reader; `nil` if it rejects the input with a sentence.
    private static func accepted<Value>(_ read: () throws -> Value) throws -> Value? {
        do { return try read() } catch let problem as ModelProblem {
            try require((1..<2000).contains(problem.text.utf8.count), "the message “\(problem.text.prefix(100))”")
            return nil
        }
    }

    /// Checks that the passages of a text are within it, in order, and have only known tokens.
    private static func check(_ tokenizer: WordPieceTokenizer, _ text: String) throws {
        let limit = 8
        let splitter = PassageSplitter(tokenizer: tokenizer, prefix: "q: ", tokens: limit, passages: 4)
        var end = 0
        for passage in splitter.passages(title: String(text.prefix(9)), text: text) {
            try require(
                passage.range.lowerBound >= end && passage.range.upperBound <= text.utf8.count
                    && (1...limit).contains(passage.tokens.count), "\(passage)")
            try require(
                passage.tokens.allSatisfy { (0...tokenizer.vocabulary.largest).contains($0) }, "\(passage.tokens)")
            end = passage.range.upperBound
        }
        let tokens = tokenizer.tokens(of: text, limit: limit)
        try require(
            tokens.first == tokenizer.vocabulary.start && tokens.last == tokenizer.vocabulary.end
                && tokens.count <= limit, "\(tokens)")
    }
}
