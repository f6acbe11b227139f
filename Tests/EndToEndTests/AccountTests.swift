// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchIndex
import SystemSupport
import TestSupport
import Testing

/// Commands report content that the index lacks: truncated texts, omissions, losses and pending
/// donations.
@Suite("The account of a bundle", .timeLimit(.minutes(10)))
struct AccountTests {
    private let command: Command
    private static let hasPython = access("/usr/bin/python3", X_OK) == 0

    init() throws { command = Command(harness: try Harness()) }

    private func account(_ bundle: String, in command: Command? = nil) throws -> [String: Any] {
        let status = try #require(try (command ?? self.command).json("status") as? [String: Any])
        let accounts = try #require(status["accounts"] as? [[String: Any]])
        return try #require(accounts.first { $0["bundle"] as? String == bundle }, "\(accounts)")
    }

    private func leftOut(_ account: [String: Any]) -> [String: Int] {
        let all = account["leftOut"] as? [[String: Any]] ?? []
        return Dictionary(
            all.map { ($0["reason"] as? String ?? "", $0["count"] as? Int ?? 0) }, uniquingKeysWith: { one, _ in one })
    }

    @Test("Partial items and skipped files are reported by reindex, status and show until the next request")
    func omissions() throws {
        let bundle = try command.harness.installFixture("omissions")
        let reindexed = try command("reindex")
        #expect(reindexed.status == 0, "\(reindexed)")
        #expect(
            reindexed.output.contains("  content left out, no permission to read it: 2 (open soon, still locked)"),
            "\(reindexed)")
        #expect(reindexed.output.contains("  indexed with only part of their text: 1 item"), "\(reindexed)")
        #expect(!reindexed.output.contains("\u{1B}[31m"))
        let reports = try #require(try command.json("reindex") as? [[String: Any]])
        let report = try #require(reports.first?["account"] as? [String: Any])
        #expect(report["itemsInPart"] as? Int == 1 && report["isComplete"] as? Bool == false)
        #expect(leftOut(report)["no permission to read it"] == 2)

        #expect(try command("status").output.contains("    content left out, no permission to read it: 2 ("))
        var found = try account(bundle)
        #expect(found["items"] as? Int == 2 && found["itemsInPart"] as? Int == 1, "\(found)")
        #expect(leftOut(found).count == 2)
        let shown = try command("show", "part").output
        #expect(shown.contains("the last 4711 bytes of its text are not indexed"), "\(shown)")
        #expect((try command.json("show", "part") as? [String: Any])?["missingTextBytes"] as? Int == 4711)
        #expect((try command.json("show", "whole") as? [String: Any])?["missingTextBytes"] as? Int == 0)

        // The new reports about the requested items replace the old ones.
        #expect(try command("reindex", bundle, "--items", "open soon", "still locked").status == 0)
        found = try account(bundle)
        #expect(leftOut(found)["no permission to read it"] == 1 && leftOut(found).count == 2, "\(found)")

        // Reports from a failed request are ignored.
        try Data().write(to: URL(filePath: "\(command.harness.marks)/\(bundle).searchext.fails"))
        #expect(try command("reindex").status != 0)
        found = try account(bundle)
        #expect(leftOut(found).count == 2 && leftOut(found)["said by a request that failed"] == nil, "\(found)")
        #expect(found["owed"] != nil)

