// SPDX-License-Identifier: Apache-2.0
import Foundation
import MetadataQuery
import Previews
import TestSupport
import Testing
import TextAnalysis
import UserSearch

@Suite("Highlighting found words")
struct HighlighterTests {
    private static func marked(_ text: String, _ query: String?, _ language: WordLanguage? = nil) -> String {
        Highlighter(query: query, userLanguage: language).pieces(of: text)
            .map { $0.isHighlight ? "[\($0.text)]" : String($0.text) }.joined()
    }

    @Test(
        "Words are marked from their beginning, without regard to case and accents",
        arguments: [
            ("apple", "Apple pie, pineapple, Applejack", "[Apple] pie, pineapple, [Apple]jack"),
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

    @Test(
        "Other forms of a word are marked whole, as the search finds them",
        arguments: [
            ("ferries", "The ferry, ferries and a ferryman", "The [ferry], [ferries] and a ferryman"),
            ("changing timetables ", "the timetable changes", "the [timetable] [changes]"),
            ("apple", "APPLES", "[APPLES]"), ("\"ferries\"", "ferry, ferries", "ferry, [ferries]"),
            ("died ", "dying", "[dying]"), ("o", "oda", "[o]da"),
            (
                "Rechnungen ", "Die Rechnung ist für das neue Büro und nicht für uns",
                "Die [Rechnung] ist für das neue Büro und nicht für uns"
            ),
            ("voiture ", "les voitures", "les [voitures]"), ("ferry's", "ferry's", "[ferry's]"),
        ])
    func forms(query: String, text: String, expected: String) {
        #expect(Self.marked(text, query) == expected)
    }

    @Test("The forms of a title without function words are those of the user's language")
    func languageOfUser() {
        #expect(Self.marked("Haus am See", "Häuser ", .german) == "[Haus] am See")
        #expect(Self.marked("Haus am See", "Häuser ") == "Haus am See")
        #expect(WordLanguage(messagesIn: ["LANG": "de_AT.UTF-8", "LC_MESSAGES": ""]) == .german)
        #expect(WordLanguage(messagesIn: ["LANG": "de_AT.UTF-8", "LC_ALL": "C.UTF-8"]) == nil)
        #expect(WordLanguage(messagesIn: [:]) == nil)
    }

    @Test(
        "Function words are marked only if there are no others, and only the last word may be a beginning",
        arguments: [
            (
                "when is the ferry late ", "The ferry is late when the wind is strong",
                "The [ferry] is [late] when the wind is strong"
            ),
            ("the who ", "The Who", "[The] [Who]"), ("\"the ferry\"", "the ferry", "[the] [ferry]"),
            (
                "wann fährt die Fähre ", "Die Fähre fährt um acht, und die Bahn nicht vor neun ab",
                "Die [Fähre] [fährt] um acht, und die Bahn nicht vor neun ab"
            ),
            ("car insurance", "I care about car insurances", "I care about [car] [insurances]"),
            ("the thea", "the theatre", "the [thea]tre"),
        ])
    func functionWords(query: String, text: String, expected: String) {
        #expect(Self.marked(text, query) == expected)
    }

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
    private static func occur(_ words: [String], isPrefix: Bool, in text: [String]) -> Bool {
        text.indices.contains { start in
            let part = text[start...].prefix(words.count)
            let last = words[words.count - 1]
            return part.count == words.count && part.dropLast() == words.dropLast()[...]
                && part.last.map { isPrefix ? $0.utf8.starts(with: last.utf8) : $0 == last } == true
        }
    }

    @Test("Found words are marked in any surroundings", arguments: [71, 72, 73] as [UInt64])
    func foundIsMarked(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let parts = [
            "a", "e", "S", "ss", "b1", "1", " ", "-", "\r\n", "\r", "\n", "\u{301}", "é", "ß", "\u{600}", "日", "Σ", "ς",
            "👩‍👧", "\u{200D}", "\u{FE0F}", "İ", "_", "\u{E33}", "\u{11A8}", "각", "ﬁ", "ＵＳＢ", "㍿", "\u{AD}", "ø",
        ]
        let stems = WordStems([])
        for _ in 0..<400 {
            let text = (0..<random.below(14)).map { _ in random.pick(parts) }.joined()
            let query = (0..<(1 + random.below(4))).map { _ in random.pick(parts) }.joined()
            let pieces = Highlighter(query: query).pieces(of: text)
            #expect(pieces.reduce(0) { $0 + $1.text.count } == text.count, "\(text): a character is split")
            let terms = UserQuery(query).terms.filter { !$0.isExcluded }
            let contents = terms.filter { $0.isPrefix || $0.isPhrase || $0.text != "a" && $0.text != "s" }
            let words = TextAnalyzer.words(of: text)
            let isFound = (contents.isEmpty ? terms : contents).contains { term in
                let sought = TextAnalyzer.searchWords(of: term.text)
                let stem = stems.stem(sought.first ?? "", in: .english)
                let hasForm =
                    sought.count == 1 && !term.isPhrase && stem.utf8.count > 1
                    && words.contains { stems.stem($0, in: .english) == stem }
                return !sought.isEmpty && (hasForm || Self.occur(sought, isPrefix: term.isPrefix, in: words))
            }
            #expect(pieces.contains { $0.isHighlight } == isFound, "\(query) in \(text)")
        }
    }

    @Test("A long text full of the word and a query of a megabyte are handled quickly", .timeLimit(.minutes(10)))
    func large() {
        let text = String(repeating: "x ", count: 100_000)
        #expect(Highlighter(query: "x").ranges(in: text).count == 100_000)
        let longer = text + text
        #expect(Highlighter(query: "x").ranges(in: longer).count == Highlighter.maximumCharacters / 2)
        let query = String(repeating: "x y ", count: 1 << 18)
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

    private static let filler = String(repeating: "The parish met in the hall for the usual matters. ", count: 30)

    @Test("The snippet of a sentence shows the words that count, not its function words")
    func sentence() throws {
        let text = Self.filler + "In autumn the ferry to the island is replaced by a smaller boat. " + Self.filler
        let snippet = try #require(Highlighter(query: "when is the ferry replaced").snippet(of: [text], length: 90))
        #expect(snippet.contains("the ferry to the island is replaced"))
        let forms = try #require(Highlighter(query: "small islands ").snippet(of: [text], length: 90))
        #expect(forms.contains("island"))
    }

    @Test("The snippet is the passage with the most different words, wherever it is")
    func mostWords() throws {
        let text = "A ferry. " + Self.filler + "Ferry, ferry, ferry. " + Self.filler + "The island ferry." + Self.filler
        let snippet = try #require(Highlighter(query: "ferry island ").snippet(of: [text], length: 60))
        #expect(snippet.contains("The island ferry."))
        let other = try #require(
            Highlighter(query: "ferry island ").snippet(of: ["The ferry only", text, "island"], length: 60))
        #expect(other == snippet)
    }

    @Test("Of passages with equally many words, the one with the rarer word is shown, then the first")
    func rarerWord() throws {
        let text = "A ferry. " + Self.filler + "Another ferry. " + Self.filler + "The island." + Self.filler
        #expect(try #require(Highlighter(query: "ferry island ").snippet(of: [text], length: 40)).contains("island"))
        #expect(try #require(Highlighter(query: "ferry ").snippet(of: [text], length: 40)).hasPrefix("A ferry."))
    }

    @Test(
        "A joined word that begins before a term's first word is not a part of the term",
        arguments: [("e-mail", "mail'e'x"), ("guns n-ro", "guns and rock'n'roll"), ("b-a", "a'b'c")])
    func joinedWords(query: String, text: String) {
        let highlighter = Highlighter(query: query)
        #expect(highlighter.snippet(of: [text], length: 80) == text)
        #expect(!highlighter.pieces(of: text).contains { $0.isHighlight && $0.text.hasPrefix("mail") })
    }

    @Test("Any words with apostrophes, hyphens and quotes have a snippet", arguments: [91, 92, 93] as [UInt64])
    func joinedRandomly(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let parts = ["'", "’", "-", "\"", " ", "a", "b", "mail", "e", "n", "rock", "v1", "+", "é", "\u{301}", "o"]
        for _ in 0..<1000 {
            let text = (0..<random.below(14)).map { _ in random.pick(parts) }.joined()
            let query = (0..<random.below(9)).map { _ in random.pick(parts) }.joined()
            let snippet = Highlighter(query: query).markedSnippet(of: [text], length: 1 + random.below(20))
            var end = 0
            for mark in snippet?.marks ?? [] {
                #expect(mark.lowerBound >= end && !mark.isEmpty && mark.upperBound <= snippet?.text.utf8.count ?? 0)
                end = mark.upperBound
            }
        }
    }

    @Test("The words of a snippet are marked in the language of the whole text")
    func languageOfSnippet() throws {
        let sentences = String(repeating: "Das ist nicht für die Gäste und auch nicht für den Hund. ", count: 20)
        let whole = sentences + "Haus Seeblick " + sentences
        let snippet = try #require(
            Highlighter(query: "Häuser ", userLanguage: nil).markedSnippet(of: [whole], length: 24))
        #expect(snippet.text.contains("Haus") && snippet.marks.count == 1, "\(snippet)")
    }

    @Test("A page of a hundred thousand short pieces is marked quickly", .timeLimit(.minutes(1)))
    func shortPieces() {
        let highlighter = Highlighter(query: String(repeating: "long words of a query ", count: 20))
        for _ in 0..<100_000 { _ = highlighter.marks(in: "&a") }
    }

    @Test("A snippet contains each word of the best passage, and a mark", arguments: [81, 82, 83] as [UInt64])
    func snippetsAreBest(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let vocabulary = ["ferry", "island", "storm", "é", "filler", "words", "längere", "日本"]
        for _ in 0..<200 {
            let text = (0..<(1 + random.below(120))).map { _ in random.pick(vocabulary) }.joined(separator: " ")
            let sought = (0..<(1 + random.below(3))).map { _ in random.pick(vocabulary) }
            let highlighter = Highlighter(query: sought.joined(separator: " ") + " ", userLanguage: nil)
            let length = 40 + random.below(60)
            let snippet = try #require(highlighter.snippet(of: [text], length: length))
            #expect(snippet.count <= length + 2)
            func different(_ part: some StringProtocol) -> Int {
                let own = Set(TextAnalyzer.words(of: String(part)))
                return Set(sought).count { own.contains(TextAnalyzer.words(of: $0)[0]) }
            }
            // No words in half of the length have more of the sought words.
            let words = text.split(separator: " ")
            let best =
                words.indices.map { start in
                    var end = start
                    while end < words.count, words[start...end].joined(separator: " ").count <= length / 2 { end += 1 }
                    return different(words[start..<end].joined(separator: " "))
                }
                .max() ?? 0
            #expect(different(snippet) >= best, "\(sought) in \(text): \(snippet)")
            #expect(highlighter.marks(in: snippet).isEmpty == (best == 0))
        }
    }

    @Test("A word is found at any position, even at the borders of the examined part", arguments: [0, 1, 2, 3, 300])
    func farAway(shift: Int) throws {
        for length in [10, (16 << 10) - 302, (128 << 10) - 302, 150_000] {
            for filler in ["a", "é"] {
                let count = (length + shift) / filler.utf8.count
                let text = String(repeating: filler, count: count) + " needle e\u{301} after"
                let snippet = Highlighter(query: "needle e\u{301}").snippet(of: [text], length: 40)
                #expect(snippet?.contains("needle e\u{301} after") == true)
            }
        }
        let far = String(repeating: "a ", count: Highlighter.maximumCharacters / 2) + "needle"
        #expect(Highlighter(query: "needle").ranges(in: far).isEmpty)
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
