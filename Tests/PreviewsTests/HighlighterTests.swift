// SPDX-License-Identifier: Apache-2.0
import Foundation
import MetadataQuery
import Previews
import TestSupport
import Testing
import TextAnalysis

@Suite("Highlighting found words")
struct HighlighterTests {
    private static func marked(_ text: String, _ query: String?) -> String {
        Highlighter(query: query).pieces(of: text).map { $0.isHighlight ? "[\($0.text)]" : String($0.text) }.joined()
    }

    @Test(
        "Words are marked from their beginning, without regard to case and accents",
        arguments: [
            ("apple", "Apple pie, pineapple, APPLES", "[Apple] pie, pineapple, [APPLE]S"),
            ("creme brulee", "Crème brûlée", "[Crème] [brûlée]"),
            ("crème", "creme cre\u{300}me", "[creme] [cre\u{300}me]"),
            ("pie apple", "apple pie", "[apple] [pie]"),
            ("a", "a-a_a a.a1a", "[a]-[a]_[a] [a].[a]1a"),
            ("\"white cat\"", "white cat", "[white] [cat]"),
            ("apple:pie*", "apple pie", "[apple] [pie]"),
            ("", "apple", "apple"), ("  \"-*", "apple", "apple"), ("pear", "apple", "apple"), ("apple", "", ""),
            ("日本", "日本語", "[日本]語"),
            ("apple -pie", "apple pie", "[apple] pie"), ("-\"apple pie\" tart", "apple pie tart", "apple pie [tart]"),
            ("-apple", "apple", "apple"), ("apple-pie", "apple pie", "[apple] [pie]"),
            ("apple-pie", "pie apple", "pie apple"),
            ("o'reilly", "Tim O’Reilly, OReilly", "Tim [O’Reilly], [OReilly]"), ("usb", "ＵＳＢメモリ", "[ＵＳＢ]メモリ"),
            ("gesamtk", "Ge\u{AD}samt\u{AD}konzept", "[Ge\u{AD}samt\u{AD}k]onzept"), ("c++", "C, C++", "C, [C++]"),
            ("satis", "Satış", "[Satış]"), ("kind:pdf report", "pdf report", "pdf [report]"),
            ("12.18", "v12.18.3", "[v12].[18].3"), ("京都", "東京都", "東[京都]"),
        ])
    func words(query: String, text: String, expected: String) { #expect(Self.marked(text, query) == expected) }

    @Test("Without a query nothing is marked")
    func noQuery() { #expect(Self.marked("apple", nil) == "apple") }

    @Test("The longest of overlapping marks is used")
    func overlap() {
        #expect(Self.marked("applepie apple", "apple applepie app") == "[applepie] [apple]")
        #expect(Self.marked("applepie", "applepie apple") == "[applepie]")
    }

    @Test("A mark never splits a letter from its accent")
    func wholeCharacters() {
        let text = "cafe\u{301} e\u{301}t"
        for piece in Highlighter(query: "cafe e").pieces(of: text) {
            #expect(piece.text.unicodeScalars.first != "\u{301}")
        }
        #expect(Self.marked(text, "cafe e") == "[cafe\u{301}] [e\u{301}]t")
    }

    @Test(
        "A query of marks, joiners or other signs that fold to nothing ends",
        arguments: [
            "\u{301}", "\u{301} \u{338}", "\u{345}", "\u{200D}", "\u{FE0F}", "\u{AD}", "\u{0}", "\u{93F}", "ª",
            "\u{20E3}",
        ])
    func emptyWords(query: String) {
        let text = "a \u{301}b c\u{301} \u{301}\u{301} d"
        #expect(Highlighter(query: query).pieces(of: text).map(\.text).joined() == text)
    }

    @Test("Ranges are ordered, disjoint, not empty, and reproduce the text", arguments: [61, 62, 63] as [UInt64])
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var marks = 0
        for _ in 0..<300 {
            let text = random.text(length: random.below(80))
            // Usually a part of the text itself, so that something is found.
            let scalars = Array(text.unicodeScalars)
            let start = random.below(scalars.count + 1)
            let part = scalars[start..<min(scalars.count, start + random.below(6))]
            let query =
                random.below(2) == 0 ? random.text(length: random.below(8)) : String(String.UnicodeScalarView(part))
            let highlighter = Highlighter(query: query)
            let ranges = highlighter.ranges(in: text)
            marks += ranges.count
            var end = text.startIndex
            for range in ranges {
                #expect(range.lowerBound >= end && range.lowerBound < range.upperBound, "\(query.debugDescription)")
                end = range.upperBound
            }
            #expect(end <= text.endIndex)
            let pieces = highlighter.pieces(of: text)
            #expect(Array(pieces.map { String($0.text) }.joined().unicodeScalars) == scalars)
            #expect(pieces.count { $0.isHighlight } == ranges.count)
            _ = highlighter.snippet(of: [text], length: random.below(20))
        }
        #expect(marks > 20)
    }

    /// Returns `true` if words are adjacent in a text, the last possibly as a prefix.
    private static func occur(_ words: [String], in text: [String]) -> Bool {
        text.indices.contains { start in
            let part = text[start...].prefix(words.count)
            return part.count == words.count && part.dropLast() == words.dropLast()[...]
                && part.last.map { $0.utf8.starts(with: words[words.count - 1].utf8) } == true
        }
    }

    @Test("Found words are marked in any surroundings", arguments: [71, 72, 73] as [UInt64])
    func foundIsMarked(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let parts = [
            "a", "e", "S", "ss", "b1", "1", " ", "-", "\r\n", "\r", "\n", "\u{301}", "é", "ß", "\u{600}", "日", "Σ", "ς",
            "👩‍👧", "\u{200D}", "\u{FE0F}", "İ", "_", "\u{E33}", "\u{11A8}", "각", "ﬁ", "ＵＳＢ", "㍿", "\u{AD}", "ø",
        ]
        for _ in 0..<400 {
            let text = (0..<random.below(14)).map { _ in random.pick(parts) }.joined()
            let query = (0..<(1 + random.below(4))).map { _ in random.pick(parts) }.joined()
            let pieces = Highlighter(query: query).pieces(of: text)
            #expect(pieces.reduce(0) { $0 + $1.text.count } == text.count, "\(text): a character is split")
            let terms = UserQuery(query).terms.filter { !$0.isExcluded }.map { TextAnalyzer.searchWords(of: $0.text) }
            let words = TextAnalyzer.words(of: text)
            let isFound = terms.contains { !$0.isEmpty && Self.occur($0, in: words) }
            #expect(pieces.contains { $0.isHighlight } == isFound, "\(query) in \(text)")
        }
    }

    @Test("A long text full of the word and a query of a megabyte are handled quickly", .timeLimit(.minutes(10)))
    func large() {
        let text = String(repeating: "a ", count: 100_000)
        #expect(Highlighter(query: "a").ranges(in: text).count == 100_000)
        let longer = text + text
        #expect(Highlighter(query: "a").ranges(in: longer).count == Highlighter.maximumCharacters / 2)
        let query = String(repeating: "a b ", count: 1 << 18)
        #expect(Highlighter(query: query).ranges(in: String(text.prefix(2000))).count == 1000)
        #expect(Highlighter(query: String(repeating: "a", count: 1 << 20)).ranges(in: text).isEmpty)
    }

    // MARK: Snippets

    @Test("A snippet surrounds the first mark, on one line, within the requested length")
    func snippet() {
        let text =
            String(repeating: "before it\n", count: 50) + "the needle is here" + String(repeating: " after", count: 50)
        let snippet = Highlighter(query: "needle").snippet(of: ["other", text], length: 40) ?? ""
        #expect(snippet.contains("needle"))
        #expect(snippet.hasPrefix("…") && snippet.hasSuffix("…"))
        #expect(snippet.count <= 42)
        #expect(!snippet.contains("\n"))
    }

    @Test("Without a mark a snippet is the text's beginning; a short text is unchanged")
    func snippetWithoutMark() {
        #expect(Highlighter(query: "x").snippet(of: ["one two three"], length: 8) == "one two…")
        #expect(Highlighter(query: nil).snippet(of: ["one two"], length: 8) == "one two")
        #expect(Highlighter(query: "two").snippet(of: ["one two"], length: 30) == "one two")
        #expect(Highlighter(query: "a").snippet(of: [""], length: 10) == "")
        #expect(Highlighter(query: "a").snippet(of: [], length: 10) == nil)
        let spaced = String(repeating: "\n ", count: 1000) + "one" + String(repeating: " ", count: 1000) + "two"
        #expect(Highlighter(query: "a").snippet(of: [spaced], length: 10) == "one…")
    }

    @Test("A word is found at any position, even at the borders of the examined part", arguments: [0, 1, 2, 3, 300])
    func farAway(shift: Int) throws {
        for length in [10, (16 << 10) - 302, (128 << 10) - 302, 150_000] {
            for filler in ["a", "é"] {
                let count = (length + shift) / filler.utf8.count
                let text = String(repeating: filler, count: count) + " needle e\u{301} after"
                let highlighter = Highlighter(query: "needle e\u{301}")
                let range = try #require(highlighter.firstRange(in: text))
                #expect(range == highlighter.ranges(in: text).first)
            }
        }
        let far = String(repeating: "a ", count: Highlighter.maximumCharacters / 2) + "needle"
        #expect(Highlighter(query: "needle").firstRange(in: far) == nil)
    }

    @Test("Any length is accepted", arguments: [.min, -1, 0, 1, 2, 3, .max] as [Int])
    func snippetLengths(length: Int) {
        for text in ["", "word", "one word two", String(repeating: "long", count: 5000)] {
            let snippet = Highlighter(query: "word").snippet(of: [text], length: length)
            if length < 100 { #expect((snippet?.count ?? .max) <= max(0, length) + 2) }
        }
    }

    @Test("A snippet has no control characters")
    func snippetIsSafe() {
        let snippet = Highlighter(query: "word").snippet(of: ["\u{1B}[2J word \u{202E}\u{7}"], length: 50)
        #expect(snippet == "[2J word")
    }
}