        #expect(try command("forget", bundle, "--yes").status == 0)
        let status = try #require(try command.json("status") as? [String: Any])
        #expect((status["accounts"] as? [[String: Any]])?.isEmpty == true, "\(status)")
    }

    /// Overwrites a page of the item table.
    private func damage(_ command: Command, text: String) throws {
        let database = command.harness.store + "/index.sqlite"
        var bytes = try Data(contentsOf: URL(filePath: database))
        let title = try #require(bytes.range(of: Data(text.utf8)))
        let start = title.lowerBound / 8192 * 8192
        try #require(bytes[start] == 13)
        bytes.replaceSubrange(start..<start + 8192, with: Data(repeating: 0x5A, count: 8192))
        try bytes.write(to: URL(filePath: database))
    }

    @Test("After a repair by a reading command, search, status and schedule report the pending reindex")
    func owedFromTheFirstCommand() throws {
        let command = Command(harness: try Harness())
        let bundle = try command.harness.installFixture("notebook")
        // Only an extension that has donated before can donate again.
        #expect(try command("reindex").status == 0)
        let lines = (0..<300).map {
            #"{"uniqueIdentifier": "\#($0)", "attributes": {"title": "Sheet \#($0) of a logbook"}}"#
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: command.harness.folder + "/lines"))
        #expect(try command("donate", "--bundle", bundle, command.harness.folder + "/lines").status == 0)
        try damage(command, text: "Sheet 150 of a logbook")
        let first = try command("list", "--limit", "1000")
        #expect(first.status == 0 && first.output.contains("others may be lost"), "\(first.output.suffix(500))")
        for _ in 0..<2 {
            let searched = try command("search", "logbook", "--limit", "1")
            #expect(searched.output.contains("A reindex of \(bundle) is pending; items may be missing"), "\(searched)")
            let output = try command.separately("search", "logbook", "--limit", "1", "--json").output
            let asObject = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
            let notes = try #require(asObject["notes"] as? [String])
            #expect(
                notes.contains { $0.hasPrefix("A reindex of \(bundle) is pending; items may be missing") }, "\(notes)")
            let status = try command("status").output
            #expect(status.contains("Pending: a reindex of \(bundle), since items may have been lost"), "\(status)")
        }
        #expect(try command("schedule").output.contains(bundle))
        let found = try account(bundle, in: command)
        #expect(found["hasLosses"] as? Bool == true && found["items"] as? Int ?? 300 < 300, "\(found)")
        #expect(try command("reindex").status == 0)
        let after = try account(bundle, in: command)
        #expect(after["hasLosses"] as? Bool == false && after["isComplete"] as? Bool == true, "\(after)")
        #expect(try !command("search", "logbook", "--limit", "1").output.contains("is pending"))
    }

    @Test("A reading command loses no item that cannot be donated again, and says what to do")
    func nothingIsLostUnasked() throws {
        try donateLetters()
        try damage(command, text: "Letter 150 from abroad")
        for _ in 0..<2 {
            let listed = try command("list", "--limit", "1000")
            #expect(listed.status == 8, "\(listed.output.suffix(600))")
            #expect(listed.output.contains("may lose items of org.example.post, and no extension donates them again"))
            #expect(listed.output.contains("verify --repair"))
            #expect(listed.output.components(separatedBy: "Nothing was changed").count == 2, "\(listed.output)")
        }
        let searched = try command("search", "abroad", "--limit", "1000")
        #expect(searched.output.contains("and no extension donates them again"), "\(searched)")
        // The refusal is recorded, so that the next command does not examine the whole database
        // again.
        let note = command.harness.store + "/repair-refused.json"
        let before = try #require(FileManager.default.contents(atPath: note))
        #expect(try command("list").output.contains("Nothing was changed"))
        #expect(FileManager.default.contents(atPath: note) == before)
        #expect(!FileManager.default.fileExists(atPath: command.harness.store + "/index.sqlite.damaged"))
        #expect(try command("verify", "--repair").status == 0)
        #expect(!FileManager.default.fileExists(atPath: note))
        #expect(try command("list", "--limit", "1000").output.contains("from abroad"))
        #expect(try command("status").output.contains("Pending: a reindex of org.example.post, since items may"))
    }

    /// Runs a body while a service answers the commands.
    private func withService(_ body: () throws -> Void) async throws {
        let child = try ChildProcess(
            BuiltProducts.program("searchlightd"),
            ["--store", command.harness.store, "--extensions", command.harness.extensions, "--no-session-bus"],
            environment: try command.environment, output: .nothing, errors: .nothing)
        defer {
            child.send(SIGTERM)
            _ = child.wait()
        }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(60)
        while (try? ServiceSocket.connect(inFolder: command.harness.store)) == nil {
            try #require(child.isRunning && clock.now < deadline)
            try await clock.sleep(for: .milliseconds(10))
        }
        try body()
    }

    private func donateLetters() throws {
        let lines = (0..<300).map {
            #"{"uniqueIdentifier": "\#($0)", "attributes": {"title": "Letter \#($0) from abroad"}}"#
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: command.harness.folder + "/lines"))
        #expect(try command("donate", "--bundle", "org.example.post", command.harness.folder + "/lines").status == 0)
    }

    @Test("A service loses no item that cannot be donated again: it serves reads, rejects changes and says what to do")
    func serviceLosesNothing() async throws {
        try donateLetters()
        try damage(command, text: "Letter 150 from abroad")
        StoreVerifier(directory: command.harness.store).requestRepair()
        let database = command.harness.store + "/index.sqlite"
        try await withService {
            let searched = try command("search", "abroad", "--limit", "3")
            #expect(searched.output.contains("of org.example.post, and no extension donates them again"), "\(searched)")
            let shown = try command("show", "3")
            #expect(shown.status == 0 && shown.output.contains("Letter 3 from abroad"), "\(shown)")
            let status = try command("status")
            #expect(status.output.contains("Damaged: ") && status.output.contains("Answered by: the service"))
            let json = try JSONSerialization.jsonObject(
                with: Data(command.separately("status", "--json").output.utf8))
            #expect((json as? [String: Any])?["refusedRepair"] as? String != nil)
            #expect(try command("doctor").output.contains("repair may lose items"))
            for change in [
                ["donate", "--bundle", "org.example.other", command.harness.folder + "/lines"],
                ["delete", "--bundle", "org.example.post", "--identifiers", "3"],
                ["forget", "org.example.post", "--yes"],
            ] {
                let outcome = try command(change)
                #expect(outcome.status == 8 && outcome.output.contains("verify --repair"), "\(change): \(outcome)")
            }
            let counted = try command.separately("search", "abroad", "--limit", "1", "--json").output
            let found = try JSONSerialization.jsonObject(with: Data(counted.utf8)) as? [String: Any]
            #expect(found?["total"] as? Int == 300, "No item was deleted.")
            #expect(!FileManager.default.fileExists(atPath: database + ".damaged"))
            let repaired = try command("verify", "--repair")
            #expect(repaired.status == 0, "\(repaired)")
            #expect(try command("list", "--limit", "1000").output.contains("from abroad"))
            #expect(
                try command("donate", "--bundle", "org.example.post", command.harness.folder + "/lines").status == 0)
            #expect(try !command("status").output.contains("Damaged: "))
        }
    }

    @Test("A service with an unreadable store says why, and repairs it on request")
    func serviceOfUnreadableStore() async throws {
        try donateLetters()
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: command.harness.store + "/index.sqlite" + suffix)
        }
        let database = URL(filePath: command.harness.store + "/index.sqlite")
        try Data(repeating: 0x61, count: 9000).write(to: database)
        try await withService {
            for reading in [["search", "abroad"], ["status"], ["list"]] {
                let outcome = try command(reading)
                #expect(outcome.status == 8 && outcome.output.contains("verify --repair"), "\(reading): \(outcome)")
            }
            #expect(try Data(contentsOf: database) == Data(repeating: 0x61, count: 9000))
            #expect(try command("verify").status == 10)
            #expect(try command("verify", "--repair").status == 0)
            #expect(try command("status").output.contains("Pending: a reindex of org.example.post, since items may"))
        }
    }

    @Test(
        "A reading command makes a repair without losses, and reports it",
        .enabled(if: AccountTests.hasPython, "python3 changes the tables"))
    func harmlessRepair() throws {
        let line = #"{"uniqueIdentifier": "a", "attributes": {"title": "Ledger of the mill"}}"#
        try Data(line.utf8).write(to: URL(filePath: command.harness.folder + "/lines"))
        #expect(try command("donate", "--bundle", "org.example.mill", command.harness.folder + "/lines").status == 0)
        let alter = """
            import sqlite3; db = sqlite3.connect("store/index.sqlite", isolation_level=None)
            db.execute("DELETE FROM ranked_word_data WHERE id > 10"); db.execute("DELETE FROM item_text_data WHERE id > 10")
            """
        try Data(alter.utf8).write(to: URL(filePath: command.harness.folder + "/alter.py"))
        try #require(try command.shell("python3 alter.py").status == 0)
        let found = try command("search", "ledger")
        #expect(found.status == 0 && found.output.contains("Ledger of the mill"), "\(found)")
        #expect(found.output.contains("Note: The derived index"), "\(found)")
        #expect(try !command("status").output.contains("Pending: a reindex"))
    }
}
