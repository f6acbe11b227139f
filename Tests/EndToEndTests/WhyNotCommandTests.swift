// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The command that explains why a search does not show an item.
@Suite("The command why-not", .timeLimit(.minutes(10)))
struct WhyNotCommandTests {
    private let command: Command

    init() throws {
        command = Command(harness: try Harness())
        var lines = [
            #"{"uniqueIdentifier": "one", "attributes": {"title": "Annual report", "textContent": "The budget.", "#
                + #""contentType": "public.html", "com_example_code": "zebra"}}"#
        ]
        lines += (0..<30).map { #"{"uniqueIdentifier": "n\#($0)", "attributes": {"title": "Report \#($0)"}}"# }
        let (status, output) = try CFixture.run(
            try BuiltProducts.program("searchlight"), ["donate", "--bundle", "org.example.notes", "-"],
            environment: try command.environment, input: lines.joined(separator: "\n"))
        try #require(status == 0, "\(output)")
    }

    @Test("A filter that does not match is named with the item's value, and a search without it is suggested")
    func filter() throws {
        let (status, output) = try command("why-not", "one", "annual", "budget", "kind:pdf")
        #expect(status == 0)
        #expect(output.contains("It is not found: the search is limited to items of the kind pdf.\n"), "\(output)")
        #expect(output.contains("annual    in the title\n"), "\(output)")
        #expect(output.contains("budget    in the text\n"), "\(output)")
        #expect(output.contains("kind:pdf  does not match: contentType is public.html\n"), "\(output)")
        #expect(output.contains("To find it:\n  searchlight search 'annual budget'  hit 1\n"), "\(output)")
    }

    @Test("If the words come first, the command with the right order is shown")
    func order() throws {
        let number = try command("search", "--numbers", "--limit", "1", "annual").output.trimmingCharacters(
            in: .newlines)
        let (status, output) = try command("why-not", "annual", "report card", number)
        #expect(
            status == 2
                && output.contains("The item comes first: searchlight why-not \(number) annual 'report card'\n"),
            "\(output)")
        // Without a number, the remedy is a search.
        #expect(try command("why-not", "nothing", "word").output.contains("To find items: searchlight search WORDS"))
    }

    @Test("The suggestion is a command that shows the item")
    func suggestedCommand() throws {
        for words in [["report"], ["zebra", "giraffe"], ["report", "-budget"], ["\"report annual\""]] {
            let (status, output) = try command(["why-not", "one", "--"] + words)
            #expect(status == 0, "\(output)")
            let suggested = try #require(
                output.split(separator: "\n").first { $0.hasPrefix("  searchlight search ") }, "\(output)")
            let arguments = suggested.dropFirst("  searchlight".count).split(separator: "  hit ")[0]
            let found = try command.shell("\"$SEARCHLIGHT\" \(arguments)")
            #expect(found.status == 0 && found.output.contains("Annual report"), "\(suggested): \(found.output)")
        }
    }

    @Test("A hit behind the first page has its rank, and its score is compared with the last shown hit")
    func behind() throws {
        let answer = try #require(
            try command.json("why-not", "one", "report", "--limit", "5") as? [String: Any])
        #expect(answer["outcome"] as? String == "behind")
        let rank = try #require(answer["rank"] as? Int)
        #expect(rank > 5 && answer["total"] as? Int == 31 && answer["limit"] as? Int == 5)
        let hit = try #require(answer["hit"] as? [String: Any])
        let last = try #require(answer["lastShown"] as? [String: Any])
        #expect(try #require(hit["score"] as? Double) < #require(last["score"] as? Double))
        #expect(
            Set(try #require(hit["parts"] as? [String: Double]).keys) == [
                "evidence", "words", "nearness", "freshness", "engagement", "meaning",
            ])
        let output = try command("why-not", "one", "report", "--limit", "5").output
        #expect(output.contains("It is hit \(rank) of 31; the first page shows 5.\n"), "\(output)")
        #expect(output.contains("  its score ") && output.contains("  last shown: @"), "\(output)")
    }

    @Test("The fields with a word are listed, even fields that are not searched")
    func words() throws {
        let answer = try #require(
            try command.json("why-not", "one", "reports", "zebra", "giraffe") as? [String: Any])
        let words = try #require(answer["words"] as? [[String: Any]])
        #expect(words.map { $0["word"] as? String } == ["reports", "zebra", "giraffe"])
        let first = try #require((words[0]["occurrences"] as? [[String: Any]])?.first)
        #expect(first as? [String: String] == ["field": "title", "match": "form", "as": "report"])
        #expect(words[1]["unsearched"] as? [String] == ["com_example_code"])
        #expect((words[2]["occurrences"] as? [Any])?.isEmpty == true)
    }

    @Test("An item of another bundle than the search's is reported as such")
    func bundle() throws {
        let (status, output) = try command("why-not", "one", "annual", "--search-bundle", "org.example.mail")
        #expect(status == 0)
        #expect(output.contains("does not match: it is of org.example.notes\n"), "\(output)")
        #expect(output.contains("  searchlight search annual  hit 1\n"), "\(output)")
    }

    @Test("Without the item, a word or an argument, it reports that and ends with the status for it")
    func failures() throws {
        #expect(try command("why-not", "nobody", "annual").status == 2)
        #expect(try command("why-not", "@999", "annual").status == 2)
        #expect(try command("why-not", "one").status == 64)
        #expect(try command("why-not", "one", "…").status == 64)
        #expect(try command("why-not", "one", "annual", "--limit", "0").status == 64)
        let misplaced = try command("why-not", "one", "annual", "-budget")
        #expect(misplaced.status == 64 && misplaced.output.contains("searchlight why-not @12 -- notes -release"))
        let excluding = try command("why-not", "one", "--json", "--", "-report")
        #expect(excluding.status == 64 && excluding.output.contains("Every word is excluded"))
        #expect(excluding.output.hasPrefix("{"), "\(excluding.output)")
    }
}
