// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TextAnalysis

@testable import UserSearch

@Suite("The rule of ranking")
struct RelevanceTests {
    private static let fragments = [
        "Oslo", "v12", "v", "12", "3", "python3", ".", ".18", "'", "’", "O'Reilly", "C++", "C#", " ", " ", "-", "_",
        "é",
        "e\u{301}", "\u{301}", "日本", "ß", "İ", "ﬁ", "𝒜", "№", "½", "ab",
    ]

    private static func parts(_ title: String, typed: String, keywords: String = "", names: [String] = [])
        -> ScoreParts?
    {
        let words = TextAnalyzer.searchWords(of: typed).map { QueryWord($0, stems: [$0]) }
        return Relevance(words: words, typed: typed).parts(
            of: [title, keywords, "", ""], language: .english, names: names, age: 0)
    }

    @Test("Any title, keyword or name is found by its whole text", arguments: UInt64(1)...4)
    func whole(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let text = (0..<(1 + random.below(5))).map { _ in random.pick(Self.fragments) }.joined()
            guard !TextAnalyzer.searchWords(of: text).isEmpty else { continue }
            #expect(Self.parts(text, typed: text)?.fit == .wholeTitle, "\(text)")
            #expect(Self.parts("", typed: text, keywords: "other\n" + text)?.fit == .wholeName, "\(text)")
            #expect(Self.parts("", typed: text, names: ["other", text])?.fit == .wholeName, "\(text)")
        }
    }

    @Test("A form of a word is found also if the stem begins with another letter")
    func otherBeginnings() {
        for (language, word, form) in [
            (WordLanguage.indonesian, "ajar", "mengajar"), (.arabic, "كتاب", "الكتاب"), (.irish, "teach", "dteach"),
            (.serbian, "knjiga", "књиге"),
        ] {
            let (word, form) = (TextAnalyzer.searchWords(of: word)[0], TextAnalyzer.searchWords(of: form)[0])
            let stems = WordStems([])
            #expect(stems.stem(form, in: language) == stems.stem(word, in: language), "\(form)")
            let words = [QueryWord(word, stems: [stems.stem(word, in: language)])]
            for languages in [nil, [.english, language]] {
                let relevance = Relevance(words: words, typed: word, languages: languages)
                #expect(relevance.parts(of: [form, "", "", ""], language: language, age: 0) != nil, "\(form)")
            }
            #expect(
                Relevance(words: words, typed: word, languages: [.english, language])
                    .parts(of: [form, "", "", ""], language: .english, age: 0) == nil)
        }
    }

    @Test("Only some languages have stems with other beginnings than their words", arguments: WordLanguage.allCases)
    func beginnings(of language: WordLanguage) {
        let alphabets: [WordLanguage: ClosedRange<UInt32>] = [
            .arabic: 0x621...0x64A, .greek: 0x3B1...0x3C9, .hindi: 0x905...0x94D, .armenian: 0x561...0x586,
            .nepali: 0x905...0x94D, .russian: 0x430...0x44F, .serbian: 0x430...0x45F, .tamil: 0xB85...0xBCD,
            .yiddish: 0x5D0...0x5EA,
        ]
        let letters = (alphabets[language] ?? 0x61...0x7A).compactMap(Unicode.Scalar.init)
        let stems = WordStems([])
        var random = SplitMix64(seed: 9)
        var changed = 0
        for _ in 0..<10_000 {
            var word = String.UnicodeScalarView()
            for _ in 0..<(3 + random.below(6)) { word.append(random.pick(letters)) }
            let text = String(word)
            if stems.stem(text, in: language).utf8.first != text.utf8.first { changed += 1 }
        }
        #expect((changed > 0) == language.changesBeginnings, "\(changed) of 10,000 words")
    }

    @Test(
        "A word of Latin letters and its stem of four letters or more have the same first two letters",
        arguments: WordLanguage.allCases.filter { !$0.changesBeginnings })
    func secondLetters(of language: WordLanguage) {
        let letters = Array("abcdefghijklmnopqrstuvwxyz".unicodeScalars)
        let stems = WordStems([])
        var random = SplitMix64(seed: 10)
        for _ in 0..<10_000 {
            let word = String(String.UnicodeScalarView((0..<(3 + random.below(9))).map { _ in random.pick(letters) }))
            let stem = stems.stem(word, in: language)
            guard stem.utf8.count > Relevance.longestIrregularStem else { continue }
            #expect(stem.utf8.prefix(2).elementsEqual(word.utf8.prefix(2)), "\(word): \(stem)")
        }
    }

    @Test("A form of a short word is found although its second letter differs")
    func irregular() {
        for (word, form) in [("die", "dying"), ("lie", "lying"), ("tie", "tying"), ("sky", "skies")] {
            let words = [QueryWord(word, stems: [WordStems([]).stem(word, in: .english)])]
            #expect(
                Relevance(words: words, typed: word, languages: [.english])
                    .parts(of: ["", "", "", "a \(form) one"], language: .english, age: 0)?.fit == .text, "\(form)")
        }
    }

    @Test("A title with another beginning is not the whole title")
    func others() {
        #expect(Self.parts("Annual report", typed: "report")?.fit == .title)
        #expect(Self.parts("(Report)", typed: "report")?.fit == .wholeTitle)
        #expect(Self.parts("v12.18", typed: "12.18")?.fit == .wholeTitle)
    }
}
