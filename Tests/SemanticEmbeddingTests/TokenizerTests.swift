// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import SemanticEmbedding

/// The reference implementation's tokenisations, with a vocabulary of their tokens. A piece that is
/// not among them cannot affect the longest match.
private struct TokenizerReference: Decodable {
    struct Vector: Decodable {
        let text: String
        let ids: [Int32]
        let tokens: [String]
    }

    let vectors: [Vector]

    static func load() throws -> TokenizerReference {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Reference")
        let bytes = try Data(contentsOf: folder.appending(path: "wordpiece-vectors.json"))
        return try JSONDecoder().decode(TokenizerReference.self, from: bytes)
    }

    /// Returns the vocabulary as the lines of `vocab.txt`.
    func vocabulary() -> [UInt8] {
        let largest = vectors.flatMap(\.ids).max() ?? 0
        var lines = (0...largest).map { "[unused\($0)]" }
        lines[0] = "[PAD]"
        for vector in vectors {
            for (number, token) in zip(vector.ids, vector.tokens) { lines[Int(number)] = token }
        }
        // The parts of control tokens in a text, with the numbers that they have in the model's
        // vocabulary.
        for (number, token) in ControlTokens.pieces { lines[number] = token }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }
}

private enum ControlTokens {
    static let text = "[CLS] literal [SEP] markers [MASK] in text [UNK]"
    static let pieces = [
        (1031, "["), (1033, "]"), (18856, "cl"), (2015, "##s"), (19802, "sep"), (7308, "mask"), (4895, "un"),
        (2243, "##k"),
    ]
    static let tokens = [
        "[CLS]", "[", "cl", "##s", "]", "literal", "[", "sep", "]", "markers", "[", "mask", "]", "in", "text", "[",
        "un", "##k", "]", "[SEP]",
    ]
}

@Suite("WordPiece tokens")
struct TokenizerTests {
    private func tokenizer(_ lines: [String], rules: TextRules = TextRules()) throws -> WordPieceTokenizer {
        let bytes = Array(lines.joined(separator: "\n").utf8)
        return WordPieceTokenizer(vocabulary: try WordPieceVocabulary(readingLines: bytes), rules: rules)
    }

    private let controls = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

    @Test("The tokens agree with the reference implementation, except for control tokens in a text")
    func reference() throws {
        let reference = try TokenizerReference.load()
        let lines = reference.vocabulary()
        let tokenizer = WordPieceTokenizer(vocabulary: try WordPieceVocabulary(readingLines: lines), rules: TextRules())
        var numbers: [String: Int32] = [:]
        for (number, line) in String(decoding: lines, as: UTF8.self).split(separator: "\n").enumerated() {
            numbers[String(line)] = Int32(number)
        }
        #expect(reference.vectors.count == 20)
        for vector in reference.vectors {
            let tokens = tokenizer.tokens(of: vector.text, limit: 512)
            if vector.text == ControlTokens.text {
                #expect(tokens == ControlTokens.tokens.map { numbers[$0] })
                #expect(tokens.dropFirst().dropLast().allSatisfy { !(100...103).contains($0) })
            } else {
                #expect(tokens == vector.ids, "\(vector.text)")
            }
        }
    }

    @Test("No text becomes a control token, even if the vocabulary could spell one")
    func controlTokens() throws {
        let names = ["start", "end"]
        let entries = (controls + names + ["a", "##start"]).enumerated().map { ($0.element, $0.offset) }
        let vocabulary = try WordPieceVocabulary(entries: entries, controls: Set(names))
        let tokenizer = WordPieceTokenizer(vocabulary: vocabulary, rules: TextRules())
        var random = SplitMix64(seed: 11)
        let parts = controls + names + ["a", " ", "\u{200B}", "[", "]", "##", "\u{301}"]
        for _ in 0..<2000 {
            let text = (0..<random.below(8)).map { _ in random.pick(parts) }.joined()
            let inner = tokenizer.tokens(of: text, limit: 64).dropFirst().dropLast()
            #expect(inner.allSatisfy { [1, 7, 8].contains($0) }, "\(text)")
        }
    }

    @Test("Each word is its longest pieces from left to right, or unknown")
    func longestPieces() throws {
        var random = SplitMix64(seed: 5)
        for _ in 0..<60 {
            let letters = ["a", "b", "c", "é", "日"]
            let pieces = Set(
                (0..<random.below(40)).map { _ -> String in
                    let piece = (0...random.below(4)).map { _ in random.pick(letters) }.joined()
                    return random.below(2) == 0 ? piece : "##" + piece
                })
            let lines = controls + pieces.sorted()
            let rules = TextRules(lowercases: false, stripsAccents: false, separatesIdeographs: false)
            let tokenizer = try tokenizer(lines, rules: rules)
            for _ in 0..<50 {
                let word = (0...random.below(9)).map { _ in random.pick(letters) }.joined()
                let expected = Self.longest(word, pieces).map { $0.compactMap { lines.firstIndex(of: $0) } } ?? [1]
                let tokens = tokenizer.tokens(of: word, limit: 64).dropFirst().dropLast()
                #expect(tokens.map(Int.init) == expected, "\(word) of \(pieces.sorted())")
            }
        }
    }

