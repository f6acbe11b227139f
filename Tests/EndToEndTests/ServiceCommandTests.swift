// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchlightEngine
import TestSupport
import Testing

/// Commands have the same output and exit status with a service and without one.
@Suite("Commands through the service", .timeLimit(.minutes(30)))
struct ServiceCommandTests {
    /// Items in addition to the notebook: two bundles with an item of the same name, long text,
    /// time expressions, unusual texts.
    private static let lines = [
        #"{"uniqueIdentifier": "alpha", "attributes": {"title": "Another alpha", "dueDate": "2024-05-01"}}"#,
        #"{"uniqueIdentifier": "odd \"name\" é \u0007", "domainIdentifier": "a.b", "attributes": {"title": "\u001b[31mRed", "#
            + #""com_example_x": [1, 2.5, true, "x"], "thumbnailData": "AAEC"}, "expirationDate": "never"}"#,
        #"{"uniqueIdentifier": "long", "attributes": {"textContent": "\#(String(repeating: "word ", count: 40_000))"}}"#,
    ]

    private static func filled() async throws -> Command {
        let command = Command(harness: try Harness())
        _ = try command.harness.installFixture("notebook")
        let reindexed = try await command.inProcess.outcome(["reindex"])
        try #require(reindexed.status == 0, "\(reindexed)")
        let donated = try await command.inProcess.outcome(
            ["donate", "--bundle", "org.example.other", "-", "--client-state", "state"],
            input: lines.joined(separator: "\n"))
        try #require(donated.status == 0, "\(donated)")
        return command
    }

