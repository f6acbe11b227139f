// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Drags from the command line, with a fixture whose items can be dropped in every way (drops.c).
@Suite("The command drag", .timeLimit(.minutes(10)))
struct DragCommandTests {
    private static func command() throws -> Command {
        let command = Command(harness: try Harness())
        try command.harness.install("com.example.drops", library: try CFixture.library("drops"))
        let (status, output) = try command("reindex")
        try #require(status == 0, "\(output)")
        try FileManager.default.createDirectory(
            atPath: command.harness.folder + "/out", withIntermediateDirectories: true)
        return command
    }

    private static func names(_ command: Command) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: command.harness.folder + "/out").sorted()
    }

    @Test("puts several items into a folder under their own names, and a failed one stops none")
    func several() throws {
        let command = try Self.command()
        let out = command.harness.folder + "/out"
        let (status, output, errors) = try command.separately(
            "drag", "data-10", "nobody", "refuse-1", "data-10", "--accept", "public.plain-text", "--output", out)
        #expect(status == 2)
        #expect(
            output == "\(out)/data-10.txt: 10 bytes of public.utf8-plain-text\n"
                + "\(out)/data-10 (2).txt: 10 bytes of public.utf8-plain-text\n")
        #expect(errors.contains("nobody: There is no item"))
        #expect(errors.contains("refuse-1: ") && errors.contains("not for you"))
        #expect(try Self.names(command) == ["data-10 (2).txt", "data-10.txt"])
        // Several items need a folder.
        #expect(
            try command("drag", "data-10", "file-0", "--accept", "public.text", "--output", out + "/x").status == 64)
        let list = try command.shell(
            "printf 'data-10\\n\\ngone-1\\n' | \"$SEARCHLIGHT\" drag - --accept public.plain-text --output - 2>/dev/null"
        )
        #expect(list.output == "dddddddddd" && list.status == 2)
        let file = try command.shell(
            "printf 'data-10\\n' >list && \"$SEARCHLIGHT\" drag --items-from list --accept .txt --output - 2>/dev/null")
        #expect(file.output == "dddddddddd" && file.status == 0)
        let folder = try command("drag", "--items-from", "/etc", "--accept", ".txt", "--output", "-")
        #expect(folder.status == 8 && folder.output.lowercased().contains("/etc failed: is a directory"))
    }

    @Test("explains repeated facts of several items once, and names the others")
    func sameFailure() throws {
        let command = try Self.command()
        #expect(try command("extensions", "disable", "com.example.drops").status == 0)
        let (status, _, errors) = try command.separately(
            "drag", "data-10", "data-3000000", "file-0", "--accept", "public.text", "--output",
            command.harness.folder + "/out")
        let lines = errors.split(separator: "\n")
        #expect(status != 0)
        #expect(lines.count { $0.contains("disabled") } == 1, "\(errors)")
        for name in ["data-3000000", "file-0"] {
            #expect(lines.contains("searchlight: \(name): The same problem as with data-10."), "\(errors)")
        }
    }

    @Test(
        "ends with a status for each outcome, which JSON contains too",
        arguments: [
            ("refuse-1", "public.plain-text", 4, "refused"), ("gone-1", "public.plain-text", 2, "notFound"),
            ("fail-1", "public.plain-text", 1, "failed"), ("crash-1", "public.plain-text", 7, "crashed"),
            ("unsafe-1", "com.apple.package", 8, "inputOutput"), ("data-10", "public.movie", 3, "unsupportedType"),
        ])
    func outcomes(item: String, type: String, status: Int, outcome: String) throws {
        let command = try Self.command()
        let report = try #require(
            try command.json(
                "drag", item, "--accept", type, "--output", command.harness.folder + "/out", expecting: Int32(status))
                as? [String: Any])
        #expect(report["outcome"] as? String == outcome)
        #expect(report["status"] as? Int == status)
        #expect(report["item"] as? String == item)
        #expect((report["error"] as? String)?.isEmpty == false)
        #expect(try Self.names(command).isEmpty)
    }

    @Test("delivers a package as a folder, without its digest, and a file with its digest")
    func packages() throws {
        let command = try Self.command()
        let out = command.harness.folder + "/out"
        let package = try #require(
            try command.json("drag", "package-5000", "--accept", "com.apple.rtfd", "--output", out, "--digest")
                as? [String: Any])
        #expect(package["outcome"] as? String == "fulfilled")
        #expect(package["path"] as? String == out + "/package-5000.rtfd")
        #expect(package["bytes"] as? Int == 5000)
        #expect(package["sha256"] == nil)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: out + "/package-5000.rtfd/images/link")
                == "../TXT.rtf")
        let file = try #require(
            try command.json("drag", "file-0", "--accept", "public.rtf", "--output", out, "--digest") as? [String: Any])
        #expect(file["sha256"] as? String == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let streamed = try command.separately(
            "drag", "data-10", "--accept", "public.text", "--output", "-", "--digest")
        #expect(streamed.output == "dddddddddd")
        #expect(streamed.errors.hasPrefix("sha256 "))
    }

    @Test("prints the path of an original that its extension opened, and copies nothing")
    func inPlace() throws {
        let command = try Self.command()
        let path = command.harness.marks + "/com.example.drops.searchext.original"
        let (status, output) = try command("drag", "original-400", "--in-place")
        #expect(status == 0 && output == path + "\n")
        let report = try #require(try command.json("drag", "original-400", "--in-place") as? [String: Any])
        #expect(report["path"] as? String == path && report["isWritable"] as? Bool == true)
        #expect(report["form"] as? String == "inPlaceFile")
        #expect(try command("drag", "original-400", "--in-place", "--accept", "public.movie").status == 3)
        #expect(try command("drag", "original-400", "--in-place", "--output", "x").status == 64)
        #expect(try Self.names(command).isEmpty)
    }

    @Test("asks before it exceeds the limit")
    func limit() throws {
        let command = try Self.command()
        let out = command.harness.folder + "/out"
        let refused = try command(
            "drag", "data-3000000", "--accept", "public.text", "--output", out, "--limit", "2M")
        #expect(refused.status == 4 && refused.output.contains("more than 2 MiB. Add --yes"))
        #expect(try Self.names(command).isEmpty)
        #expect(
            try command("drag", "data-3000000", "--accept", "public.text", "--output", out, "--limit", "2M", "--yes")
                .status == 0)
        #expect(try command("drag", "data-10", "--accept", "public.text", "--output", out, "--limit", "x").status == 64)
    }

    @Test("knows kinds of apps, including the user's own")
    func receivers() throws {
        let command = try Self.command()
        let out = command.harness.folder + "/out"
        let list = try command("receivers")
        #expect(list.status == 0 && list.output.contains("plain-text-editor  Plain text editor"))
        #expect(try command("drag", "file-70000", "--receiver", "file-manager", "--output", out).status == 0)
        #expect(try Self.names(command) == ["file-70000.rtf"])
        let folder = command.harness.folder + "/config/searchlight/receivers"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(#"{"title": "Mine", "accepts": ["public.data"], "takes": ["inPlace"]}"#.utf8)
            .write(to: URL(filePath: folder + "/mine.json"))
        try Data(#"{"accepts": 1}"#.utf8).write(to: URL(filePath: folder + "/bad.json"))
        let shown = try #require(try command.json("receivers", "show", "mine") as? [String: Any])
        #expect(shown["takes"] as? [String] == ["inPlace"] && shown["path"] as? String == folder + "/mine.json")
        let dry = try #require(
            try command.json("drag", "original-400", "--receiver", "mine", "--dry-run") as? [String: Any])
        #expect(dry["form"] as? String == "inPlaceFile")
        let pairs = try #require(dry["pairs"] as? [[String: Any]])
        #expect(pairs.count == 1 && pairs[0]["wins"] as? Bool == true)
        let bad = try command("drag", "data-10", "--receiver", "bad", "--output", out)
        #expect(bad.status == 64 && bad.output.contains("“accepts” must be a list of strings"))
        let none = try command("drag", "data-10", "--receiver", "none", "--output", out)
        #expect(none.status == 64 && none.output.contains("Choose one of browser"))
        for number in 1...4 { try Data().write(to: URL(filePath: folder + "/\(number).jsn")) }
        let notes = try command.separately("receivers", "list").errors.split(separator: "\n")
        #expect(notes.count == 2 && notes[0].contains("bad.json"), "\(notes)")
        let others =
            #""1.jsn", "2.jsn", "3.jsn" (and 1 more) in \#(folder) not used: a profile has a name like NAME.json."#
        #expect(notes.last?.hasSuffix(others) == true, "\(notes)")
        try Data(#"{"accepts": [".rtf", "public.htlm"]}"#.utf8).write(to: URL(filePath: folder + "/mine.json"))
        let own = try command.separately("drag", "file-0", "--receiver", "mine", "--output", out)
        #expect(own.status == 0 && own.errors.hasPrefix("Note: The type public.htlm is not declared"), "\(own.errors)")
    }

    /// `true` if this user may mount file systems in a namespace.
    private static let mayMount =
        (try? CFixture.run(
            "/usr/bin/env", ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
        ).status) == 0

    @Test(
        "reports a full or read-only device, and leaves nothing there", .enabled(if: mayMount),
        arguments: [("size=1m", "only "), ("size=1m,ro", "Read-only file system")])
    func devices(options: String, reason: String) throws {
        let command = try Self.command()
        let (status, output) = try command.shell(
            """
            unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o \(options) none out && \
            for type in public.text com.apple.rtfd; do "$SEARCHLIGHT" drag data-3000000 --accept $type --output out 2>&1; \
            echo "status $?"; done; ls -A out | wc -l'
            """)
        #expect(status == 0)
        #expect(output.components(separatedBy: "status 8").count == 3, "\(output)")
        #expect(output.contains(reason) && output.hasSuffix("\n0\n"), "\(output)")
    }
}
