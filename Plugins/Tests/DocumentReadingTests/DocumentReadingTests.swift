// SPDX-License-Identifier: Apache-2.0
import Foundation
import PluginTesting
import Testing

@testable import DocumentReading

/// Documents of all formats, made by the script, each read alone.
@Suite("Reading documents")
struct DocumentReadingTests {
    private static let ordinary = Result { try SampleDocuments(.ordinary) }

    private func content(_ name: String) throws -> DocumentContent {
        try #require(try DocumentFile(contentsOf: Self.ordinary.get()[name])).content()
    }

    @Test func everyOrdinaryDocumentHasTextAndNoProblem() throws {
        let files = try Self.ordinary.get().files
        #expect(files.count >= 20)
        for path in files {
            let content = try #require(try DocumentFile(contentsOf: path), "\(path)").content()
            #expect(content.problem == nil && !content.text.isEmpty, "\(path) \(String(describing: content.problem))")
        }
    }

    @Test func textOfPDFIsByPage() throws {
        let content = try content("timetable.pdf")
        #expect(
            content.pages.map { $0.split(separator: "\n") } == [
                ["Harbour bus", "leaves at ten"], ["Night bus", "leaves at two"],
            ])
        #expect(content.pageCount == 2 && content.title == "Bus times" && content.authors == ["Gil Stop"])
        #expect(content.languages == ["en"])
        #expect(content.created == Date(timeIntervalSince1970: 1_714_559_400))
        #expect(content.thumbnail?.contentType == "public.png")
        #expect(DocumentFile.pages(with: "NIGHT bus", in: content) == [2])
        #expect(DocumentFile.pages(with: "harbour two", in: content) == [1, 2])
        #expect(DocumentFile.pages(with: "nothing", in: content) == [])
    }

    @Test func programNamesAreNoPartOfATitle() throws {
        #expect(try content("letter.pdf").title == "letter.doc")
    }

    @Test func textOfOpenDocumentHasItsPageBreaks() throws {
        let content = try content("ferry.odt")
        #expect(content.text == "Ferry\nLeaves  from pier three\n\u{0C}Grüße & tide")
        #expect(content.title == "Ferry times" && content.authors == ["Ada Quill", "Bo Reed"])
        #expect(content.keywords == ["harbour"] && content.languages == ["nb-NO"] && content.pageCount == 2)
        #expect(content.thumbnail != nil)
        #expect(content.created == ISO8601DateFormatter().date(from: "2024-05-01T10:30:00Z"))
    }

    @Test func sheetsAndSlidesArePages() throws {
        #expect(try content("moorings.ods").text == "Moorings\nanchor\n42\n\u{0C}Dues\nanchor\n42")
        #expect(try content("lights.odp").text == "Lighthouse\n\u{0C}Beacon")
        // In the order of the workbook and the presentation, not of the members.
        #expect(try content("catch.xlsx").text == "Cod\nnorth bank\tsmoked\n\u{0C}Herring\nbarrels\t1250")
        #expect(try content("drill.pptx").text == "Whistle\nBlow three times\n\u{0C}Lifebuoy")
        #expect(try content("drill.pptx").pageCount == 2)
    }

    @Test func textOfWordHasEachPageBreakOnceAndNoDeletedText() throws {
        let content = try content("tides.docx")
        #expect(
            content.text
                == "High water at noon\n\u{0C}Low water at six\n\u{0C}Spring tide\nMeasured at the quay")
        #expect(content.title == "Tide tables" && content.authors == ["Cy Marsh"] && content.pageCount == 3)
        #expect(content.keywords == ["tide", "moon"] && content.languages == ["en-GB"])
        #expect(content.thumbnail?.contentType == "public.jpeg")
    }

    @Test func chaptersOfABookAreInTheOrderOfItsSpine() throws {
        let content = try content("reef.epub")
        #expect(content.text == "Once upon a reef\u{A0}there\nTwo\nA pearl")
        #expect(content.title == "The Reef" && content.authors == ["Dee Coral"] && content.languages == ["en"])
        #expect(content.publishers == ["Shoal Press"] && content.thumbnail != nil && content.created != nil)
    }

    @Test func richTextHasItsCharactersAndProperties() throws {
        let content = try content("knots.rtf")
        #expect(content.text == "Bowline\nGrüße €uro\thitch\n😀 end")
        #expect(content.title == "Knots" && content.authors == ["Eve Rope"] && content.pageCount == 2)
        #expect(content.created != nil)
    }

    @Test(arguments: ["faehre.html", "alt.htm"])
    func textOfHTMLIsReadInItsEncoding(_ name: String) throws {
        let content = try content(name)
        #expect(content.text == "Abfahrt\nAnleger drei um neun")
        #expect(content.title == "Fähre" && content.authors == ["Uwe See"] && content.languages == ["de"])
        #expect(content.keywords == ["hafen", "boot"] && content.summary == "Abfahrten")
    }

    @Test func textOfAnyEncodingIsRead() throws {
        #expect(try content("alt.txt").text.hasPrefix("Grüße vom Kai, früh"))
        #expect(try content("wide.txt").text == "Grüße\n")
        #expect(try content("note.txt").title == "Grüße vom Kai")
        #expect(try content("plan.md").title == "Plan" && content("plan.md").authors == ["Fay"])
        #expect(try content("tool.py").title == nil && content("tool.py").text.contains("cast_off"))
    }

    @Test(arguments: [
        ("a.PDF", "com.adobe.pdf"), ("a.odt", "org.oasis-open.opendocument.text"),
        ("a.docx", "org.openxmlformats.wordprocessingml.document"), ("a.epub", "org.idpf.epub-container"),
        ("a.rtf", "public.rtf"), ("a.htm", "public.html"), ("a.md", "net.daringfireball.markdown"),
        ("a.txt", "public.plain-text"), ("a.swift", "public.swift-source"), ("README", "public.plain-text"),
    ])
    func contentTypeIsThatOfTheName(_ name: String, _ type: String) {
        #expect(DocumentKind(fileName: name)?.contentType == type)
    }

    @Test(arguments: ["a.png", "a.svg", "a.zip", "a", ".txt", "a.", "", "a.mp3", "a.unknown-ending", "a.so"])
    func otherFilesAreNoDocuments(_ name: String) { #expect(DocumentKind(fileName: name) == nil) }

    @Test func htmlHasPagesPictureAndEscapedText() throws {
        let file = try #require(try DocumentFile(contentsOf: Self.ordinary.get()["timetable.pdf"]))
        let html = try file.html(file.content(), picture: "cid:page-1", query: "night")
        #expect(html.contains("<h2 id=\"page-2\">Page 2</h2>\n<p>Night bus</p>"))
        #expect(html.contains("Found on page <a href=\"#page-2\">2</a>"))
        #expect(html.contains("<img src=\"cid:page-1\""))
        let ferry = try #require(try DocumentFile(contentsOf: Self.ordinary.get()["ferry.odt"]))
        #expect(try ferry.html(ferry.content()).contains("Grüße &amp; tide"))
        #expect(try file.html(file.content(), limit: 5).contains("The document goes on."))
    }
}
