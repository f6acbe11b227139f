// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The values and names that “donate” accepts, and the names that other commands accept.
@Suite("Donated values and names", .timeLimit(.minutes(10)))
struct DonatedValueTests {
    private let command: Command

    init() throws { command = Command(harness: try Harness()) }

    private func donate(_ lines: String..., options: [String] = []) throws -> (status: Int32, output: String) {
        try CFixture.run(
            try BuiltProducts.program("searchlight"), ["donate", "--bundle", "org.example.app"] + options + ["-"],
            environment: try command.environment, input: lines.joined(separator: "\n"))
    }

    private func attributes(_ item: String) throws -> [String: Any] {
        let shown = try #require(try command.json("show", item) as? [String: Any])
        return try #require(shown["attributes"] as? [String: Any])
    }

    private func count(_ query: String) throws -> String { try command("query", query, "--count").output }

    @Test("An unambiguous value of a wrong type is converted, found, and reported")
    func conversions() throws {
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "a", "attributes": {"title": 2047, "pageCount": "31", "keywords": [7, "tax", null], "#
                + #""userOwned": "yes", "allDay": 0, "authors": ["Ida Holm", "ida@example.org"], "city": ["Tromsø"]}}"#,
            #"{"uniqueIdentifier": "b", "attributes": {"title": 2048, "subject": false, "editors": "Ola"}}"#)
        #expect(status == 0, "\(output)")
        let notes = [
            "title: a number was converted to text (line 1 and 1 other)",
            "pageCount: text was converted to a number (line 1)",
            "keywords: a number was converted to text", "keywords: null was removed from a list",
            "userOwned: a number or text was converted to a Boolean",
            "allDay: a number or text was converted to a Boolean",
            "authors: text was converted to a person", "city: a list of one value was converted to the value",
            "subject: a Boolean was converted to text (line 2)", "editors: a single value was converted to a list",
        ]
        for note in notes { #expect(output.contains("Note: \(note)"), "\(output)") }
        #expect(try command("search", "2047").output.contains("2047"))
        #expect(try command("search", "holm").output.contains("2047"))
        let queries = [
            #"title == "2047""#, "pageCount > 30 && pageCount < 32", #"keywords == "7""#, "userOwned == 1",
            "allDay == 0", #"authors == "Ida Holm" && authors == "ida@example.org""#, #"city == "Tromsø""#,
            #"subject == "false""#, #"editors == "Ola""#,
        ]
        for query in queries { #expect(try count(query) == "1\n", "\(query)") }
        let report = try #require(
            try JSONSerialization.jsonObject(
                with: Data(
                    try donate(#"{"uniqueIdentifier": "c", "attributes": {"genre": 5}}"#, options: ["--json"]).output
                        .utf8)) as? [String: Any])
        let note = try #require((report["notes"] as? [[String: Any]])?.first)
        #expect(note["attribute"] as? String == "genre" && note["lines"] as? Int == 1 && note["line"] as? Int == 1)
    }

    @Test(
        "A value of a wrong type is rejected, with the attribute's name",
        arguments: [
            (#""title": 1.10"#, "title is the number 1.1, and the attribute takes text"),
            (#""title": ["a", "b"]"#, "title is a list of 2 values, and the attribute takes one value"),
            (#""title": []"#, "title is a list of 0 values"), (#""pageCount": true"#, "pageCount is true"),
            (#""pageCount": "many""#, #"pageCount is the text "many", and the attribute takes numbers"#),
            (#""pageCount": "0x10""#, "pageCount is the text"), (#""userOwned": 2"#, "userOwned is 2"),
            (#""keywords": [["a"]]"#, "keywords is an array"),
            (#""keywords": {"a": 1}"#, "the value of keywords is an object"),
            (#""url": 5"#, "url is not an absolute URL: 5"), (#""thumbnailData": 5"#, "thumbnailData is not base64"),
            (#""authors": [3]"#, "authors is 3"), (#""emailHeaders": "a""#, "emailHeaders is a text"),
            (#""dueDate": "0000-01-01""#, "is not in the years 1 to 9999"),
            (#""kMDItemNumberOfPages": "x""#, "kMDItemNumberOfPages is the text"),
            (#""kMDItemTitle": "a", "title": "b""#, "kMDItemTitle and title both name the attribute title"),
        ])
    func refusals(attributes: String, reason: String) throws {
        let (status, output) = try donate(#"{"uniqueIdentifier": "a", "attributes": {\#(attributes)}}"#)
        #expect(status == 1 && output.contains("1 refused."), "\(output)")
        #expect(output.contains(reason), "\(output)")
    }

    @Test("A public metadata name and a spelling of Objective-C name the attribute of the property")
    func publicNames() throws {
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "a", "attributes": {"kMDItemHeadline": "Skerry", "kMDItemKeywords": ["reef"], "#
                + #""URL": "https://example.org/x", "kMDItemDurationSeconds": 90, "kMDItemDueDate": "2031-02-03"}}"#)
        #expect(status == 0 && output == "1 item accepted.\n", "\(output)")
        #expect(Set(try attributes("a").keys) == ["headline", "keywords", "url", "duration", "dueDate"])
        #expect(try command("search", "skerry").status == 0)
        let queries = [
            #"kMDItemHeadline == "Skerry""#, #"headline == "Skerry""#, #"** == "*skerr*"cd"#, "duration == 90",
            #"URL == "https://example.org/*""#, "kMDItemDueDate == $time.iso(2031-02-03T00:00Z)",
        ]
        for query in queries { #expect(try count(query) == "1\n", "\(query)") }
    }

    @Test("A misspelt name of an attribute is reported, unless the line declares it as the app's own")
    func misspeltNames() throws {
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "a", "attributes": {"tilte": "x", "kMDItemAuthers": ["y"], "com_example_mood": 1}}"#,
            #"{"uniqueIdentifier": "b", "attributes": {"tilte": "x", "gendre": 1}, "customKeys": {"gendre": {}}}"#)
        #expect(status == 0, "\(output)")
        #expect(
            output.contains("Note: tilte: this attribute has no predefined meaning. Did you mean title"), "\(output)")
        #expect(output.contains("(line 1 and 1 other)") && output.contains("kMDItemAuthors"), "\(output)")
        #expect(!output.contains("gendre") && !output.contains("mood"), "\(output)")
        let misplaced = try donate(#"{"uniqueIdentifier": "c", "title": "x"}"#)
        #expect(misplaced.output.contains(#"no field "title". It is an attribute: put it into “attributes”"#))
    }

    @Test("Dates are accepted in each form of ISO 8601")
    func dates() throws {
        let forms = [
            "2031-02-03T10:00Z", "20310203T100000Z", "2031-W06-1T10:00Z", "2031W061T10Z", "2031-034T10:00Z",
            "2031034T1000Z", "2031-02-03T12:00:00,0+02:00", "20310203T0500\u{2212}0500", "2031-02-03T09.999999999999Z",
        ]
        let lines = forms.enumerated().map {
            #"{"uniqueIdentifier": "\#($0.offset)", "attributes": {"dueDate": "\#($0.element)"}}"#
        }
        let (status, output) = try donate(lines.joined(separator: "\n"))
        #expect(status == 0 && output == "\(forms.count) items accepted.\n", "\(output)")
        let near = "dueDate > $time.iso(2031-W06-1T09:59:59.9Z) && dueDate < $time.iso(2031-034T10:00:00,1Z)"
        #expect(try count(near) == "\(forms.count)\n")
    }

    @Test("An unpaired surrogate is rejected with the reason, and other lines are accepted")
    func halfCharacters() throws {
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "a", "attributes": {"comment": "tail \udbff"}}"#,
            #"{"uniqueIdentifier": "b", "attributes": {"comment": "\uD83C\uDF0B"}}"#)
        #expect(status == 1 && output.contains("1 item accepted, 1 refused."), "\(output)")
        #expect(output.contains(#"Line 1: it has an unpaired surrogate \udbff"#), "\(output)")
        #expect(!output.contains("not valid JSON"))
    }

    @Test("Names that begin with a dash are accepted as names of items")
    func dashes() throws {
        let state = ["--client-state", "-s"]
        #expect(
            try donate(#"{"uniqueIdentifier": "-x"}"#, #"{"uniqueIdentifier": "--json"}"#, options: state).status == 0)
        #expect(try command("client-state", "--bundle", "org.example.app").output == "-s\n")
        #expect(try command("show", "--", "-x").output.contains("-x"))
        #expect(try command("show", "--bundle", "org.example.app", "--", "--json").status == 0)
        let deleted = try command(
            "delete", "--bundle", "org.example.app", "--identifiers=-x", "--identifiers=--json")
        #expect(deleted.output == "2 items deleted.\n", "\(deleted)")
        let unknown = try command("show", "-x")
        #expect(unknown.status == 64 && unknown.output.contains("searchlight show -- -x"), "\(unknown)")
    }

    @Test("“list” and “show” distinguish the indexes of a bundle")
    func indexes() throws {
        let line = #"{"uniqueIdentifier": "same", "attributes": {"title": "Lighthouse"}}"#
        #expect(try donate(line).status == 0)
        #expect(try donate(line, #"{"uniqueIdentifier": "only"}"#, options: ["--index", "drafts"]).status == 0)
        let listed = try command("list", "--index", "drafts").output
        #expect(listed.contains("org.example.app (drafts) · same") && listed.contains("only"), "\(listed)")
        #expect(!listed.contains("org.example.app · same"), "\(listed)")
        let page = try #require(
            try command.json("list", "--index", "drafts", "--bundle", "org.example.app") as? [String: Any])
        #expect((page["items"] as? [Any])?.count == 2)
        #expect(try command("list", "--index", "none").output == "There are no items in an index “none”.\n")
        let both = try command("show", "same")
        #expect(both.status == 2 && both.output.contains("(drafts)") && both.output.contains("--index"), "\(both)")
        let one = try #require(try command.json("show", "same", "--index", "drafts") as? [String: Any])
        #expect(one["index"] as? String == "drafts")
        let elsewhere = try command("show", "only", "--index", "other")
        #expect(elsewhere.status == 2, "\(elsewhere)")
        #expect(elsewhere.output.contains("org.example.app (drafts) has one"), "\(elsewhere)")
    }

    @Test("A second writer waits for the first, and reports for which process")
    func waiting() throws {
        let (status, output) = try command.shell(
            """
            mkfifo lines acknowledged waiting && exec 3<> lines 4<> acknowledged 5<> waiting
            "$SEARCHLIGHT" donate --bundle org.example.first --batch 1 --acknowledge - < lines > acknowledged 3>&- &
            printf '{"uniqueIdentifier": "%s"}\n' one two >&3; read -r count <&4
            donate() { echo '{"uniqueIdentifier": "three"}' | "$SEARCHLIGHT" donate --bundle org.example.second "$@" - 3>&-; }
            donate --wait 0; echo "status $?"
            (exec 3>&-; donate --wait 300 2> waiting) & second=$!
            read -r note <&5; echo "$note"
            exec 3>&-
            wait $second; echo "status $?"
            """)
        #expect(status == 0)
        #expect(output.contains("is in use by another searchlight"), "\(output)")
        #expect(output.contains("status 9\n") && output.hasSuffix("1 item accepted.\nstatus 0\n"), "\(output)")
        #expect(output.contains("\nWaiting for process "), "\(output)")
        #expect(try count("uniqueIdentifier == \"*\"") == "3\n")
    }
}
