// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("The desktop command", .timeLimit(.minutes(10)))
struct DesktopCommandTests {
    @Test("Apps are listed and switched, with a service and without", arguments: [true, false])
    func switches(hasService: Bool) async throws {
        let command = Command(harness: try Harness())
        let line = #"{"uniqueIdentifier": "s", "attributes": {"title": "Sheet"}}"#
        let donated = try await command.inProcess.outcome(
            ["donate", "--bundle", "org.example.sheets", "-"], input: line)
        try #require(donated.status == 0, "\(donated)")
        let host = hasService ? try ServiceHost(command.harness) : nil
        let on = try await command.outcome(["desktop"])
        #expect(on.status == 0 && on.output == "on   org.example.sheets  1 item\n", "\(on)")
        let off = try await command.outcome(["desktop", "off", "org.example.sheets"])
        #expect(off.status == 0 && off.output == "org.example.sheets is off now.\n" && off.errors.isEmpty, "\(off)")
        let again = try await command.outcome(["desktop", "off", "org.example.sheets", "--json"])
        #expect(
            again.output.contains(#""isChanged" : false"#) || again.output.contains(#""isChanged": false"#), "\(again)")
        // A misspelled name is accepted too, with a note.
        let typo = try await command.outcome(["desktop", "off", "org.example.sheet"])
        #expect(typo.status == 0 && typo.errors.contains("The index has no items of org.example.sheet."), "\(typo)")
        let listed = try await command.outcome(["desktop", "list"])
        #expect(
            listed.output == "off  org.example.sheet   0 items\noff  org.example.sheets  1 item\n", "\(listed)")
        #expect(try await command.outcome(["search", "sheet"]).output.contains("Sheet"))
        let back = try await command.outcome(["desktop", "on", "org.example.sheets"])
        #expect(back.output == "org.example.sheets is on now.\n", "\(back)")
        for wrong in [["desktop", "off"], ["desktop", "list", "x"], ["desktop", "of", "x"], ["desktop", "on", ""]] {
            #expect(try await command.outcome(wrong).status == 64, "\(wrong)")
        }
        await host?.close()
    }
}
