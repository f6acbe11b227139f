// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// “searchlight reindex”: its output and its exit status.
@Suite("The reindex command", .timeLimit(.minutes(10)))
struct ReindexCommandTests {
    @Test("The last message is always shown, and at most a thousand are kept")
    func messages() throws {
        let command = Command(harness: try Harness())
        let bundle = try command.harness.installFixture("hostile-words")
        let (status, output, errors) = try command.separately("reindex")
        #expect(status == 0)
        #expect(output.hasPrefix("\(bundle): 6 items indexed in "))
        let lines = errors.split(separator: "\n")
        #expect(lines.count == 13, "\(errors)")
        #expect(lines.first == "\(bundle):")
        #expect(lines.last == "  summary of all")
        #expect(lines[11] == "  … and 1490 more messages (--verbose shows them)")
        let reports = try #require(try command.json("reindex", bundle) as? [[String: Any]])
        let messages = try #require(reports.first?["messages"] as? [String])
        #expect(messages.count == 1000)
        #expect(messages.last == "summary of all")
        #expect(reports.first?["droppedMessages"] as? Int == 501)
    }

    @Test("Messages are listed under the name of their bundle")
    func headings() throws {
        let command = Command(harness: try Harness())
        let wordy = try command.harness.installFixture("hostile-words")
        let terse = try command.harness.installFixture("notebook")
        let (status, _, errors) = try command.separately("reindex")
        #expect(status == 0, "\(errors)")
        let headings = errors.split(separator: "\n").filter { !$0.hasPrefix("  ") }
        #expect(headings == ["\(wordy):", "\(terse):"], "\(errors)")
        #expect(errors.hasSuffix("\(terse):\n  three sheets\n"), "\(errors)")
    }

    @Test("One item is counted in the singular")
    func singular() throws {
        let command = Command(harness: try Harness())
        let notes = command.harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: false)
        try Data("# One\n".utf8).write(to: URL(filePath: notes + "/one.md"))
        let bundle = try command.harness.installJournal(notes: notes)
        let (status, output) = try command("reindex")
        #expect(status == 0, "\(output)")
        #expect(output.contains("\(bundle): 1 item indexed in "))
        #expect(try command("status").output.contains("\(bundle): 1 item, "))
    }

    @Test("Without any extension it has a message of its own")
    func noExtension() throws {
        let command = Command(harness: try Harness())
        let (status, output) = try command("reindex")
        #expect(status == 2)
        #expect(output.hasPrefix("searchlight: There is no extension to reindex. "))
        #expect(output.contains(command.harness.extensions))
        #expect(output.contains("searchlight reindex BUNDLE"), "a running app can be asked, and it is said how")
        let report = try #require(try command.json("reindex", expecting: 2) as? [String: Any])
        #expect(report["status"] as? Int == 2)
    }

    @Test("Rejected extensions are reported; they are a failure only if they were requested")
    func refused() throws {
        let command = try Command.indexed()
        let name = "com.example.refused"
        try command.harness.install(name, library: nil)
        let all = try command.separately("reindex")
        #expect(all.status == 0)
        #expect(all.errors.contains("Refused: \(command.harness.extensions)/\(name).searchext: Its library"))
        let reports = try #require(try command.json("reindex") as? [[String: Any]])
        #expect(reports.count == 2)
        #expect((reports.first { $0["bundle"] as? String == name }?["refused"] as? String)?.isEmpty == false)
        #expect(try command("reindex", name).status == 4)
        let failed = try #require(try command.json("reindex", name, expecting: 4) as? [[String: Any]])
        #expect((failed.first?["error"] as? String)?.isEmpty == false)
    }

    @Test("A blocked terminal does not delay the extension")
    func blockedErrors() throws {
        let command = Command(harness: try Harness())
        _ = try command.harness.installFixture("hostile-words")
        // The command prints far more than the pipe holds before anything is read. By then the
        // items are in the index.
        let (_, output) = try command.shell(
            "mkfifo pipe && { (exec 3<>pipe; \"$SEARCHLIGHT\" reindex --verbose 2>&3 >/dev/null & child=$!; "
                + "until \"$SEARCHLIGHT\" status 2>/dev/null | grep -q '6 items'; do [ -d /proc/$child ] || break; done; "
                + "cat <&3 >/dev/null & reader=$!; wait $child; echo \"status $?\"; kill $reader); }")
        #expect(output == "status 0\n")
    }
}
