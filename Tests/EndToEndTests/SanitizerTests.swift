// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Checks that Scripts/sanitize gets reports from a worker. A worker's reports are lost most
/// easily, because it may open almost no files and has its own environment.
@Suite("A sanitizer", .timeLimit(.minutes(10)))
struct SanitizerTests {
    @Test("with a finding in a worker leaves a report", .enabled(if: Sanitizer.reports != nil))
    func worker() async throws {
        let folder = try #require(Sanitizer.reports)
        let harness = try Harness()
        let bundle = "com.example.broken"
        let fixtures = BuiltProducts.repository + "/Tests/Fixtures/Extensions"
        let library = try CFixture.library(
            source: BuiltProducts.repository + "/Tests/Sanitizers/broken-extension.c",
            options: ["-std=c11", "-D_GNU_SOURCE", "-I\(CFixture.includeFolder)", "-I\(fixtures)"])
        try harness.install(bundle, library: library)
        try await harness.withEngine { engine async throws in _ = try? await engine.reindexAll(bundle) }
        let fault = Sanitizer.current == .thread ? "data race" : "use-after-free"
        // Other processes may write theirs at the same time.
        let ours = try FileManager.default.contentsOfDirectory(atPath: folder).map { folder + "/" + $0 }.filter {
            (try? String(contentsOfFile: $0, encoding: .utf8))?.contains(harness.extensions) == true
        }
        #expect(!ours.isEmpty)
        for path in ours {
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains(fault))
            try FileManager.default.removeItem(atPath: path)
        }
    }
}
