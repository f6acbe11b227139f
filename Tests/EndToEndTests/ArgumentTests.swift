// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

/// Tests the interpretation of the command's arguments, and the errors for unusable stores and
/// extensions.
@Suite("The command's arguments", .timeLimit(.minutes(10)))
struct ArgumentTests {
    @Test("An empty search is wrong usage, with the remedy", arguments: ["", " ", "?!", "\"\"", "…"])
    func emptySearch(text: String) throws {
        let (status, output) = try Command(harness: try Harness())("search", text)
        #expect(status == 64)
        #expect(output.contains("no word to search for"))
    }

    @Test("A search with only excluded words is wrong usage, and the minus sign is explained")
    func excludedWords() throws {
        let command = try Command.indexed()
        let excluded = try command("search", "--", "-ferry")
        #expect(excluded.status == 64 && excluded.output.contains("Every word is excluded"))
        let option = try command("search", "-ferry")
        #expect(option.status == 64)
        #expect(option.output.contains("searchlight search -- notes -release"))
        #expect(try command("search", "--", "sheet", "-alpha").output.contains("@1") == false)
    }

    @Test(
        "A text that begins with a minus sign is wrong usage in every command that takes one, with the remedy",
        arguments: [
            (["suggest", "-fer"], "suggest -- -release not"),
            (["why-not", "@1", "-ferry"], "why-not @12 -- notes -release"),
            (["window", "-ferry"], "window -- notes -release"),
            (["continue", "com.example.sheets", "-ferry"], "continue com.example.notes -- notes -release"),
            (["similar", "@1", "-app:mail"], "similar -- @12 -app:mail"), (["query", "-title"], "query -- -title"),
            (["similar", "-x7Qa"], "similar -- -x7Qa"), (["why-not", "-x7Qa", "ferry"], "why-not -- -x7Qa"),
        ])
    func minusSign(arguments: [String], remedy: String) throws {
        let (status, output) = try Command(harness: try Harness())(arguments)
        #expect(status == 64 && output.contains("searchlight \(remedy)"), "\(output)")
    }

    @Test(
        "A wrong value of an option is reported without a word about excluded words",
        arguments: [["suggest", "ferr", "--limit", "-10"], ["similar", "@1", "--limit", "-10"]])
    func negativeLimit(arguments: [String]) throws {
        let (status, output) = try Command(harness: try Harness())(arguments)
        #expect(status == 64 && output.contains("--limit") && !output.contains("exclude"), "\(output)")
    }

