// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("Refusals of drag", .timeLimit(.minutes(10)))
struct DragRefusalTests {
    private static func drops() throws -> Command {
        let command = Command(harness: try Harness())
        try command.harness.install("com.example.drops", library: try CFixture.library("drops"))
        let (status, output) = try command("reindex")
        try #require(status == 0, "\(output)")
        return command
    }

    @Test("of an item without an original in place: the reason, and the alternative")
    func noOriginal() throws {
        let command = try Command.indexed()
        let (status, output) = try command("drag", "alpha", "--in-place")
        #expect(status == 3)
        #expect(
            output.contains("The item has no original in place. It is available as data of type public."), "\(output)")
        #expect(output.contains("leave out --in-place and pass --accept TYPE and --output FILE"))
        let dry = try command("drag", "alpha", "--in-place", "--dry-run")
        #expect(dry.status == 3 && dry.output.contains("has no original in place"))
        let report = try #require(try command.json("drag", "alpha", "--in-place", expecting: 3) as? [String: Any])
        #expect(report["outcome"] as? String == "unsupportedType")
    }

    @Test("of an item of another bundle: the owner")
    func otherBundle() throws {
        let command = try Command.indexed()
        for arguments in [["drag", "--accept", "public.html", "--output", "-"], ["show"], ["preview"]] {
            for name in ["alpha", "@1"] {
                let all = [arguments[0], name, "--bundle", "com.example.other"] + arguments.dropFirst()
                let (status, output) = try CFixture.run(
                    try BuiltProducts.program("searchlight"), all, environment: try command.environment)
                #expect(status == 2)
                #expect(
                    output.contains(
                        "com.example.other has no item \"\(name)\"; com.example.notebook has one. Name one of them with --bundle"
                    ),
                    "\(output)")
            }
        }
        #expect(try command("show", "nobody", "--bundle", "com.example.other").output.contains("There is no item"))
        #expect(try command("show", "30").output.contains("The number of an item is written @30."))
    }

    @Test("of bytes and JSON on one output: they exclude each other, unless nothing is written")
    func jsonAndBytes() throws {
        let command = try Command.indexed()
        for arguments in [["drag", "alpha", "--accept", "public.html"], ["preview", "alpha"]] {
            let (status, output) = try CFixture.run(
                try BuiltProducts.program("searchlight"), arguments + ["--output", "-", "--json"],
                environment: try command.environment)
            #expect(status == 64 && output.contains("Leave out --json, or name a file."), "\(output)")
        }
        let dry = try command.json("drag", "alpha", "--accept", "public.html", "--output", "-", "--dry-run")
        #expect((dry as? [String: Any])?["form"] as? String == "data")
    }

    @Test("do not cover the digest of an original, which is printed, with ordered keys in JSON")
    func digestInPlace() throws {
        let command = try Self.drops()
        let expected = try command.shell("printf '%400s' '' | tr ' ' f | sha256sum | cut -d' ' -f1").output
        let digest = expected.trimmingCharacters(in: .whitespacesAndNewlines)
        let path = command.harness.marks + "/com.example.drops.searchext.original"
        #expect(
            try command("drag", "original-400", "--in-place", "--digest").output == "\(path)\n  sha256 \(digest)\n")
        let json = try command("drag", "original-400", "--in-place", "--digest", "--json").output
        #expect(
            json == """
                {
                  "bytes" : 400,
                  "form" : "inPlaceFile",
                  "isWritable" : true,
                  "item" : "original-400",
                  "outcome" : "fulfilled",
                  "path" : "\(path)",
                  "sha256" : "\(digest)",
                  "type" : "public.data"
                }

                """)
        let failed = try command(
            "drag", "refuse-1", "--accept", "public.text", "--output", command.harness.folder + "/x", "--json"
        ).output
        let keys = failed.split(separator: "\n").compactMap { $0.split(separator: "\"").dropFirst().first }
        #expect(keys == ["error", "item", "outcome", "status"])
    }
}
