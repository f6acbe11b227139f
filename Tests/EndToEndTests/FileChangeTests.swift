// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SystemSupport
import Testing

@testable import SearchlightEngine

/// `searchlight.changes/1`, through the real worker.
@Suite("Changes of files", .timeLimit(.minutes(10)))
struct FileChangeTests {
    @Test("An extension in C is told what happened to each file, and answers")
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

    @Test("One that does not serve them says so")
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

    @Test("Journal adds, updates, renames and deletes notes, and passes over what is no note")
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
            try write("# One\n\ntram", "one.md")
            rename(notes + "/two.md", notes + "/three.md")
            try await update([
                .changed(path: notes + "/one.md"), .moved(from: notes + "/two.md", to: notes + "/three.md"),
            ])
            #expect(try await found("ferry") == [notes + "/three.md"])
            #expect(try await found("tram") == [notes + "/one.md"])
            unlink(notes + "/one.md")
            try await update([.removed(path: notes + "/one.md")])
            #expect(try await found("tram") == [])
        }
    }
}
