// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// The output of `searchlight history`, and the counts in other commands, with a service and
/// without one.
@Suite("The history command", .timeLimit(.minutes(10)))
struct HistoryCommandTests {
    private static func filled() async throws -> Command {
        let command = Command(harness: try Harness())
        _ = try command.harness.installFixture("notebook")
        let reindexed = try await command.inProcess.outcome(["reindex"])
        try #require(reindexed.status == 0, "\(reindexed)")
        let lines = (0..<9).map { #"{"uniqueIdentifier": "s\#($0)", "attributes": {"title": "Sheet \#($0)"}}"# }
        let donated = try await command.inProcess.outcome(
            ["donate", "--bundle", "org.example.sheets", "-"], input: lines.joined(separator: "\n"))
        try #require(donated.status == 0, "\(donated)")
        return command
    }

    private static func history(_ command: Command) async throws -> [String: Any] {
        let outcome = try await command.outcome(["history", "--json"])
        #expect(outcome.status == 0, "\(outcome)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome)")
    }

    private static func first(_ text: String, _ command: Command) async throws -> String {
        try await command.outcome(["search", text, "--numbers", "--limit", "1"]).output
    }

    private static func number(_ identifier: String, _ command: Command) async throws -> String {
        let output = try await command.outcome(["show", identifier, "--json"]).output
        let item = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        return "@\(try #require(item?["number"] as? Int))"
    }

    @Test(
        "A drag and a preview of a found item are counted, shown, sorted, exported and erased",
        arguments: [true, false])
    func wholeWay(hasService: Bool) async throws {
        let command = try await Self.filled()
        let host = hasService ? try ServiceHost(command.harness) : nil
        let empty = try await command.outcome(["history"])
        #expect(empty.status == 0 && empty.output.isEmpty && empty.errors.hasPrefix("There are no counts yet. "))
        #expect(try await Self.history(command)["total"] as? Int == 0)

        // The oldest of ten items with the word.
        let (beta, other) = (try await Self.number("beta", command), try await Self.number("s3", command))
        #expect(try await Self.first("she", command) != beta + "\n")
        let drag = ["drag", beta, "--accept", "public.html", "--output", "-", "--query", "She"]
        for _ in 0..<2 { #expect(try await command.outcome(drag).status == 0) }
        #expect(try await Self.first("she", command) == beta + "\n")
        #expect(try await Self.first("shee", command) == beta + "\n")
        #expect(try await command.outcome(["preview", other, "--query", "sheet"]).status == 0)
        // Failed drags, and previews without a preceding search, are not counted.
        #expect(
            try await command.outcome(["drag", beta, "--accept", "public.image", "--output", "-", "--query", "x"])
                .status == 3)
        #expect(try await command.outcome(["preview", "alpha"]).status == 0)

        let shown = try await command.outcome(["history"])
        let lines = shown.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 5 && shown.errors.isEmpty, "\(shown)")
        #expect(lines[0].hasPrefix("item  times  last"))
        #expect(lines[1].hasPrefix(beta) && lines[1].contains("    2  2") && lines[2].hasSuffix("  “She”"), "\(shown)")
        #expect(
            lines[3].hasPrefix(other) && lines[3].hasSuffix("  Sheet 3") && lines[4].hasSuffix("  “sheet”"), "\(shown)")
        let explained = try await command.outcome(["search", "she", "--explain", "--limit", "1"]).output
        #expect(explained.contains(" + engagement 0.") && !explained.contains("engagement 0.000"), "\(explained)")

        let file = command.harness.folder + "/history.json"
        #expect(try await command.outcome(["history", "--export", file]).output == "\(file): 2 items\n")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let exported = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? NSDictionary
        #expect(exported == (try await Self.history(command) as NSDictionary))
        let items = try #require(exported?["items"] as? [[String: Any]])
        #expect(items.map { $0["uniqueIdentifier"] as? String } == ["beta", "s3"])
        #expect((items[0]["texts"] as? [[String: Any]])?.map { $0["text"] as? String } == ["She"])
        #expect(items[0]["times"] as? Int == 2 && items[0]["reporter"] as? String == "user")

