// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import TextAnalysis

@Suite("Folding texts")
struct TextFoldingTests {
    static let combinations = [(false, false), (true, false), (false, true), (true, true)]

    /// Scalars that fold, decompose, compose or reorder in unusual ways, and ordinary scalars.
    static let difficult: [Unicode.Scalar] = [
        "a", "Z", " ", "é", "É", "\u{301}", "\u{323}", "\u{345}", "ß", "ẞ", "İ", "ı", "ﬁ", "ŉ", "ǰ", "ΐ", "ᾳ", "ᾴ", "Σ",
        "ς",
        "\u{1E9B}", "Ǆ", "ǅ", "각", "가", "\u{1100}", "\u{1161}", "\u{11A8}", "が", "\u{3099}", "か", "\u{93C}", "\u{915}",
        "\u{958}", "\u{9C7}", "\u{9BE}", "\u{9CB}", "Å", "\u{212B}", "K", "Ω", "豈", "ꭰ", "Ꭰ", "\u{F73}", "\u{F71}", "ไ",
        "\u{E38}", "\u{E48}", "أ", "\u{64B}", "й", "ø", "🙂", "\u{200D}", "\u{FE0F}", "\u{1D15E}", "\u{2ADC}",
    ]

    static func randomText(_ random: inout SplitMix64) -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<random.below(12) {
            let anywhere = Unicode.Scalar(UInt32(random.below(0x11_0000)))
            scalars.append(random.below(8) == 0 ? anywhere ?? "x" : random.pick(difficult))
        }
        return String(scalars)
    }

    /// According to the Unicode standard, sections 3.11 and 3.12; computed with another
    /// implementation.
    @Test(
        "Form C of awkward sequences",
        arguments: [
            ("\u{323}\u{F73}", "\u{F71}\u{F72}\u{323}"), ("\u{F73}\u{F73}", "\u{F71}\u{F71}\u{F72}\u{F72}"),
            ("\u{AC00}\u{11A8}", "\u{AC01}"), ("\u{1100}\u{1161}\u{11A8}", "\u{AC01}"),
            ("\u{1100}\u{1161}\u{11A7}", "\u{AC00}\u{11A7}"), ("a\u{F73}\u{30A}", "\u{E5}\u{F71}\u{F72}"),
            ("\u{958}", "\u{915}\u{93C}"), ("\u{2ADC}", "\u{2ADD}\u{338}"),
            ("\u{1D15E}\u{F73}", "\u{1D157}\u{F71}\u{F72}\u{1D165}"),
            ("\u{9C7}\u{323}\u{9BE}", "\u{9C7}\u{323}\u{9BE}"), ("\u{1FB3}\u{323}\u{301}", "\u{1FB4}\u{323}"),
            ("\u{212B}", "\u{C5}"), ("a\u{323}\u{301}\u{323}", "\u{1EA1}\u{323}\u{301}"),
        ])
    func awkward(text: String, composed: String) {
        let folded = TextFolding.folded(text, case: false, diacritics: false)
        #expect(Array(folded.unicodeScalars) == Array(composed.unicodeScalars))
    }

    @Test("Form C agrees with Foundation", arguments: [1, 2, 3] as [UInt64])
    func composition(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        // Foundation 6.3 does not reorder U+0F73 and does not append a final consonant to a
        // composed syllable.
        let scalarsBothKnow = Self.difficult.filter { $0 != "\u{F73}" && $0 != "\u{11A8}" }
        for _ in 0..<3_000 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<random.below(10) { scalars.append(random.pick(scalarsBothKnow)) }
            let text = String(scalars)
            let folded = TextFolding.folded(text, case: false, diacritics: false)
            let expected = text.precomposedStringWithCanonicalMapping
            #expect(Array(folded.unicodeScalars) == Array(expected.unicodeScalars), "\(Array(text.unicodeScalars))")
        }
    }

    @Test("The decomposition of each scalar is canonically equivalent to it")
    func decomposition() {
        for value in (0...UInt32(0x2FFFF)) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            var parts = String.UnicodeScalarView()
            CanonicalForm.decompose(scalar) { parts.append($0) }
            if String(parts) != String(Character(scalar)) { Issue.record("U+\(String(value, radix: 16))") }
        }
    }

    @Test(
        "Folding twice equals folding once, and equivalent texts fold to the same bytes",
        arguments: [4, 5, 6] as [UInt64])
    func idempotent(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let text = Self.randomText(&random)
            for (foldsCase, foldsDiacritics) in Self.combinations {
                let once = TextFolding.folded(text, case: foldsCase, diacritics: foldsDiacritics)
                let twice = TextFolding.folded(once, case: foldsCase, diacritics: foldsDiacritics)
                #expect(Array(once.utf8) == Array(twice.utf8), "\(Array(text.unicodeScalars))")
                let equivalent = text.decomposedStringWithCanonicalMapping
                let other = TextFolding.folded(equivalent, case: foldsCase, diacritics: foldsDiacritics)
                #expect(Array(once.utf8) == Array(other.utf8), "\(Array(text.unicodeScalars))")
            }
        }
    }

    @Test("Every scalar folds to a fixed point")
    func everyScalar() {
        var changed = 0
        for value in (0...UInt32(0x1FFFF)) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = String(Character(scalar))
            let once = TextFolding.folded(text, case: true, diacritics: true)
            if once.unicodeScalars.first != scalar { changed += 1 }
            if TextFolding.folded(once, case: true, diacritics: true) != once {
                Issue.record("U+\(String(value, radix: 16))")
            }
        }
        #expect(changed > 3_000)
    }

    @Test(
        "Case",
        arguments: [
            ("Straße", "strasse"), ("ΌΔΟΣ", "όδοσ"), ("İ", "i\u{307}"), ("ı", "ı"), ("ﬁn", "fin"), ("ǅ", "dž"),
            ("K", "k"),
            ("ᾳ", "αι"), ("ꭰ", "Ꭰ"), ("ÉCOLE", "école"), ("ＵＳＢ", "usb"), ("ﾕｰｻﾞｰ", "ユーザー"), ("Ge\u{AD}samt", "gesamt"),
            ("❤\u{FE0F}", "❤"), ("x²", "x2"), ("٢٤", "٢٤"), ("ABC xyz", "abc xyz"), ("日本", "日本"),
        ])
    func cases(text: String, folded: String) {
        #expect(TextFolding.folded(text, case: true, diacritics: false) == folded)
    }

    @Test(
        "Diacritics",
        arguments: [
            ("André", "Andre"), ("Ångström", "Angstrom"), ("ọ̈", "o"), ("ệ", "e"), ("Øł", "Ol"), ("ıŁđæœþ", "iLdaeoeth"),
            ("й", "и"),
            ("مـــرحبا", "مرحبا"), ("٢٠٢٤", "2024"), ("२०", "20"), ("ی", "ي"),
            ("أَب", "اب"), ("שָׁלוֹם", "שלום"), ("が", "が"), ("क़", "क़"), ("กุ้", "กุ"), ("각", "각"), ("İ", "I"),
        ])
    func diacritics(text: String, folded: String) {
        #expect(TextFolding.folded(text, case: false, diacritics: true) == folded)
    }

    @Test("A long run of combining marks is sorted, not searched")
    func manyMarks() {
        let marks = String(repeating: "\u{301}\u{323}", count: 20_000)
        #expect(TextFolding.folded("a" + marks, case: true, diacritics: true) == "a")
        #expect(TextFolding.folded("b" + marks, case: true, diacritics: false).unicodeScalars.count == 40_000)
    }
}
