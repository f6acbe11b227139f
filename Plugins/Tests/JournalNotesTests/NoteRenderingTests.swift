// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FileReading
@testable import JournalNotes

@Suite("Rendering notes")
struct NoteRenderingTests {
    private func file(_ text: String, _ name: String = "a.md") -> NoteFile {
        NoteFile(
            path: "/notes/" + name, directories: [], kind: NoteKind(fileName: name)!, size: 0, birth: nil,
            modified: .distantPast, text: text)
    }

    @Test func pageIsComplete() {
        let html = file("# A & B\n\ntext").html()
        #expect(html.hasPrefix("<!DOCTYPE html>\n<html>"))
        #expect(html.hasSuffix("</body>\n</html>\n"))
        #expect(html.contains("<meta charset=\"utf-8\">"))
        #expect(html.contains("<title>A &amp; B</title>"))
        #expect(html.contains("<h1>A &amp; B</h1>\n<p>text</p>\n"))
        #expect(html.contains("prefers-color-scheme: dark"))
    }

    @Test func extensionsOfGitHubAreRendered() {
        let html = file("|a|\n|-|\n|b|\n\n~~c~~ www.d.org\n\n- [x] e").html()
        for part in ["<td>b</td>", "<del>c</del>", "<a href=\"http://www.d.org\">", "type=\"checkbox\" checked"] {
            #expect(html.contains(part), "\(part)")
        }
    }

    @Test(arguments: [
        "<script>alert(1)</script>", "text <script>alert(1)</script>", "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))", "![x](javascript:alert(1))", "<javascript:alert(1)>", "[x](JaVaScRiPt:alert(1))",
        "[a]\n\n[a]: javascript:alert(1)", "<iframe src=x>", "<style>*{}</style>", "[x](vbscript:alert(1))",
    ])
    func scriptsAndRawHTMLDoNotSurvive(_ text: String) {
        let body = file(text).html().split(separator: "<body>")[1].lowercased()
        for part in [
            "<script", "onerror=alert", "javascript:alert(1)\"", "<iframe", "<style", "vbscript:alert(1)\"",
            "<img src=x",
        ] {
            #expect(!body.contains(part), "\(part)")
        }
    }

    @Test func titlesAreEscaped() {
        let html = file("---\ntitle: '</title><script>x</script>\"'\n---\ntext").html()
        #expect(!html.contains("<script"))
        #expect(html.contains("<title>&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;&quot;</title>"))
        // The note has no heading, so the page shows its title.
        #expect(html.contains("<h1>&lt;/title&gt;"))
    }

    @Test func plainTextIsEscapedAndKeptAsItIs() {
        let html = file("a <b> & \"c\"\n  *d*\n", "a.txt").html()
        #expect(html.contains("<pre>a &lt;b&gt; &amp; &quot;c&quot;\n  *d*\n</pre>"))
    }

    @Test func beginningIsWholeLinesOfALongNoteAndAllOfAnother() {
        let limit = NoteFile.maximumPreviewedText
        let whole = file(String(repeating: "a", count: limit))
        #expect(whole.beginning().text == whole.text)
        #expect(!whole.beginning().html().contains("The note is longer"))
        let lines = file(String(repeating: "é", count: limit / 2 - 2) + "\nnext\n", "a.txt").beginning()
        #expect(lines.text == String(repeating: "é", count: limit / 2 - 2))
        #expect(lines.html().contains("</pre>\n<p class=\"end\">The note is longer. Its size is 0.0 MB.</p>\n</body>"))
        // One line, cut at a character boundary.
        #expect(file("a" + String(repeating: "é", count: limit)).beginning().text.utf8.count == limit - 1)
    }

    @Test(arguments: ["# A *b*\n\n# C", "---\ntitle: F\n---\n# A", "text only", "", "a.txt"])
    func titleIsThatOfTheItemAndOfThePage(_ text: String) {
        let note = file(text, text.hasSuffix(".txt") ? text : "a.md")
        #expect(note.title == Note(note).title)
        #expect(note.html().contains("<title>\(note.title)</title>"))
    }

    /// cmark-gfm's parsers share a table that extensions change while they parse.
    @Test func notesRenderedAtOnceDoNotDisturbOneAnother() async {
        let note = file(String(repeating: "~~a~~ b\n\n", count: 50))
        let deletions = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<200 { group.addTask { note.html().split(separator: "<del>a</del>").count - 1 } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(deletions == Array(repeating: 50, count: 200))
    }

    @Test func nothingMayBeLoaded() {
        #expect(file("x").html().contains("Content-Security-Policy\" content=\"default-src 'none';"))
    }

    @Test func plainTextOfMarkdownHasNoMarkupAndNoLimit() {
        #expect(file("---\ntitle: T\n---\n# A\n\n*b*").plainText() == "A\nb\n")
        #expect(file("raw *text*\n", "a.txt").plainText() == "raw *text*\n")
        let long = String(repeating: "nine letters and more\n\n", count: 100_000)
        #expect(file(long).plainText().utf8.count == 22 * 100_000)
    }
}

@Suite("Markdown that is too expensive to render")
struct MarkdownCostTests {
    /// Inputs for which cmark-gfm 0.29.0.gfm.6 needs quadratic time or much memory.
    static let hostile: [String: String] = [
        "pipes": String(repeating: "|", count: 1 << 20),
        "brackets": String(repeating: "![[]()", count: 100_000),
        "emphasis": String(repeating: "a[b](c) **d** *e*\n", count: 50_000),
        "at signs": String(repeating: "a@", count: 500_000),
        "nested list": String(repeating: "- ", count: 10_000) + "a\n" + String(repeating: "\n", count: 1 << 20),
        "nested quotations": String(repeating: ">", count: 1 << 20) + "a",
        "blank lines in a list": "- a\n" + String(repeating: "\n", count: 2_100_000),
        "stairs": (0..<2000).map { String(repeating: "  ", count: $0) + "- a\n" }.joined(),
        "table": "|" + String(repeating: "a|", count: 500) + "\n|" + String(repeating: "-|", count: 500) + "\n"
            + String(repeating: "|a|\n", count: 10_000),
    ]

    @Test(arguments: hostile.keys.sorted())
    func isShownAsPlainText(_ name: String) throws {
        let text = try #require(Self.hostile[name])
        let isParsed = MarkdownDocument(text[...]) != nil
        #expect(!isParsed)
        let file = NoteFile(
            path: "/x/a.md", directories: [], kind: .markdown, size: 0, birth: nil, modified: .distantPast, text: text)
        #expect(file.html().contains("<pre>"))
        #expect(!Note(file).title.isEmpty)
    }

    @Test(arguments: [
        String(repeating: "- **item** [link](http://x.y) `code`\n", count: 10_000),
        String(repeating: "A paragraph with *emphasis* and [links](x).\n\n", count: 10_000),
        "|a|b|\n|-|-|\n" + String(repeating: "|1|2|\n", count: 10_000),
        "![](data:image/png;base64," + String(repeating: "aGVsbG8+", count: 100_000) + ")",
        String(repeating: "-", count: 2000) + "\n", String(repeating: "=", count: 2000) + "\n", "",
    ])
    func ordinaryNotesAreParsed(_ text: String) {
        let isParsed = MarkdownDocument(text[...]) != nil
        #expect(isParsed)
    }
}
