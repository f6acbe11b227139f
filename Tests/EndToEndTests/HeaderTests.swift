// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The public header compiles for every client, with the strictest warnings.
@Suite("The C header")
struct HeaderTests {
    @Test(
        "compiles without a warning",
        arguments: [("c", "c99"), ("c", "c11"), ("c", "c17"), ("c++", "c++17"), ("c++", "c++20")])
    func compiles(language: String, standard: String) throws {
        let source = "/tmp/searchlight-header-\(UUID().uuidString).\(language == "c" ? "c" : "cpp")"
        // Included twice, because the header must have an include guard.
        let text = "#include \"searchlight_extension.h\"\n#include \"searchlight_extension.h\"\nint unused;\n"
        try Data(text.utf8).write(to: URL(filePath: source))
        defer { try? FileManager.default.removeItem(atPath: source) }
        let (status, output) = try CFixture.run(
            CFixture.compiler,
            [
                "-x", language, "-std=\(standard)", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow",
                "-Werror", "-fsyntax-only", "-I\(CFixture.includeFolder)", source,
            ])
        #expect(status == 0, "\(output)")
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
