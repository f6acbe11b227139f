// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Previews

@Suite("Pages as text")
struct PageTextTests {
    private func text(_ html: String, _ width: Int? = nil) -> String {
        PageText(Array(html.utf8), width: width).pieces.map(\.text).joined()
    }

    private func styled(_ html: String) -> [TextPiece] {
        PageText(Array(html.utf8), width: nil).pieces.filter { $0.style != .plain }
    }

    @Test(
        "Blocks are separated, and white space collapses",
        arguments: [
            ("<p>one</p>\n\n<p>two\n  lines</p>", "one\n\ntwo lines"),
            ("<div>a</div><div>b<br>c</div>", "a\nb\nc"),
            ("<h1>Title</h1><p>text</p>", "Title\n═════\n\ntext"),
            ("<p>a</p><h2>Part</h2>b", "a\n\nPart\n────\n\nb"),
            ("<h3>Small</h3><p>x</p>", "### Small\n\nx"),
            ("a<hr>b", "a\n\n" + String(repeating: "─", count: 72) + "\n\nb"),
            ("<style>p {}</style><title>no</title><p hidden>no<p hidden>x</p></p>yes", "yes"),
            ("<p>a &amp; b &hellip; &eacute;&#8212;&#x41; &unknown; &lt;</p>", "a & b … é—A &unknown; <"),
            ("", ""), ("  \n ", ""),
        ])
    func blocks(html: String, expected: String) { #expect(text(html) == expected) }

    @Test(
        "Lists have bullets or numbers, even inside lists and quotations",
        arguments: [
            ("x<ul><li>a</li><li>b</li></ul>y", "x\n\n• a\n• b\n\ny"),
            ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
            ("<ol start=\"9\"><li>a</li><li>b<br>c</li><li value=\"3\">d</li></ol>", "9. a\n10. b\n    c\n3. d"),
            ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "• a\n  • b\n• c"),
            ("<ul><li><p>a</p></li><li><p>b</p><p>c</p></li></ul>", "• a\n\n• b\n\n  c"),
            ("<ul><li></li><li>b</li></ul>", "•\n• b"),
            ("<blockquote><p>a</p><p>b</p></blockquote>c", "│ a\n│\n│ b\n\nc"),
            ("<blockquote>a<ul><li>b<br>c</li></ul></blockquote>", "│ a\n│\n│ • b\n│   c"),
            ("<dl><dt>term</dt><dd>meaning<br>more</dd></dl>", "term\n    meaning\n    more"),
        ])
    func lists(html: String, expected: String) { #expect(text(html) == expected) }

    @Test(
        "Code keeps its spaces, pictures have words, and links an address that differs from their text",
        arguments: [
            ("<pre><code>a {\n\tb  c\n}\n</code></pre><p>x</p>", "    a {\n            b  c\n    }\n\nx"),
            ("<pre>as it\n  is\n</pre>", "as it\n  is"),
            ("<a href=\"https://a.example/b\">here</a>.", "here (https://a.example/b)."),
            ("<a href=\"https://a.example/\">a.example</a>", "a.example"),
            ("<a href=\"mailto:a@b.example\">a@b.example</a> <a href=\"#x\">up</a>", "a@b.example up"),
            ("<a href=\"https://a.example\"></a>", "https://a.example"),
            ("<img alt=\"A map\" src=\"x\"><img src=\"x\"><img alt=\"\" src=\"x\">", "[picture: A map][picture]"),
            ("<del>old</del> <q>new</q>", "~~old~~ “new”"),
        ])
    func inline(html: String, expected: String) { #expect(text(html) == expected) }

    @Test("A page of pictures alone has no words")
    func words() {
        #expect(!PageText(Array("<p> <img alt=\"A map\" src=\"x\"><b hidden>x</b></p>".utf8), width: nil).hasWords)
        #expect(PageText(Array("<p><img src=\"x\">x</p>".utf8), width: nil).hasWords)
    }

    @Test("Emphasis, code, links and found words have styles")
    func styles() {
        let pieces = styled(
            "<b>b</b> <em>e <strong>s</strong></em> <code>c <mark>f</mark></code> <a href=\"https://a.example\">l</a>")
        #expect(
            pieces == [
                TextPiece("b", .strong), TextPiece("e ", .emphasis), TextPiece("s", .strong), TextPiece("c ", .code),
                TextPiece("f", .found), TextPiece("l", .link), TextPiece(" (https://a.example)", .faint),
            ])
    }

    @Test("Columns of tables are aligned")
    func tables() {
        let html = """
            <table><thead><tr><th>Name</th><th align="right">Price</th><th>Note</th></tr></thead><tbody>
            <tr><td>Tea</td><td align="right">3</td><td></td></tr>
            <tr><td>日本語</td><td align="right">1200</td><td>far<br>away</td></tr>
            <tr><td colspan="3">all across the table, and more than that</td></tr></tbody></table><p>x</p>
            """
        let expected = """
            Name   │ Price │ Note
            ───────┼───────┼─────
            Tea    │     3 │
            日本語 │  1200 │ far
                   │       │ away
            all across the table, and more than that

            x
            """
        #expect(text(html) == expected)
    }

    @Test("A table that is too wide is broken within its cells; one with too many columns, between them")
    func wideTables() {
        let words = "one two three four five six"
        let rows = text("<table><tr><td>a</td><td>\(words)</td><td>\(words)</td></tr></table>", 30)
        #expect(
            rows == """
                a │ one two     │ one two
                  │ three four  │ three four
                  │ five six    │ five six
                """)
        let cells = (1...20).map { "<td>cell \($0)</td>" }.joined()
        let many = text("<table><tr>\(cells)</tr></table>", 40)
        #expect(many.contains("cell 1 │ cell 2"))
        for text in [rows, many] {
            #expect(text.split(separator: "\n").allSatisfy { TextWidth.of($0) <= (text == rows ? 30 : 40) })
        }
    }

