// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import MessageSupport
import ServiceMessages
import Testing

@testable import ExtensionRuntime

@Suite("Attributes that bindings set", .serialized)
struct BoundAttributesTests {
    let host: BindingHost

    init() throws { host = try BindingHost() }

    /// Returns a PDF file without compression; a page that is `nil` is truncated.
    static func pdf(title: String?, pages: [String?]) -> String {
        var text = "%PDF-1.4\n"
        for page in pages {
            text += "4 0 obj << /Length 44 >>\nstream\nBT /F1 18 Tf 0 0 Td "
            text += page.map { "(\($0)) Tj ET\nendstream\nendobj\n" } ?? "BT"
        }
        if let title { text += "1 0 obj << /Title (\(title)) >> endobj\n" }
        return text + "%%EOF\n"
    }

    /// Returns the two bindings from docs/BINDINGS.md for a folder, with the test library.
    private func bindings(_ folder: String) throws -> [String] {
        let page = try String(contentsOfFile: BindingHost.project + "/docs/BINDINGS.md", encoding: .utf8)
        let section = try #require(page.components(separatedBy: "## Example: the text of PDF files").last)
        let blocks = section.components(separatedBy: "\n## ")[0].components(separatedBy: "\n\n")
            .filter { $0.hasPrefix("    serve ") }
        try #require(blocks.count == 2)
        let library = try BindingHost.library("poppler")
        return blocks.map {
            $0.replacing("~/Documents", with: folder).replacing("libpoppler-glib.so.8", with: "./" + library)
        }
    }

    private func reindexed(_ files: [String: String]) async throws -> [String: ItemRecord] {
        let folder = host.folder.path + "/pdf"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: folder + "/" + name)) }
        let texts = try bindings(folder)
        let loaded = try host.load(texts[0], texts[1])
        #expect(loaded.bound.interfaces == ["searchlight.reindex/1", "searchlight.changes/1"])
        let outcome = await loaded.ask { $0.reindexAll($1) }
        guard case .acknowledged = outcome else {
            Issue.record("\(String(describing: outcome))")
            return [:]
        }
        return Dictionary(
            uniqueKeysWithValues: host.items.map {
                ($0.key.split(separator: "/").last.map(String.init) ?? "", $0.value)
            })
    }

    @Test("The binding of the documentation gives PDF files their text, title and number of pages")
    func text() async throws {
        let items = try await reindexed([
            "ferry.pdf": Self.pdf(title: "Timetable", pages: ["Leaves from pier three", "every hour"]),
            "plain.pdf": Self.pdf(title: nil, pages: ["one page"]), "other.txt": "no PDF",
        ])
        #expect(items.keys.sorted() == ["ferry.pdf", "plain.pdf"])
        #expect(items["ferry.pdf"]?.text("textContent") == "Leaves from pier three\nevery hour")
        #expect(items["ferry.pdf"]?.text("title") == "Timetable")
        #expect(items["ferry.pdf"]?.attributes["pageCount"] == .integer(2))
        #expect(items["plain.pdf"]?.text("title") == "plain.pdf", "what is null leaves what was donated")
        #expect(host.logged == [])
    }

    @Test("Unreadable content costs the item its attributes, or the round, and is reported; the item is found")
    func broken() async throws {
        let items = try await reindexed([
            "broken.pdf": "no PDF at all", "cut.pdf": Self.pdf(title: nil, pages: ["first", nil]),
        ])
        #expect(items.keys.sorted() == ["broken.pdf", "cut.pdf"])
        #expect(items["broken.pdf"]?.text("textContent") == nil)
        #expect(items["cut.pdf"]?.text("textContent") == "first")
        let logged = host.logged.sorted()
        #expect(logged.count == 2, "\(logged)")
        #expect(
            logged.first?.contains("broken.pdf are skipped: poppler_document_new_from_file returned NULL") == true,
            "\(logged)")
        #expect(
            logged.last?.contains("1 of 2 rounds (“number”) are skipped: poppler_document_get_page returned NULL")
                == true,
            "\(logged)")
    }

    @Test("Each round frees its values before the document is closed")
    func freed() async throws {
        _ = try await reindexed(["a.pdf": Self.pdf(title: "x", pages: [String](repeating: "words", count: 50))])
        let library = try BindingHost.library("poppler")
        let loaded = try host.load(
            "serve data public.html of public.plain-text library \"./\(library)\", \"./everything.so\"\n"
                + "call objects_alive() -> n: int succeeds n == 0 result \"none\"")
        try host.hold(ItemRecord(uniqueIdentifier: "item"))
        #expect(try await loaded.data() == "none")
    }

    private func gathered(_ rounds: String, _ call: String = "number_text(n: i64 = i) -> s: owned(free) text")
        async throws -> String
    {
        try await host.text(
            "yes() -> ok: bool succeeds ok == 1\neach i below \(rounds) { call \(call) gather out = s }")
    }

    @Test("Rounds are counted from 0, and there may be none")
    func rounds() async throws {
        #expect(try await gathered("4") == "0\n1\n2\n3")
        #expect(try await gathered("length(item.identifier) - 4") == "")
    }

    @Test(
        "Too many rounds, a negative number of them, too much text and a round that fails fail a promise",
        arguments: [
            ("10001", "number_text(n: i64 = i) -> s: owned(free) text", "only the first 10000 of 10001 rounds"),
            ("0 - 1", "number_text(n: i64 = i) -> s: owned(free) text", "the number of rounds is negative"),
            ("2", "none() -> s: borrowed text", "none returned NULL for s"),
        ])
    func failing(rounds: String, call: String, message: String) async throws {
        let failure = try await host.failure(
            "yes() -> ok: bool succeeds ok == 1\neach i below \(rounds) { call \(call) gather out = s }")
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "nothing")")
    }
}
