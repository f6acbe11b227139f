// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchlightEngine
import Testing

/// The command as users and scripts run it: output and exit status.
@Suite("The command", .timeLimit(.minutes(10)))
struct CommandTests {
    private func indexed() throws -> Command { try Command.indexed() }

    @Test("finds, shows, previews and drops")
    func wholePath() throws {
        let command = try indexed()
        let (searched, hits) = try command("search", "alpha", "sheet")
        #expect(searched == 0)
        #expect(hits.contains("@1  Alpha sheet"))
        #expect(hits.contains("ruled paper, thirty lines"))

        let (shown, facts) = try command("show", "@1")
        #expect(shown == 0)
        #expect(facts.contains("uniqueIdentifier") && facts.contains("alpha"))

        let (previewed, text) = try command("preview", "alpha")
        #expect(previewed == 0)
        #expect(text == "A sheet\n───────\n\nalpha -\n")

        let drop = command.harness.folder + "/drop.html"
        let (dropped, report) = try command("drag", "alpha", "--accept", "public.html", "--output", drop)
        #expect(dropped == 0)
        #expect(report == "\(drop): 20 bytes of public.html\n")
        #expect(try String(contentsOfFile: drop, encoding: .utf8) == "alpha as public.html")

        let (streamed, bytes) = try command("drag", "alpha", "--accept", "public.html", "--output", "-")
        #expect(streamed == 0)
        #expect(bytes == "alpha as public.html")
    }

    @Test("corrects misspelled words, reports it, and has an option that disables it")
    func corrections() throws {
        let command = try indexed()
        let (status, output) = try command("search", "rulde", "papr")
        #expect(status == 0 && output.contains("Alpha sheet"))
        #expect(output.contains("Showing results for “ruled paper”."))
        let found = try #require(try command.json("search", "rulde", "papr") as? [String: Any])
        let correction = try #require(found["correction"] as? [String: Any])
        #expect(correction["text"] as? String == "ruled paper")
        #expect(correction["ranges"] as? [[Int]] == [[0, 5], [6, 11]])
        let (_, typed) = try command("search", "--as-typed", "rulde", "papr")
        #expect(typed.contains("Nothing is found for “rulde papr”."))
        let plain = try #require(try command.json("search", "paper") as? [String: Any])
        #expect(plain["correction"] is NSNull || plain["correction"] == nil)
    }

    @Test("suggests completions, with and without a service", arguments: [true, false])
    func suggestions(hasService: Bool) async throws {
        let command = try indexed()
        let host = hasService ? try ServiceHost(command.harness) : nil
        // The service runs in this process, so its tasks need the threads that a waiting command
        // would block.
        func json(_ arguments: [String]) async throws -> [[String: Any]] {
            let outcome = try await command.outcome(arguments + ["--json"])
            return try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        }
        let suggested = try await command.outcome(["suggest", "bet"])
        #expect(suggested.status == 0 && suggested.output.contains("Beta"))
        #expect(suggested.output.contains("completion · 1 item"))
        let found = try await json(["suggest", "bet"])
        #expect(found.map { $0["text"] as? String } == ["Beta", "Beta sheet"])
        #expect(found.map { $0["kind"] as? String } == ["completion", "title"])
        #expect(found.allSatisfy { $0["count"] as? Int == 1 && $0["isExact"] as? Bool == true })
        #expect(try await json(["suggest", "--limit", "1", "bet"]).count == 1)
        #expect(try await command.outcome(["suggest", "--limit", "11", "bet"]).status == 64)
        let empty = try await command.outcome(["suggest", " "])
        #expect(empty.status == 64 && empty.errors.contains("searchlight suggest ferr"), "\(empty)")
        let nothing = try await command.outcome(["suggest", "zzzz"])
        #expect(nothing.status == 0 && nothing.output.isEmpty)
        #expect(nothing.errors.contains("No suggestion for “zzzz”."))
        await host?.close()
    }

    @Test("prints JSON that can be parsed")
    func json() throws {
        let command = try indexed()
        let search = try #require(try command.json("search", "beta") as? [String: Any])
        #expect(search["total"] as? Int == 1)
        let hit = try #require((search["items"] as? [[String: Any]])?.first)
        #expect(hit["uniqueIdentifier"] as? String == "beta")
        let item = try #require(try command.json("show", "beta") as? [String: Any])
        let attributes = try #require(item["attributes"] as? [String: Any])
        #expect(attributes["title"] as? String == "Beta sheet")
        #expect(attributes["pageCount"] as? Int == 2)
        #expect(attributes["contentCreationDate"] as? String == "2001-01-01T00:00:00Z")
        let preview = try #require(try command.json("preview", "beta") as? [String: Any])
        #expect(preview["source"] as? String == "extension")
        #expect(preview["contentType"] as? String == "public.html")
        let status = try #require(try command.json("status") as? [String: Any])
        #expect(status["items"] as? [String: Int] == ["com.example.notebook": 3])
        let reindex = try #require(try command.json("reindex", "com.example.notebook") as? [[String: Any]])
        #expect(reindex.first?["items"] as? Int == 3)
        #expect(reindex.first?["messages"] as? [String] == ["three sheets"])
        let extensions = try #require(try command.json("extensions") as? [String: Any])
        #expect((extensions["extensions"] as? [[String: Any]])?.count == 1)
    }