    /// Commands that change nothing, with wrong use and failures among them.
    private static let readings: [[String]] = [
        ["search", "sheet"], ["search", "alpha"], ["search", "she", "--limit", "1"], ["search", "nothing at all"],
        ["search", "name:*"], ["search", "--", "-x"], ["search", "sheet", "--bundle", "org.example.other"],
        ["search", "word", "--limit", "0"],
        ["why-not", "beta", "sheet"], ["why-not", "beta", "sheet", "kind:pdf", "--json"],
        ["why-not", "@1", "she", "--limit", "1"], ["why-not", "nobody", "sheet"], ["why-not", "beta", "--", "-x"],
        ["why-not", "alpha", "sheet", "--bundle", "org.example.other"], ["why-not", "long", "nothing at all"],
        ["show", "@1"], ["show", "beta"], ["show", "alpha"], ["show", "alpha", "--bundle", "org.example.other"],
        ["show", "nobody"], ["show", "@99"], ["show", "long", "--full"],
        ["preview", "beta"], ["preview", "beta", "--html"], ["preview", "beta", "--output", "-"], ["preview", "long"],
        ["preview", "long", "--html", "--query", "word"], ["preview", "nobody"],
        ["drag", "beta", "--accept", "public.html", "--output", "-"],
        ["drag", "@1", "--accept", "public.html", "--output", "-"],
        ["drag", "@1", "--accept", "public.rtf", "--output", "-"],
        ["drag", "beta", "--accept", ".html,public.image", "--dry-run"],
        ["drag", "beta", "--accept", "public.image", "--output", "-"],
        ["drag", "gamma", "--accept", "public.html", "--output", "-"],
        ["drag", "long", "--accept", "public.html", "--output", "-"],
        ["drag", "beta", "--accept", "public.html", "--output", "/nowhere/file"], ["drag", "beta"],
        ["query", #"title == "*sheet*"cd"#], ["query", "pageCount > 1", "--attributes", "title,pageCount"],
        ["query", "dueDate >= $time.iso(2024-01-01) && dueDate < $time.this_year"], ["query", "pageCount >"],
        ["query", "pageCount > 0", "--limit", "2"], ["query", "pageCount > 0", "--count"],
        ["query", "pageCount > 0", "--explain"], ["query", #"** == "*paper*" || !(title == "x")"#, "--explain"],
        ["query", "pageCount > 70"], ["list"], ["list", "--bundle", "nobody"], ["list", "--limit", "3"],
        ["client-state", "--bundle", "org.example.other"], ["client-state", "--bundle", "nobody"],
        ["extensions"], ["types", "lookup", "public.html"], ["verify", "--against", "com.example.notebook"],
        ["verify", "--against", "nobody"],
    ]

    @Test("Reading commands print the same, byte for byte")
    func readings() async throws {
        let command = try await Self.filled()
        let host = try ServiceHost(command.harness)
        for arguments in Self.readings {
            for arguments in [arguments, arguments + ["--json"]] {
                let alone = try await command.inProcess.outcome(arguments)
                let served = try await command.outcome(arguments)
                #expect(served == alone, "\(arguments)")
            }
        }
        await host.close()
    }

    /// Commands that change the store, in order. `nil` means no input.
    private static let changes: [(arguments: [String], input: String)] = [
        (["reindex"], ""), (["reindex", "--json"], ""), (["reindex", "nobody"], ""), (["reindex", "--verbose"], ""),
        (["donate", "--bundle", "b", "-"], #"{"uniqueIdentifier": "one"}"# + "\noops\n"),
        (["donate", "--bundle", "b", "-", "--json"], #"{"uniqueIdentifier": "two", "domainIdentifier": "d"}"#),
        (["donate", "--bundle", "b", "-", "--expect-state", "x"], #"{"uniqueIdentifier": "three"}"#),
        (["donate", "--bundle", "b", "-", "--client-state", "x", "--expect-no-state"], #"{"uniqueIdentifier": "3"}"#),
        (
            ["donate", "--bundle", "b", "-", "--client-state", String(repeating: "y", count: 251)],
            #"{"uniqueIdentifier": "4"}"#
        ),
        (
            ["donate", "--bundle", "b", "-", "--batch", "2", "--acknowledge"],
            (1...5).map { #"{"uniqueIdentifier": "\#($0)"}"# }.joined(separator: "\n")
        ),
        (["donate", "--bundle", "b", "-"], #"{"uniqueIdentifier": "nobody", "isUpdate": true}"#),
        (["client-state", "--bundle", "b", "--json"], ""), (["list", "--bundle", "b"], ""),
        (["delete", "--bundle", "b", "--domains", "d"], ""),
        (["delete", "--bundle", "b", "--identifiers", "one", "none", "--json"], ""), (["delete", "--bundle", "b"], ""),
        (["list", "--bundle", "b", "--json"], ""), (["delete", "--bundle", "b", "--all"], ""),
        (["list", "--bundle", "b"], ""), (["search", "sheet", "--json"], ""),
    ]

    @Test("Changing commands print the same and leave the same store")
    func changing() async throws {
        let alone = Command(harness: try Harness()).inProcess
        let served = Command(harness: try Harness())
        for command in [alone, served] {
            for fixture in ["notebook", "hostile-words", "never-acknowledges", "crash-in-request"] {
                if fixture != "never-acknowledges" { _ = try command.harness.installFixture(fixture) }
            }
            try command.harness.install("com.example.refused", library: nil)
        }
        let host = try ServiceHost(served.harness)
        for (arguments, input) in Self.changes {
            var one = try await alone.outcome(arguments, input: input).normalised(alone.harness)
            var other = try await served.outcome(arguments, input: input).normalised(served.harness)
            // The number of messages beyond the queue's limit depends on the speed of both sides.
            if arguments.contains("--verbose") { (one, other) = (one.withoutRepetitions, other.withoutRepetitions) }
            #expect(other == one, "\(arguments)")
        }
        await host.close()
    }

    @Test("verify prints the same through a service, which checks and repairs its store itself")
    func verifying() async throws {
        let command = try await Self.filled()
        let host = try ServiceHost(command.harness)
        for arguments in [["verify"], ["verify", "--json"], ["verify", "--repair"]] {
            let served = try await command.outcome(arguments)
            #expect(served.status == 0, "\(served)")
        }
        let checked = try await command.outcome(["verify"])
        chmod(command.harness.store + "/index.sqlite", 0o644)
        let damaged = try await command.outcome(["verify"])
        let repaired = try await command.outcome(["verify", "--repair"])
        let found = try await command.outcome(["search", "sheet"])
        await host.close()
        let alone = try await command.outcome(["verify"])
        #expect(checked == alone)
        chmod(command.harness.store + "/index.sqlite", 0o644)
        #expect(try await command.outcome(["verify"]) == damaged)
        #expect(damaged.status == 10 && repaired.status == 0, "\(damaged) \(repaired)")
        #expect(try await command.outcome(["verify", "--repair"]) == repaired)
        #expect(found.output.contains("Alpha sheet"))
    }

    @Test("status names the process that answered, and is otherwise the same")
    func status() async throws {
        let command = try await Self.filled()
        let host = try ServiceHost(command.harness)
        let served = try await command.outcome(["status"])
        let alone = try await command.inProcess.outcome(["status"])
        let line = "Answered by: the service test (process \(getpid()), running for 2 minutes, 1 client)\n"
        #expect(served.output.contains(line), "\(served)")
        #expect(served.output.replacing(line, with: "Answered by: this command\n") == alone.output)
        let stopped = try await command.outcome(["service", "stop"])
        #expect(stopped.output == "The service (process \(getpid())) is stopping.\n")
        #expect(host.stops.value == 1)
        await host.close()
        let none = try await command.outcome(["service", "status"])
        #expect(none.status == 2)
    }

    @Test("A producer that pauses delays no other donor of the service")
    func waitingProducer() async throws {
        let command = Command(harness: try Harness())
        let host = try ServiceHost(command.harness)
        let (input, output) = (Pipe(), Pipe())
        let process = try ChildProcess(
            BuiltProducts.program("searchlight"),
            ["donate", "--bundle", "slow", "--acknowledge", "--batch", "1", "-"],
            environment: command.environment, input: .pipe(input), output: .pipe(output), errors: .inherited)
        try input.fileHandleForWriting.write(
            contentsOf: Data("{\"uniqueIdentifier\": \"1\"}\n{\"uniqueIdentifier\": \"2\"}\n".utf8))
        // The first batch is durable, so this one is in progress.
        let acknowledged = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: output.fileHandleForReading.availableData) }
        }
        #expect(String(decoding: acknowledged, as: UTF8.self).hasPrefix("acknowledged 1\n"))
        let other = try await command.outcome(
            ["donate", "--bundle", "quick", "-"], input: #"{"uniqueIdentifier": "one"}"#)
        #expect(other.output == "1 item accepted.\n", "\(other)")
        try input.fileHandleForWriting.close()
        let ending = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: process.wait()) }
        }
        #expect(ending == .exited(0))
        await host.close()
    }
}
