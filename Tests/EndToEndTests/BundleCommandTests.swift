// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The extension commands, without a service and with one.
@Suite("The extensions command", .timeLimit(.minutes(10)))
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

    @Test("The states of extensions are listed with their remedies")
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
        #expect(all.status == 0 && all.output.contains("is disabled. To enable it"), "\(all.output)")
        _ = try command("extensions", "enable", "com.example.notebook")
        #expect(try command("reindex", "com.example.notebook").status == 0)
        let info = try #require(try command.json("extensions", "info", "com.example.notebook") as? [String: Any])
        #expect(info["state"] as? String == "ready" && info["items"] as? Int == 3)
        #expect((info["refused"] as? [[String: Any]])?.first?["state"] as? String == "shadowed")
    }

    @Test("status names disabled and quarantined extensions, and the command that releases them")
    func held() async throws {
        let (notebook, crashing) = (
            try harness.installFixture("notebook"), try harness.installFixture("by-name")
        )
        _ = try command("extensions", "disable", notebook)
        let mode = harness.extensions + "/\(crashing).searchext/mode"
        try Data("crash".utf8).write(to: URL(filePath: mode))
        for _ in 0..<2 { #expect(try command("reindex", crashing).status == 7) }
        let status = try command("status").output
        #expect(
            status.contains(
                """
                Disabled: \(notebook)
                  It is disabled. To enable it: searchlight extensions enable \(notebook)
                """), "\(status)")
        #expect(status.contains("In quarantine: \(crashing)\n  It lost 3 workers"), "\(status)")
        #expect(status.contains("searchlight extensions release \(crashing)"), "\(status)")
        let report = try #require(try command.json("status") as? [String: Any])
        let held = try #require(report["held"] as? [[String: Any]])
        #expect(held.compactMap { $0["identifier"] as? String } == [crashing, notebook])
        #expect(held.compactMap { $0["state"] as? String } == ["quarantined", "disabled"])
        // The extension's last output has several lines.
        let info = try command("extensions", "info", crashing).output
        #expect(info.contains("\n          ") && info.contains("  | last words about crash\n"), "\(info)")
        let owed = try #require(info.split(separator: "\n").first { $0.contains("pending") })
        #expect(!owed.contains("last words"), "\(info)")
        #expect(info.split(separator: "\n").allSatisfy { $0.components(separatedBy: " | ").count <= 2 }, "\(info)")
        // A rejected bundle has no requests in its current form.
        try FileManager.default.removeItem(atPath: harness.extensions + "/\(crashing).searchext/library.so")
        let refused = try command("extensions", "info", crashing).output
        #expect(refused.contains("refused") && !refused.contains("last words"), "\(refused)")
    }

    @Test("A reindex of items reports how many were requested and donated")
    func items() throws {
        let bundle = try harness.installFixture("by-name")
        #expect(try command("reindex").status == 0)
        let (status, output) = try command("reindex", bundle, "--items", "alpha", "beta", "alpha")
        #expect(status == 0 && output.contains("asked for 2 items, 2 donated in "), "\(output)")
        #expect(!output.contains("3 items"), "\(output)")
        let report = try #require(try command.json("reindex", bundle, "--items", "alpha") as? [[String: Any]])
        #expect(report.first?["asked"] as? Int == 1 && report.first?["donated"] as? Int == 1)
        #expect(report.first?["items"] as? Int == 3)
    }

    @Test("A removed extension is listed with the date of its items' deletion until then")
    func gone() async throws {
        _ = try harness.installFixture("notebook")
        #expect(try command("reindex").status == 0)
        try FileManager.default.removeItem(atPath: harness.extensions + "/com.example.notebook.searchext")
        // A command that opens the store for writing notices the removal.
        _ = try command("delete", "--bundle", "nobody", "--all")
        #expect(try command("extensions").output.contains("Gone: com.example.notebook"))
        #expect(try command("extensions", "info", "com.example.notebook").output.contains("removed"))
        #expect(try command("status").output.contains("Gone: the extension com.example.notebook, since "))
        #expect(
            try command("forget", "com.example.notebook", "--yes").output
                .hasPrefix("com.example.notebook is forgotten: 3 items deleted.\nRemoved:\n  index.sqlite: items"))
        #expect(try !command("status").output.contains("Gone"))
        #expect(try command("extensions", "info", "com.example.notebook").status == 2)
    }

    @Test("Without a store the bundles are listed, and the folder for own extensions is created")
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

    @Test("forget only reports what it would delete, unless it is confirmed")
    func forgetAsks() throws {
        _ = try harness.installFixture("notebook")
        #expect(try command("reindex").status == 0)
        let asked = try command("forget", "com.example.notebook")
        #expect(asked.status == 4 && asked.output.contains("3 items of com.example.notebook"), "\(asked)")
        #expect(asked.output.contains("standard input is not a terminal, or --json is given. Pass --yes."), "\(asked)")
        #expect(try command("list").output.contains("Alpha sheet"))
    }

    @Test("forget asks about as many items as it deletes, expired items included")
    func forgetOfExpired() throws {
        let bundle = "com.example.sheets"
        let lines = #"{"uniqueIdentifier": "one"}"# + "\n" + #"{"uniqueIdentifier": "two", "expirationDate": 5}"#
        for (lines, count) in [(lines, "2 items"), (String(lines.split(separator: "\n")[1]), "1 item")] {
            let donated = try CFixture.run(
                try BuiltProducts.program("searchlight"), ["donate", "--bundle", bundle, "-"],
                environment: try command.environment, input: lines)
            #expect(donated.status == 0, "\(donated)")
            let asked = try command("forget", bundle)
            #expect(asked.status == 4 && asked.output.contains("remove \(count) of \(bundle),"), "\(asked)")
            let forgotten = try command("forget", bundle, "--yes")
            #expect(forgotten.output.contains("is forgotten: \(count) deleted."), "\(forgotten)")
        }
        #expect(try command("forget", bundle).status == 2)
    }

    @Test("forget says that an installed extension donates again, and how to prevent that")
    func forgetOfInstalled() throws {
        let bundle = try harness.installFixture("notebook")
        #expect(try command("reindex").status == 0)
        let remedy = "searchlight extensions disable \(bundle)"
        // Without a confirmation, the note is there as well.
        for arguments in [["forget", bundle], ["forget", bundle, "--yes"]] {
            let output = try command(arguments).output
            #expect(
                output.contains("donates everything again at its next reindex") && output.contains(remedy), "\(output)")
        }
        #expect(try command("reindex").status == 0)
        let report = try #require(try command.json("forget", bundle, "--yes") as? [String: Any])
        #expect(report["donatesAgain"] as? Bool == true && report["deleted"] as? Int == 3)
        // Once disabled, it donates nothing.
        #expect(try command("reindex").status == 0)
        #expect(try command("extensions", "disable", bundle).status == 0)
        let output = try command("forget", bundle, "--yes").output
        #expect(!output.contains("again") && output.contains("3 items deleted"), "\(output)")
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

    @Test("A misspelt subcommand is answered with a suggestion, and is wrong usage")
    func slips() throws {
        let slips: [([String], String)] = [
            (["whre"], "Did you mean where?"), (["test"], "Did you mean validate?"),
            (["debug"], "Did you mean validate --in-process?"), (["bogus"], "Use one of list, info, "),
            (
                ["--extensions", "/x", "where", "--create"],
                "Options come after the command: searchlight extensions where"
            ),
            (["com.example.x"], "searchlight extensions info com.example.x"), (["list", "--bogus"], "'--bogus'"),
        ]
        for (words, advice) in slips {
            let (status, output) = try CFixture.run(
                try BuiltProducts.program("searchlight"), ["extensions"] + words, environment: try command.environment)
            #expect(status == 64 && output.contains(advice), "\(words): \(output)")
        }
        #expect(!FileManager.default.fileExists(atPath: harness.folder + "/data/searchlight"))
    }

    @Test("A folder that cannot be created is reported with the reason, and is a failure")
    func folders() throws {
        for folder in ["/proc/x", "/dev/null/x", "/dev/null"] {
            let made = try command("extensions", "new", "com.example.x", "-l", "c", "-d", folder)
            let reason = folder == "/proc/x" ? "/proc/x cannot be created: no such file" : "/dev/null is not a folder"
            #expect(made.status == 8 && made.output.contains(reason), "\(made.output)")
        }
        #expect(try command("extensions", "new", "com.example.x", "-d", "").status == 64)
        let nothing = try command("extensions", "new", "com.example.x", "/nowhere/x.db", "-l", "database")
        #expect(nothing.status == 2 && nothing.output.contains("There is no file /nowhere/x.db."), "\(nothing)")
        var other = command
        other.variables["XDG_DATA_HOME"] = "/dev/null"
        let created = try other("extensions", "where", "--create")
        #expect(created.status == 8 && created.output.contains("/dev/null is not a folder"), "\(created.output)")
        other.variables = ["XDG_DATA_HOME": "", "HOME": ""]
        let nowhere = try other("extensions", "where", "--create")
        #expect(nowhere.status == 1 && nowhere.output.contains("Set HOME or XDG_DATA_HOME"), "\(nowhere.output)")
    }
}