    @Test("A search without results is reported in one line, with a hint about operators, and is not a failure")
    func nothingFound() throws {
        let command = try Command.indexed()
        let long = try command("search", String(repeating: "x", count: 4000))
        #expect(long.status == 0)
        #expect(long.output == "Nothing is found for “\(String(repeating: "x", count: 80))…”.\n")
        #expect(try command("search", "zebra*").output.contains("knows no operator *"))
        #expect(try command("search", "athor:zebra").output.contains("Did you mean author:?"))
        #expect(try !command("search", "zebra").output.contains("operator"))
        #expect(
            try command("search", "--help").output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                .contains("The exit status is 0 even if nothing is found."))
    }

    @Test("A misspelt command and an option before the command are wrong usage, with the remedy")
    func wrongCommand() throws {
        let command = Command(harness: try Harness())
        let misspelt = try command("sarch", "x")
        #expect(misspelt.status == 64 && misspelt.output.contains("no command “sarch”. Did you mean search?"))
        for (group, name, right) in [
            ("types", "lokup", "lookup"), ("service", "stpo", "stop"), ("extensions", "lits", "list"),
        ] {
            let wrong = try command(group, name)
            #expect(wrong.status == 64, "\(wrong)")
            #expect(
                wrong.output.contains("no command “searchlight \(group) \(name)”. Did you mean \(right)?"), "\(wrong)")
        }
        let option = try command("--store", "/nowhere", "search", "x")
        #expect(option.status == 64)
        #expect(option.output.contains("Options come after the command: searchlight search --store"))
    }

    @Test(
        "A word that other programs use leads to the command",
        arguments: [
            (["find", "x"], "search"), (["protect"], "unlock"), (["stop"], "service stop"), (["scan"], "reindex"),
            (["extensions", "test"], "validate"), (["extensions", "create"], "new"),
        ] as [([String], String)])
    func synonyms(arguments: [String], name: String) throws {
        let command = Command(harness: try Harness())
        let wrong = try command(arguments)
        #expect(wrong.status == 64 && wrong.output.contains("”. Did you mean \(name)?\n"), "\(wrong)")
        let group = arguments.first == "extensions" ? ["extensions"] : []
        #expect(try command(["help"] + group + name.split(separator: " ").map(String.init)).status == 0)
    }

    @Test(
        "Help about an unknown command is wrong usage and names the nearest command",
        arguments: [
            ["help", "serch"], ["help", "extensions", "infos"], ["help", "search", "more"],
            ["help", "search", "-h", "x"], ["help", "find"],
        ])
    func wrongHelp(arguments: [String]) throws {
        let command = Command(harness: try Harness())
        let wrong = try command(arguments)
        #expect(wrong.status == 64 && wrong.output.contains("There is no command"), "\(wrong)")
        if ["serch", "find"].contains(arguments.last) { #expect(wrong.output.contains("”. Did you mean search?")) }
        for right in [["help"], ["help", "search"], ["help", "extensions", "info"]] {
            let (status, output) = try command(right)
            #expect(status == 0 && output.contains("USAGE:"), "\(right): \(output)")
        }
    }

    @Test("A text that is too long is wrong usage, and too many words are reported")
    func longText() throws {
        let command = try Command.indexed()
        let long = String(repeating: "sheet ", count: 700)
        for arguments in [
            ["search", long], ["suggest", long], ["why-not", "alpha", long], ["preview", "alpha", "--query", long],
            ["drag", "alpha", "--accept", "public.html", "--output", "-", "--query", long],
            ["search", String(repeating: "x", count: 100_000)],
        ] {
            let (status, output) = try command(arguments)
            #expect(status == 64 && output.contains("bytes; a search has at most 4096"), "\(output.prefix(300))")
        }
        let report = try command("search", long, "--json")
        #expect(report.status == 64 && report.output.contains("\"status\" : 64"))
        let many = try command("search", String(repeating: "sheet ", count: 65))
        #expect(many.status == 0 && many.output.contains("takes 64 words or phrases"), "\(many)")
        #expect(try !command("search", String(repeating: "sheet ", count: 64)).output.contains("takes 64"))
    }

    @Test("An empty result of a bundle without items is reported, with the nearest name")
    func unknownBundle() throws {
        let command = try Command.indexed()
        for arguments in [["search", "sheet"], ["suggest", "shee"], ["list"], ["query", "title == \"*\""]] {
            let (status, output) = try command(arguments + ["--bundle", "com.example.notebok"])
            #expect(
                status == 0
                    && output.contains(
                        "The index has no items of com.example.notebok. Did you mean com.example.notebook?"),
                "\(arguments): \(output)")
        }
        #expect(try !command("search", "zebra", "--bundle", "com.example.notebook").output.contains("has no items"))
    }

    @Test("A number out of range, including a negative one, is rejected with the range")
    func negativeNumbers() throws {
        let command = Command(harness: try Harness())
        for text in ["-5", "0", "10001", "x"] {
            let limited = try command("search", "x", "--limit", text)
            #expect(limited.status == 64 && limited.output.contains("from 1 to 10000"), "\(text): \(limited.output)")
        }
    }

    @Test("Empty options are wrong usage, and empty variables are ignored")
    func empty() throws {
        var command = try Command.indexed()
        #expect(try command("search", "x", "--store", "").status == 64)
        #expect(try command("search", "x", "--extensions", "").status == 64)
        #expect(try command("search", "x", "--extensions", ":").status == 64)
        command.variables = ["SEARCHLIGHT_STORE": "", "SEARCHLIGHT_EXTENSION_PATH": "", "XDG_DATA_HOME": ""]
        let unset = try command("search", "x")
        #expect(unset.status == 2)
        #expect(unset.output.contains(command.harness.folder + "/.local/share/searchlight/store"))
    }

    @Test(
        "An empty name is wrong usage, and the message says so",
        arguments: [
            ["reindex", ""], ["forget", "", "--yes"], ["verify", "--against", ""], ["search", "x", "--bundle", ""],
            ["query", "title == 1", "--bundle", ""], ["types", "lookup", "--extension", ""],
            ["types", "lookup", "--mime", ""], ["donate", "--bundle", "", "-"],
        ])
    func emptyName(arguments: [String]) throws {
        let (status, output) = try Command(harness: try Harness())(arguments)
        #expect(status == 64)
        #expect(output.contains(" is empty. "), "\(output)")
    }

    @Test("An empty command to run is wrong usage")
    func emptyCommand() throws {
        let (status, output) = try Command(harness: try Harness())("inhibit", "--", "")
        #expect(status == 64)
        #expect(output.contains("Name a command"), "\(output)")
    }

    @Test("A store path that is a file is reported as such")
    func storeIsFile() throws {
        let command = Command(harness: try Harness())
        let file = command.harness.folder + "/file"
        try Data("x".utf8).write(to: URL(filePath: file))
        for arguments in [["search", "x"], ["reindex"]] {
            let (status, output) = try command(arguments + ["--store", file])
            #expect(status == 8)
            #expect(output.contains("\(file) cannot be opened: it is a file."), "\(output)")
        }
    }

    @Test("A damaged or unreachable store does not count as missing")
    func stores() throws {
        let command = try Command.indexed()
        let file = command.harness.folder + "/file"
        try Data("x".utf8).write(to: URL(filePath: file))
        let behindFile = try command("search", "x", "--store", file + "/store")
        #expect(behindFile.status == 8)
        #expect(behindFile.output.contains("cannot be opened: \(file)/store: not a directory."))
        if geteuid() != 0 {
            #expect(chmod(command.harness.store, 0) == 0)
            let unreadable = try command("search", "x")
            #expect(chmod(command.harness.store, 0o700) == 0)
            #expect(unreadable.status == 8)
            #expect(unreadable.output.contains("permission denied"))
        }
        let damaged = command.harness.folder + "/damaged"
        try FileManager.default.createDirectory(atPath: damaged, withIntermediateDirectories: false)
        try Data(repeating: 0x55, count: 8192).write(to: URL(filePath: damaged + "/index.sqlite"))
        // The bundles of the damaged store's items are unknown.
        let left = try command("search", "x", "--store", damaged)
        #expect(
            left.status == 8 && left.output.contains("a repair may lose items. Nothing was changed."), "\(left.output)")
        #expect(!FileManager.default.fileExists(atPath: damaged + "/index.sqlite.damaged"))
        let refused = try command("donate", "--bundle", "x", "--store", damaged, "/dev/null")
        #expect(refused.status == 8 && refused.output.contains("verify --repair"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: damaged + "/index.sqlite.damaged"))
        let mended = try command("verify", "--repair", "--store", damaged)
        #expect(mended.status == 0 && mended.output.contains("A new database was created."), "\(mended.output)")
        #expect(FileManager.default.fileExists(atPath: damaged + "/index.sqlite.damaged"))
        // The storage error already ends with a full stop.
        #expect(try !command("reindex", "--store", file + "/store").output.contains(".."))
    }

    @Test("An item of a file is found by any path to the file")
    func paths() throws {
        let command = Command(harness: try Harness())
        let notes = command.harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        try Data("# Harbour\n\nThe ferry leaves at nine.\n".utf8).write(to: URL(filePath: notes + "/harbour.md"))
        _ = try command.harness.installJournal(notes: notes)
        try #require(try command("reindex").status == 0)
        for line in ["preview notes/harbour.md", "show ./notes/../notes/harbour.md", "preview '\(notes)/harbour.md'"] {
            let (status, output) = try command.shell("\"$SEARCHLIGHT\" \(line)")
            #expect(status == 0, "\(output)")
            #expect(output.contains("Harbour"))
        }
        #expect(try command.shell("cd notes && \"$SEARCHLIGHT\" show harbour.md").status == 0)
        #expect(try command.shell("\"$SEARCHLIGHT\" show notes/other.md").status == 2)
        #expect(try command.shell("\"$SEARCHLIGHT\" show file").status == 2)
    }

    @Test("An invalid date is shown as unknown")
    func dates() throws {
        let command = Command(harness: try Harness())
        _ = try command.harness.installFixture("hostile-words")
        try #require(try command("reindex").status == 0)
        let (status, output) = try command("show", "timeless")
        #expect(status == 0)
        #expect(output.contains("contentCreationDate      unknown\n"), "\(output)")
        let item = try #require(try command.json("show", "timeless") as? [String: Any])
        let attributes = try #require(item["attributes"] as? [String: Any])
        #expect(attributes["contentModificationDate"] as? String == "unknown")
        #expect(try command("preview", "timeless").output.contains("Created  unknown\n"))
    }

    @Test("Help has no line breaks inside its paragraphs", arguments: ["drag", "preview", "search", "reindex"])
    func help(name: String) throws {
        var command = Command(harness: try Harness())
        command.variables = ["COLUMNS": "4000"]
        let (status, output) = try command(name, "--help")
        #expect(status == 0)
        let overview = output.components(separatedBy: "USAGE:")[0]
        for paragraph in overview.components(separatedBy: "\n\n") {
            // Each line must end with a full stop, a colon or a closing parenthesis. Any other end
            // is a line break inside a paragraph.
            for line in paragraph.split(separator: "\n") { #expect(".:)".contains(line.last ?? " "), "\(line)") }
        }
    }
}
