// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import ManualReading

/// Manuals that a script generates.
@Suite("Reading manuals")
struct ManualReadingTests {
    private static let samples = Result { try SampleDocuments(.ordinary, by: "make-manuals") }

    private func file(_ name: String) throws -> ManualFile {
        try #require(try ManualFile(contentsOf: Self.samples.get()["share/" + name]))
    }

    private func content(_ name: String, html: Bool = false) throws -> ManualContent {
        try file(name).content(wantsHTML: html) { path in
            (try? ManualFile(contentsOf: path)).flatMap { try? $0.contents() }
        }
    }

    @Test func pageOfManHasNamesSummaryAndText() throws {
        let content = try content("man/man1/lantern.1.gz")
        #expect(content.names == ["lantern", "lampe"] && content.summary == "light the way home")
        #expect(content.volume == "User Commands" && content.problem == nil && !content.isAlias)
        let expected = [
            ManualBlock(.heading, "NAME"), ManualBlock(.paragraph, "lantern, lampe - light the way home"),
            ManualBlock(.heading, "SYNOPSIS"), ManualBlock(.paragraph, "lantern [OPTION]... WICK"),
            ManualBlock(.heading, "DESCRIPTION"),
            ManualBlock(
                .paragraph,
                "Lights the wick of a lantern. A line with \"strings\" and café €5 — donehere, and \\ escapes."),
            ManualBlock(.item, "-b, --brightness=LEVEL\nset the brightness"),
            ManualBlock(.item, "-o file\nwrite to file"), ManualBlock(.item, "•\na bullet"),
            ManualBlock(.subheading, "Second level"), ManualBlock(.preformatted, "first   line\n  second line"),
        ]
        #expect(Array(content.blocks.prefix(expected.count)) == expected)
    }

