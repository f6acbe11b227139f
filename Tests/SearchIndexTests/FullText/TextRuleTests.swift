// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import MetadataQuery
import TestSupport
import Testing
import TextAnalysis

@testable import SearchIndex

/// Tests of the text rule (docs/TEXT.md), from a donated item to a typed word.
/// `SEARCHLIGHT_TEXT_SEEDS` sets the number of random stores.
@Suite("An item is found by its words in any spelling")
struct TextRuleTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["SEARCHLIGHT_TEXT_SEEDS"].flatMap { UInt64($0) } ?? 4

    @Test(
        "Composed, decomposed, wide, in capitals or small letters, with invisible characters", arguments: 1...seeds)
    func everyWord(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        let texts = (0..<100).map { _ in random.textOfAllScripts(words: 1 + random.below(6)) }
        let records = texts.enumerated().map { number, text in
            number % 2 == 0 ? item("\(number)", title: text) : item("\(number)", title: "x", text: text)
        }
        try await store.index.index(records.map { record in try EncodedItem(record) }, in: Store.app)
        var searches = 0
        for (number, text) in texts.enumerated() {
            for _ in 0..<6 {
                guard let word = Self.words(of: text).randomElement(using: &random) else { break }
                let typed = random.typed(word)
                let ending = random.pick(["", " "])
                searches += 1
                #expect(
                    try await store.found(typed + ending).contains("\(number)"),
                    "\(Self.scalars(typed)) for \(Self.scalars(word)) in \(Self.scalars(text))")
                #expect(
                    !WordOccurrences([typed]).ranges(in: Array(text.utf8)[...]).isEmpty,
                    "not highlighted: \(Self.scalars(typed)) in \(Self.scalars(text))")
            }
        }
        #expect(searches > 300)
    }

    /// Returns the parts of a text whose words are in the index.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        FullTextTokenizer.forEachWord(in: text) { word in
            words.append(String(decoding: Array(text.utf8)[word.range], as: UTF8.self))
            return true
        }
        return words
    }

    private static func scalars(_ text: String) -> String {
        text.unicodeScalars.map { "\($0)·" + String($0.value, radix: 16) }.joined(separator: " ")
    }

    @Test(
        "Differently typed texts",
        arguments: [
            ("Ge\u{AD}samt\u{AD}kon\u{AD}zept", ["Gesamtkonzept", "gesamt\u{200B}konzept"]),
            ("Gesamtkonzept", ["Ge\u{AD}samtkonzept"]),
            ("\u{FEFF}be\u{2060}gin\u{200E}ning", ["beginning"]), ("❤\u{FE0F} love", ["❤", "❤ ", "❤\u{FE0F} "]),
            ("❤ plain", ["❤\u{FE0F}", "❤\u{FE0F} "]), ("🏳️‍🌈", ["🏳", "🏳‍🌈", "🌈 "]), ("👍🏽 ok", ["👍 ", "👍🏻 "]),
            ("1️⃣ first", ["1 ", "1️⃣"]),
            ("ＵＳＢメモリ", ["usb", "usb ", "ﾒﾓﾘ"]), ("USBメモリ", ["ＵＳＢ"]), ("２０２４年１２月", ["2024", "12月"]),
            ("ﾕｰｻﾞｰ認証", ["ユーザー", "ﾕｰｻﾞｰ"]),
            ("ﬁne oﬃce", ["fine", "office "]), ("x² and m³", ["x2 ", "m3 "]), ("Louis Ⅳ", ["iv "]),
            ("①Intro", ["intro ", "1 "]),
            ("1½ cups", ["1 1/2"]), ("㍿テスト", ["株式会社 "]), ("(株)", ["㈱ "]), ("10㎏", ["10kg "]),
            ("Foo™ bar", ["foo ", "\"foo tm bar\""]),
            ("ﷺ", ["صلى الله"]), ("ﻻ", ["لا "]), ("𝐁𝐨𝐥𝐝", ["bold "]), ("ⒶⒷⒸ", ["abc "]),
            ("Satış raporu", ["satis "]), ("ILGIN KÖYÜ", ["ılgın ", "ilgin koyu"]),
            ("İstanbul", ["istanbul ", "ISTANBUL ", "ıstanbul "]),
            ("Straße GROẞ", ["STRASSE ", "gross "]), ("ΌΔΟΣ", ["οδος ", "όδος "]),
            ("Łódź Ærøskøbing œuvre", ["lodz ", "aeroskobing ", "oeuvre "]),
            ("Þórður Đặng", ["thordur ", "dang "]), ("مـــرحبا", ["مرحبا "]), ("مَرْحَبًا", ["مرحبا "]),
            ("عام ٢٠٢٤", ["2024 ", "۲۰۲۴ "]),
            ("کتابی", ["كتابي "]), ("שָׁלוֹם", ["שלום "]), ("२०२४ में", ["2024 "]), ("พ.ศ. ๒๕๖๗", ["2567 "]),
            ("ภาษาไทย", ["ไทย", "ภาษา "]),
            ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}", ["한국", "국 "]), ("한국어", ["\u{1112}\u{1161}\u{11AB}"]),
            ("ㅠㅠ", ["ㅠㅠ "]),
            ("Node v12.18.3 released", ["12.18.3", "12.18.3 ", "v12.18.3", "\"12.18.3\"", "12"]),
            ("Node 12.18.3", ["v12.18.3", "V12.18.3 "]),
            ("python3.11 notes", ["3.11", "python3.11"]),
            ("Tim O’Reilly said", ["oreilly ", "o'reilly", "O´Reilly ", "\"tim o'reilly said\"", "reilly"]),
            ("Tim OReilly", ["O'Reilly "]), ("Hawaiʻi", ["hawaii ", "hawai'i "]), ("col·lecció", ["colleccio "]),
            ("צה״ל", ["צהל "]),
            ("Modern C++17 and C#", ["c++ ", "c++17 ", "c# ", "C＋＋"]), ("user_name", ["user", "name ", "user_name"]),
            ("write anna@example.com", ["anna@example.com", "example"]), ("東京都", ["京都", "東京"]),
        ] as [(String, [String])])
    func examples(text: String, typed: [String]) async throws {
        let store = try Store()
        try await store.put(item("title", title: text), item("text", title: "x", text: text))
        for typed in typed {
            #expect(try await store.found(typed).sorted() == ["text", "title"], "\(typed) in \(text)")
        }
    }

    @Test("The modifiers of a metadata query decide about case and diacritics")
    func modifiers() async throws {
        let store = try Store()
        try await store.put(
            item("soft", title: "Ge\u{AD}samt"), item("plain", title: "Gesamt"), item("i", title: "Satış"))
        func found(_ query: String) async throws -> [String] {
            try await store.index.items(matching: .init(parsing: query), limit: 10).items.map(\.record.uniqueIdentifier)
                .sorted()
        }
        #expect(try await found("title == \"gesamt\"cd") == ["plain", "soft"])
        #expect(try await found("title == \"gesamt\"c") == ["plain", "soft"])
        #expect(try await found("title == \"Gesamt\"") == ["plain"])
        #expect(try await found("title == \"satis\"cd") == ["i"])
        #expect(try await found("title == \"satis\"c") == [])
        #expect(try await found("title == \"Satis\"d") == ["i"])
        #expect(try await found("title == \"SATIS\"d") == [])
    }
}
