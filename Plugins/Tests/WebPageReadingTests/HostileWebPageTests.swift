// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import WebPageReading

/// Pages that nest, refer to themselves, state wrong sizes and end early.
@Suite("Reading hostile web pages", .timeLimit(.minutes(5)))
struct HostileWebPageTests {
    private static let hostile = Result { try SampleDocuments(.hostile, by: "make-webpages") }

    private func content(_ name: String) throws -> WebPageContent {
        try #require(try WebPageFile(contentsOf: Self.hostile.get()[name])).content()
    }

    @Test(arguments: [
        ("deep.html", WebPageProblem.tooDeep), ("zeros.html", .notText), ("empty.mhtml", .damaged),
        ("text.mhtml", .damaged),
        ("nopage.mhtml", .damaged), ("parts.mhtml", .damaged), ("boundary.mhtml", .damaged), ("nested.mhtml", .damaged),
    ])
    func problemIsNamed(_ name: String, _ problem: WebPageProblem) throws {
        let found = try content(name).problem
        #expect(found == problem)
    }

    @Test func everyHostilePageIsReadWithinItsBounds() throws {
        for path in try Self.hostile.get().files {
            let content = try #require(try WebPageFile(contentsOf: path)).content()
            #expect(content.text.utf8.count <= WebPageContent.maximumText, "\(path)")
            #expect(
                content.keywords.count <= 100 && content.authors.count <= 100 && content.appLinks.count <= 20, "\(path)"
            )
            #expect(
                (content.title?.count ?? 0) <= 200 && (content.address?.absoluteString.utf8.count ?? 0) <= 16 << 10,
                "\(path)")
            #expect((content.picture?.bytes.count ?? 0) <= WebPageContent.maximumThumbnail * 10, "\(path)")
        }
    }

    @Test func entitiesAreNotExpanded() throws {
        let text = try content("entities.xhtml").text
        #expect(!text.contains("ha") && !text.contains("root:"))
    }

    @Test func impossibleNumbersAreNoProperties() throws {
        let content = try content("numbers.html")
        #expect(
            content.starts == nil && content.duration == nil && content.rating == nil && content.place.latitude == nil)
    }

    @Test func partThatRefersToItselfIsReadOnce() throws {
        let content = try content("cyclic.mhtml")
        #expect(content.text == "loop" && content.picture == nil)
    }

    @Test func archiveThatEndsEarlyHasItsBeginning() throws {
        let content = try content("cut.mhtml")
        #expect(content.text.hasPrefix("Die Fähre") && content.problem == nil)
        #expect(try self.content("sizes.mhtml").text == "Die Fähre legt ab.")
    }

    @Test func mutatedPagesAreReadWithinTheirBounds() throws {
        let isLong = ProcessInfo.processInfo.environment["SEARCHLIGHT_FUZZ_LONG"] != nil
        let pages = try SampleDocuments(
            .mutations(count: isLong ? 100_000 : 1500, seed: 20_261_127), by: "make-webpages")
        var (count, titled) = (0, 0)
        for path in pages.files {
            guard let file = try WebPageFile(contentsOf: path) else { continue }
            let (content, blocks) = try file.read()
            count += 1
            if content.title != nil { titled += 1 }
            #expect(content.text.utf8.count <= 1 << 20, "\(path)")
            #expect(file.html(content, blocks).utf8.count <= 4 << 20, "\(path)")
        }
        #expect(count >= 1500 && titled > count / 3 && titled < count)
    }
}
