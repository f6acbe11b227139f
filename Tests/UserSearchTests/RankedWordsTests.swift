// SPDX-License-Identifier: Apache-2.0
import TextAnalysis
import Testing

@testable import UserSearch

@Suite("The index terms of an item")
struct RankedWordsTests {
    private static func terms(title: String = "", keywords: String = "", text: String = "") -> [String] {
        RankedWords().terms([title, keywords, "", text], language: .english).split(separator: " ").map(String.init)
    }

    @Test("No term occurs twice, also if titles, keywords and texts repeat words")
    func distinct() {
        let terms = Self.terms(
            title: "Reports\nReport\nreports", keywords: "report\nReports\nreport", text: "a report, reports")
        #expect(Set(terms).count == terms.count)
        #expect(terms.contains("vreport") && terms.contains("vreports"))
        #expect(terms.contains("wreport") && terms.contains("wreports"))
    }

    @Test(
        "The term of a whole title is the one of the typed words",
        arguments: ["Annual Report", "O'Reilly", "v12.18", "C++", "don't panic", "東京", "Überblick: 2024"])
    func whole(title: String) throws {
        let words = TextAnalyzer.searchWords(of: title)
        #expect(Self.terms(title: title).contains(try #require(RankedWords.term(ofWhole: .title, words: words))))
        #expect(Self.terms(keywords: title).contains(try #require(RankedWords.term(ofWhole: .keywords, words: words))))
    }

    @Test("Long and empty titles have no term as a whole")
    func withoutTerm() {
        let long = String(repeating: "word ", count: 13)
        #expect(RankedWords.term(ofWhole: .title, words: TextAnalyzer.searchWords(of: long)) == nil)
        #expect(!Self.terms(title: long).contains { $0.hasPrefix("v") })
        #expect(RankedWords.term(ofWhole: .title, words: []) == nil)
        #expect(!Self.terms(title: "...", keywords: "\n\n").contains { $0.hasPrefix("v") || $0.hasPrefix("w") })
    }

    @Test("Only stems of titles and keywords have fine levels, one each, within their level")
    func fineLevels() throws {
        let terms = Self.terms(title: "Running", keywords: "machine", text: "others run machines, other machines")
        for stem in ["run", "machin"] {
            #expect(terms.contains("t" + stem))
            let fine = (0..<WordStrength.fineLevels).filter { terms.contains(RankedWords.mark(ofFineLevel: $0) + stem) }
            #expect(fine.count == 1)
            let level = (0..<WordStrength.levels).filter { terms.contains(RankedWords.mark(ofLevel: $0) + stem) }
            #expect(level == fine.map { $0 * WordStrength.levels / WordStrength.fineLevels })
        }
        #expect(terms.contains("sother"))
        #expect(!terms.contains("tother") && !terms.contains { $0.hasPrefix("z") && $0.hasSuffix("other") })
    }
}
