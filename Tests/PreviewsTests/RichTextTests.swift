// SPDX-License-Identifier: Apache-2.0
import Previews
import TestSupport
import Testing

@Suite("The text of rich text")
struct RichTextTests {
    private static func text(_ source: String) -> String { RichText.text(of: Array(source.utf8)) }

    @Test(
        "Words, tabs and line ends are read, and no formatting",
        arguments: [
            (
                #"{\rtf1\ansi\deff0{\fonttbl{\f0 Times;}}{\colortbl;\red1;}\pard\f0 Hello \b World\b0 !\par Bye}"#,
                "Hello World!\nBye"
            ),
            (#"{\rtf1 Gr\'fc\'dfe \u8364?\u-10179?\u-8704? \emdash\~x}"#, "Grüße €😀 —\u{A0}x"),
            (#"{\rtf1\ansicpg1251 \'cf\'f0}"#, "Пр"), (#"{\rtf1 \'93\'81\'94}"#, "“\u{FFFD}”"),
            (#"{\rtf1\uc2\u945 ab\uc0\u946\uc1\u947\'67 c}"#, "αβγ c"),
            (#"{\rtf1 a{\v secret}{\v secret\v0 b}\plain c}"#, "abc"),
            (#"{\rtf1 {a}{\*\unknown b}{\info{\title c}}d}"#, "ad"),
            (#"{\rtf1 {\field{\*\fldinst HYPERLINK "x"}{\fldrslt link}}}"#, "link"),
            (#"{\rtf1 a{\pict\bin3 }}}}b\cell c\row}"#, "ab\tc"), (#"{\rtf1 \{a\}\\ \_b}"#, "{a}\\ \u{2011}b"),
            ("{\\rtf1 a\r\nb\\\nc}", "ab\nc"), (#"{\rtf1 a}}}b"#, "ab"), (#"{\rtf1 a\"#, "a"), (#"{\rtf1 a\'z"#, "a"),
            (#"{\rtf1 \u27?[31mx\u8238?y}"#, "[31mxy"), ("", ""), (#"{\rtf1\bin99999999999999999999 a}"#, ""),
        ])
    func read(source: String, expected: String) { #expect(Self.text(source) == expected) }

    @Test("Any text is restored from its rich text", arguments: [81, 82, 83] as [UInt64])
    func roundTrip(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let text = DisplayText.safe(random.text(length: random.below(60))).filter { !$0.isNewline }
            let body = text.utf16.map { "\\u\(Int16(bitPattern: $0))?" }.joined(
                separator: random.below(2) == 0 ? "" : "\n")
            #expect(Array(Self.text("{\\rtf1 \(body)}").utf16) == Array(text.utf16))
        }
    }

    @Test(
        "Random bytes and pieces end, within the bound and without control characters",
        arguments: [91, 92, 93] as [UInt64])
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pieces = [
            "{", "}", "\\", "\\*", "\\bin", "\\uc", "\\u", "-", "99999999999", "\\'", "f", " ", "\\par", "\\ansicpg",
            "1250",
            "\\v", "\\pict", "x", "\\u27?", "\\'1b", "\\tab", "\\ansicpg932 ", "\\ansicpg65001 ", "\\'ff", "\\'e3",
        ]
        for _ in 0..<500 {
            var bytes = Array("{\\rtf1 ".utf8)
            for _ in 0..<random.below(60) {
                bytes += random.below(6) == 0 ? [UInt8(random.below(256))] : Array(random.pick(pieces).utf8)
            }
            let text = RichText.text(of: bytes)
            #expect(text == DisplayText.safe(text) && text.utf8.count <= 4 * bytes.count, "\(bytes)")
        }
    }

    @Test("Large or endlessly nested content is truncated", .timeLimit(.minutes(10)))
    func large() {
        let words = RichText.text(of: Array(("{\\rtf1 " + String(repeating: "word \\par ", count: 1 << 19)).utf8))
        #expect((1 << 20...RichText.maximumTextBytes).contains(words.utf8.count))
        let deep = String(repeating: "{a", count: 100_000) + String(repeating: "}", count: 100_000) + "b}"
        #expect(Self.text("{\\rtf1 " + deep) == String(repeating: "a", count: 199) + "b")
        #expect(Self.text("{\\rtf1 " + String(repeating: "\\u1", count: 100_000)) == "")
    }
}
