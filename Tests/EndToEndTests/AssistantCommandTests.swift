// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("The commands for assistants", .timeLimit(.minutes(10)))
struct AssistantCommandTests {
    private static let introduction =
        #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"My helper","version":"1"}}}"#
    private static let search =
        #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"sheet"}}}"#

    @Test(
        "An assistant asks, is granted an app, reads, and leaves a log, with a service and without",
        arguments: [true, false])
    func session(hasService: Bool) async throws {
        let command = Command(harness: try Harness())
        let line = #"{"uniqueIdentifier": "s", "attributes": {"title": "Sheet", "textContent": "The sheet of sums"}}"#
        let donated = try await command.inProcess.outcome(
            ["donate", "--bundle", "org.example.sheets", "-"], input: line)
        try #require(donated.status == 0, "\(donated)")
        let host = hasService ? try ServiceHost(command.harness) : nil
        let lines = Self.introduction + "\n\n" + Self.search + "\n"
        let first = try await command.outcome(["mcp"], input: lines)
        #expect(first.status == 0 && first.output.split(separator: "\n").count == 2, "\(first)")
        #expect(first.output.contains("has not granted “My helper”") && !first.output.contains("sums"), "\(first)")
        #expect(try await command.outcome(["access"]).output.contains("searchlight access grant 'My helper' BUNDLE"))
        let granted = try await command.outcome([
            "access", "grant", "My helper", "org.example.sheets", "org.example.typo",
        ])
        #expect(
            granted.status == 0 && granted.errors.contains("The index has no items of org.example.typo."), "\(granted)")
        let second = try await command.outcome(["mcp"], input: lines)
        #expect(second.output.contains("The sheet of sums") && second.output.contains("\"isError\":false"), "\(second)")
        let log = try await command.outcome(["access", "log"])
        #expect(log.output.contains("My helper search “sheet”: @1 of org.example.sheets"), "\(log)")
        #expect(log.output.contains("My helper search “sheet”: denied"), "\(log)")
        #expect(try await command.outcome(["access", "revoke", "My helper", "org.example.sheets"]).status == 0)
        #expect(try await command.outcome(["mcp"], input: lines).output.contains("sums") == false)
        #expect(try await command.outcome(["access", "revoke", "Nobody"]).status == 2)
        // Forgetting an app is recorded in the log.
        #expect(try await command.outcome(["forget", "org.example.sheets", "--yes"]).status == 0)
        let rest = try await command.outcome(["access", "log", "--json"])
        #expect(!rest.output.contains("org.example.sheets") && rest.output.contains("isDenied"), "\(rest)")
        #expect(try await command.outcome(["access", "log", "--clear"]).status == 4)
        #expect(try await command.outcome(["access", "log", "--clear", "--yes"]).status == 0)
        #expect(try await command.outcome(["access", "log"]).errors.contains("No assistant has asked"))
        await host?.close()
    }

    @Test("Wrong input ends neither the session nor the answers, and wrong arguments are usage errors")
    func wrongInput() async throws {
        let command = Command(harness: try Harness())
        let rest = command.harness.folder + "/lines"
        try (Self.introduction + "\n" + Self.search + "\n").write(toFile: rest, atomically: true, encoding: .utf8)
        let outcome = try command.shell(
            #"{ echo nonsense; head -c 1048577 /dev/zero | tr '\0' x; echo; cat lines; } | "$SEARCHLIGHT" mcp"#)
        #expect(outcome.output.contains("The index is empty."), "\(outcome)")
        let answers = outcome.output.split(separator: "\n")
        #expect(outcome.status == 0 && answers.count == 4, "\(outcome)")
        #expect(answers.first?.contains("-32700") == true && answers.dropFirst().first?.contains("-32600") == true)
        for wrong in [
            ["mcp", "--json"], ["access", "grant", "x"], ["access", "grant", "x", "y", "--all"],
            ["access", "grant", ""],
        ] {
            #expect(try await command.outcome(wrong).status == 64, "\(wrong)")
        }
    }
}
