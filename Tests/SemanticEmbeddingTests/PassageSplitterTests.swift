// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import SemanticEmbedding

@Suite("Passages")
struct PassageSplitterTests {
    private func splitter(tokens: Int = 16, passages: Int = 8, prefix: String = "") throws -> PassageSplitter {
        let lines = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "t", ".", "##b", "p"]
        let vocabulary = try WordPieceVocabulary(readingLines: Array(lines.joined(separator: "\n").utf8))
        let tokenizer = WordPieceTokenizer(vocabulary: vocabulary, rules: TextRules())
        return PassageSplitter(tokenizer: tokenizer, prefix: prefix, tokens: tokens, passages: passages)
    }

    private func texts(_ passages: [TextPassage], _ text: String) -> [String] {
        passages.map { String(decoding: Array(text.utf8)[$0.range], as: UTF8.self) }
    }

    @Test("Each passage has the prefix, the title and a part of the text")
    func title() throws {
        let text = Array(repeating: "a", count: 15).joined(separator: " ")
        let passages = try splitter(prefix: "p").passages(title: "t", text: text)
        #expect(passages.map(\.tokens.count) == [16, 7])
        #expect(passages.allSatisfy { $0.tokens.starts(with: [2, 10, 7, 5]) && $0.tokens.last == 3 })
        #expect(texts(passages, text).joined(separator: " ") == text)
    }

    @Test("A long title takes a quarter of a passage")
    func longTitle() throws {
        let passages = try splitter().passages(title: "t t t t t t t t t t", text: "a a a a a a a a a a")
        #expect(passages.map(\.tokens) == [[2, 7, 7, 7, 7] + Array(repeating: 5, count: 10) + [3]])
    }

    @Test("A passage ends after a paragraph, else after a sentence, and after a word only if it must")
    func endings() throws {
        let splitter = try splitter(tokens: 12)
        let sentence = "a a a a a a. b b b b b b b b b b b b"
        #expect(texts(splitter.passages(title: "", text: sentence), sentence)[0] == "a a a a a a.")
        let paragraph = "a a a a a\n\nb. b b b b b b"
        #expect(texts(splitter.passages(title: "", text: paragraph), paragraph)[0] == "a a a a a")
        let line = "a a a a a a\nb b b b b b"
        #expect(texts(splitter.passages(title: "", text: line), line) == ["a a a a a a", "b b b b b b"])
        let early = "a. b b b b b b b b b b b"
        #expect(texts(splitter.passages(title: "", text: early), early)[0] == "a. b b b b b b b b")
    }

    @Test("A long text has a limited number of passages, and the rest is not read")
    func limits() throws {
        let text = String(repeating: "a ", count: 1_000_000)
        let passages = try splitter(passages: 3).passages(title: "t", text: text)
        #expect(passages.count == 3 && passages.allSatisfy { $0.tokens.count == 16 })
    }

    @Test("A text without words is its title, and an empty item has no passage")
    func empty() throws {
        let splitter = try splitter()
        #expect(splitter.passages(title: "t", text: " \n") == [TextPassage(tokens: [2, 7, 3], range: 0..<0)])
        #expect(splitter.passages(title: "", text: "").isEmpty)
    }

    @Test("For any text, passages are within the limits, in order, and leave out only spaces")
    func anyText() throws {
        var random = SplitMix64(seed: 31)
        let parts = ["a", "ab", "b", ". ", " ", "\n", "\n\n", "é", "日", "。", "abbbbbbbbbbbbbbbbbbbbbbbb", "\u{200B}"]
        for _ in 0..<500 {
            let splitter = try splitter(tokens: 8 + random.below(20), passages: 500)
            let text = (0..<random.below(80)).map { _ in random.pick(parts) }.joined()
            let bytes = Array(text.utf8)
            let passages = splitter.passages(title: random.pick(["", "t"]), text: text)
            var end = 0
            for passage in passages where !passage.range.isEmpty {
                #expect(passage.tokens.count <= 28 && passage.range.lowerBound >= end)
                let between = String(decoding: bytes[end..<passage.range.lowerBound], as: UTF8.self)
                #expect(between.allSatisfy { $0.isWhitespace || $0 == "\u{200B}" }, "\(text.debugDescription)")
                end = passage.range.upperBound
            }
            let rest = String(decoding: bytes[end...], as: UTF8.self)
            #expect(rest.unicodeScalars.allSatisfy { $0.properties.isWhitespace || $0 == "\u{200B}" })
        }
    }
}