    @Test func conditionsDefinitionsAndTablesAreReadAsATerminalShowsThem() throws {
        let text = try content("man/man1/lantern.1.gz").text
        for kept in [
            "text for terminals", "right branch", "kept block", "own macro text", "conditionally", "Name\tMeaning",
            "dim\t",
            "little light",
            "The home page <https://example.org/lamp>.", "candle(1), torch(1).",
        ] { #expect(text.contains(kept), "\(kept)") }
        for left in ["printers", "wrong", "dropped", "nested", "ignored", "macro body", "silent", "3.5", "T{", "T}"] {
            #expect(!text.contains(left), "\(left)")
        }
    }

    @Test func pageOfMdocHasNamesSummaryAndText() throws {
        let content = try content("man/man8/buoy.8")
        #expect(content.names == ["buoy"] && content.summary == "mark a channel")
        let lines = content.text.split(separator: "\n")
        for line in [
            "buoy [-ab] [-c colour] file ...", "buoyctl --verbose",
            "The buoy utility marks (see chart(7)), “deep water”.", "-a", "Anchor it.", "-c colour", "Paint it red.",
            "$ buoy -a   north", "• floats",
        ] { #expect(lines.contains(line[...]), "\(line) in \(lines)") }
        #expect(content.text.contains("buoy_open(const char *name, int flags)"))
        #expect(content.text.contains("The buoy utility exits 0 on success"))
    }

    @Test func pageOfPodHasItsCode() throws {
        let content = try content("man/man3/Net::Sail.3pm.xz")
        #expect(content.names == ["Net::Sail"] && content.summary == "sail over the net")
        #expect(
            content.blocks.contains(ManualBlock(.preformatted, "    use Net::Sail;\n    my $boat = Net::Sail->new;")))
        #expect(content.text.hasSuffix("See $boat and bold."))
    }

    @Test func fontsAreInTheHTMLAndMarkupIsEscaped() throws {
        let file = try file("man/man1/lantern.1.gz")
        let page = file.html(try content("man/man1/lantern.1.gz", html: true))
        #expect(page.contains("<h1>lantern(1)</h1>") && page.contains("the <b>wick</b> of"))
        #expect(page.contains("<dt><b>-b</b>, <b>--brightness</b>=<i>LEVEL</i></dt><dd>set the brightness</dd>"))
        #expect(page.contains("&lt;https://example.org/lamp&gt;") && !page.contains("<https"))
    }

    @Test func furtherNamesOfAPageAreAliases() throws {
        for name in ["kerze.1", "taper.1.gz"] {
            let content = try content("man/man1/" + name)
            #expect(content.isAlias && content.summary == "burn down" && content.problem == nil, "\(name)")
        }
        #expect(try !content("man/man1/candle.1.gz").isAlias)
    }

    @Test func everyCompressionAndEncodingIsRead() throws {
        #expect(try content("man/man5/chart.5.bz2").names == ["chart"])
        #expect(try content("man/man7/anchor.7").summary == "größer")
        #expect(try content("man/de/man1/laterne.1.gz").summary == "zündet ein Licht an")
        #expect(try file("man/de/man1/laterne.1.gz").language == "de")
        #expect(try file("man/man1/lantern.1.gz").language == nil)
    }

    @Test func infoHasItsSections() throws {
        let content = try content("info/reef.info.gz")
        #expect(content.title == "GNU Reef" && content.summary == "Shorten the sails." && content.sections == 2)
        #expect(content.text.contains("Take in the canvas.\n") && !content.text.contains("index"))
        #expect(content.text.components(separatedBy: "\u{0C}").last?.contains("A bowline holds.") == true)
        let file = try file("info/reef.info.gz")
        let page = file.html(content, query: "bowline")
        #expect(page.contains("<h2>Knots</h2>") && !page.contains("<h2>Top</h2>"))
        #expect(file.html(content).contains("<h2>Top</h2>"))
        #expect(try self.file("info/reef.info-1").ownTitle == "reef, part 1")
    }

    @Test func documentationOfPackagesHasThePackageInItsTitle() throws {
        #expect(try file("doc/harbour/README.Debian").ownTitle == "README.Debian")
        #expect(try content("doc/harbour/README.gz").text == "Hafen für alle\n")
        let page = try content("doc/harbour/html/index.html")
        #expect(page.title == "Harbour guide" && page.summary == "All berths" && !page.text.contains("skip"))
    }

    @Test func textWithTheNameOfAPageIsAText() throws {
        let file = try file("man/man7/notes-2.1")
        let content = try file.content()
        // In a folder of pages the file is a page, regardless of its contents.
        #expect(content.text == "Only a text, whose name has a number.")
    }

    @Test(arguments: [
        ("ls.1", "page ls 1"), ("Foo::Bar.3pm.gz", "page Foo::Bar 3pm"), ("x.8ssl.xz", "page x 8ssl"),
        ("after.n", "page after n"),
        ("gcc.info-12.gz", "info gcc 12"), ("gcc.info", "info gcc 0"), ("README", "text"), ("README.md", "markdown"),
        ("readme.Debian.gz", "text"), ("index.html", "html"), ("a.txt.zst", "text"), ("changelog.gz", ""),
        ("copyright", ""),
        ("a.png", ""), ("ls.1.gz.gz", ""), ("ls.0", ""), (".1", ""), ("dir", ""), ("x.9abcdefghijklm", ""),
        ("CHANGES.txt", ""),
    ])
    func nameDeterminesTheKind(_ name: String, _ kind: String) {
        let found =
            switch ManualKind(fileName: name)?.format {
            case .page(let name, let section): "page \(name) \(section)"
            case .info(let name, let part): "info \(name) \(part ?? 0)"
            case .text: "text"
            case .markdown: "markdown"
            case .html: "html"
            case nil: ""
            }
        #expect(found == kind)
    }

    @Test func onlyPagesInTheUsersLanguagesAreServed() throws {
        let folder = try Self.samples.get().folder
        func names(_ variables: [String: String]) throws -> [String] {
            let settings = try FolderSettings.manuals(
                environment: ["HOME": folder + "/home"].merging(variables) { $1 }, system: folder)
            return settings.servedFolders(ManualFile.self).walk().compactMap { step in
                if case .file(let file) = step { file.fileName } else { nil }
            }
        }
        let english = try names(["LANG": "en_US.UTF-8"])
        #expect(
            english.contains("lantern.1.gz") && !english.contains("laterne.1.gz") && !english.contains("lanterne.1.gz"))
        #expect(english.count == 18 && !english.contains("copyright"))
        let german = try names(["LANG": "C", "LANGUAGE": "de_DE:en"])
        #expect(german.contains("laterne.1.gz") && !german.contains("lanterne.1.gz"))
    }
}
