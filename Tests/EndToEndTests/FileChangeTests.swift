// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Previews
import SystemSupport
import Testing
import UserSearch

@testable import SearchlightEngine

/// `searchlight.changes/1`, with the real worker.
@Suite("Changes of files", .timeLimit(.minutes(10)))
struct FileChangeTests {
    @Test("An extension in C receives the change of each file, and answers")
    func native() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("changes")
        try await harness.withEngine { engine async throws in
            try await engine.onHost { (host) throws(ExtensionError) in
                try await host.updateFiles(
                    [.changed(path: "/a b/é"), .moved(from: "/old", to: "/new"), .removed(path: "/gone")], bundle)
                try await host.updateFiles([], bundle)
            }
            #expect(harness.messages.suffix(3) == ["1 /a b/é -", "2 /new /old", "3 /gone -"])
            let failure = await #expect(throws: EngineError.self) {
                try await engine.onHost { (host) throws(ExtensionError) in
                    try await host.updateFiles([.changed(path: "/bad")], bundle)
                }
            }
            guard case .extension(.failed(_, _, _, "there is a bad file"))? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    @Test("An extension in C renames items, which keep their identity", arguments: [false, true])
    func nativeRenames(inProcess: Bool) async throws {
        let harness = try Harness(inProcess: inProcess)
        let bundle = try harness.installFixture("renames")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 3)
            #expect(harness.messages == ["no identifier: 5"])
            #expect(try await engine.item(named: "renamed").scope.index == "named")
            // A second object in one process would replace the first.
            if !inProcess {
                let comparison = try await engine.compare(bundle)
                #expect(comparison.isEqual && comparison.donated == 3 && comparison.comparedByName == 1)
            }
            func number(_ name: String) async throws -> Int64 { try await engine.item(named: name).number }
            let (a, b) = (try await number("/a"), try await number("/b"))
            func move(_ pairs: (String, String)...) async throws {
                try await engine.onHost { (host) throws(ExtensionError) in
                    try await host.updateFiles(pairs.map { .moved(from: $0.0, to: $0.1) }, bundle)
                }
            }
            try await move(("/a", "/b"), ("/b", "/a"))
            #expect(try await number("/a") == b)
            #expect(try await number("/b") == a)
            try await move(("/a", "/b"), ("/none", "/c"))
            #expect(try await number("/b") == b)
            let items = try await engine.search("item", bundle: bundle, limit: 10).hits.map(\.item)
            #expect(items.map(\.record.uniqueIdentifier) == ["/b"] && items.first?.displayTitle == "second")
            // Two files cannot both have become one file, and the extension reports that. Then it
            // gets each change separately.
            try await move(("/b", "/x"), ("/c", "/x"))
            #expect(try await number("/x") == b)
        }
    }

    @Test("An extension lists its own items of an index in pages, in order, at the time of each request")
    func listing() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("listing")
        let other = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(other)
            #expect(try await engine.reindexAll(bundle) == 1250)
            #expect(
                harness.messages.suffix(10) == [
                    "no completion: 5", "too many: 7", "no text: 5", "in the other: 1", "listed: 1000", "item-0001: 0",
                    "item-1000: 1",
                    "listed: 249", "item-1001: 0", "item-1249: 1",
                ])
        }
    }

    @Test("An extension that does not serve them reports it")
    func unserved() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            let failure = await #expect(throws: EngineError.self) {
                try await engine.onHost { (host) throws(ExtensionError) in
                    try await host.updateFiles([.changed(path: "/a")], bundle)
                }
            }
            guard case .extension(.failed(_, _, .unsupported, _))? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    @Test("Journal adds, updates, renames and deletes notes, and ignores other files")
    func journal() async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: URL(filePath: notes + "/" + name))
        }
        try write("# One\n\nferry", "one.md")
        let bundle = try harness.installJournal(notes: notes)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            func update(_ changes: [FileChange]) async throws {
                try await engine.onHost { (host) throws(ExtensionError) in try await host.updateFiles(changes, bundle) }
            }
            func found(_ text: String) async throws -> [String] {
                try await engine.search(text, bundle: nil, limit: 10).hits.map(\.item.record.uniqueIdentifier).sorted()
            }
            try write("# Two\n\nferry", "two.md")
            try write("no note", "picture.png")
            try await update([.changed(path: notes + "/two.md"), .changed(path: notes + "/picture.png")])
            #expect(try await found("ferry") == [notes + "/one.md", notes + "/two.md"])
            let two = try await engine.item(named: notes + "/two.md")
            let use = Engagement(item: two.number, text: "fer", kind: .open)
            #expect(try await engine.countEngagement([use]) == 1)
            try write("# One\n\ntram", "one.md")
            rename(notes + "/two.md", notes + "/three.md")
            try await update([
                .changed(path: notes + "/one.md"), .moved(from: notes + "/two.md", to: notes + "/three.md"),
            ])
            #expect(try await found("ferry") == [notes + "/three.md"])
            #expect(try await found("tram") == [notes + "/one.md"])
            // The note is still the same item, with its history, and has the new path.
            let moved = try await engine.item(named: "@\(two.number)")
            #expect(moved.record.uniqueIdentifier == notes + "/three.md")
            #expect(moved.record.contentPath == notes + "/three.md")
            let history = try await engine.engagementHistory(from: 0, limit: 10).entries
            #expect(history.map(\.item) == [two.number] && history.first?.texts.map(\.typed) == ["fer"])
            let page = harness.folder + "/page.html"
            _ = try await engine.drag(moved, accepted: ["public.html"], to: .file(path: page))
            #expect(try String(contentsOfFile: page, encoding: .utf8).contains("ferry"))
            // Rewritten by a program that keeps the old note: for users, the note at the path is
            // the same one.
            rename(notes + "/three.md", notes + "/three.old.md")
            try write("# Three\n\nbridge", "three.md")
            try await update([
                .moved(from: notes + "/three.md", to: notes + "/three.old.md"), .changed(path: notes + "/three.md"),
            ])
            #expect(try await engine.item(named: notes + "/three.md").number == two.number)
            #expect(try await found("bridge") == [notes + "/three.md"])
            #expect(try await found("ferry") == [notes + "/three.old.md"])
            unlink(notes + "/one.md")
            try await update([.removed(path: notes + "/one.md")])
            #expect(try await found("tram") == [])
        }
    }
}
