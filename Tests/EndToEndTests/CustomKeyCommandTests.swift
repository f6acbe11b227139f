// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// An app's own attributes and their traits, as a script donates, searches and reads them.
@Suite("Custom keys on the command line", .timeLimit(.minutes(10)))
struct CustomKeyCommandTests {
    private let command: Command

    init() throws { command = Command(harness: try Harness()) }

    private func donate(_ lines: String...) throws -> (status: Int32, output: String) {
        try CFixture.run(
            try BuiltProducts.program("searchlight"), ["donate", "--bundle", "org.example.app", "-"],
            environment: try command.environment, input: lines.joined(separator: "\n"))
    }

    private func traits() throws -> [String: [String: Bool]]? {
        let item = try #require(try command.json("show", "one") as? [String: Any])
        return item["customKeys"] as? [String: [String: Bool]]
    }

    @Test("Words of a key that is searchable by default are found until an update removes the trait")
    func searchableByDefault() throws {
        let attributes = #""attributes": {"title": "Diary", "com_example_mood": "serene", "com_example_note": "x"}"#
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "one", \#(attributes), "customKeys": "#
                + #"{"com_example_mood": {"searchableByDefault": true, "unique": true}, "com_example_note": {}}}"#)
        #expect(status == 0, "\(output)")
        #expect(try command("search", "serene").output.contains("Diary"))
        #expect(try command("query", "** == serene", "--count").output == "1\n")
        let expected = [
            "com_example_mood": ["searchable": true, "searchableByDefault": true, "unique": true, "multiValued": false]
        ]
        #expect(try traits() == expected)
        let shown = try command("show", "one").output
        #expect(shown.contains("  com_example_mood  serene  (searchableByDefault, unique)\n"), "\(shown)")
        #expect(shown.contains("  com_example_note  x\n"), "\(shown)")
        let update = #"{"uniqueIdentifier": "one", "isUpdate": true, "attributes": {"com_example_mood": "serene"}}"#
        #expect(try donate(update).status == 0)
        #expect(try traits() == nil)
        #expect(try command("query", "** == serene", "--count").output == "0\n")
        #expect(try command("query", "com_example_mood == serene", "--count").output == "1\n")
        #expect(try !command("search", "serene").output.contains("Diary"))
    }

    @Test("A key that is not searchable is kept and not found")
    func unsearchable() throws {
        let line =
            #"{"uniqueIdentifier": "one", "attributes": {"k": "serene"}, "customKeys": {"k": {"searchable": false}}}"#
        #expect(try donate(line).status == 0)
        #expect(try command("query", "k == serene", "--count").output == "0\n")
        #expect(try command("show", "one").output.contains("  serene  (not searchable)\n"))
    }

    @Test("Invalid traits are rejected, each with its reason")
    func refusals() throws {
        let faults: [(keys: String, reason: String)] = [
            ("[]", "customKeys is an array and not an object"),
            (#"{"k": true}"#, "k in customKeys is a Boolean and not an object"),
            (#"{"k": {"searchable": 1}}"#, "searchable of k in customKeys is a number and not true or false"),
            (#"{"k": {"searchable": null}}"#, "searchable of k in customKeys is null and not true or false"),
            (#"{"k": {"shiny": true}}"#, #"k in customKeys has the unknown trait "shiny""#),
            (#"{"other": {"unique": true}}"#, #"customKeys has "other", which is missing from the attributes"#),
            (
                #"{"kMDItemTitle": {}}"#,
                #"customKeys has "kMDItemTitle". Use only ASCII letters, digits and _ in a key, and do not begin it with kMD"#
            ),
        ]
        for (keys, reason) in faults {
            let (status, output) = try donate(
                #"{"uniqueIdentifier": "i", "attributes": {"k": 1}, "customKeys": \#(keys)}"#)
            #expect(status == 1)
            #expect(output == "Line 1: \(reason).\n0 items accepted, 1 refused.\n")
        }
        #expect(try donate(#"{"uniqueIdentifier": "i", "customKeys": null}"#).status == 0)
    }
}