        // An existing file is replaced only after a confirmation. Afterwards only the user can
        // access it.
        try "mine".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(chmod(file, 0o644) == 0)
        let refused = try await command.outcome(["history", "--export", file])
        #expect(refused.status == 4 && refused.errors.contains("would replace the file \(file)"), "\(refused)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        #expect(try await command.outcome(["history", "--export", file, "--yes"]).status == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("beta"))
        let nowhere = try await command.outcome(["history", "--export", command.harness.folder + "/no/x.json"])
        #expect(nowhere.status == 8 && nowhere.errors.components(separatedBy: "/no/").count == 2, "\(nowhere)")
        // The remedy is named once.
        #expect(nowhere.errors.hasSuffix("Create it, or name another folder. No file was written.\n"), "\(nowhere)")

        let asked = try await command.outcome(["history", "--clear"])
        #expect(asked.status == 4 && asked.errors.contains("the counts of 2 items"), "\(asked)")
        #expect(try await Self.history(command)["total"] as? Int == 2)
        #expect(
            try await command.outcome(["history", "--clear", "--yes"]).output
                == "Erased the counts of 2 items.\n")
        #expect(
            try await command.outcome(["history", "--clear"]).output
                == "There are no counts to erase.\n")
        #expect(try await Self.history(command)["total"] as? Int == 0)
        await host?.close()
    }

    @Test("Nothing is counted while it is off, with and without a service", arguments: [true, false])
    func off(hasService: Bool) async throws {
        let command = try await Self.filled()
        let host = hasService ? try ServiceHost(command.harness) : nil
        let beta = try await Self.number("beta", command)
        let drag = ["drag", beta, "--accept", "public.html", "--output", "-", "--query", "she"]
        #expect(try await command.outcome(drag).status == 0)
        let off = try await command.outcome(["history", "off"])
        #expect(off.output == "Use of items is not counted from now on.\n" && off.errors.contains("history --clear"))
        #expect(
            try await command.outcome(["history", "off"]).output == "Use of items is not counted; nothing changed.\n")
        #expect(try await command.outcome(drag).status == 0)
        #expect(try await Self.first("she", command) != beta + "\n")
        let history = try await Self.history(command)
        #expect(history["isOn"] as? Bool == false)
        #expect((history["items"] as? [[String: Any]])?.map { $0["times"] as? Int } == [1])
        #expect(try await command.outcome(["history"]).errors.contains("Learning is off"))
        #expect(try await command.outcome(["status"]).output.contains("Learning is off"))
        #expect(try await command.outcome(["status", "--json"]).output.contains("\"learns\" : false"))
        #expect(try await command.outcome(["doctor"]).output.contains("Learning is off"))
        #expect(try await command.outcome(["history", "on", "--json"]).output.contains("\"isChanged\" : true"))
        #expect(try await Self.first("she", command) == beta + "\n")
        await host?.close()
    }

    @Test("Forgetting an app erases its counts")
    func forget() async throws {
        let command = try await Self.filled()
        let beta = try await Self.number("beta", command)
        #expect(
            try await command.outcome(["drag", beta, "--accept", "public.html", "--output", "-", "--query", "she"])
                .status
                == 0)
        #expect(try await Self.history(command)["total"] as? Int == 1)
        #expect(try await command.outcome(["forget", "com.example.notebook", "--yes"]).status == 0)
        #expect(try await Self.history(command)["total"] as? Int == 0)
    }

    @Test(
        "Wrong usage is reported",
        arguments: [
            ["history", "maybe"], ["history", "on", "--clear"], ["history", "--yes"], ["history", "--export", ""],
            ["history", "--clear", "--export", "x"], ["history", "--limit", "0"], ["history", "on", "off"],
        ])
    func usage(arguments: [String]) throws {
        let (status, output) = try Command(harness: try Harness())(arguments)
        #expect(status == 64, "\(output)")
    }

    @Test("Without a store there is nothing to show or erase, and off can be set beforehand")
    func withoutStore() throws {
        let command = Command(harness: try Harness())
        #expect(try command("history").status == 2)
        #expect(try command("history", "--clear", "--yes").status == 2)
        #expect(try command("history", "off").status == 0)
        let (status, output) = try command("history")
        #expect(status == 0 && output.contains("Learning is off"))
    }
}