    @Test("explains which representation it would choose")
    func dryRun() throws {
        let command = try indexed()
        let (status, output) = try command("drag", "alpha", "--accept", "public.text", "--dry-run")
        #expect(status == 0)
        #expect(output.contains(/→ public.html +data +for public.text +serves, conforms in 1 step/))
        #expect(output.contains(/public.rtf +file +for public.text +serves, conforms in 1 step/))
        #expect(output.contains("public.html serves public.text: first in the receiver's order"))
        #expect(try command("drag", "alpha", "--accept", "public.image", "--dry-run").status == 3)
    }

    @Test("ends with an own status for each kind of failure, and says what to do")
    func failures() throws {
        let empty = Command(harness: try Harness())
        let noStore = try empty("search", "anything")
        #expect(noStore.status == 2)
        #expect(noStore.output.contains("searchlight reindex"))
        let noExtension = try empty("reindex")
        #expect(noExtension.status == 2)
        #expect(noExtension.output.contains(empty.harness.extensions))

        let command = try indexed()
        let drop = command.harness.folder + "/drop"
        #expect(try command("show", "@999").status == 2)
        #expect(try command("show", "nobody").status == 2)
        #expect(try command("show", String(repeating: "a", count: 100_000)).output.utf8.count < 1000)
        #expect(try command("reindex", "com.example.nobody").status == 2)
        #expect(try command("drag", "alpha", "--accept", "public.image", "--output", drop).status == 3)
        #expect(try command("drag", "gamma", "--accept", "public.html", "--output", drop).status == 2)
        #expect(try command("drag", "alpha", "--accept", "public.html", "--output", drop + "/no/such").status == 8)
        #expect(try command("drag", "alpha", "--output", drop).status == 64)
        #expect(try command("drag", "alpha", "--accept", "public.html").status == 64)
        #expect(try command("search", "--limit", "0", "x").status == 64)
        #expect(try command("frobnicate").status == 64)
        #expect(!FileManager.default.fileExists(atPath: drop))

        _ = try command.harness.installFixture("crash-in-request")
        let crashed = try command("reindex", "com.example.crash-in-request")
        #expect(crashed.status == 7)
        #expect(crashed.output.contains("segmentation fault"))
        let owed = try command("search", "alpha")
        #expect(owed.status == 0)
        #expect(owed.output.contains("is pending; items may be missing. Run: searchlight reindex"))
        // After the bundle's removal, the output does not suggest a reindex.
        try FileManager.default.removeItem(
            atPath: command.harness.extensions + "/com.example.crash-in-request.searchext")
        #expect(try command("search", "alpha").output.contains("searchlight forget com.example.crash-in-request"))
        #expect(try command("forget", "com.example.crash-in-request", "--yes").status == 0)
        #expect(!(try command("search", "alpha").output.contains("is pending")))
    }

    @Test("reports failures as JSON when asked for JSON")
    func failureJSON() throws {
        let command = Command(harness: try Harness())
        let report = try #require(try command.json("search", "x", expecting: 2) as? [String: Any])
        #expect(report["status"] as? Int == 2)
        #expect((report["error"] as? String)?.isEmpty == false)
    }

    @Test("names the process that holds the store")
    func storeInUse() async throws {
        let command = try indexed()
        try await command.harness.withEngine { engine async throws in
            let (status, output) = try command("reindex", "--wait", "0")
            #expect(status == 9)
            #expect(output.contains("process \(getpid())"))
            // Reading does not need the lock.
            #expect(try command("search", "alpha").status == 0)
        }
    }

    @Test("prints no control characters of an item to a terminal")
    func hostileText() throws {
        let command = Command(harness: try Harness())
        let notes = command.harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        try Data("# Evil \u{1B}]0;owned\u{7} \u{1B}[31mred\n\ntext \u{1B}[2J\u{202E}\n".utf8)
            .write(to: URL(filePath: notes + "/evil.md"))
        _ = try command.harness.installJournal(notes: notes)
        #expect(try command("reindex").status == 0)
        for arguments in [["search", "evil"], ["show", "@1"], ["preview", "@1"]] {
            let (status, output) = try command(arguments[0], arguments[1])
            #expect(status == 0)
            #expect(output.contains("Evil"))
            #expect(!output.contains("\u{1B}"))
            #expect(!output.contains("\u{202E}"))
        }
    }
}
