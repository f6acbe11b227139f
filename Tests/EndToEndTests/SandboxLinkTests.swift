// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import Testing

/// The effect of symbolic links, created by a worker or another process, on the host and on the
/// worker's access.
@Suite("Links and the sandbox", .timeLimit(.minutes(10)))
struct SandboxLinkTests {
    private static let bundle = "com.example.links"

    private func install(_ harness: Harness, trying things: [String], _ access: [String: Any] = [:]) throws {
        try harness.install(
            Self.bundle, library: try CFixture.library("links"),
            manifest: [
                "Searchlight": ["WritablePaths": ["$XDG_DOCUMENTS_DIR/marks"]].merging(access) { $1 } as [String: Any]
            ])
        try Data(things.map { $0 + "\n" }.joined().utf8)
            .write(to: URL(filePath: harness.marks + "/\(Self.bundle).searchext.target"))
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }

    private func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    @Test(
        "a worker's links that lead through each other to nothing, and its long paths, neither end nor stop the host",
        arguments: ["tower 20 150", "tower 25 6", "tower 39 100", "tower 45 2", "deep 4080"])
    func tower(thing: String) throws {
        let harness = try Harness()
        try install(harness, trying: [thing])
        let (status, output) = try Command(harness: harness)("reindex", "--verbose", Self.bundle)
        #expect(status == 0 && output.contains("LINKS \(thing): "), "\(status): \(output)")
        // The link would be in the worker's own folder, where nothing is denied. But a path that is
        // not followed to its end is reported.
        #expect(output.contains("tried to") == (thing == "tower 20 150"), "\(output)")
    }

    @Test("such links at a declared path end no host that resolves it", arguments: [150, 6])
    func declaredTower(times: Int) throws {
        let harness = try Harness()
        try install(
            harness, trying: [],
            ["WritablePaths": ["$XDG_DOCUMENTS_DIR/marks", "$XDG_DOCUMENTS_DIR/marks/l0"], "ReadablePaths": ["~/l0"]])
        for folder in [harness.marks, harness.folder] {
            for number in 0..<25 {
                let target = Array(repeating: "l\(number + 1)", count: times).joined(separator: "/../")
                try link(folder + "/l\(number)", to: target)
            }
        }
        let (status, output) = try Command(harness: harness)("reindex", "--verbose", Self.bundle)
        #expect(status == 0, "\(status): \(output)")
    }

    @Test("a folder that becomes a link after the host's check opens nothing, to write or to read")
    func exchanged() async throws {
        let harness = try Harness()
        let (shared, settings) = (harness.folder + "/Documents/shared", harness.folder + "/config/autostart")
        for path in [shared + "/d", shared + "/f", settings, harness.folder + "/.ssh", harness.folder + "/in/notes"] {
            try make(path)
        }
        try make(harness.folder + "/out/notes")
        try Data("key\n".utf8).write(to: URL(filePath: harness.folder + "/.ssh/key"))
        try Data("note\n".utf8).write(to: URL(filePath: harness.folder + "/out/notes/note"))
        try link(shared + "/e", to: settings)
        try link(shared + "/g", to: harness.folder + "/.ssh")
        // Somewhere on the path, too.
        try link(harness.folder + "/way", to: harness.folder + "/out")
        let things = ["write \(shared)/d/planted", "read \(shared)/f/key", "read \(harness.folder)/in/notes/note"]
        try install(
            harness, trying: things,
            [
                "WritablePaths": ["$XDG_DOCUMENTS_DIR/marks", "$XDG_DOCUMENTS_DIR/shared/d"],
                "ReadablePaths": ["$XDG_DOCUMENTS_DIR/shared/f", "~/in/notes"],
            ])
        // The changes of another process with write access between the two moments.
        let worker = harness.folder + "/program/worker"
        try make(harness.folder + "/program")
        let script = """
            #!/bin/sh
            cd '\(harness.folder)'
            # The host has judged once it has sent the policy.
            python3 -c 'import select; select.select([4], [], [])'
            exchange() { mv -T "$1" "$1.old" && mv -T "$2" "$1"; }
            exchange Documents/shared/d Documents/shared/e
            exchange Documents/shared/f Documents/shared/g
            exchange in way
            exec '\(try BuiltProducts.program("searchlight-worker"))' "$@"

            """
        try Data(script.utf8).write(to: URL(filePath: worker))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: worker)
        let engine = try harness.engine(worker: worker)
        _ = try await engine.reindexAll(Self.bundle)
        await engine.close()
        #expect(harness.messages.filter { $0.hasPrefix("LINKS") } == things.map { "LINKS \($0): 13" })
        #expect(try FileManager.default.contentsOfDirectory(atPath: settings).isEmpty)
        let report = try #require(
            harness.recordedEvents.compactMap { if case .confined(_, let report) = $0 { report } else { nil } }.first)
        #expect(report.withheld.contains { $0.path == "3 of its paths" }, "\(report.withheld)")
        #expect(report.missing.isEmpty)
    }

    @Test("a granted path that is a link reaches its target, and so do links of the system")
    func followed() async throws {
        let harness = try Harness()
        try make(harness.folder + "/out/notes")
        try Data("note\n".utf8).write(to: URL(filePath: harness.folder + "/out/notes/note"))
        try link(harness.folder + "/in", to: "out")
        let things = [
            "read \(harness.folder)/in/notes/note", "read \(harness.folder)/out/notes/note", "read /etc/localtime",
            "read /lib/os-release", "read /proc/self/status",
        ]
        try install(harness, trying: things, ["ReadablePaths": ["~/in/notes"]])
        try await harness.withEngine { engine async throws in _ = try await engine.reindexAll(Self.bundle) }
        let expected = things.map { thing in
            access(String(thing.dropFirst(5)), F_OK) == 0 ? "LINKS \(thing): 0" : "LINKS \(thing): 2"
        }
        #expect(harness.messages.filter { $0.hasPrefix("LINKS") } == expected)
    }
}
