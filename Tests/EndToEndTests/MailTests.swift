// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SystemSupport
import Testing

@testable import SearchlightEngine

/// The Mail extension, with the real worker.
@Suite("Mail", .timeLimit(.minutes(10)))
struct MailTests {
    private let harness: Harness

    init() throws { harness = try Harness() }

    private var maildir: String { harness.folder + "/Maildir" }

    /// Runs the script that generates mail.
    private func make(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let script = BuiltProducts.repository + "/Plugins/Content/Tests/sample-mail"
        process.arguments = ["python3", script] + arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// Generates a Maildir with messages of one kind.
    private func makeMaildir(of kind: String, number: Int) throws {
        for part in ["cur", "new", "tmp"] {
            try FileManager.default.createDirectory(atPath: maildir + "/" + part, withIntermediateDirectories: true)
        }
        try make(kind, harness.folder + "/made")
        for name in try FileManager.default.contentsOfDirectory(atPath: harness.folder + "/made") {
            try FileManager.default.moveItem(
                atPath: harness.folder + "/made/" + name,
                toPath: maildir + "/cur/\(number).\(name.dropLast(4)).host:2,S")
        }
    }

    private func found(_ engine: SearchlightEngine, _ text: String) async throws -> [String] {
        try await engine.search(text, bundle: nil, limit: 10).hits.map(\.item.displayTitle).sorted()
    }

    @Test("Messages of 20 kinds are found, between messages that are made to break readers")
    func kindsBesideHostileOnes() async throws {
        try makeMaildir(of: "hostile", number: 1)
        try makeMaildir(of: "kinds", number: 2)
        try make("mbox", harness.folder + "/many", "30")
        try FileManager.default.createDirectory(atPath: harness.folder + "/Mail", withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: harness.folder + "/many", toPath: harness.folder + "/Mail/many")
        let bundle = try harness.installMail()
        try await harness.withEngine { engine async throws in
            // One of the hostile messages is empty, and one has no header.
            #expect(try await engine.reindexAll(bundle) == 20 + 25 + 30)
            #expect(harness.retries == 0)
            for name in ["huge-header", "many-parts", "nested", "parameters"] {
                #expect(
                    harness.messages.contains { $0.contains("1.\(name).host") && $0.contains("read in part") },
                    "\(name)")
            }
            #expect(try await found(engine, "nautilus") == ["Invitation: Planning"])
            #expect(try await found(engine, "маяка") == ["Привет"])
            #expect(try await found(engine, "from:ada invoice") == ["Invoice 2026-04"])
            let item = try await engine.search("from:ada invoice", bundle: bundle, limit: 1).hits.map(\.item)[0]
            let pdf = harness.folder + "/invoice.pdf"
            _ = try await engine.drag(item, accepted: ["com.adobe.pdf"], to: .file(path: pdf))
            #expect(try Data(contentsOf: URL(filePath: pdf)).starts(with: Data("%PDF-1.4".utf8)))
            let message = harness.folder + "/message.eml"
            _ = try await engine.drag(item, accepted: ["public.email-message"], to: .file(path: message))
            #expect(try String(contentsOfFile: message, encoding: .utf8).contains("Subject: Invoice 2026-04"))
            #expect(try await engine.preview(of: item, query: "invoice").source == .extension)
        }
    }

    @Test("New, moved and deleted messages are followed, and a moved one stays the same item")
    func changes() async throws {
        try makeMaildir(of: "kinds", number: 1)
        let bundle = try harness.installMail()
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 20)
            func update(_ changes: [FileChange]) async throws {
                try await engine.onHost { (host) throws(ExtensionError) in try await host.updateFiles(changes, bundle) }
            }
            let before = try await engine.search("invoice", bundle: bundle, limit: 1).hits.map(\.item)[0]
            for part in ["cur", "new", "tmp"] {
                try FileManager.default.createDirectory(
                    atPath: maildir + "/.Archive/" + part, withIntermediateDirectories: true)
            }
            let old = maildir + "/cur/1.attachment.host:2,S"
            let new = maildir + "/.Archive/cur/2.other.host:2,S"
            try FileManager.default.copyItem(atPath: old, toPath: new)
            unlink(old)
            try await update([.changed(path: new), .removed(path: old)])
            let after = try await engine.search("invoice", bundle: bundle, limit: 1).hits.map(\.item)[0]
            #expect(after.number == before.number && after.record.contentPath == new)
            unlink(new)
            try await update([.removed(path: new)])
            #expect(try await found(engine, "invoice") == [])

            // An mbox file: the state of the last read is stored in the index.
            let box = harness.folder + "/Mail/box"
            try FileManager.default.createDirectory(
                atPath: harness.folder + "/Mail", withIntermediateDirectories: true)
            func write(_ names: String...) throws {
                let text = names.map {
                    "From - Tue Nov 24 10:11:12 2026\nSubject: \($0)\nMessage-ID: <\($0)@x>\n\n\($0)\n\n"
                }
                try Data(text.joined().utf8).write(to: URL(filePath: box))
            }
            try write("pelican", "heron")
            try await update([.changed(path: box)])
            #expect(try await found(engine, "heron") == ["heron"])
            try write("pelican", "heron", "cormorant")
            try await update([.changed(path: box)])
            #expect(try await found(engine, "cormorant") == ["cormorant"])
            try write("cormorant", "pelican")
            try await update([.changed(path: box)])
            #expect(try await found(engine, "heron") == [])
            #expect(try await found(engine, "pelican") == ["pelican"])
            unlink(box)
            try await update([.removed(path: box)])
            #expect(try await found(engine, "pelican") == [])
        }
    }
}
