// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Promises
import SearchIndex
import Testing

@testable import SearchlightEngine

/// Documents with code, for PDF, office documents, books and text, with the real worker.
@Suite("Documents with code", .timeLimit(.minutes(20)))
struct DocumentsTests {
    private static let identifier = "com.searchlight.documents"

    /// Returns a harness with Documents, and with the script's documents in Downloads.
    private func harness(_ arguments: [String] = []) throws -> Harness {
        let harness = try Harness()
        _ = try harness.installDocumentsWithCode()
        // Documents leaves HTML in its default folders to Web Pages, unless the settings name them.
        let settings = harness.folder + "/config/" + Self.identifier
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try Data((harness.folder + "/Downloads\n").utf8).write(to: URL(filePath: settings + "/folders"))
        let script = BuiltProducts.repository + "/Plugins/Tests/Fixtures/make-documents"
        let process = try Process.run(
            URL(filePath: "/usr/bin/env"), arguments: ["python3", script, harness.folder + "/Downloads"] + arguments)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return harness
    }

    /// Returns the attempts that the sandbox denied.
    private func refusals(_ harness: Harness) -> [String] {
        harness.recordedEvents.compactMap { event in
            if case .refusal(_, let refusal) = event { refusal.description } else { nil }
        }
    }

    @Test("Documents of all formats are found by their text, previewed and dragged")
    func wholePath() async throws {
        let harness = try harness()
        try await harness.withEngine { engine async throws in
            #expect(engine.registry.refusals.isEmpty, "\(engine.registry.refusals)")
            #expect(try await engine.reindexAll(Self.identifier) >= 20)
            for (words, name) in [
                ("night bus", "timetable.pdf"), ("spring tide", "tides.docx"), ("north bank", "catch.xlsx"),
                ("lifebuoy", "drill.pptx"), ("lighthouse", "lights.odp"), ("upon reef", "reef.epub"),
                ("bowline", "knots.rtf"), ("anleger drei", "faehre.html"), ("cast_off", "tool.py"),
            ] {
                let (hits, _) = try await engine.search(words, bundle: nil, limit: 5)
                let found = hits.map { $0.item.record.uniqueIdentifier }
                #expect(found.contains(harness.folder + "/Downloads/" + name), "\(words) \(found)")
            }
            let item = try await engine.item(named: harness.folder + "/Downloads/timetable.pdf")
            #expect(item.displayTitle == "Bus times" && item.contentType == "com.adobe.pdf")
            #expect(item.record.attributes["pageCount"] == .integer(2))

            let preview = try await engine.preview(of: item, query: "night")
            #expect(preview.source == .extension, "\(preview.problem ?? "")")
            let html = String(decoding: preview.content, as: UTF8.self)
            #expect(html.contains("href=\"#page-2\"") && html.contains("<img") && html.contains("<mark>Night</mark>"))

            let picture = harness.folder + "/drop.png"
            _ = try await engine.drag(item, accepted: ["public.png"], to: .file(path: picture))
            #expect(try Data(contentsOf: URL(filePath: picture)).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let original = harness.folder + "/drop.pdf"
            let dropped = try await engine.drag(item, accepted: ["com.adobe.pdf"], to: .file(path: original))
            #expect(dropped.representation.form == .inPlaceFile || dropped.representation.form == .file)
            #expect(try Data(contentsOf: URL(filePath: original)).starts(with: Data("%PDF".utf8)))
            let plain = harness.folder + "/drop.txt"
            _ = try await engine.drag(item, accepted: ["public.utf8-plain-text"], to: .file(path: plain))
            #expect(try String(contentsOfFile: plain, encoding: .utf8).contains("\u{0C}Night bus"))
        }
        #expect(refusals(harness) == [])
    }

    @Test("A changed document is found by its new text, and a removed one is not found")
    func changes() async throws {
        let harness = try harness()
        let folder = harness.folder + "/Downloads"
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(Self.identifier)
            try Data("kerosene".utf8).write(to: URL(filePath: folder + "/note.txt"))
            try FileManager.default.removeItem(atPath: folder + "/tides.docx")
            _ = try await engine.reindexItems([folder + "/note.txt", folder + "/tides.docx"], of: Self.identifier)
            #expect(try await engine.search("kerosene", bundle: nil, limit: 5).total == 1)
            // Other documents contain some of the words.
            let (hits, _) = try await engine.search("spring tide quay", bundle: nil, limit: 10)
            let found = hits.map { $0.item.record.uniqueIdentifier }
            #expect(found.contains(folder + "/tides.docm") && !found.contains(folder + "/tides.docx"), "\(found)")
        }
    }

    @Test("Hostile documents cost their own text only, and are listed by reason")
    func hostile() async throws {
        let harness = try harness(["--hostile"])
        let folder = harness.folder + "/Downloads"
        try Data("kerosene".utf8).write(to: URL(filePath: folder + "/sound.txt"))
        let count = try FileManager.default.contentsOfDirectory(atPath: folder).count
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.identifier) == count)
            #expect(try await engine.search("kerosene", bundle: nil, limit: 5).total == 1)
        }
        #expect(refusals(harness) == [])
    }

    @Test("Mutated documents cost their own text only")
    func mutations() async throws {
        let isLong = ProcessInfo.processInfo.environment["SEARCHLIGHT_FUZZ_LONG"] != nil
        let count = isLong ? 100_000 : 300
        let harness = try harness(["--fuzz", "\(count)", "--seed", "20261128"])
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.identifier) == count)
        }
    }
}
