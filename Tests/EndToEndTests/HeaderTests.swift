// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The public headers compile for every user, under the strictest warnings.
@Suite("The C headers")
struct HeaderTests {
    @Test(
        "Each compiles without a warning",
        arguments: [("c", "c99"), ("c", "c11"), ("c", "c17"), ("c++", "c++17"), ("c++", "c++20")])
    func compiles(language: String, standard: String) throws {
        let source = "/tmp/searchlight-header-\(UUID().uuidString).\(language == "c" ? "c" : "cpp")"
        let headers = try FileManager.default.subpathsOfDirectory(atPath: CFixture.includeFolder)
            .filter { $0.hasSuffix(".h") }
        try #require(headers.count > 20)
        defer { try? FileManager.default.removeItem(atPath: source) }
        for header in headers {
            // Included twice: a header must protect itself against that. Each needs no other.
            let text = "#include \"\(header)\"\n#include \"\(header)\"\nint unused;\n"
            try Data(text.utf8).write(to: URL(filePath: source))
            let (status, output) = try CFixture.run(
                CFixture.compiler,
                [
                    "-x", language, "-std=\(standard)", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow",
                    "-Werror", "-fsyntax-only", "-I\(CFixture.includeFolder)", source,
                ])
            #expect(status == 0, "\(header): \(output)")
        }
    }

    @Test("Old names give warnings if wanted, and can be left out")
    func oldNames() throws {
        let source = "/tmp/searchlight-names-\(UUID().uuidString).c"
        let text = """
            #include "searchlight_extension.h"
            extern const struct searchlight_reindex *table;
            extern const char *name;
            const char *name = SEARCHLIGHT_REINDEX;

            """
        try Data(text.utf8).write(to: URL(filePath: source))
        defer { try? FileManager.default.removeItem(atPath: source) }
        for (option, isAccepted) in [
            ("-DPLAIN", true), ("-DSEARCHLIGHT_WARN_DEPRECATED_NAMES", false),
            ("-DSEARCHLIGHT_NO_DEPRECATED_NAMES", false),
        ] {
            let (status, _) = try CFixture.run(
                CFixture.compiler,
                ["-std=c99", "-Werror", option, "-fsyntax-only", "-I\(CFixture.includeFolder)", source])
            #expect((status == 0) == isAccepted, "\(option)")
        }
    }

    @Test(
        "The template compiles without a warning, and its items are found, dropped and shown",
        arguments: [["-std=c99"], ["-std=c11"], ["-x", "c++", "-std=c++17"]])
    func template(options: [String]) async throws {
        let harness = try Harness()
        let bundle = "com.example.template"
        let library = try CFixture.library(
            source: BuiltProducts.repository + "/docs/examples/template.c",
            options: options + ["-I\(CFixture.includeFolder)"])
        try harness.install(bundle, library: library)
        try await harness.withEngine { engine async throws in
            for _ in 0..<2 { #expect(try await engine.reindexAll(bundle) == 2) }
            #expect(try await engine.compare(bundle).isEqual)
            let item = try #require(try await engine.search("leaves", bundle: nil, limit: 10).hits.first?.item)
            #expect(item.record.uniqueIdentifier == "tea")
            let path = harness.folder + "/tea.txt"
            _ = try await engine.drag(item, accepted: ["public.plain-text"], to: .file(path: path))
            #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("Pour boiling water"))
            let preview = try await engine.preview(of: item, query: nil)
            #expect(preview.source == .extension)
            #expect(String(decoding: preview.content, as: UTF8.self).contains("<h1>Tea</h1>"))
        }
    }
}
