// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import ManualReading

/// Manuals that expand, include themselves, state wrong sizes and end early.
@Suite("Reading hostile manuals", .timeLimit(.minutes(5)))
struct HostileManualTests {
    private static let hostile = Result { try SampleDocuments(.hostile, by: "make-manuals") }

    private static func included(_ path: String) -> [UInt8]? {
        (try? ManualFile(contentsOf: path)).flatMap { try? $0.contents() }
    }

    private func content(_ name: String) throws -> ManualContent {
        try #require(try ManualFile(contentsOf: Self.hostile.get()["share/" + name])).content(pages: Self.included)
    }

    @Test(arguments: [
        ("man/man1/bomb.1.gz", ManualProblem.tooLarge), ("man/man1/strings.1", .tooLarge),
        ("man/man1/outside.1", .missingPage),
        ("man/man1/absolute.1", .missingPage), ("man/man1/missing.1", .missingPage), ("man/man1/binary.1", .notText),
        ("man/man1/cut.1.gz", .damaged), ("man/man1/text.1.gz", .damaged), ("man/man1/empty.1.gz", .damaged),
        ("man/man1/zeros.1", .notText), ("doc/x/README", .notText), ("doc/x/README.gz", .tooLarge),
        ("doc/x/deep.html", .tooLarge),
    ])
    func problemIsNamed(_ name: String, _ problem: ManualProblem) throws {
        let found = try content(name).problem
        #expect(found == problem)
    }

    @Test func everyHostileManualIsReadWithinItsBounds() throws {
        for path in try Self.hostile.get().files {
            let content = try #require(try ManualFile(contentsOf: path)).content(wantsHTML: true, pages: Self.included)
            // The breaks between blocks are not included in the text limit.
            #expect(content.text.utf8.count <= ManualContent.maximumText * 2, "\(path)")
            #expect(content.names.count <= 100 && content.text.contains("root:") == false, "\(path)")
        }
    }

    @Test func pagesThatIncludeThemselvesEnd() throws {
        for name in ["itself", "one", "two"] { #expect(try content("man/man1/\(name).1").blocks.isEmpty, "\(name)") }
        let twice = try content("man/man1/twice.1")
        #expect(twice.names == ["twice"])
        #expect(twice.blocks.filter { $0.kind == .heading }.count <= 2 * (RoffReader.maximumIncludes + 1))
    }

    @Test func sizeThatAFileStatesIsNotTrusted() throws {
        #expect(try content("man/man1/lies.1.gz").names == ["lies"])
    }

    @Test func stringThatNamesItselfEnds() throws {
        #expect(try content("man/man1/own.1").text.hasSuffix("after"))
    }

    @Test func mutatedManualsAreReadWithinTheirBounds() throws {
        let isLong = ProcessInfo.processInfo.environment["SEARCHLIGHT_FUZZ_LONG"] != nil
        let manuals = try SampleDocuments(
            .mutations(count: isLong ? 100_000 : 1500, seed: 20_261_127), by: "make-manuals")
        var (count, whole) = (0, 0)
        for path in manuals.files {
            guard let file = try ManualFile(contentsOf: path) else { continue }
            let content = try file.content(wantsHTML: true, pages: Self.included)
            count += 1
            if content.problem == nil { whole += 1 }
            #expect(content.text.utf8.count <= 1 << 20, "\(path)")
            #expect(file.html(content).utf8.count <= 4 << 20, "\(path)")
        }
        #expect(count >= 1500 && whole > count / 2 && whole < count)
    }
}
