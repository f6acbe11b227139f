// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Lists of items that one command prints and another reads.
@Suite("Lists as input of another command", .timeLimit(.minutes(10)))
struct ItemListTests {
    @Test(
        "drag, show and preview accept the numbers that a list prints",
        arguments: ["search sheet", "list", "query 'pageCount >= 0'"])
    func numbers(list: String) throws {
        let command = try Command.indexed()
        let numbers = try command.shell("\"$SEARCHLIGHT\" \(list) --numbers | sort").output
        #expect(numbers == "@1\n@2\n@3\n")
        let pipe = "\"$SEARCHLIGHT\" \(list) --numbers | \"$SEARCHLIGHT\""
        let shown = try command.shell("\(pipe) show -")
        #expect(shown.status == 0 && shown.output.components(separatedBy: "uniqueIdentifier").count == 4)
        let json = try command.shell("\(pipe) show - --json").output
        #expect((try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [Any])?.count == 3, "\(json)")
        let previews = try command.shell("\(pipe) preview - --json 2>errors").output
        #expect((try JSONSerialization.jsonObject(with: Data(previews.utf8)) as? [Any])?.count == 3, "\(previews)")
        let dropped = try command.shell(
            "mkdir drop && \(pipe) drag - --accept public.html --output drop/ ; ls drop | wc -l")
        // One of the three has no promises.
        #expect(dropped.output.hasSuffix("2\n"), "\(dropped.output)")
    }

    @Test("A number is unambiguous where identifiers are not: two bundles with one name, and spaces around it")
    func oddIdentifiers() throws {
        let command = Command(harness: try Harness())
        for bundle in ["a", "b"] {
            let lines = [" x ", "-", "@1"].map { "{\"uniqueIdentifier\": \"\($0)\"}" }.joined(separator: "\n")
            let (status, output) = try CFixture.run(
                try BuiltProducts.program("searchlight"), ["donate", "--bundle", bundle, "-"],
                environment: try command.environment, input: lines)
            try #require(status == 0, "\(output)")
        }
        let json = try command.shell(
            "\"$SEARCHLIGHT\" list --numbers | sed 's/^/  /; s/$/ /' | \"$SEARCHLIGHT\" show - --json")
        let items = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
        #expect(items.compactMap { $0["bundle"] as? String } == ["a", "a", "a", "b", "b", "b"])
        #expect(items.compactMap { $0["uniqueIdentifier"] as? String } == [" x ", "-", "@1", " x ", "-", "@1"])
    }

    @Test(
        "An invalid list of items is reported once, with the remedy",
        arguments: ["drag - --accept public.html --output .", "show -", "preview -"])
    func noList(reader: String) throws {
        let command = try Command.indexed()
        let (status, output) = try command.shell(
            "\"$SEARCHLIGHT\" search sheet | \"$SEARCHLIGHT\" \(reader)")
        #expect(status == 2)
        #expect(output.split(separator: "\n").count == 1, "\(output)")
        #expect(output.contains("lines of standard input is an item; the first is “@") && output.contains("--numbers"))
        // A line that names an item makes the input a list. Every other line is reported.
        let mixed = try command.shell("printf 'alpha\nnone\nnothing\n' | \"$SEARCHLIGHT\" \(reader) 2>&1 >/dev/null")
        #expect(mixed.status == 2 && mixed.output.contains("none: ") && mixed.output.contains("nothing: "))
    }

    @Test(
        "Limits start at 1 in every command",
        arguments: ["search sheet", "list", "query 'a == 1'", "verify"])
    func limits(list: String) throws {
        let command = try Command.indexed()
        for limit in ["0", "-1", "x", "1.5", "10001", "+5", "1e3", "99999999999999999999"] {
            let (status, output) = try command.shell("\"$SEARCHLIGHT\" \(list) --limit=\(limit)")
            #expect(status == 64, "\(limit)")
            #expect(output.contains("--limit needs a number from 1 to 10000."), "\(output)")
        }
        for limit in ["1", "010", "10000"] {
            #expect(try command.shell("\"$SEARCHLIGHT\" \(list) --limit \(limit)").status == 0, "\(limit)")
        }
    }

    @Test("Numbers cannot be combined with other options that select the output")
    func conflicts() throws {
        let command = Command(harness: try Harness())
        for line in ["search x --json", "list --json", "query 'a == 1' --count", "query 'a == 1' --attributes a"] {
            #expect(try command.shell("\"$SEARCHLIGHT\" \(line) --numbers").status == 64, "\(line)")
        }
    }
}
