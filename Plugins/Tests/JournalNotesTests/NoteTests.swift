// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

@testable import FileReading
@testable import JournalNotes

@Suite("Indexed parts of a note")
struct NoteTests {
    let folder = TemporaryFolder()

    @Test(arguments: [
        ("# A *b* `c`\n\ntext", "A b c"), ("Intro\n\nA b\n===\n", "A b"), ("#No heading\n\n## Yes ##", "Yes"),
        ("```\n# code\n```\n\n# Real", "Real"), ("#\n\n# Second", "Second"),
        ("<h1>raw &amp; <i>real</i></h1>\n\ntext", "raw & real"),
        ("<div>\n<img src='x'>\n</div>\n\n# Later", "Later"), ("<!-- <h1>no</h1> -->\n\n# Yes", "Yes"),
        ("", "file"), ("---\ntitle: Front\n---\n# Heading", "Front"), ("> # Quoted", "Quoted"),
    ])
    func titleOfMarkdown(_ text: String, _ title: String) throws {
        #expect(try folder.note("file.md", text).title == title)
    }

    @Test(arguments: [
        ("\n\n  First line \nSecond", "First line"), ("=====\nTitle\n=====\n", "Title"), ("", "file"),
        ("***\n", "file"),
        ("# not Markdown", "# not Markdown"), ("---\ntitle: Front\n---\nline", "Front"),
    ])
    func titleOfPlainText(_ text: String, _ title: String) throws {
        #expect(try folder.note("file.txt", text).title == title)
    }

    @Test func filesThatBeginWithAFormulaAreCalledByNameAndFolder() throws {
        let title = try folder.note("zlib/copyright", "Format: https://example.org/copyright-format/1.0/\n").title
        #expect(title == "copyright of zlib")
        #expect(try folder.note("zlib/README", "The zlib library\n").title == "The zlib library")
    }

    @Test func titleOfAFileWithoutExtensionIsItsName() throws {
        #expect(try folder.note("README", "").title == "README")
        #expect(try folder.note("a.b.md", "").title == "a.b")
    }

    @Test func longTitlesAreCutAtAWord() throws {
        let title = try folder.note("a.txt", String(repeating: "word ", count: 100_000)).title
        #expect(title.count <= 200 && title.hasSuffix("word…"))
    }

    @Test func descriptionIsFirstParagraphThatSaysSomething() throws {
        let text = "# T\n\n[![badge](b.svg)](x)\n\n- item\n\nThe *first*\nparagraph.\n\nThe second."
        #expect(try folder.note("a.md", text).summary == "The first paragraph.")
        #expect(try folder.note("b.md", "---\ndescription: D\n---\ntext").summary == "D")
        #expect(try folder.note("c.md", "# T").summary == nil)
        #expect(try folder.note("d.txt", "Title\n=====\n\nOne\ntwo\n\nthree").summary == "One two")
    }

    @Test func descriptionHasAtMost300CharactersAndWholeWords() throws {
        let summary = try #require(try folder.note("a.md", String(repeating: "wörter ", count: 100)).summary)
        #expect(summary.count <= 300 && summary.count > 290)
        #expect(summary.hasSuffix("wörter…"))
    }

