// SPDX-License-Identifier: Apache-2.0
import Foundation
import PluginTesting
import Testing

@testable import DocumentReading

/// Documents that expand, nest, refer to themselves, state wrong sizes and end early.
@Suite("Reading hostile documents", .timeLimit(.minutes(5)))
struct HostileDocumentTests {
    private static let hostile = Result { try SampleDocuments(.hostile) }

    private func content(_ name: String) throws -> DocumentContent {
        try #require(try DocumentFile(contentsOf: Self.hostile.get()[name])).content()
    }

    @Test(arguments: [
        ("bomb.docx", DocumentProblem.tooLarge), ("many.odt", .tooLarge), ("deep.odt", .tooDeep),
        ("encrypted.odt", .encrypted), ("secret.docx", .encrypted), ("cut.odt", .damaged), ("cut.pdf", .damaged),
        ("empty.pdf", .damaged), ("empty.odt", .damaged), ("text.pdf", .damaged), ("text.docx", .damaged),
        ("deep.html", .tooDeep), ("deep.rtf", .tooDeep), ("binary.txt", .notText), ("bin.rtf", .damaged),
        ("open.rtf", .damaged),
    ])
    func problemIsNamed(_ name: String, _ problem: DocumentProblem) throws {
        #expect(try content(name).problem == problem)
    }

    @Test func everyHostileDocumentIsReadWithinItsBounds() throws {
        for path in try Self.hostile.get().files {
            let content = try #require(try DocumentFile(contentsOf: path)).content()
            #expect(content.text.utf8.count <= DocumentContent.maximumText, "\(path)")
            #expect((content.thumbnail?.bytes.count ?? 0) <= DocumentContent.maximumThumbnail, "\(path)")
        }
    }

    @Test func entitiesAreNotExpanded() throws {
        for name in ["entities.odt", "external.odt"] {
            let text = try content(name).text
            #expect(!text.contains("haha") && !text.contains("root:"), "\(name)")
        }
    }

    @Test func textBeyondTheLimitIsCounted() throws {
        let content = try content("strings.xlsx")
        #expect(content.missing > 1 << 30 && content.text.utf8.count <= DocumentContent.maximumText)
        #expect(try self.content("line.txt").missing >= 4 << 20)
    }

    @Test func partsThatReferToThemselvesAreReadOnce() throws {
        #expect(try content("cycle.pptx").text == "Whistle")
        #expect(try content("spine.epub").text == "Two\nA pearl\nOnce upon a reef\u{A0}there")
        #expect(try content("loop.pdf").text.isEmpty)
    }

    @Test func sizesThatAPackageStatesAreNotTrusted() throws {
        for name in ["large.odt", "small.odt"] { #expect(try content(name).text.utf8.count <= 100, "\(name)") }
    }

    /// PDF is left out, because poppler may terminate the process; the worker tests allow for that.
    @Test func mutatedDocumentsAreReadWithinTheirBounds() throws {
        let isLong = ProcessInfo.processInfo.environment["SEARCHLIGHT_FUZZ_LONG"] != nil
        let documents = try SampleDocuments(.mutations(count: isLong ? 100_000 : 1500, seed: 20_261_127))
        var count = 0
        for path in documents.files where !path.hasSuffix(".pdf") {
            guard let content = try DocumentFile(contentsOf: path)?.content() else { continue }
            count += 1
            #expect(content.text.utf8.count <= DocumentContent.maximumText, "\(path)")
        }
        #expect(count > 1_200)
    }
}
