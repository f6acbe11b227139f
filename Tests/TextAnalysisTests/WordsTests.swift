// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import TextAnalysis

@Suite("Words")
struct WordsTests {
    static func words(_ text: String, case splits: Bool = false) -> [String] {
        Words(text, splittingCaseChanges: splits).map { String(text[$0]) }
    }

    @Test(
        "Words of several scripts",
        arguments: [
            ("", []), ("  -- ", []), ("Oslo", ["Oslo"]), ("oslo-map.png", ["oslo", "map", "png"]),
            ("snake_case don't", ["snake", "case", "don", "t"]), ("photo2024 3.5", ["photo2024", "3", "5"]),
            ("東京へ行く", ["東", "京", "へ", "行", "く"]), ("カメラー", ["カ", "メ", "ラ", "ー"]), ("한국어", ["한", "국", "어"]),
            ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}", ["\u{1112}\u{1161}\u{11AB}", "\u{1100}\u{116E}"]),
            ("Привет, мир!", ["Привет", "мир"]), ("e\u{301}te\u{301}", ["e\u{301}te\u{301}"]),
            ("\u{301}a", ["a"]), ("กุ้ง", ["กุ้", "ง"]), ("हिन्दी", ["हिन्दी"]), ("a🙂b", ["a", "🙂", "b"]),
            ("👍🏽!", ["👍🏽"]), ("C++", ["C"]), ("Ge\u{AD}samt", ["Ge\u{AD}samt"]), ("ｶﾞ", ["ｶﾞ"]), ("½x", ["½", "x"]),
            ("mixed漢字text", ["mixed", "漢", "字", "text"]),
        ] as [(String, [String])])
    func segmentation(text: String, expected: [String]) {
        #expect(Self.words(text) == expected)
    }

    @Test(
        "A capital after a small letter starts a word on request",
        arguments: [
            ("TableViewCell", ["Table", "View", "Cell"]), ("NSView", ["NSView"]), ("éÉ", ["é", "É"]),
            ("e\u{301}E", ["e\u{301}", "E"]), ("a1B", ["a1B"]), ("iPhone", ["i", "Phone"]),
        ])
    func caseChanges(text: String, expected: [String]) {
        #expect(Self.words(text, case: true) == expected)
    }

    @Test("Words are in order, not empty, and contain every letter", arguments: [7, 8, 9] as [UInt64])
    func coverage(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<1_000 {
            let text = TextFoldingTests.randomText(&random)
            for splits in [false, true] {
                var end = text.startIndex
                for range in Words(text, splittingCaseChanges: splits) {
                    #expect(range.lowerBound >= end && !range.isEmpty)
                    let between = text.unicodeScalars[end..<range.lowerBound]
                    #expect(between.allSatisfy { [.separator, .mark].contains(CharacterKind($0)) })
                    #expect(text.unicodeScalars[range].allSatisfy { CharacterKind($0) != .separator })
                    end = range.upperBound
                }
                #expect(text.unicodeScalars[end...].allSatisfy { [.separator, .mark].contains(CharacterKind($0)) })
            }
        }
    }
}
