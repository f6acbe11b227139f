// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchIndex
import Testing

@testable import SearchlightEngine

/// Items from folders of the settings that are missing or unreadable, with the real worker.
@Suite("Missing folders", .timeLimit(.minutes(10)))
struct MissingFolderTests {
    /// An extension, with one file that it serves.
    enum Served: String, CaseIterable, Sendable {
        case journal, documents, contacts, calendars, webPages, mail

        var identifier: String { "com.searchlight." + rawValue.lowercased() }

        /// The path of a file below a folder.
        var file: String {
            switch self {
            case .journal: "sub/note.md"
            case .documents: "sub/text.txt"
            case .contacts: "sub/card.vcf"
            case .calendars: "sub/event.ics"
            case .webPages: "sub/page.html"
            case .mail: "sub/cur/1.a.host:2,S"
            }
        }

        var text: String {
            switch self {
            case .journal, .documents: "ferry\n"
            case .contacts: "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:1\r\nFN:Ferry\r\nEND:VCARD\r\n"
            case .calendars:
                "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Ferry\r\n"
                    + "DTSTART:20261124T101112Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
            case .webPages:
                "<html><head><title>Ferry</title><link rel='canonical' href='https://example.org/ferry'></head>"
                    + "<body><p>The ferry leaves.</p></body></html>"
            case .mail: "Subject: Ferry\nMessage-ID: <1@example.org>\nFrom: ada@example.org\n\nferry\n"
            }
        }
    }

    private let harness: Harness
    private var folder: String { harness.folder + "/listed" }
    private var away: String { harness.folder + "/away" }

    init() throws { harness = try Harness() }

    private func install(_ served: Served) throws -> String {
        switch served {
        case .journal: return try harness.installJournal(notes: folder)
        case .documents: return try harness.installDocumentsWithCode()
        case .contacts: return try harness.installPlugin("Contacts")
        case .calendars: return try harness.installPlugin("Calendars")
        case .webPages: return try harness.installPlugin("WebPages")
        case .mail: return try harness.installMail()
        }
    }

    private func write(_ text: String, _ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private func list(_ lines: String..., of bundle: String) throws {
        try write(lines.joined(separator: "\n") + "\n", harness.folder + "/config/\(bundle)/folders")
    }

    /// Returns the numbers of a bundle's items. A number stands for the history of the item.
    private func numbers(_ engine: SearchlightEngine, _ bundle: String) async throws -> [Int64] {
        try await engine.items(matching: .and([]), bundle: bundle, limit: 100, after: nil).items.map(\.number)
    }

    @Test("While a folder of the settings is missing, reindexes keep its items", arguments: Served.allCases)
    func moved(_ served: Served) async throws {
        try write(served.text, folder + "/" + served.file)
        try write(served.text.replacing("1@", with: "2@"), harness.folder + "/near/" + served.file)
        if served == .mail {
            for part in ["new", "tmp"] {
                for place in [folder, harness.folder + "/near"] { try write("", place + "/sub/\(part)/.keep") }
            }
        }
        let bundle = try install(served)
        try list(folder, harness.folder + "/near", harness.folder + "/never", of: bundle)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            let before = try await numbers(engine, bundle)
            rename(folder, away)
            // A file that is deleted from another folder loses its item all the same. Journal
            // deletes nothing while a folder is missing, except after an update.
            unlink(harness.folder + "/near/" + served.file)
            #expect(try await engine.reindexAll(bundle) == (served == .journal ? 2 : 1))
            let update = try #require(try await engine.update(bundle).first)
            #expect(update.problem == nil && update.unavailable == [folder, harness.folder + "/never"], "\(update)")
            #expect(try await engine.reindexAll(bundle) == 1)
            let kept = try await numbers(engine, bundle)
            #expect(kept.count == 1 && Set(kept).isSubset(of: before))

            rename(away, folder)
            #expect(try await engine.update(bundle).first?.unavailable == [harness.folder + "/never"])
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(try await numbers(engine, bundle) == kept)

            // The user no longer wants the items of a folder that the settings do not name.
            rename(folder, away)
            try list(harness.folder + "/near", of: bundle)
            #expect(try await engine.reindexAll(bundle) == 0)
        }
    }

