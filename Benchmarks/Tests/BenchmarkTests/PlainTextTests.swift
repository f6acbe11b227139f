// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import benchmarks

@Suite struct PlainTextTests {
    private func paragraphs(_ text: String, _ markup: TextSources.Markup) -> [String] {
        PlainText.paragraphs(of: Array(text.utf8), markup).map { paragraph in
            String(decoding: paragraph, as: UTF8.self).split(separator: " ").joined(separator: " ")
        }
    }

    @Test func emptyLinesEndParagraphs() {
        #expect(paragraphs("one\ntwo\n\n\nthree", .plain) == ["one two", "three"])
    }

    @Test func tagsAreLeftOutOfHTML() {
        #expect(paragraphs("<p>Fish &amp; <b>chips</b></p><p>More</p>", .html) == ["Fish & chips", "More"])
        #expect(paragraphs("an open < sign and & sign", .html) == ["an open < sign and & sign"])
    }

    @Test func requestsAndFontsAreLeftOutOfManuals() {
        #expect(
            paragraphs(".TH X 1\nShows the \\fBlogs\\fR\\&.\n.B git\\-log\n.PP\nEnd", .manual)
                == ["Shows the logs. git-log", "End"])
        #expect(paragraphs("ends in a backslash \\", .manual) == ["ends in a backslash \\"])
    }

    @Test func codeIsLeftOutOfPrograms() {
        let python = "x = 1\n# A comment.\ny = 2\n\"\"\"Doc of\nseveral lines.\n\"\"\"\nz = 3\n"
        #expect(paragraphs(python, .python) == ["A comment.", "Doc of several lines."])
        let header = "int a;\n/* Says\n * what. */\nint b;\n// Once.\n"
        #expect(paragraphs(header, .cHeader) == ["Says what.", "Once."])
    }

    @Test func packagesAreNamedAndDescribed() {
        let list = "Package: fish\nVersion: 1\nDescription: shell for people\nDescription-md5: 0\n\n"
        #expect(paragraphs(list, .packageList) == ["fish: shell for people."])
    }
}
