// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Text from an extension reaches the user without terminal control characters.
@Suite("Printed texts of extensions", .timeLimit(.minutes(10)))
struct TerminalSafetyTests {
    private static let bundle = "com.example.hostile-words"

    private static func expectHarmless(
        _ output: String, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for scalar in ["\u{1B}", "\u{9B}", "\u{7}", "\u{202E}"] {
            #expect(!output.contains(scalar), "\(what): \(output.debugDescription)", sourceLocation: sourceLocation)
        }
    }

    /// Checks that no line of an extension looks like a line of this program.
    private static func expectUnforged(_ errors: String, _ what: String) {
        let forged = errors.split(separator: "\n").contains { $0.hasPrefix("searchlight: all is well") }
        #expect(!forged, "\(what): \(errors)")
    }

    private func indexed() throws -> Command {
        let command = Command(harness: try Harness())
        _ = try command.harness.installFixture("hostile-words")
        let (status, output) = try command("reindex", "--verbose")
        #expect(status == 0, "\(output)")
        #expect(output.contains("note [31mred"))
        Self.expectHarmless(output, "reindex")
        return command
    }

    @Test("Items, failures, last output and previews")
    func words() throws {
        let command = try indexed()
        let runs: [([String], Int32, String)] = [
            (["search", "evil"], 0, "cod.exe"), (["show", "plain"], 0, "cod.exe"),
            (["show", "plain", "--json"], 0, "cod.exe"),
            (["preview", "plain"], 0, "cannot be shown"), (["preview", "crash"], 0, "failed: [31mred"),
            (["preview", "unsupported"], 0, "is shown by its attributes"), (["preview", "page"], 0, "cod.exe"),
            (["drag", "plain", "--accept", "public.html", "--output", "x"], 4, "refused: [31mred"),
            (["drag", "crash", "--accept", "public.html", "--output", "x"], 7, "last words"),
            (["drag", "crash", "--accept", "public.html", "--output", "x", "--json"], 7, "last words"),
            (["drag", "plain", "--accept", "a\u{1B}[2Jb\u{9B}c", "--dry-run"], 3, "a[2Jbc"),
            (["search", "nothing\u{1B}[3K\u{9B}"], 0, "nothing[3K"), (["show", "\u{9B}2J"], 2, "no item"),
            (["types", "show", "\u{1B}[2J\u{9B}"], 2, "declared"), (["frob\u{9B}nicate"], 64, "frobnicate"),
        ]
        for (arguments, expected, text) in runs {
            let (status, output) = try CFixture.run(
                try BuiltProducts.program("searchlight"), arguments, environment: try command.environment)
            #expect(status == expected, "\(arguments): \(output)")
            #expect(output.contains(text), "\(arguments): \(output)")
            Self.expectHarmless(output, "\(arguments)")
            // A preview on standard output shows the lines of the item's own text.
            if arguments[0] != "preview" { Self.expectUnforged(output, "\(arguments)") }
        }
        Self.expectUnforged(try command.separately("preview", "crash").errors, "preview")
    }

    @Test("The reason of a failed reindex, at its end and later")
    func lastFailure() throws {
        let command = try indexed()
        try Data().write(to: URL(filePath: command.harness.folder + "/config/fail"))
        for arguments in [["reindex"], ["reindex", "--json"], ["status"], ["status", "--json"]] {
            let (_, output) = try CFixture.run(
                try BuiltProducts.program("searchlight"), arguments, environment: try command.environment)
            #expect(output.contains("failed: [31mred") || output.contains("failed: \\u001b[31mred"), "\(output)")
            Self.expectHarmless(output, "\(arguments)")
            Self.expectUnforged(output, "\(arguments)")
        }
        #expect(try command("status").output.contains("failed 2 times"))
    }

    @Test("A manifest and the path of a bundle")
    func manifest() throws {
        let command = Command(harness: try Harness())
        try command.harness.install(
            "com.example.named", library: try CFixture.library("notebook"),
            manifest: ["CFBundleVersion": "1\u{9B}2J", "CFBundleDisplayName": "Name\u{202E}\nsearchlight: all is well"])
        let refused = command.harness.extensions + "/re\u{1B}[2J\u{9B}fused.searchext"
        try FileManager.default.createDirectory(atPath: refused, withIntermediateDirectories: false)
        for arguments in [["extensions"], ["extensions", "--json"], ["reindex"], ["reindex", "--json"]] {
            let (_, output) = try CFixture.run(
                try BuiltProducts.program("searchlight"), arguments, environment: try command.environment)
            #expect(output.contains("fused.searchext"), "\(output)")
            Self.expectHarmless(output, "\(arguments)")
            Self.expectUnforged(output, "\(arguments)")
        }
    }

    @Test("A page on a terminal; a pipe gets it unchanged")
    func page() throws {
        let command = try indexed()
        let (status, output) = try command.onTerminal("preview", "page", "--html")
        #expect(status == 0)
        #expect(output.contains("<p>page [31mred"))
        Self.expectHarmless(output, "preview --html")
        let piped = try command.separately("preview", "page", "--html")
        #expect(piped.output.contains("<p>page [31mred 2J"))
        // The page must not redirect without the user either.
        #expect(!piped.output.contains("refresh"))
        let json = try command.onTerminal("preview", "page", "--json").output
        Self.expectHarmless(json, "preview --json")
        // The command's own colours are present, but the extension's are not.
        let coloured = try command.onTerminal("search", "evil").output
        #expect(coloured.contains("\u{1B}[1m"))
        #expect(!coloured.contains("\u{1B}[31m") && !coloured.contains("\u{9B}") && !coloured.contains("\u{202E}"))
    }
}