    @Test("A folder that was missing during the first pages of an interrupted reindex keeps its items")
    func interrupted() async throws {
        let near = harness.folder + "/near"
        for name in ["1.txt", "2.txt"] { for place in [folder, near] { try write("ferry", place + "/" + name) } }
        let bundle = try install(.documents)
        try list(folder, near, of: bundle)
        var pages = ReindexPageLimits()
        pages.items = 1
        let engine = try harness.engine(pages: pages)
        #expect(try await engine.reindexAll(bundle) == 4)
        rename(folder, away)
        try engine.owe(.reindexAll, of: bundle, cause: .asked)
        await #expect(throws: EngineError.self) { try await engine.reindexOwed(bundle) { false } }
        #expect(engine.owedWork(for: bundle)?.place?.pages == 1)
        rename(away, folder)
        #expect(try await engine.reindexOwed(bundle) == 4)
        await engine.close()
    }

    @Test("A listed file that is no folder, and a folder that is missing, are named", arguments: Served.allCases)
    func listedFile(_ served: Served) async throws {
        try write(served.text, folder + "/" + served.file)
        if served == .mail { for part in ["new", "tmp"] { try write("", folder + "/sub/\(part)/.keep") } }
        let (plain, never) = (harness.folder + "/plain", harness.folder + "/never")
        try write("words", plain)
        let bundle = try install(served)
        try list(folder, of: bundle)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            try list(folder, plain, never, of: bundle)
            let update = try #require(try await engine.update(bundle).first)
            #expect(update.unavailable == [never], "\(update)")
            for text in ["\(never) is missing", plain] {
                #expect(harness.messages.contains { $0.contains(text) }, "\(text): \(harness.messages)")
            }
            #expect(try await numbers(engine, bundle).count == 1)
        }
    }

    @Test(
        "Reindexes and updates keep the items of a folder or file that the worker may not read",
        arguments: Served.allCases, [true, false])
    func unreadable(_ served: Served, isFolder: Bool) async throws {
        try write(served.text, folder + "/" + served.file)
        if served == .mail { for part in ["new", "tmp"] { try write("", folder + "/sub/\(part)/.keep") } }
        let closed = folder + "/" + (isFolder ? "sub" : served.file)
        let bundle = try install(served)
        try list(folder, of: bundle)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            let before = try await numbers(engine, bundle)
            // A worker that root starts has none of root's privileges, so this restricts it too.
            chmod(closed, 0)
            defer { chmod(closed, 0o755) }
            #expect(try await engine.update(bundle).first?.problem == nil)
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(try await numbers(engine, bundle) == before)
            chmod(closed, 0o755)
            try write(served.text.replacing("erry", with: "erry tram"), folder + "/" + served.file)
            #expect(try await engine.update(bundle).first?.problem == nil)
            #expect(try await engine.search("tram", bundle: bundle, limit: 5).total == 1)
            #expect(try await numbers(engine, bundle) == before)
        }
    }

    @Test(
        "A line of the settings that is not a path deletes nothing, and all but Journal reject it",
        arguments: Served.allCases)
    func unusableLine(_ served: Served) async throws {
        try write(served.text, folder + "/" + served.file)
        if served == .mail { for part in ["new", "tmp"] { try write("", folder + "/sub/\(part)/.keep") } }
        let bundle = try install(served)
        try list(folder, of: bundle)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            try list("listed", of: bundle)
            let update = try #require(try await engine.update(bundle).first)
            let isRejected = served != .journal
            #expect((update.problem != nil) == isRejected, "\(update)")
            #expect(harness.messages.contains { $0.contains("folders, line 1") }, "\(harness.messages)")
            if isRejected {
                await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            } else {
                #expect(try await engine.reindexAll(bundle) == 1)
            }
            #expect(try await engine.search("ferry", bundle: bundle, limit: 5).total == 1)
            try list(folder, of: bundle)
            #expect(try await engine.reindexAll(bundle) == 1)
        }
    }
}
