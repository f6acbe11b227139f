// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Lists that continue on another page, and donations that are reported as accepted.
@Suite("Lists and counts of commands", .timeLimit(.minutes(10)))
struct ListingCommandTests {
    private let command: Command

    init() throws { command = Command(harness: try Harness()) }

    private func donate(_ lines: String..., options: [String] = []) throws -> (status: Int32, output: String) {
        try CFixture.run(
            try BuiltProducts.program("searchlight"), ["donate", "--bundle", "b"] + options + ["-"],
            environment: try command.environment, input: lines.joined(separator: "\n"))
    }

    @Test("--after continues a page until the end", arguments: [["list"], ["query", "a != 1"]])
    func pages(_ start: [String]) throws {
        _ = try donate((1...5).map { #"{"uniqueIdentifier": "i\#($0)"}"# }.joined(separator: "\n"))
        var after: [String] = []
        var found: [String] = []
        for _ in 0..<3 {
            let (status, output) = try CFixture.run(
                try BuiltProducts.program("searchlight"), start + ["--limit", "2", "--json"] + after,
                environment: try command.environment)
            try #require(status == 0, "\(output)")
            let page = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
            let items = try #require(page["items"] as? [[String: Any]])
            found += items.compactMap { $0["uniqueIdentifier"] as? String }
            guard let next = page["next"] as? Int else { break }
            after = ["--after", "@\(next)"]
        }
        #expect(found == ["i1", "i2", "i3", "i4", "i5"])
        let (_, text) = try CFixture.run(
            try BuiltProducts.program("searchlight"), start + ["--limit", "2"], environment: try command.environment)
        #expect(text.contains("--after @2"), "\(text)")
        let (wrong, _) = try CFixture.run(
            try BuiltProducts.program("searchlight"), start + ["--after", "x"], environment: try command.environment)
        #expect(wrong == 64)
    }

    @Test("An empty search is an object in JSON")
    func emptySearch() throws {
        for words in ["", "-x", "..."] {
            let (status, output) = try command.shell("\"$SEARCHLIGHT\" search --json -- '\(words)'")
            #expect(status == 64)
            let report = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
            #expect(report["status"] as? Int == 64)
        }
        #expect(try command("search", "").status == 64)
    }

    @Test("The reason why a line is not JSON is reported, each cause by its name")
    func causes() throws {
        let causes = [
            ("oops", "it is not valid JSON"), (#"{"a": 1e999}"#, "a number that is out of range"),
            (String(repeating: "[", count: 3000), "deeper than 512 levels"),
        ]
        for (line, cause) in causes {
            let (status, output) = try donate(line)
            #expect(status == 1)
            #expect(output.contains("Line 1: ") && output.contains(cause), "\(line.prefix(20)): \(output)")
        }
        let binary = try command.shell("printf '{\"a\": \"\\377\"}' | \"$SEARCHLIGHT\" donate --bundle b -")
        #expect(binary.output.contains("Line 1: it is not UTF-8."), "\(binary.output)")
    }

    @Test("Updates of missing items and expired items are not counted as accepted")
    func leftOut() throws {
        let lines = [
            #"{"uniqueIdentifier": "one"}"#, #"{"uniqueIdentifier": "none", "isUpdate": true}"#,
            #"{"uniqueIdentifier": "old", "expirationDate": "2020-01-01"}"#,
            #"{"uniqueIdentifier": "one", "isUpdate": true, "attributes": {"title": "One"}}"#,
        ].joined(separator: "\n")
        let (status, output) = try donate(lines)
        #expect(status == 0)
        #expect(output == "2 items accepted, 1 update of missing items ignored, 1 had expired.\n")
        let (_, json) = try donate(lines, options: ["--json"])
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(report["accepted"] as? Int == 2)
        #expect(report["ignoredUpdates"] as? Int == 1)
        #expect(report["expired"] as? Int == 1)
    }

    @Test("Long titles are truncated in lists, and complete in JSON")
    func longTitles() throws {
        let title = String(repeating: "word ", count: 200) + "end"
        _ = try donate(#"{"uniqueIdentifier": "one", "attributes": {"title": "\#(title)"}}"#)
        for arguments in [["list"], ["search", "end"], ["query", "title == \"*\""]] {
            let (_, text) = try CFixture.run(
                try BuiltProducts.program("searchlight"), arguments, environment: try command.environment)
            #expect(text.contains("word …") || text.contains("word…"), "\(text)")
            #expect(!text.contains(title))
        }
        #expect(try command("list", "--json").output.contains(title))
    }
}
