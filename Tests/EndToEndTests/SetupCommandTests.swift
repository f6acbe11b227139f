// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("The setup command", .timeLimit(.minutes(10)))
struct SetupCommandTests {
    /// Returns a command with three extensions: notebook has a folder with a file, photos has no
    /// folder, and own has only the folders of its app. The last two have no items.
    private static func command(systemctl script: String? = nil) throws -> Command {
        var command = Command(harness: try Harness())
        let harness = command.harness
        for (name, paths) in [("notebook", ["~/Notes"]), ("photos", ["~/Photos"]), ("own", [])] {
            var access: [String: Any] = [:]
            if !paths.isEmpty { (access["ReadablePaths"], access["WatchedPaths"]) = (paths, true) }
            try harness.install(
                "com.example.\(name)", library: try CFixture.library(paths == ["~/Notes"] ? "notebook" : "empty"),
                manifest: ["CFBundleDisplayName": name.capitalized, "Searchlight": access])
        }
        try FileManager.default.createDirectory(
            atPath: harness.folder + "/Notes", withIntermediateDirectories: true)
        try "A note".write(toFile: harness.folder + "/Notes/one.md", atomically: true, encoding: .utf8)
        // A machine without systemd, unless the test has a program of that name.
        let programs = harness.folder + "/bin"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        if let script {
            let path = programs + "/systemctl"
            try ("#!/bin/sh\n" + script).write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        command.variables["PATH"] = script == nil ? "/nonexistent" : programs + ":/usr/bin:/bin"
        return command
    }

    private func states(_ command: Command) async throws -> [String: String] {
        let outcome = try await command.outcome(["setup", "--dry-run", "--json"])
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome)")
        let apps = try #require(report["extensions"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: apps.compactMap { app in
                (app["bundle"] as? String).map { ($0, app["state"] as? String ?? "") }
            })
    }

    @Test("A dry run shows the files that each extension finds, and changes nothing")
    func dryRun() async throws {
        let command = try Self.command()
        let shown = try await command.outcome(["setup", "--dry-run"])
        #expect(shown.status == 0 && shown.output.contains("Notebook  reads ~/Notes"), "\(shown)")
        #expect(shown.output.contains("Photos    finds nothing yet in ~/Photos"), "\(shown)")
        #expect(shown.output.contains("Own       reads only the files of its own app"), "\(shown)")
        #expect(!FileManager.default.fileExists(atPath: command.harness.store + "/setup.json"))
        #expect(
            try await states(command) == [
                "com.example.notebook": "proposed", "com.example.photos": "empty", "com.example.own": "own",
            ])
    }

    @Test("Without a terminal and without --yes, nothing is changed")
    func noTerminal() async throws {
        let command = try Self.command()
        let outcome = try await command.outcome(["setup"])
        #expect(outcome.status == 4 && outcome.errors.contains("Pass --yes"), "\(outcome)")
        #expect(try await states(command)["com.example.notebook"] == "proposed")
        for wrong in [["setup", "--undo", "--dry-run"], ["setup", "--json"]] {
            #expect(try await command.outcome(wrong).status == 64, "\(wrong)")
        }
    }

    @Test("With --yes the found extension is indexed, and a second run asks nothing")
    func indexes() async throws {
        let command = try Self.command()
        let first = try await command.outcome(["setup", "--yes"])
        #expect(first.status == 0 && first.output.contains("com.example.notebook: 3 items indexed"), "\(first)")
        // No work stays pending, so that searches do not warn of missing items.
        #expect(first.output.contains("com.example.photos: 0 items indexed"), "\(first)")
        let search = try await command.outcome(["search", "alpha"])
        #expect(search.status == 0 && !search.errors.contains("pending"), "\(search)")
        let check = try await command.outcome(["verify"])
        #expect(check.status == 0, "\(check)")
        let second = try await command.outcome(["setup"])
        #expect(second.status == 0 && second.output.contains("3 items from ~/Notes"), "\(second)")
        #expect(!second.output.contains("indexed in"), "\(second)")
        // An app that finds something later is proposed then.
        try FileManager.default.createDirectory(
            atPath: command.harness.folder + "/Photos/2024", withIntermediateDirectories: true)
        #expect(try await states(command)["com.example.photos"] == "proposed")
    }

    @Test("A search reports several pending reindexes in one line")
    func pendingReindexes() async throws {
        let command = try Self.command()
        #expect(try await command.outcome(["reindex", "com.example.notebook"]).status == 0)
        let search = try await command.outcome(["search", "alpha"])
        let lines = search.errors.split(separator: "\n").filter { $0.contains("pending") }
        #expect(
            lines == [
                "Note: Reindexes of 2 apps are pending; items may be missing. Run: searchlight reindex"
            ], "\(search)")
        let own = try await command.outcome(["search", "alpha", "--bundle", "com.example.notebook"])
        #expect(own.status == 0 && !own.errors.contains("pending"), "\(own)")
        let other = try await command.outcome(["search", "alpha", "--bundle", "com.example.photos"])
        #expect(other.errors.contains("A reindex of com.example.photos is pending"), "\(other)")
    }

    @Test("The service is enabled once, and --undo disables it")
    func service() async throws {
        let state = "$HOME/unit-state"
        let command = try Self.command(
            systemctl: """
                echo "$@" >>"$HOME/calls"
                case "$3" in
                is-enabled) if [ -e "\(state)" ]; then echo enabled; else echo disabled; exit 1; fi ;;
                enable) touch "\(state)" ;;
                disable) rm "\(state)" ;;
                esac
                """)
        let host = try ServiceHost(command.harness)
        let shown = try await command.outcome(["setup", "--yes"])
        #expect(
            shown.status == 0 && shown.output.contains("The service indexes them when the machine is idle."), "\(shown)"
        )
        func calls() throws -> [String] {
            try String(contentsOfFile: command.harness.folder + "/calls", encoding: .utf8)
                .split(separator: "\n").map(String.init).filter { !$0.contains("is-enabled") }
        }
        #expect(try calls() == ["--user --no-pager enable --now searchlightd.service"])
        #expect(try await command.outcome(["setup"]).output.contains("The service starts with your session."))
        let undone = try await command.outcome(["setup", "--undo"])
        #expect(undone.status == 0 && undone.output.contains("no longer starts with your session"), "\(undone)")
        #expect(try calls().last == "--user --no-pager disable --now searchlightd.service")
        let again = try await command.outcome(["setup", "--undo"])
        #expect(again.status == 0 && again.output == "Setup has changed nothing here.\n", "\(again)")
        await host.close()
    }

    @Test("A failure of systemctl is reported, and does not stop the indexing of a later run")
    func failingService() async throws {
        let command = try Self.command(
            systemctl: "case $3 in is-enabled) echo disabled ;; *) echo 'Access denied' >&2; exit 4 ;; esac")
        let outcome = try await command.outcome(["setup", "--yes"])
        #expect(
            outcome.status == 1 && outcome.errors.contains("enable --now searchlightd.service failed"), "\(outcome)")
        #expect(outcome.errors.contains("Access denied"), "\(outcome)")
    }

    @Test("An extension that the user declines is disabled, and --undo enables it again")
    func declined() async throws {
        let command = try Self.command()
        // script(1) provides the terminal.
        let line = #"printf 'perhaps\nn\n' | script -qec '"$SEARCHLIGHT" setup' /dev/null"#
        let shell = Command(harness: command.harness)
        let outcome = try shell.shell(line)
        #expect(outcome.status == 0 && outcome.output.contains("Index Notebook, from ~/Notes? [Y/n]"), "\(outcome)")
        #expect(outcome.output.contains("Answer yes or no."), "\(outcome)")
        #expect(outcome.output.contains("No files are indexed. "), "\(outcome)")
        #expect(!outcome.output.contains("All is set up"), "\(outcome)")
        #expect(try await states(command)["com.example.notebook"] == "off")
        let undone = try await command.outcome(["setup", "--undo"])
        #expect(undone.output.contains("com.example.notebook is enabled again."), "\(undone)")
        #expect(undone.output.contains("The next setup asks again"), "\(undone)")
        #expect(try await states(command)["com.example.notebook"] == "proposed")
    }

    @Test("A damaged record is reported with the remedy")
    func damagedRecord() async throws {
        let command = try Self.command()
        _ = try await command.outcome(["setup", "--yes"])
        try "{".write(toFile: command.harness.store + "/setup.json", atomically: true, encoding: .utf8)
        let outcome = try await command.outcome(["setup", "--dry-run"])
        #expect(outcome.status == 8 && outcome.errors.contains("Remove the file"), "\(outcome)")
    }
}
