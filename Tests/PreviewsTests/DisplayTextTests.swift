// SPDX-License-Identifier: Apache-2.0
import Foundation
import Previews
import TestSupport
import Testing

@Suite("Sanitized text")
struct DisplayTextTests {
    @Test("Escape sequences lose their control characters")
    func escapes() {
        #expect(DisplayText.safe("\u{1B}[31mred\u{1B}[0m") == "[31mred[0m")
        #expect(DisplayText.safe("\u{1B}]0;title\u{7}") == "]0;title")
        #expect(DisplayText.safe("\u{9B}2J\u{90}q\u{9C}") == "2Jq")
        #expect(DisplayText.safe("a\u{8}b\u{7F}c\0d") == "abcd")
    }

    @Test("Every control character except line feed and tab is removed")
    func controls() {
        for value in Array(0x00...0x1F) + Array(0x7F...0x9F) {
            let scalar = Unicode.Scalar(UInt32(value))!
            let safe = DisplayText.safe("a\(scalar)b")
            #expect(["ab", "a\nb", "a\tb"].contains(safe), "\(value)")
            #expect(safe.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" || $0 == "\t" })
        }
    }

    @Test("Direction controls are removed; text from right to left stays")
    func directions() {
        for scalar in "\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}\u{2066}\u{2067}\u{2068}\u{2069}\u{200E}\u{200F}\u{61C}"
            .unicodeScalars
        {
            #expect(DisplayText.safe("a\(scalar)b") == "ab")
        }
        #expect(DisplayText.safe("invoice\u{202E}gpj.exe") == "invoicegpj.exe")
        #expect(DisplayText.safe("שלום") == "שלום")
        // Joiners form families of emoji and Persian words.
        #expect(DisplayText.safe("👨‍👩‍👧") == "👨‍👩‍👧")
    }

    @Test("Line ends of all kinds become line feeds, so that no two words are joined")
    func lineEnds() {
        #expect(DisplayText.safe("a\r\nb\rc\nd\u{B}e\u{C}f\u{85}g\u{2028}h\u{2029}i") == "a\nb\nc\nd\ne\nf\ng\nh\ni")
        #expect(DisplayText.safe("\r\r\n\n") == "\n\n\n")
        #expect(DisplayText.line(" a\r\nb\rc\t\u{2028}d  ") == "a b c d")
    }

    @Test("A line has no line ends, no runs of spaces and no spaces at its ends")
    func line() {
        #expect(DisplayText.line("\n\n a\u{A0}\u{3000} b\t\tc \n") == "a b c")
        #expect(DisplayText.line("") == "")
        #expect(DisplayText.line("\u{1B}\u{202E}\n") == "")
    }

    @Test(
        "Random text is harmless after sanitizing, and sanitizing again changes nothing",
        arguments: [51, 52] as [UInt64])
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let text = random.text(length: random.below(60))
            let safe = DisplayText.safe(text)
            #expect(
                !safe.unicodeScalars.contains {
                    $0.properties.generalCategory == .control && $0 != "\n" && $0 != "\t" || $0 == "\u{202E}"
                })
            #expect(Array(DisplayText.safe(safe).unicodeScalars) == Array(safe.unicodeScalars))
            #expect(!DisplayText.line(text).contains { $0.isNewline })
        }
    }

    @Test("A date is written in UTC, and an invalid one not at all")
    func moments() {
        #expect(DisplayText.moment(0) == "2001-01-01T00:00:00Z")
        #expect(DisplayText.moment(252_423_993_599) == "9999-12-31T23:59:59Z")
        for moment in [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, 1e15, -1e12] {
            #expect(DisplayText.moment(moment) == nil)
        }
    }

    @Test("JSON means the same after control characters are escaped", arguments: [53, 54] as [UInt64])
    func json(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            let text =
                random.text(length: random.below(40)) + random.pick(["\u{9B}", "\u{202E}", "\u{2028}", "\\", "\""])
            let encoder = JSONEncoder()
            encoder.outputFormatting = .prettyPrinted
            let json = DisplayText.safeJSON(String(decoding: try encoder.encode([text]), as: UTF8.self))
            #expect(DisplayText.safe(json) == json)
            #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == [text])
        }
    }
}