    @Test func textHasNoMarkup() throws {
        let text = """
            # Head *ing*

            Some **bold**, `code`, [link](http://x.y), ![alt](i.png), ~~gone~~ &amp; <b>raw</b>
            next line  \nbroken

            - [x] done
            - item

            | a | b |
            |---|---|
            | 1 | 2 |

            ```swift
            let x = 1
            ```

            <div>block</div><script>no()</script>

            [^1]: A note at the foot, [named][n].

            [n]: https://named.example/a%20b "The title"
            [unused]: https://unused.example/
            """
        #expect(
            try folder.note("a.md", text).text == """
                Head ing
                Some bold, code, link, alt, gone & raw next line
                broken
                done
                item
                a\tb
                1\t2
                let x = 1
                block
                [^1]: A note at the foot, named.
                http://x.y
                i.png
                https://named.example/a%20b
                https://named.example/a b
                The title
                https://unused.example/
                """)
    }

    @Test func textOfHTMLBlocksIsText() throws {
        let html = """
            <p align="center"><img alt="A bird" src="b.png"></p>

            <h2>The <em>name</em></h2>

            <p>What it is
            about.</p>

            <details><summary>More?</summary>

            inside

            <table><tr><td>cell 1</td><td>cell 2</td></tr><tr><th>row</th></tr></table>
            <style>p { }</style><!-- hidden --> <a href="https://linked.example/">away</a> <b title="tip">x
            """
        let note = try folder.note("a.md", html)
        #expect(note.title == "The name")
        #expect(note.summary == "A bird")
        #expect(
            note.text == """
                A bird
                The name
                What it is about.
                More?
                inside
                cell 1\tcell 2
                row
                away tip x
                https://linked.example/
                """)
        let page = try #require(try NoteFile(contentsOf: folder["a.md"])).html()
        #expect(page.contains("<h2>The name</h2>") && page.contains("<p>More?</p>"))
        #expect(!page.contains("<details") && !page.contains("hidden"))
    }

    @Test func footnotesAreInThePage() throws {
        try folder.write("Word[^n] and\n\n[^n]: At the foot.\n", to: "a.md")
        try folder.write("Word[^n]\n\n[^n]: At the foot.\n[^m]: Nobody refers to it.\n", to: "b.md")
        let page = try #require(try NoteFile(contentsOf: folder["a.md"])).html()
        #expect(page.contains("class=\"footnotes\"") && page.contains("At the foot."))
        let other = try #require(try NoteFile(contentsOf: folder["b.md"])).html()
        #expect(other.contains("At the foot.") && other.contains("Nobody refers to it."))
    }

    @Test(arguments: [
        "<", "<div>", "<!--", "<a href='", "<p ", "a=b ", "&amp", "<pre>x\n", "<p>&#x41;<b><i>", "</p>", "<table><tr>",
    ])
    func hostileHTMLIsReadInTime(_ piece: String) {
        let start = ContinuousClock.now
        _ = HTMLText("<p " + String(repeating: piece, count: 200_000 / piece.utf8.count))
        _ = HTMLText(String(repeating: piece, count: 200_000 / piece.utf8.count))
        #expect(start.duration(to: .now) < .seconds(20))
    }

    @Test func namesOfFileAndFolder() throws {
        let note = try folder.note("Great trips/meetingNotes_q3-final.md", "# Other")
        #expect(note.fileNames == ["meetingNotes_q3-final.md", "meeting Notes q3-final"])
        #expect(note.folderName == "Great trips")
        #expect(try folder.note("plain-name.md", "x").fileNames == ["plain-name.md"])
    }

    @Test func frontMatterIsNotText() throws {
        #expect(try folder.note("a.md", "---\ntitle: T\n---\nbody").text == "body")
        #expect(try folder.note("a.txt", "---\ntitle: T\n---\nbody").text == "body")
    }

    @Test(arguments: ["a.md", "a.txt"])
    func allOfALongNoteIsText(_ name: String) throws {
        let line = "a line of plain words, 日本\n\n"
        let text = String(repeating: line, count: (5 << 20) / line.utf8.count) + "last words"
        let note = try folder.note(name, text)
        #expect(note.text.hasSuffix("last words") && note.missing == 0 && note.remarks == [])
        #expect(note.text.utf8.count > 4 << 20)
    }

    @Test func whatIsBeyondTheLimitIsSaid() throws {
        // Each character has three bytes, and the limit is not a multiple of three.
        let text = String(repeating: "日", count: (20 << 20) / 3)
        let note = try folder.note("a.txt", text)
        #expect(note.text.utf8.count == Note.maximumText / 3 * 3)
        #expect(note.missing == Int64(text.utf8.count) - Int64(note.text.utf8.count) - 1)
        #expect(
            note.remarks.count == 1 && note.remarks[0].contains("is indexed in part: the last \(note.missing) bytes"))
    }

    @Test func markdownInPiecesIsReadToItsEnd() throws {
        let line = "[](http://example.com/" + String(repeating: "a", count: 100) + ")\n\n"
        let text = String(repeating: line, count: (3 << 20) / line.utf8.count) + "# Far away"
        let note = try folder.note("a.md", text)
        #expect(note.title == "Far away")
        #expect(note.text.hasPrefix("Far away\nhttp://example.com/aaa"))
    }

    @Test func datesComeFromFrontMatterThenFromTheFile() throws {
        let dated = try folder.note("a.md", "---\ndate: 2024-05-01T10:00:00Z\n---\n")
        #expect(dated.created.timeIntervalSince1970 == 1_714_557_600)
        try folder.write("x", to: "b.md")
        let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1_600_000_000, tv_nsec: 500_000_000)]
        #expect(utimensat(AT_FDCWD, folder["b.md"], times, 0) == 0)
        let file = try #require(try NoteFile(contentsOf: folder["b.md"]))
        let note = Note(file)
        #expect(note.modified.timeIntervalSince1970 == 1_600_000_000.5)
        #expect(note.created == file.birth ?? note.modified)
        if let birth = file.birth { #expect(birth.timeIntervalSinceNow > -3600) }
    }

    @Test func keywordsComeFromFrontMatterOnly() throws {
        #expect(try folder.note("a.md", "---\ntags: [x, y]\n---\n#inline tag").properties.tags == ["x", "y"])
    }

    @Test func everythingElseComesFromTheFile() throws {
        let note = try folder.note("a.md", "\u{FEFF}# Mark")
        #expect(note.title == "Mark")
        #expect(note.fileSize == 9)
        #expect(note.identifier == folder["a.md"])
        #expect(note.contentType == "net.daringfireball.markdown")
        #expect(note.domain == nil)
        #expect(try folder.note("b.txt", "x").contentType == "public.plain-text")
    }

    @Test(arguments: [
        ("a.md", NoteKind.markdown), ("A.MD", .markdown), ("a.b.markdown", .markdown), ("a.mdown", .markdown),
        ("a.mkd", .markdown), ("a.txt", .plainText), ("a.text", .plainText), ("README", .plainText),
        ("ChangeLog", .plainText), ("copyright", .plainText), ("TODO", .plainText), ("a.md.gz", nil), ("md", nil),
        (".md", nil), ("README.gz", nil), ("a", nil), ("", nil), ("a.", nil), ("Makefile", nil),
    ])
    func kinds(_ name: String, _ kind: NoteKind?) { #expect(NoteKind(fileName: name) == kind) }

    @Test(arguments: 0..<Generated.seeds)
    func anyMarkdownIsReadWithinLimits(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let pieces = [
            "# ", "*", "**", "_", "`", "```\n", "[", "](", ")", "![", "|", "|-|\n", "- ", "> ", "\n", "\n\n", "  ",
            "<b>", "<h1>", "</h1>", "<div>\n", "<!--", "-->", "[^1]", "[^1]: ", "]: ",
            "&amp;", "\\", "é", "日", "\r", "~~", "www.x.y", "a@b.c", "1. ", "\u{0}", "---\n", "title: x\n", "word ",
        ]
        let text = (0..<Int.random(in: 0...300, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            .joined()
        let file = NoteFile(
            path: "/x/a.md", directories: [], kind: .markdown, size: 0, birth: nil, modified: .distantPast, text: text)
        let note = Note(file)
        #expect(!note.title.isEmpty && note.title.count <= 200 && !note.title.contains("\n"), "seed \(seed)")
        #expect((note.summary?.count ?? 0) <= 300, "seed \(seed)")
        #expect(!file.html().contains("<b>"), "seed \(seed)")
    }
}
