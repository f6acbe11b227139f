// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The text that a user reads about an item: amounts, and notes as text.
@Suite("Items as text", .timeLimit(.minutes(10)))
struct ShownTextTests {
    private let command: Command

    init() throws { command = Command(harness: try Harness()) }

    @Test("Sizes have a unit, and numbers no exponent; JSON has them unchanged")
    func amounts() throws {
        let sizes = [
            ("0.000064", "64 bytes"), ("0.000001", "1 byte"), ("0", "0 bytes"), ("0.0014321", "1.4 kB"),
            ("3", "3.0 MB"),
            ("999999", "1.0 TB"), ("0.0009999", "1.0 kB"), ("-1", "-1"), ("1250.5", "1.3 GB"), ("1e300", "1e+300"),
        ]
        let lines = sizes.enumerated().map {
            "{\"uniqueIdentifier\": \"i\($0)\", \"attributes\": {\"fileSize\": \($1.0), \"altitude\": 6.4e-05}}"
        }
        let (status, output) = try CFixture.run(
            try BuiltProducts.program("searchlight"), ["donate", "--bundle", "b", "-"],
            environment: try command.environment, input: lines.joined(separator: "\n"))
        try #require(status == 0, "\(output)")
        for (number, (size, expected)) in sizes.enumerated() {
            let shown = try command("show", "i\(number)").output
            #expect(shown.contains(" \(expected)\n"), "\(size): \(shown)")
            #expect(shown.contains("  0.000064\n"), "\(shown)")
        }
        #expect(try command("query", "fileSize == 3", "--attributes", "fileSize").output.contains("fileSize: 3.0 MB\n"))
        let item = try #require(try command.json("show", "i0") as? [String: Any])
        #expect((item["attributes"] as? [String: Any])?["fileSize"] as? Double == 0.000064)
    }

    private static let note = """
        # Packing

        For **Oslo**, see [the list](https://oslo.example/list):

        - boots
        - coats
          1. rain

        > Take `less` than
        > you think.

        | Thing | Weight |
        |-------|-------:|
        | tent  |   2100 |
        | map   |     80 |

            let ferry = 3
        """

    private func installNote() throws {
        let notes = command.harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        try Data(Self.note.utf8).write(to: URL(filePath: notes + "/packing.md"))
        try Data("one\n  two three\n".utf8).write(to: URL(filePath: notes + "/plain.txt"))
        _ = try command.harness.installJournal(notes: notes)
        try #require(try command("reindex").status == 0)
    }

    @Test("A note is shown with its headings, lists, quotations, tables and code; a plain one unchanged")
    func note() throws {
        try installNote()
        let shown = try command.separately("preview", "notes/packing.md", "--bundle", "com.searchlight.journal")
        let text = try command.shell("\"$SEARCHLIGHT\" preview notes/packing.md 2>errors").output
        #expect(
            text == """
                Packing
                ═══════

                For Oslo, see the list (https://oslo.example/list):

                • boots
                • coats
                  1. rain

                │ Take less than you think.

                Thing │ Weight
                ──────┼───────
                tent  │   2100
                map   │     80

                    let ferry = 3

                """, "\(shown.errors)")
        #expect(try command.shell("\"$SEARCHLIGHT\" preview notes/plain.txt").output == "one\n  two three\n")
    }

    @Test("A picture beside a note is in its preview; one elsewhere is left out")
    func pictures() throws {
        let notes = command.harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        try Data("# Map\n\n![of Oslo](map.gif) ![no](../secret.gif)\n".utf8).write(to: URL(filePath: notes + "/map.md"))
        let gif = Data("GIF89a".utf8) + Data([4, 0, 3, 0, 0, 0, 0])
        for path in ["/notes/map.gif", "/secret.gif"] {
            try gif.write(to: URL(filePath: command.harness.folder + path))
        }
        _ = try command.harness.installJournal(notes: notes)
        try #require(try command("reindex").status == 0)
        let page = try command.separately("preview", notes + "/map.md", "--html")
        let pictures = page.output.components(separatedBy: "src=\"data:image/gif;base64,").count - 1
        #expect(pictures == 1, "\(page.output)")
        #expect(page.errors.contains("Removed from what the extension renders: 1"), "\(page.errors)")
        #expect(try command("preview", notes + "/map.md").output.contains("[picture: of Oslo]"))
    }

    @Test("Excluded words are not marked")
    func wantedWords() throws {
        try installNote()
        let page = try command.shell("\"$SEARCHLIGHT\" preview notes/packing.md --html --query 'boots -coats'").output
        #expect(page.contains("<mark>boots</mark>") && !page.contains("<mark>coats"))
    }

    @Test("Search results are aligned, and passages are wrapped at the width of the terminal")
    func results() throws {
        let lines = (1...11).map {
            """
            {"uniqueIdentifier": "\($0)", "attributes": {"title": "Ferry \($0)", "contentType": "public.plain-text", \
            "textContent": "The ferry to Oslo leaves from pier three at two in the afternoon and arrives the next morning."}}
            """
        }
        let donation = try command.shell(
            "\"$SEARCHLIGHT\" donate - --bundle org.example.trips <<'END'\n\(lines.joined(separator: "\n"))\nEND")
        #expect(donation.status == 0, "\(donation)")
        let (status, output) = try command.onTerminal("search", "ferry", "--limit", "11", columns: 60)
        #expect(status == 0)
        let shown = output.replacing(/\u{1B}\[[\d;]*m/, with: "").split(whereSeparator: \.isNewline)
        #expect(shown.filter { $0.hasPrefix("@") }.count == 11)
        for line in shown.prefix(44) {
            #expect(line.count <= 60, "\(line)")
            #expect(line.hasPrefix("@") || line.hasPrefix("     ") && line.dropFirst(5).first != " ", "\(line)")
            if line.hasPrefix("@") { #expect(line.dropFirst(5).hasPrefix("Ferry"), "\(line)") }
        }
        // A pipe gets each passage on one line.
        let piped = try command("search", "ferry", "--limit", "1").output.split(separator: "\n")
        #expect(piped.contains { $0.contains("The ferry to Oslo") && $0.contains("next morning.") }, "\(piped)")
    }

    @Test("No style in a terminal crosses the end of a line")
    func styles() throws {
        try installNote()
        let (status, output) = try command.onTerminal("preview", command.harness.folder + "/notes/packing.md")
        #expect(status == 0 && output.contains("\u{1B}[1mOslo\u{1B}[0m"), "\(output)")
        for line in output.split(whereSeparator: \.isNewline) {
            let codes = line.components(separatedBy: "\u{1B}[").dropFirst().map { $0.prefix { $0 != "m" } }
            for (number, code) in codes.enumerated() { #expect((code == "0") == (number % 2 == 1), "\(line)") }
            #expect(codes.count.isMultiple(of: 2), "\(line.debugDescription)")
        }
    }
}
