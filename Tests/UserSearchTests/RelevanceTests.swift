// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TextAnalysis
import UserSearch

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

    @Test("A title with another beginning is not the whole title")
    func others() {
        #expect(Self.parts("Annual report", typed: "report")?.fit == .title)
        #expect(Self.parts("(Report)", typed: "report")?.fit == .wholeTitle)
        #expect(Self.parts("v12.18", typed: "12.18")?.fit == .wholeTitle)
    }
}
