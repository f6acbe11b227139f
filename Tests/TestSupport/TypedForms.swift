// SPDX-License-Identifier: Apache-2.0
import Foundation

extension SplitMix64 {
    /// Returns text of all scripts, with the characters that folding and word splitting handle
    /// specially.
    public mutating func textOfAllScripts(words: Int) -> String {
        (0..<words).map { _ in
            var word = String.UnicodeScalarView()
            let script = pick(Self.scripts)
            for _ in 0..<(1 + below(7)) {
                // Case folding turns an iota subscript into a letter. Among marks from other
                // scripts, its position is undefined.
                if below(6) == 0, script.lowerBound != 0x1F00 { word.append(pick(Self.marks)) }
                if below(40) == 0 { word.append(contentsOf: pick(Self.samples).unicodeScalars) }
                word.append(Unicode.Scalar(script.lowerBound + UInt32(below(script.count))) ?? "x")
            }
            return below(3) == 0 ? pick(Self.samples) : String(word)
        }.joined(separator: pick([" ", " ", " - ", "_", "/", "’", ", "]))
    }

    /// Returns a typed variant of a word: composed, decomposed, wide, in upper or lower case, or
    /// with invisible characters.
    public mutating func typed(_ word: String) -> String {
        switch below(7) {
        case 0: return word
        case 1: return word.precomposedStringWithCanonicalMapping
        case 2: return word.decomposedStringWithCanonicalMapping
        case 3: return Self.wide(word)
        case 4: return word.uppercased()
        case 5: return word.lowercased()
        default:
            var text = String.UnicodeScalarView()
            for scalar in word.unicodeScalars {
                text.append(scalar)
                if below(2) == 0 { text.append(pick(Self.ignorable)) }
            }
            return String(text)
        }
    }

    private static func wide(_ word: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in word.unicodeScalars {
            let isPlain = (0x21...0x7E).contains(scalar.value)
            text.append(isPlain ? Unicode.Scalar(scalar.value + 0xFEE0) ?? scalar : scalar)
        }
        return String(text)
    }

    private static let scripts: [ClosedRange<UInt32>] = [
        0x61...0x7A, 0x30...0x7A, 0xC0...0x24F, 0x250...0x2AF, 0x370...0x3FF, 0x400...0x52F, 0x531...0x587,
        0x5D0...0x5EA,
        0x620...0x6D3, 0x6F0...0x6F9, 0x904...0x970, 0x985...0x9CE, 0xA05...0xA74, 0xB85...0xBEF, 0xC05...0xC6F,
        0xE01...0xE59, 0xE81...0xED9, 0xF40...0xF6C, 0x1000...0x1049, 0x10A0...0x10FF, 0x1100...0x1112, 0x13A0...0x13FD,
        0x1780...0x17E9, 0x1C90...0x1CBF, 0x1E00...0x1EFF, 0x1F00...0x1FFC, 0x2070...0x209C, 0x2100...0x2188,
        0x2460...0x24FF, 0x2C60...0x2C7F, 0x3041...0x30FF, 0x3131...0x318E, 0x3200...0x33FF, 0x4E00...0x4FFF,
        0xA640...0xA66D, 0xAB70...0xABBF, 0xAC00...0xADFF, 0xF900...0xF9FF, 0xFB00...0xFB4F, 0xFB50...0xFDFB,
        0xFE70...0xFEFC, 0xFF10...0xFF9F, 0x10400...0x1044F, 0x1D400...0x1D7FF, 0x1E900...0x1E943, 0x1F130...0x1F1FF,
        0x1F300...0x1F64F,
    ]
    private static let marks = Array(
        "\u{301}\u{308}\u{323}\u{327}\u{31B}\u{483}\u{591}\u{5B8}\u{64E}\u{651}\u{670}\u{93C}\u{94D}\u{E38}\u{E49}\u{3099}\u{20E3}\u{FE0F}"
            .unicodeScalars)
    private static let ignorable = Array(
        "\u{AD}\u{34F}\u{61C}\u{180E}\u{200B}\u{200C}\u{200D}\u{200E}\u{202B}\u{2060}\u{2066}\u{2069}\u{FE0E}\u{FE0F}\u{FEFF}\u{E0100}"
            .unicodeScalars)
    private static let samples = [
        "Straße", "GROẞ", "Ærøskøbing", "ILGIN", "ılgın", "İstanbul", "Łódź", "Đặng", "Þórður", "ΌΔΟΣ", "ὁδός", "ᾼδης",
        "Ёлка",
        "مـــرحبا", "مَرْحَبًا", "ﻻ", "ﷺ", "کتاب", "٢٠٢٤", "۱۴۰۳", "שָׁלוֹם", "हिन्दी", "ज़रूर", "२०२४", "ภาษาไทย๒๕๖๗", "ພາສາລາວ",
        "ភាសាខ្មែរ",
        "한국어", "\u{1112}\u{1161}\u{11AB}", "ㅎㅏㄴ", "ﾊﾞﾝｺｸ", "バンコク", "ＵＳＢ", "ﬁnance", "x²", "Ⅳ", "①②", "½", "㎏", "㍿", "㍻",
        "Foo™", "Ge\u{AD}samt",
        "👍🏽", "👨‍👩‍👧", "🏳️‍🌈", "❤️", "1️⃣", "🇩🇪", "v12.18.3", "python3.11", "C++", "c#", "O’Reilly", "Hawaiʻi", "col·lecció",
        "צה״ל",
        "user_name", "anna@example.com", "東京都", "豈", "⼀", "𝐁𝐨𝐥𝐝", "Ⓐⓑ", "ŉ", "ǆ", "ſ", "ĳ",
    ]
}
