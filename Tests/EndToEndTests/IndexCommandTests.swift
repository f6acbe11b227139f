// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The commands that add items to the index, delete them and list them, as scripts use them.
@Suite("Commands for the index", .timeLimit(.minutes(10)))
struct IndexCommandTests {
    private let command: Command

    init() throws { command = Command(harness: try Harness()) }

    private func donate(_ lines: String..., options: [String] = []) throws -> (status: Int32, output: String) {
        try CFixture.run(
            try BuiltProducts.program("searchlight"), ["donate", "--bundle", "org.example.app"] + options + ["-"],
            environment: try command.environment, input: lines.joined(separator: "\n"))
    }

    private func count(_ query: String) throws -> String { try command("query", query, "--count").output }

    private func item(_ name: String) throws -> [String: Any] {
        try #require(try command.json("show", name) as? [String: Any])
    }

    @Test("A donation is found with its texts, numbers, dates, URLs and lists")
    func kindsOfValues() throws {
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "one", "domainIdentifier": "notes.work", "expirationDate": "never", "attributes": "#
                + #"{"title": "Größe", "pageCount": 3, "rating": 4.5, "allDay": true, "keywords": ["red", "green"], "#
                + #""contentURL": "https://example.org/a", "dueDate": "2024-05-01T12:30:00+02:00", "#
                + #""startDate": 86400, "endDate": "2024-05-01", "importantDates": ["2024-05-01T00:00:00.5Z"]}}"#,
            #"{"uniqueIdentifier": "two", "expirationDate": "2100-01-01T00:00:00Z"}"#)
        #expect(status == 0, "\(output)")
        #expect(output == "2 items accepted.\n")
        let attributes = try #require(try item("one")["attributes"] as? [String: Any])
        #expect(attributes["dueDate"] as? String == "2024-05-01T10:30:00Z")
        #expect(attributes["startDate"] as? String == "2001-01-02T00:00:00Z")
        #expect(attributes["endDate"] as? String == "2024-05-01T00:00:00Z")
        #expect(attributes["keywords"] as? [String] == ["red", "green"])
        #expect(try item("one")["expires"] == nil)
        #expect(try item("two")["expires"] as? String == "2100-01-01T00:00:00Z")
        let queries = [
            #"title == "grosse"cd || title == "größe"c"#, "pageCount > 2", "rating == 4.5", "allDay == 1",
            #"keywords == "green""#, #"contentURL == "https://example.org/*""#,
            "dueDate >= $time.iso(2024-05-01T10:30:00Z) && dueDate < $time.iso(2024-05-01T10:30:01Z)",
        ]
        for query in queries { #expect(try count(query) == "1\n", "\(query)") }
    }

    @Test("Rejected lines are reported with their number and the reason; the others are accepted")
    func refusedLines() throws {
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "good"}"#, "not JSON", "[1]", "", #"{"uniqueIdentifier": ""}"#,
            #"{"uniqueIdentifier": "a", "attributes": {"dueDate": "tomorrow"}}"#,
            #"{"uniqueIdentifier": "b", "atributes": {}}"#, #"{"uniqueIdentifier": "c", "expirationDate": "soon"}"#,
            #"{"uniqueIdentifier": "d", "attributes": {"url": "no url"}}"#, #"{"uniqueIdentifier": "e\u0000f"}"#,
            #"{"uniqueIdentifier": "\#(String(repeating: "x", count: 4097))"}"#,
            #"{"uniqueIdentifier": "f", "attributes": {"a": [[[[[[1]]]]]]}}"#,
            #"{"uniqueIdentifier": "g", "isUpdate": "yes"}"#, #"{"uniqueIdentifier": "also good"}"#)
        #expect(status == 1)
        #expect(output.contains("2 items accepted, 11 refused."), "\(output)")
        for line in [2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13] { #expect(output.contains("Line \(line): ")) }
        #expect(output.contains(#"Line 7: an item has no field "atributes"; the nearest field is attributes."#))
        let items = try #require(try command.json("list") as? [String: Any])["items"] as? [[String: Any]]
        #expect(items?.compactMap { $0["uniqueIdentifier"] as? String } == ["good", "also good"])
    }

    @Test(
        "An invalid date is rejected, and not stored as one that cannot be shown",
        arguments: [
            (#""attributes": {"dueDate": true}"#, "dueDate is not a date: true is neither"),
            (#""attributes": {"dueDate": 1e300}"#, "dueDate is not a date"),
            (#""attributes": {"importantDates": [1, false]}"#, "importantDates is not a date: false"),
            (#""expirationDate": -1e12"#, "expirationDate is"),
            (#""expirationDate": false"#, "expirationDate is false"),
        ])
    func noDates(field: String, reason: String) throws {
        let (status, output) = try donate(#"{"uniqueIdentifier": "a", \#(field)}"#)
        #expect(status == 1 && output.contains(reason) && output.contains("1 refused."), "\(output)")
    }

    @Test("A whole number with a point or an exponent is still a whole number")
    func wholeNumbers() throws {
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "a", "attributes": {"rating": 3.0, "pageCount": 1e3, "altitude": 2.5}}"#)
        #expect(status == 0, "\(output)")
        let (_, shown) = try CFixture.run(
            try BuiltProducts.program("searchlight"), ["show", "a", "--json"], environment: try command.environment)
        // A double would be printed with a decimal point.
        for part in [#""rating""#, #""pageCount""#] { #expect(shown.contains(part)) }
        #expect(!shown.contains("3.0") && !shown.contains("1000.0") && shown.contains("2.5"), "\(shown)")
    }

    @Test("An empty list of a bundle does not claim that the index is empty")
    func listOfNobody() throws {
        #expect(try donate(#"{"uniqueIdentifier": "good"}"#).status == 0)
        let (status, output) = try command("list", "--bundle", "nobody")
        #expect(
            status == 0 && output == "The index has no items of nobody. “searchlight status” lists all apps.\n",
            "\(output)")
    }

    @Test(
        "Items of an impossible bundle identifier are rejected",
        arguments: ["bad id", "../../x", "a/b", "-b", ".b", "b.", "a..b", "ä", String(repeating: "a", count: 256)])
    func donationOfNobody(bundle: String) throws {
        let file = command.harness.folder + "/lines"
        try Data(#"{"uniqueIdentifier": "good"}"#.utf8).write(to: URL(filePath: file))
        let (status, output) = try command("donate", "--bundle=\(bundle)", file)
        #expect(status == 64)
        #expect(output.contains("“\(bundle)” cannot name an app."), "\(output)")
    }

    @Test(
        "Items of a possible bundle identifier are accepted, even if the identifier is one word",
        arguments: ["org.example.My_app-2", String(repeating: "a", count: 255)])
    func donationOfAnApp(bundle: String) throws {
        let file = command.harness.folder + "/lines"
        try Data(#"{"uniqueIdentifier": "good"}"#.utf8).write(to: URL(filePath: file))
        let (status, output) = try command("donate", "--bundle", bundle, file)
        #expect(status == 0, "\(output)")
    }

    @Test("A query without results suggests a similar attribute name")
    func misspeltAttribute() throws {
        let line = #"{"uniqueIdentifier": "good", "attributes": {"title": "Ferry", "titel": "x"}}"#
        #expect(try donate(line).status == 0)
        let misspelt = try command("query", #"contentKreationDate > 1 || !(titel != "Ferry")"#)
        #expect(misspelt.status == 0)
        #expect(misspelt.output.contains("“titel” is not a predefined attribute. Did you mean title?"))
        #expect(misspelt.output.contains("Did you mean contentCreationDate?"), "\(misspelt.output)")
        #expect(try command("query", #"kMDItemTitel == "x""#).output.contains("Did you mean kMDItemTitle?"))
        let meant = [#"title == "Ferri""#, #"com_example_mood == "x""#, #"org.example.title == "x""#, #"id == "x""#]
        for query in meant + [#"subThoroughfare == "9""#] {
            #expect(try command("query", query).output == "No item matches the query.\n")
        }
        #expect(try !command("query", #"titel == "x""#).output.contains("Did you mean"))
    }

    @Test("JSON lists refused lines with their reasons")
    func jsonReport() throws {
        let (status, output) = try donate(#"{"uniqueIdentifier": "good"}"#, "{", options: ["--json"])
        #expect(status == 1)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any], "\(output)")
        #expect(report["accepted"] as? Int == 1)
        #expect(report["refused"] as? Int == 1)
        let refusal = try #require((report["refusals"] as? [[String: Any]])?.first)
        #expect(refusal["line"] as? Int == 2)
        #expect(
            (refusal["reason"] as? String)?.hasPrefix("it is not valid JSON") == true)
    }

    @Test("An update is merged into the item that is there; null removes an attribute")
    func updates() throws {
        _ = try donate(
            #"{"uniqueIdentifier": "one", "attributes": {"title": "Old", "comment": "kept", "city": "Rome"}}"#)
        let (status, _) = try donate(
            #"{"uniqueIdentifier": "one", "isUpdate": true, "attributes": {"title": "New", "city": null}}"#)
        #expect(status == 0)
        let attributes = try #require(try item("one")["attributes"] as? [String: Any])
        #expect(attributes["title"] as? String == "New")
        #expect(attributes["comment"] as? String == "kept")
        #expect(attributes["city"] as? String == nil)
    }

    @Test("A client state changes with its batch, and a batch that expects another changes nothing")
    func clientState() throws {
        let none = try donate(#"{"uniqueIdentifier": "zero"}"#)
        #expect(none.status == 0)
        #expect(try command("client-state", "--bundle", "org.example.app").status == 2)
        let first = try donate(
            #"{"uniqueIdentifier": "one"}"#, options: ["--client-state", "état 1", "--expect-no-state"])
        #expect(first.status == 0, "\(first.output)")
        #expect(try command("client-state", "--bundle", "org.example.app").output == "état 1\n")
        #expect(try command("client-state", "--bundle", "org.example.app", "--index", "other").status == 2)

        for options in [["--expect-state", "other"], ["--expect-no-state"]] {
            let wrong = try donate(
                #"{"uniqueIdentifier": "two"}"#, options: ["--client-state", "état 2"] + options)
            #expect(wrong.status == 4, "\(wrong.output)")
            #expect(wrong.output.contains("it expects a different client state"))
        }
        #expect(try command("show", "two").status == 2)
        let right = try donate(
            #"{"uniqueIdentifier": "two"}"#, options: ["--client-state", "état 2", "--expect-state", "état 1"])
        #expect(right.status == 0)
        let state = try #require(
            try command.json("client-state", "--bundle", "org.example.app") as? [String: Any])
        #expect(state["text"] as? String == "état 2")
        #expect(state["base64"] as? String == Data("état 2".utf8).base64EncodedString())
        let long = try donate(
            #"{"uniqueIdentifier": "three"}"#, options: ["--client-state", String(repeating: "x", count: 251)])
        #expect(long.status == 1)
        #expect(long.output.contains("251 bytes; the limit is 250"))
        #expect(try command("show", "three").status == 2)
    }

    @Test("A batch with a client state is rejected as a whole if one of its lines is")
    func wholeBatches() throws {
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "one"}"#, "oops", options: ["--client-state", "1"])
        #expect(status == 1)
        #expect(output.contains("0 items accepted, 2 refused."), "\(output)")
        #expect(try command("show", "one").status == 2)
        #expect(try command("client-state", "--bundle", "org.example.app").status == 2)
    }

    @Test("Control lines end batches, each with its state; lines after the last one are not donated")
    func controlLines() throws {
        let (status, output) = try donate(
            #"{"uniqueIdentifier": "one"}"#, #"{"endBatch": {"clientState": "1"}}"#,
            #"{"uniqueIdentifier": "two"}"#, #"{"uniqueIdentifier": "three"}"#, #"{"endBatch": {}}"#,
            #"{"endBatch": {"clientState": "3"}}"#, #"{"uniqueIdentifier": "four"}"#, options: ["--acknowledge"])
        #expect(status == 1)
        #expect(output.contains("acknowledged 1\nacknowledged 2\nacknowledged 3\n"), "\(output)")
        #expect(output.contains("Line 7: the input ends before its batch does."))
        #expect(output.contains("3 items accepted, 1 refused."))
        #expect(try command("client-state", "--bundle", "org.example.app").output == "3\n")
        #expect(try command("show", "four").status == 2)

        let torn = try donate(
            "oops", #"{"endBatch": {"clientState": "4"}}"#, #"{"uniqueIdentifier": "five"}"#,
            #"{"endBatch": {"clientState": "5"}}"#)
        #expect(torn.status == 1)
        #expect(try command("client-state", "--bundle", "org.example.app").output == "3\n")
        #expect(try command("show", "five").status == 2)
    }

    @Test("--batch divides the input; a part cannot have a state")
    func dividing() throws {
        let lines = (1...7).map { #"{"uniqueIdentifier": "\#($0)"}"# }.joined(separator: "\n")
        let (status, output) = try donate(lines, options: ["--batch", "3", "--acknowledge"])
        #expect(status == 0)
        #expect(output == "acknowledged 1\nacknowledged 2\nacknowledged 3\n7 items accepted.\n")
        let state = #"{"endBatch": {"clientState": "s"}}"#
        #expect(try donate(lines, state, options: ["--batch", "7"]).status == 0)
        let tooLong = try donate(lines, #"{"endBatch": {"clientState": "t"}}"#, options: ["--batch", "6"])
        #expect(tooLong.status == 1)
        #expect(tooLong.output.contains("too large for a client state"), "\(tooLong.output)")
        #expect(try command("client-state", "--bundle", "org.example.app").output == "s\n")
    }

    @Test("Deletes by identifier, by domain with its subdomains, and everything with the client state")
    func deleting() throws {
        _ = try donate(
            #"{"uniqueIdentifier": "one", "domainIdentifier": "a"}"#,
            #"{"uniqueIdentifier": "two", "domainIdentifier": "a.b"}"#,
            #"{"uniqueIdentifier": "three", "domainIdentifier": "ab"}"#, #"{"uniqueIdentifier": "four"}"#,
            options: ["--client-state", "s"])
        let bundle = ["delete", "--bundle", "org.example.app"]
        func delete(_ options: String...) throws -> (status: Int32, output: String) {
            try CFixture.run(
                try BuiltProducts.program("searchlight"), bundle + options, environment: try command.environment)
        }
        #expect(try delete("--domains", "a").output == "2 items deleted.\n")
        #expect(try delete("--identifiers", "four", "nobody").output == "1 item deleted.\n")
        #expect(try command("show", "three").status == 0)
        #expect(try delete("--index", "other", "--all").output == "0 items deleted.\n")
        #expect(try delete("--all").output == "1 item deleted.\n")
        #expect(try command("client-state", "--bundle", "org.example.app").status == 2)
        #expect(try delete().status == 64)
        let both = try delete("--all", "--domains", "a")
        #expect(both.status == 64 && both.output.contains("exclude each other"), "\(both)")
        let empty = try command("search", "three")
        #expect(empty.status == 0 && empty.output.contains("The index has no items yet."), "\(empty)")
    }

    @Test("An invalid query ends with 64 and a caret under the fault")
    func syntaxErrors() throws {
        let (status, output, errors) = try command.separately("query", #"title == "*a*" && pageCount >"#)
        #expect(status == 64)
        #expect(output.isEmpty)
        let lines = errors.split(separator: "\n")
        try #require(lines.count == 3, "\(errors)")
        #expect(lines[0].contains("column 30"))
        #expect(lines[1] == #"  title == "*a*" && pageCount >"#)
        #expect(lines[2] == String(repeating: " ", count: 2 + 29) + "^")
        let wide = try command.separately("query", "日本 == ")
        #expect(wide.errors.hasSuffix("\n" + String(repeating: " ", count: 2 + 8) + "^\n"), "\(wide.errors)")
        let json = try #require(
            try command.json("query", "title ==", expecting: 64) as? [String: Any])
        #expect(json["status"] as? Int == 64)
        let hostile = try command.separately("query", "title == \"\u{1B}[31m")
        #expect(hostile.status == 64)
        #expect(!hostile.errors.contains("\u{1B}"))
    }

    @Test("Queries are scoped, limited, explained and shown with the requested attributes")
    func queries() throws {
        _ = try donate(
            #"{"uniqueIdentifier": "one", "attributes": {"title": "Alpha", "pageCount": 1, "comment": "x"}}"#,
            #"{"uniqueIdentifier": "two", "attributes": {"title": "Beta", "pageCount": 2}}"#)
        let shown = try command("query", "pageCount >= 1", "--attributes", "pageCount,kMDItemComment", "--limit", "1")
        #expect(shown.output.contains("@1  Alpha\n"))
        #expect(shown.output.contains("pageCount: 1\n") && shown.output.contains("comment: x\n"))
        #expect(!shown.output.contains("Beta") && shown.output.contains("Raise --limit"))
        let json = try #require(
            try command.json("query", "pageCount == 2", "--attributes", "title") as? [String: Any])
        let item = try #require((json["items"] as? [[String: Any]])?.first)
        #expect(item["attributes"] as? [String: String] == ["title": "Beta"])
        #expect(try command("query", "pageCount > 0", "--count", "--bundle", "nobody").output == "0\n")
        #expect(try command("query", "pageCount > 5").status == 0)
        #expect(try command("query", "pageCount > 0", "--explain").output.hasPrefix("Indexes choose the items.\n"))
        let plan = try #require(try command.json("query", "pageCount > 0", "--explain") as? [String: Any])
        #expect(plan["usesIndex"] as? Bool == true)
    }

    @Test("Failures to print or read are reported; the donation is kept")
    func failingInputAndOutput() throws {
        let donate = "\"$SEARCHLIGHT\" donate --bundle org.example.app"
        let full = try command.shell("echo '{\"uniqueIdentifier\": \"one\"}' | \(donate) - > /dev/full")
        #expect(full.status == 8)
        #expect(full.output.contains("No space left on device"), "\(full.output)")
        #expect(try command("show", "one").status == 0)
        let folder = try command.shell("\(donate) .")
        #expect(folder.status == 8)
        #expect(folder.output.contains("Is a directory"), "\(folder.output)")
        for arguments in ["list", "query 'a != 1'", "query 'a == 1' --count", "query 'a == 1' --explain"] {
            #expect(try command.shell("\"$SEARCHLIGHT\" \(arguments) > /dev/full").status == 8, "\(arguments)")
        }
    }

    @Test("Hostile lines are rejected: deep, broken, binary, invalid numbers", .timeLimit(.minutes(10)))
    func hostileLines() throws {
        let lines = [
            "head -c 3000 /dev/zero | tr '\\0' '['", "head -c 500000 /dev/zero | tr '\\0' '['",
            "printf '{\"uniqueIdentifier\": \"\\377\\376\"}'", "printf '\\000\\001\\002'",
            "printf '{\"uniqueIdentifier\": \"a\", \"attributes\": {\"n\": 1e999}}'",
            "printf '{\"uniqueIdentifier\": \"a\", \"attributes\": {\"n\": {\"m\": 1}}}'",
            "printf '{\"endBatch\": 1}'", "printf '{\"endBatch\": {\"state\": \"x\"}}'",
        ]
        for line in lines {
            let (status, output) = try command.shell("\(line) | \"$SEARCHLIGHT\" donate --bundle b -")
            #expect(status == 1, "\(line): \(output)")
            #expect(
                output.contains("Line 1: ") && output.contains("0 items accepted, 1 refused."), "\(line): \(output)")
        }
    }

    @Test("Without a store nothing is read or deleted, and no store is created")
    func noStore() throws {
        for arguments in ["list", "query 'a == 1'", "client-state --bundle b", "delete --bundle b --all"] {
            #expect(try command.shell("\"$SEARCHLIGHT\" \(arguments)").status == 2, "\(arguments)")
        }
        #expect(!FileManager.default.fileExists(atPath: command.harness.store))
        #expect(try command.shell("\"$SEARCHLIGHT\" donate --bundle b nothing.jsonl").status == 2)
    }
}
