// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The commands for extensions, without a service and through it.
@Suite("The extensions command", .timeLimit(.minutes(3)))
struct BundleCommandTests {
    private let command: Command
    private var harness: Harness { command.harness }

    init() throws { command = Command(harness: try Harness()) }

    @Test("Every subcommand prints the same and ends the same through a service")
    func served() async throws {
        let alone = Command(harness: try Harness()).inProcess
        let served = command
        for command in [alone, served] {
            let harness = command.harness
            _ = try harness.installFixture("notebook")
            try harness.install("com.example.refused", library: nil)
            try PlainBundle("com.example.notebook", in: harness.extensions, name: "zzz", version: "2")
        }
        let host = try ServiceHost(served.harness)
        let calls: [[String]] = [
            ["reindex", "com.example.notebook"], ["extensions"], ["extensions", "list", "--json"],
            ["extensions", "info", "com.example.notebook"], ["extensions", "info", "com.example.notebook", "--json"],
            ["extensions", "info", "com.example.refused"], ["extensions", "info", "com.example.notebok"],
            ["extensions", "info", ""], ["extensions", "disable", "com.example.notebook"],
            ["extensions", "disable", "com.example.notebook", "--json"], ["extensions"],
            ["reindex", "com.example.notebook"], ["extensions", "enable", "com.example.notebook"],
            ["extensions", "enable", "com.example.nobody"], ["extensions", "release", "com.example.notebook"],
            ["extensions", "release", "nobody", "--json"], ["extensions", "where"], ["extensions", "where", "--json"],
            ["reindex", "com.example.notebook", "--items", "alpha", "beta"], ["reindex", "--items", "alpha"],
            ["forget", "com.example.notebook"], ["forget", "com.example.notebok"],
            ["forget", "com.example.notebook", "--yes"], ["forget", "com.example.notebook", "--yes", "--json"],
        ]
        for arguments in calls {
            let one = try await alone.outcome(arguments).normalised(alone.harness)
            let other = try await served.outcome(arguments).normalised(served.harness)
            #expect(other == one, "\(arguments)")
        }
        await host.close()
    }

    @Test("The states of extensions are told, and what to do about them")
    func states() async throws {
        _ = try harness.installFixture("notebook")
        try harness.install("com.example.refused", library: nil)
        try PlainBundle("com.example.notebook", in: harness.extensions, name: "zzz")
        #expect(
            try command("extensions", "disable", "com.example.notebook").output
                == "com.example.notebook is disabled now.\n")
        let listed = try command("extensions").output
        #expect(listed.contains("disabled") && listed.contains("searchlight extensions enable com.example.notebook"))
        #expect(listed.contains("Refused: \(harness.extensions)/com.example.refused.searchext"))
        #expect(listed.contains("Shadowed: \(harness.extensions)/zzz.searchext"))
        #expect(try command("reindex", "com.example.notebook").status != 0)
        let all = try command("reindex")
        #expect(all.status == 0 && all.output.contains("is disabled and was not asked"), "\(all.output)")
        _ = try command("extensions", "enable", "com.example.notebook")
        #expect(try command("reindex", "com.example.notebook").status == 0)
        let info = try #require(try command.json("extensions", "info", "com.example.notebook") as? [String: Any])
        #expect(info["state"] as? String == "ready" && info["items"] as? Int == 3)
        #expect((info["refused"] as? [[String: Any]])?.first?["state"] as? String == "shadowed")
    }

    @Test("One that is gone is told with the moment its items go, until they are forgotten")
    func gone() async throws {
        _ = try harness.installFixture("notebook")
        #expect(try command("reindex").status == 0)
        try FileManager.default.removeItem(atPath: harness.extensions + "/com.example.notebook.searchext")
        // Whoever opens the store to change it notices.
        _ = try command("delete", "--bundle", "nobody", "--all")
        #expect(try command("extensions").output.contains("Gone: com.example.notebook"))
        #expect(try command("extensions", "info", "com.example.notebook").output.contains("removed"))
        #expect(try command("status").output.contains("Gone: the extension com.example.notebook, since "))
        #expect(
            try command("forget", "com.example.notebook", "--yes").output
                == "com.example.notebook is forgotten: 3 items deleted.\n")
        #expect(try !command("status").output.contains("Gone"))
        #expect(try command("extensions", "info", "com.example.notebook").status == 2)
    }

    @Test("Without a store the bundles are told, and a folder for one's own is made")
    func withoutStore() throws {
        #expect(try command("extensions").output.hasPrefix("No extension is found. Searched:\n"))
        let folder = harness.folder + "/data/searchlight/extensions"
        #expect(try command("extensions", "where").output.contains("searchlight extensions where --create"))
        #expect(try command("extensions", "where", "--create").status == 0)
        #expect(FileManager.default.fileExists(atPath: folder))
        try PlainBundle("com.example.own", in: folder)
        #expect(try command("extensions").output.hasPrefix("com.example.own 1  Name of com.example.own\n"))
        #expect(try command("extensions", "info", "com.example.own").output.contains("ready"))
        #expect(try command("extensions", "info", "com.example.nobody").status == 2)
        #expect(!FileManager.default.fileExists(atPath: harness.store))
    }

    @Test("forget says what would go, and does nothing unless it is told to")
    func forgetAsks() throws {
        _ = try harness.installFixture("notebook")
        #expect(try command("reindex").status == 0)
        let asked = try command("forget", "com.example.notebook")
        #expect(asked.status == 4 && asked.output.contains("3 items of com.example.notebook"), "\(asked)")
        #expect(try command("list").output.contains("Alpha sheet"))
    }

    @Test("A shell completes identifiers")
    func completion() throws {
        _ = try harness.installFixture("notebook")
        let (status, output) = try CFixture.run(
            try BuiltProducts.program("searchlight"),
            [
                "---completion", "extensions", "info", "--", "positional@0", "3", "3", "searchlight", "extensions",
                "info", "com",
            ],
            environment: try command.environment)
        #expect(status == 0 && output.contains("com.example.notebook"), "\(output)")
    }
}
