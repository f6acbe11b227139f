// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Previews
import TestSupport
import Testing

@Suite("Text on a terminal")
struct TextWrappingTests {
    private func wrapped(_ text: String, _ width: Int, indent: Int = 0) -> String {
        TextWrapping.wrapped([TextPiece(text)], width: width, indent: indent).map(\.text).joined()
    }

    @Test("Lines are broken between words, else within them, and never exceed the terminal's width")
    func breaks() {
        #expect(wrapped("one two three", 8) == "one two\nthree")
        #expect(wrapped("one two", 7) == "one two")
        #expect(wrapped("a\n\n  b c", 4) == "a\n\n  b\nc")
        #expect(wrapped("abcdefghij", 4) == "abcd\nefgh\nij")
        #expect(wrapped("ab abcdefgh", 4) == "ab\nabcd\nefgh")
        #expect(wrapped("one two", 9, indent: 4) == "one\n    two")
        #expect(wrapped("a\n   bcd", 4) == "a\nbcd")
        #expect(TextWrapping.wrapped([TextPiece("one two")], width: nil) == [TextPiece("one two")])
    }

    @Test("Wide characters take two columns, marks none")
    func widths() {
        #expect(
            TextWidth.of("日本") == 4 && TextWidth.of("e\u{301}a") == 2 && TextWidth.of("👨‍👩‍👧") == 2
                && TextWidth.of("ﬁ") == 1)
        #expect(wrapped("日本語", 4) == "日本\n語")
    }

    @Test("A highlight continues across a break")
    func styles() {
        let pieces = TextWrapping.wrapped([TextPiece("a "), TextPiece("bcdef", .found), TextPiece(" g")], width: 4)
        #expect(pieces.map(\.text).joined() == "a\nbcde\nf g")
        #expect(pieces.filter { $0.style == .found }.map(\.text) == ["bcde", "f"])
    }

    @Test("Random text keeps its characters and fits", arguments: [51, 52] as [UInt64])
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<400 {
            let text = DisplayText.safe(random.text(length: random.below(60)))
            let width = 4 + random.below(20)
            let result = wrapped(text, width)
            let lines = result.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(
                lines.allSatisfy { TextWidth.of($0.trimmingSuffix { $0 == " " || $0 == "\t" }) <= width },
                "\(text.debugDescription)")
            func letters(_ text: String) -> [Unicode.Scalar] {
                text.unicodeScalars.filter { $0 != "\n" && $0 != " " && $0 != "\t" }
            }
            #expect(letters(result) == letters(text))
        }
    }

    @Test("The default preview is wrapped, with its facts in a column")
    func preview() {
        let record = ItemRecord(
            uniqueIdentifier: "i",
            attributes: [
                "title": .string("A ferry"),
                "keywords": .array([.string("boat"), .string("harbour"), .string("water")]),
                "textContent": .string("The ferry leaves from the pier at noon."),
            ])
        let pieces = AttributePreview(record, query: "ferry").textPieces(width: 24)
        #expect(
            pieces.map(\.text).joined()
                == "A ferry\n───────\nKeywords  boat, harbour,\n          water\n\nThe ferry leaves from\nthe pier at noon."
        )
        #expect(pieces.filter { $0.style == .found }.map(\.text) == ["ferry", "ferry"])
        #expect(pieces.first == TextPiece("A ", .strong))
    }
}

extension Substring {
    func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
        var rest = self
        while let last = rest.last, isTrimmed(last) { rest.removeLast() }
        return rest
    }
}
