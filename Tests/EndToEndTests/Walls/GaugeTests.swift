// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import TestSupport
import Testing

/// Extensions that use too many unmetered resources. Each is denied the resource or terminated.
@Suite(
    "The gauge of a worker", .timeLimit(.minutes(10)), .serialized,
    .enabled(if: Alone.isSo, Comment(rawValue: Alone.hint)))
struct GaugeTests {
    /// Groups of Tests/Fixtures/Extensions/walls.c. walls/gauge.h lists their attempts.
    private static let groups = [
        "main-thread", "closed-folder", "closed-files", "closed-memory", "closed-pieces", "mapped-page", "unmapped",
        "mapped-files", "far", "third", "flying", "locks", "locks-of-file", "burst", "allocated",
        "window",
    ]

    @Test("notices what is hidden from it", arguments: groups)
    func hidden(group: String) async throws {
        let harness = try Harness()
        let bundle = "com.example.walls.\(group)"
        try harness.install(
            bundle, library: try CFixture.library("walls"),
            manifest: [
                "Searchlight": ["WritablePaths": ["$XDG_DOCUMENTS_DIR/marks"], "MemoryLimit": 64 << 20] as [String: Any]
            ])
        try WallSurroundings(harness).prepare(group, bundle: bundle)
        let user = try OrdinaryUser(harness)
        let (_, output) = try user("reindex", "--verbose", bundle)
        try user.giveBack()
        let text = try String(contentsOfFile: harness.marks + "/\(bundle).searchext.results", encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        let gained = lines.filter { $0.first == "0" }
        #expect(gained.isEmpty, "\(gained)\n\(output)")
        let last = try #require(lines.last { $0.count == 3 })
        let expected = last[1].hasPrefix("! ") ? String(last[1].dropFirst(2)) : last[1]
        #expect(output.contains(expected), "expected “\(expected)”: \(output)")
        // After a denied attempt the worker continues; a terminated worker does not.
        #expect((lines.last?.first == "end") != last[1].hasPrefix("! "), "\(lines)\n\(output)")
    }
}
