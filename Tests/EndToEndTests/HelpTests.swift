// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The programs' help, version and completions. Manual pages are generated from the same source
/// (Scripts/man-pages).
@Suite("Help, versions and completions", .timeLimit(.minutes(10)))
struct HelpTests {
    private static let programs = ["searchlight", "searchlightd"]

    /// Returns the entries of the parser's dump that have no help text. The built-in `help` command
    /// is left out.
    private static func undocumented(_ command: [String: Any], _ path: String) throws -> [String] {
        let name = path + (command["commandName"] as? String ?? "?")
        var found: [String] = []
        if (command["abstract"] as? String ?? "").isEmpty { found.append(name) }
        for argument in command["arguments"] as? [[String: Any]] ?? [] where argument["shouldDisplay"] as? Bool != false
        {
            guard (argument["abstract"] as? String ?? "").isEmpty else { continue }
            let option = (argument["preferredName"] as? [String: Any])?["name"] ?? argument["valueName"]
            found.append("\(name): \(option ?? "?")")
        }
        for child in command["subcommands"] as? [[String: Any]] ?? [] where child["commandName"] as? String != "help" {
            found += try undocumented(child, name + " ")
        }
        return found
    }

    @Test("Every command and option has a help text", arguments: programs)
    func helpTexts(program: String) throws {
        let (status, output) = try CFixture.run(BuiltProducts.program(program), ["--experimental-dump-help"])
        #expect(status == 0)
        let dump = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        let command = try #require(dump["command"] as? [String: Any])
        #expect(try Self.undocumented(command, "") == [])
        // Checks that the search finds an undocumented argument.
        #expect(try Self.undocumented(["commandName": "x", "arguments": [["valueName": "y"]]], "") == ["x", "x: y"])
    }

    @Test(
        "The first line of --version is the program and the newest version of the change log",
        arguments: programs + ["searchlight-worker", "searchlight-quicklook"])
    func version(program: String) throws {
        let log = try String(contentsOfFile: BuiltProducts.repository + "/CHANGELOG.md", encoding: .utf8)
        let newest = try #require(log.firstMatch(of: /\n## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d\n/)).output.1
        let (status, output) = try CFixture.run(BuiltProducts.program(program), ["--version"])
        #expect(status == 0)
        #expect(output.split(separator: "\n").first == "\(program) \(newest)")
        guard program != "searchlight-worker" else { return }
        #expect(output.contains(/\nbuild: (debug|release), Swift 6\.\d/))
        #expect(output.contains(/\nlibraries: SQLite 3\.\d+\.\d+, libseccomp 2\.\d+\.\d+/))
    }

    /// Returns bash's completions for the last word of a line, as after pressing Tab.
    private static func completions(_ command: Command, _ words: String...) throws -> Set<Substring> {
        try complete(command, words)
    }

    private static func complete(_ command: Command, _ words: [String]) throws -> Set<Substring> {
        let program = words[0]
        let script = """
            PATH=\(BuiltProducts.folder):$PATH
            source <("$1" --generate-completion-script bash); shift
            COMP_LINE="$*"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_POINT=${#COMP_LINE}; COMPREPLY=()
            _\(program) "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let (status, output) = try CFixture.run(
            "/bin/bash", ["--norc", "-c", script, "bash", try BuiltProducts.program(program)] + words,
            environment: command.environment)
        #expect(status == 0, "\(output)")
        return Set(output.split(separator: "\n"))
    }

    @Test("bash completes commands, options, values, folders, and the names of extensions and receivers")
    func completions() throws {
        let command = Command(harness: try Harness())
        _ = try command.harness.installFixture("notebook")
        let folder = command.harness.folder
        try FileManager.default.createDirectory(atPath: folder + "/target/one", withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: folder + "/target/two.html"))
        #expect(try Self.completions(command, "searchlight", "doc") == ["doctor"])
        #expect(
            try Self.completions(command, "searchlight", "extensions", "").isSuperset(of: ["info", "new", "validate"]))
        #expect(try Self.completions(command, "searchlight", "search", "--li") == ["--limit"])
        #expect(
            try Self.completions(command, "searchlight", "extensions", "new", "x.y", "--language", "") == [
                "swift", "c", "c++", "rust", "go", "python", "zig", "bindings", "database",
            ])
        for words in [["extensions", "info"], ["why"], ["search", "--bundle"], ["verify", "--against"], ["reindex"]] {
            let all = ["searchlight"] + words + ["com.example.n"]
            #expect(try Self.complete(command, all) == ["com.example.notebook"], "\(words)")
        }
        #expect(try Self.completions(command, "searchlight", "drag", "--receiver", "file-").contains("file-manager"))
        #expect(
            try Self.completions(command, "searchlight", "status", "--store", folder + "/target/") == [
                "\(folder)/target/one"
            ])
        #expect(
            try Self.completions(command, "searchlight", "drag", "--output", folder + "/target/")
                == ["\(folder)/target/one", "\(folder)/target/two.html"])
        #expect(try Self.completions(command, "searchlightd", "--st") == ["--store"])
    }

    @Test("The scripts for the other shells name every command", arguments: ["zsh", "fish"])
    func otherShells(shell: String) throws {
        let (status, script) = try CFixture.run(
            BuiltProducts.program("searchlight"), ["--generate-completion-script", shell])
        #expect(status == 0)
        for name in ["search", "doctor", "extensions", "client-state"] { #expect(script.contains(name)) }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/\(shell)") else { return }
        let (parsed, complaint) = try CFixture.run("/usr/bin/\(shell)", ["-n", "/dev/stdin"], input: script)
        #expect(parsed == 0, "\(complaint)")
    }
}