    /// Returns the pieces of a word, which are tried one by one.
    private static func longest(_ word: String, _ pieces: Set<String>) -> [String]? {
        var (rest, found) = (Substring(word), [String]())
        while !rest.isEmpty {
            let mark = found.isEmpty ? "" : "##"
            guard let length = (1...rest.count).reversed().first(where: { pieces.contains(mark + rest.prefix($0)) })
            else { return nil }
            found.append(mark + rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return found
    }

    @Test("Any text has tokens within the limit, whose ranges are in order and whole characters")
    func anyText() throws {
        let tokenizer = try tokenizer(controls + ["a", "##b", "e", ".", "日", "##́"])
        var random = SplitMix64(seed: 21)
        for _ in 0..<2000 {
            let text = random.text(length: random.below(60))
            let limit = 2 + random.below(20)
            let tokens = tokenizer.tokens(of: text, prefix: "a.", limit: limit)
            #expect(tokens.first == 2 && tokens.last == 3 && tokens.count <= limit)
            #expect(tokens.allSatisfy { (0..<11).contains($0) })
            var end = 0
            tokenizer.forEachWord(in: text) { word, bytes in
                #expect(word.range.lowerBound >= end && !word.tokens.isEmpty)
                // If a character is divided into several words, each word has the character's
                // range.
                end = word.range.lowerBound
                #expect(String(validating: bytes[word.range], as: UTF8.self) != nil)
                return true
            }
        }
    }

    @Test("Cased models keep letters and accents")
    func cased() throws {
        let rules = TextRules(lowercases: false, stripsAccents: false)
        let tokenizer = try tokenizer(controls + ["É", "é", "e", "Sea", "sea"], rules: rules)
        #expect(tokenizer.tokens(of: "É é Sea sea", limit: 16) == [2, 5, 6, 8, 9, 3])
    }

    @Test("A word of 100 characters is read, and a longer one is unknown")
    func longWords() throws {
        let tokenizer = try tokenizer(controls + ["a", "##a"])
        #expect(tokenizer.tokens(of: String(repeating: "a", count: 100), limit: 512).count == 102)
        #expect(tokenizer.tokens(of: String(repeating: "A", count: 100_000), limit: 512) == [2, 1, 3])
    }

    @Test("Lines may end with a carriage return, and an empty line has a number")
    func lines() throws {
        let bytes = Array((controls.joined(separator: "\r\n") + "\r\n\r\na\r\n").utf8)
        let tokenizer = WordPieceTokenizer(
            vocabulary: try WordPieceVocabulary(readingLines: bytes), rules: TextRules())
        #expect(tokenizer.tokens(of: "a", limit: 16) == [2, 6, 3])
    }

    @Test(
        "An unusable vocabulary is rejected, with the reason",
        arguments: [
            ("[PAD]\n[UNK]\n[CLS]\n", "it has no entry “[SEP]”"), ("", "it has no entry “[UNK]”"),
            ("[UNK]\n[CLS]\n[SEP]\n" + String(repeating: "a", count: 513), "has more than 512 bytes"),
        ])
    func refusedVocabulary(lines: String, reason: String) {
        let problem = #expect(throws: ModelProblem.self) { try WordPieceVocabulary(readingLines: Array(lines.utf8)) }
        #expect(problem?.text.contains(reason) == true, "\(problem?.text ?? "")")
    }
}

@Suite("tokenizer.json")
struct TokenizerFileTests {
    private static let vocabulary = #"{"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "É": 3, "e": 4, "sep": 5, "x": 9}"#

    private func file(
        _ vocabulary: String = Self.vocabulary, model: String = "WordPiece", normalizer: String = "BertNormalizer",
        flags: String = "", splitter: String = "BertPreTokenizer"
    ) -> [UInt8] {
        let text = """
            {"version": "1.0", "added_tokens": [{"id": 9, "content": "x", "special": true}],
             "normalizer": {"type": "\(normalizer)"\(flags)}, "pre_tokenizer": {"type": "\(splitter)"},
             "model": {"type": "\(model)", "unk_token": "[UNK]", "vocab": \(vocabulary)}}
            """
        return Array(text.utf8)
    }

    @Test("Its vocabulary, its rules and its added tokens are read")
    func read() throws {
        let plain = try TokenizerFile(reading: file())
        #expect(plain.rules == TextRules())
        let tokenizer = WordPieceTokenizer(vocabulary: plain.vocabulary, rules: plain.rules)
        #expect(tokenizer.tokens(of: "É x sep", limit: 16) == [1, 4, 0, 5, 2])
        let cased = try TokenizerFile(reading: file(flags: #", "lowercase": false, "strip_accents": null"#))
        #expect(cased.rules == TextRules(lowercases: false, stripsAccents: false))
    }

    @Test("Another kind of tokenizer is rejected by name")
    func refused() {
        let files = [
            (file(model: "Unigram"), "its model is “Unigram”"), (file(model: "BPE"), "“BPE”"),
            (file(normalizer: "Precompiled"), "its normalizer is “Precompiled”"),
            (file(splitter: "Metaspace"), "“Metaspace”"), (file(flags: #", "clean_text": false"#), "keeps control"),
            (file(#"{"[UNK]": 0, "[CLS]": 1, "[SEP]": -2}"#), "the number -2"),
            (file(#"{"[UNK]": 0, "[CLS]": 1, "[SEP]": 1.5}"#), "“[SEP]” of its vocabulary is not an integer"),
            (file("[]"), "no object “vocab”"), (Array("[]".utf8), "is a list and not an object"),
            (Array(#"{"a": 1"#.utf8), "not valid JSON"),
        ]
        for (bytes, reason) in files {
            let problem = #expect(throws: ModelProblem.self) { try TokenizerFile(reading: bytes) }
            #expect(problem?.text.contains(reason) == true, "\(problem?.text ?? "")")
        }
    }
}
