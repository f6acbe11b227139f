// SPDX-License-Identifier: Apache-2.0
import Foundation
import Previews
import Testing

/// The output of hostile preview extensions, from the real worker to the user.
@Suite("A hostile preview", .timeLimit(.minutes(10)))
struct HostilePreviewTests {
    private struct Report: Decodable {
        var title: String
        var contentType: String
        var source: String
        var problem: String?
        var removed: [Removal]
        var text: String?
        var attributes: Attributes?

        struct Attributes: Decodable {
            var found: [String]
            var text: String?
            var thumbnailProblem: String?
        }

        func example(_ kind: Removal.Kind) -> String? { removed.first { $0.kind == kind }?.example }
    }

    private func indexed() throws -> Command {
        let command = Command(harness: try Harness())
        _ = try command.harness.installFixture("hostile-previews")
        let (status, output) = try command("reindex")
        try #require(status == 0, "\(output)")
        return command
    }

    private func report(_ item: String, _ command: Command) throws -> Report {
        let (status, output, _) = try command.separately("preview", item, "--query", "ferry", "--json")
        #expect(status == 0, "\(output)")
        return try JSONDecoder().decode(Report.self, from: Data(output.utf8))
    }

    @Test("Scripts, handlers, forms, frames, redirects and loads are removed and named")
    func scripts() throws {
        let command = try indexed()
        let report = try report("script", command)
        #expect(report.source == "extension" && report.title == "Rendered" && report.problem == nil)
        #expect(
            Set(report.removed.map(\.kind)) == [
                .script, .eventHandler, .form, .frame, .drawing, .remoteLoad, .link, .redirect,
            ])
        #expect(report.example(.redirect) == "0;url=https://evil.example")
        let text = try #require(report.text)
        #expect(text.hasSuffix("<p>the <mark>ferry</mark><a>x</a><img></p></body></html>"))
        #expect(!text.contains("evil.example"))
        // The user who requests the page sees the message.
        let shown = try command.separately("preview", "script", "--html")
        #expect(shown.errors.contains("Removed from what the extension renders: 1 script, "))
    }

    @Test("References to files and style sheets that load are removed and named")
    func references() throws {
        let command = try indexed()
        let file = try report("file", command)
        #expect(file.removed == [Removal(kind: .fileReference, count: 3, example: "file:///etc/passwd")])
        #expect(file.text?.hasSuffix("<p>x<img><a>y</a><img></p></body></html>") == true)
        let styles = try report("styles", command)
        #expect(styles.removed.map(\.kind) == [.style] && styles.removed.first?.count == 2)
        #expect(styles.text?.contains("<style>p{color:red}</style>") == true)
    }

    @Test("Only attachments that are pictures are shown, none that expands, and their names reach no files")
    func attachments() throws {
        let command = try indexed()
        let attached = try report("attached", command)
        #expect(attached.source == "extension")
        #expect(attached.text?.ranges(of: "<img src=\"data:image/png;base64,").count == 1)
        #expect(attached.example(.hugePicture) == "cid:bomb")
        #expect(attached.example(.unusablePicture) == "code")
        #expect(attached.example(.missingAttachment) == "cid:../../etc/passwd")
        #expect(attached.example(.mistypedAttachment) == "code")
        let traversal = try report("traversal", command)
        #expect(traversal.source == "attributes" && traversal.problem?.contains("attachment") == true)
    }

    @Test(
        "Content that does not have the declared type is replaced by the item's attributes, with the reason",
        arguments: [
            ("unfolds", "claims 100000 × 100000 pixels"), ("wrong-type", "it should be a PNG image, and begins with"),
            ("wrong-text", "declared as public.html, but it should be text"),
        ])
    func mistyped(item: String, reason: String) throws {
        let command = try indexed()
        let report = try report(item, command)
        #expect(report.source == "attributes" && report.contentType == "public.html" && report.title == "Title of it")
        #expect(report.problem?.contains(reason) == true, "\(report.problem ?? "")")
        #expect(report.attributes?.found == ["ferry"] && report.attributes?.text == "The ferry leaves at noon.")
        let (status, output, errors) = try command.separately("preview", item)
        #expect(status == 0 && output.hasPrefix("Title of it\n") && errors.contains(reason))
    }

    @Test("Endlessly nested pages, and pages that grow by escaping, end within bounds")
    func endless() throws {
        let command = try indexed()
        let deep = try report("deep", command)
        #expect(deep.source == "extension" && (deep.text?.utf8.count ?? .max) < 1 << 20)
        let large = try report("large", command)
        #expect(large.source == "extension" && large.example(.overflow) != nil)
        #expect((large.text?.utf8.count ?? .max) <= Preview.maximumBytes)
    }

    @Test("A thumbnail that is not a file of the user is not read, with the reason")
    func thumbnail() throws {
        let report = try report("unsafe-thumbnail", try indexed())
        #expect(report.source == "attributes")
        #expect(report.attributes?.thumbnailProblem == "The thumbnail /proc/self/environ is not a regular file.")
        #expect(report.text?.contains("<img") == false)
    }
}
