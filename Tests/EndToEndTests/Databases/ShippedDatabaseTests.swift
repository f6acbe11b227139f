// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ExtensionValidation
import Foundation
import Testing

@testable import SearchlightEngine

/// The shipped manifests, with databases that have the tables of the real programs
/// (`Tests/Fixtures/Databases`).
@Suite("The shipped database bindings", .timeLimit(.minutes(10)))
struct ShippedDatabaseTests {
    /// A program, and what is found in its database.
    struct Program: CustomTestStringConvertible {
        var name: String
        /// The path of the database below the home folder.
        var path: String
        /// A search that finds exactly one item, and the item's title.
        var (search, title): (String, String)
        var attributes: [String: String] = [:]
        /// The text that a promise provides.
        var promise: (type: String, text: String)?
        /// Words that the preview contains.
        var preview: String?
        var testDescription: String { name }
    }

    private static let programs = [
        Program(
            name: "firefox-history", path: ".mozilla/firefox/x1.default/places.sqlite", search: "heligoland",
            title: "Ferries to Heligoland", attributes: ["url": "https://ferries.example/pier?x=1&y=2"],
            promise: ("public.url", "https://ferries.example/pier?x=1&y=2"),
            preview: "3 visits, the last 2020-09-13 12:26"),
        Program(
            name: "chromium-history", path: "config/google-chrome/Default/History", search: "heligoland timetable",
            title: "Ferries to Heligoland", attributes: ["keywords": "Timetable"],
            promise: ("public.url", "https://ferries.example/pier?x=1&y=2"), preview: "the last 2020-09-13 12:26"),
        Program(
            name: "zotero", path: "Zotero/zotero.sqlite", search: "heligoland tides", title: "Tides of Heligoland",
            attributes: ["url": "zotero://select/library/items/ABCD2345", "authorNames": "Ada Lovelace"],
            promise: ("public.utf8-plain-text", "Ada Lovelace, Tide Group: Tides of Heligoland.   10.1000/182"),
            preview: "We measure tides."),
        Program(
            name: "calibre", path: "Calibre Library/metadata.db", search: "heligoland puffins",
            title: "Guide to Heligoland",
            attributes: ["url": "calibre://show-book/Calibre_Library/7", "authorNames": "Ada Lovelace"],
            promise: ("org.idpf.epub-container", "an EPUB"), preview: "puffins"),
        Program(
            name: "joplin", path: "config/joplin-desktop/database.sqlite", search: "heligoland raincoat",
            title: "Packing for Heligoland",
            attributes: [
                "url": "joplin://x-callback-url/openNote?id=0123456789abcdef0123456789abcdef",
                "containerTitle": "Travel",
            ],
            promise: ("net.daringfireball.markdown", "# Packing for Heligoland\n\nraincoat & **boots**\n"),
            preview: "raincoat &amp; **boots**"),
        Program(
            name: "anki", path: ".local/share/Anki2/User 1/collection.anki2", search: "heligoland bight",
            title: "Heligoland lies in", attributes: ["containerTitle": "World::Islands", "keywords": "sea"],
            promise: ("public.utf8-plain-text", "Heligoland lies in\n\nthe German Bight\n"), preview: "German Bight"),
        Program(
            name: "shotwell", path: ".local/share/shotwell/data/photo.db", search: "cliff ferry",
            title: "red cliff.jpg",
            attributes: ["album": "Heligoland 2020", "contentType": "public.jpeg"],
            promise: ("public.jpeg", "a picture")),
        Program(
            name: "liferea", path: ".local/share/liferea/liferea.db", search: "heligoland lighthouse",
            title: "News from Heligoland",
            attributes: ["containerTitle": "Island News", "authorNames": "Ada Lovelace"],
            promise: ("public.url", "https://news.example/1"), preview: "lighthouse"),
    ]

    private func install(_ name: String, _ harness: Harness) throws -> String {
        let identifier = "com.searchlight.databases." + name
        let bundle = harness.extensions + "/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: BuiltProducts.repository + "/Plugins/Databases/\(name)/Info.plist", toPath: bundle + "/Info.plist")
        return identifier
    }

    private func write(_ text: String, to path: String, _ harness: Harness) throws {
        let file = URL(filePath: harness.folder + "/" + path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    @Test("find, show and provide the rows of the program's own tables while they are open", arguments: programs)
    func program(program: Program) async throws {
        let harness = try Harness()
        let bundle = try install(program.name, harness)
        let fixture = BuiltProducts.repository + "/Tests/Fixtures/Databases/\(program.name).sql"
        let tables = try String(contentsOfFile: fixture, encoding: .utf8).replacing("$HOME", with: harness.folder)
        let app = try AppDatabase(harness.folder + "/" + program.path, tables)
        try write("an EPUB", to: "Calibre Library/Ada Lovelace/Guide (7)/Guide - Ada Lovelace.epub", harness)
        try write("a picture", to: "Pictures/2020/red cliff.jpg", harness)
        try await harness.withEngine { engine async throws in
            #expect(engine.registry.refusals.isEmpty, "\(engine.registry.refusals)")
            _ = try await engine.reindexAll(bundle)
            let (hits, total) = try await engine.search(program.search, bundle: nil, limit: 5)
            let item = try #require(hits.first?.item)
            #expect(total == 1 && item.record.text("title") == program.title)
            for (name, text) in program.attributes { #expect(item.record.text(name) == text, "\(name)") }
            let moments = ["lastUsedDate", "contentCreationDate", "contentModificationDate"]
            #expect(moments.contains { item.record.attributes[$0] == .date(621_692_800) })
            if let promise = program.promise {
                let path = harness.folder + "/drop"
                _ = try await engine.drag(item, accepted: [promise.type], to: .file(path: path))
                #expect(try String(contentsOfFile: path, encoding: .utf8) == promise.text)
            }
            if let words = program.preview {
                let preview = try await engine.preview(of: item, query: "")
                #expect(preview.source == .extension, "\(preview.problem ?? "")")
                #expect(String(decoding: preview.content, as: UTF8.self).contains(words))
            }
            #expect(try await engine.compare(bundle).isEqual)
        }
        withExtendedLifetime(app) {}
    }

    @Test("have a name and grant nothing but reading")
    func manifests() throws {
        let folder = BuiltProducts.repository + "/Plugins/Databases"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.contains(".") }.sorted()
        #expect(names == Self.programs.map(\.name).sorted())
        let harness = try Harness()
        for name in names {
            let identifier = try install(name, harness)
            let bundle = try ExtensionBundle(at: harness.extensions + "/\(identifier).searchext")
            #expect(bundle.manifest.displayName != identifier && !bundle.manifest.access.allowsNetwork)
            #expect(bundle.manifest.unknownKeys.isEmpty && bundle.manifest.access.writablePaths.isEmpty)
        }
    }
}
