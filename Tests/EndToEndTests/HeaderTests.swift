// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The public header compiles for everybody who may include it, under the strictest warnings.
@Suite("The C header")
struct HeaderTests {
    @Test(
        "compiles without a warning",
        arguments: [("c", "c99"), ("c", "c11"), ("c", "c17"), ("c++", "c++17"), ("c++", "c++20")])
    func compiles(language: String, standard: String) throws {
        let source = "/tmp/searchlight-header-\(UUID().uuidString).\(language == "c" ? "c" : "cpp")"
        // Twice: it must protect itself against that.
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
}