    @Test("Lines are broken at the width, with the prefix of their container")
    func widths() {
        #expect(text("<ul><li>one two three four five</li></ul>", 20) == "• one two three four\n  five")
        #expect(text("<blockquote>one two three four five</blockquote>", 20) == "│ one two three four\n│ five")
        let deep = String(repeating: "<ul><li>", count: 60) + "word"
        #expect(text(deep, 20).split(separator: "\n").allSatisfy { TextWidth.of($0) <= 20 })
    }

    @Test("The output stays within bounds for any page, and reports a truncation")
    func bounds() {
        let limit = 10_000
        let pages = [
            String(repeating: "<p>text", count: limit / 2), String(repeating: "<blockquote>", count: limit) + "x",
            "<table>" + String(repeating: "<tr><td></td><td></td></tr>", count: TextTable.maximumCells / 2),
            "<table><tr><td>" + String(repeating: "a<br>", count: limit / 2) + "</td>"
                + String(repeating: "<td>\(String(repeating: "w", count: 70))</td>", count: 60),
            String(repeating: "<ol><li>", count: 200) + String(repeating: "<br>a", count: limit / 2),
        ]
        for (number, page) in pages.enumerated() {
            let text = PageText(Array(page.utf8), width: number.isMultiple(of: 2) ? 80 : nil, limit: limit)
            let size = text.pieces.reduce(0) { $0 + $1.text.utf8.count }
            #expect(size <= PageText.growth * limit)
            #expect(text.isCut == (number != 1), "\(number): \(size)")
        }
    }

    @Test("A text beyond the read limit is shown up to the limit, in whole characters")
    func oneLongText() {
        let text = PageText(
            Array(("<pre>" + String(repeating: "é", count: 100) + "</pre>").utf8), width: nil, limit: 51)
        #expect(text.pieces.map(\.text).joined().filter { $0 == "é" }.count == 25)
        #expect(!text.pieces.contains { $0.text.contains("\u{FFFD}") })
        #expect(text.hasWords && text.isCut)
    }

    @Test("The text of a link is gathered in bytes: one character may be as long as the page")
    func longCharacters() {
        var writer = PageTextWriter([], width: nil, limit: 1 << 20)
        writer.link = ("https://a.example", "")
        for _ in 0..<10_000 { writer.text("\u{301}\u{301}") }
        #expect(writer.link?.text.utf8.count ?? 0 <= 8004)
    }

    @Test(
        "For any page no line is too wide and no control character is written",
        arguments: [71, 72] as [UInt64])
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let names = [
            "p", "ul", "ol", "li", "table", "tr", "td", "th", "pre", "code", "a href=x", "blockquote", "h1", "h4", "b",
            "br", "hr", "img", "dl", "dd", "mark", "del", "q", "div", "caption",
        ]
        for _ in 0..<400 {
            var page = ""
            for _ in 0..<random.below(40) {
                let name = names[random.below(names.count)]
                switch random.below(5) {
                case 0, 1: page += "<\(name)>"
                case 2: page += "</\(name)>"
                default: page += random.text(length: random.below(12)).replacing("<", with: "&lt;")
                }
            }
            let width = 20 + random.below(40)
            let text = text(page, width)
            #expect(
                text.split(separator: "\n").allSatisfy { TextWidth.of($0.trimmingSuffix { $0 == " " }) <= width },
                "\(page.debugDescription)")
            #expect(DisplayText.safe(text).unicodeScalars.elementsEqual(text.unicodeScalars))
        }
    }
}
