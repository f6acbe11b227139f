// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Promises
import SystemSupport
import Testing

@testable import SearchlightEngine

/// The extensions for contacts and calendars, with the real worker.
@Suite("Contacts and calendars", .timeLimit(.minutes(10)))
struct PeopleTests {
    private let harness: Harness

    init() throws { harness = try Harness() }

    /// Runs the script that generates contacts and calendars.
    private func make(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", BuiltProducts.repository + "/Plugins/Tests/Fixtures/make-people"] + arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private func found(_ engine: SearchlightEngine, _ text: String) async throws -> [String] {
        try await engine.search(text, bundle: nil, limit: 10).hits.map(\.item.displayTitle).sorted()
    }

    private func best(_ engine: SearchlightEngine, _ text: String) async throws -> String? {
        try await engine.search(text, bundle: nil, limit: 1).hits.first?.item.displayTitle
    }

    private var refusals: [String] {
        harness.recordedEvents.compactMap { event in
            if case .refusal(_, let refusal) = event { refusal.description } else { nil }
        }
    }

    @Test("Cards of 20 programs and of an address book are found, between cards that are made to break readers")
    func contacts() async throws {
        try make("contacts", harness.folder + "/.contacts/real")
        try make("hostile-contacts", harness.folder + "/.contacts/hostile")
        let book = harness.folder + "/.local/share/evolution/addressbook/system"
        try FileManager.default.createDirectory(atPath: book, withIntermediateDirectories: true)
        try make("book-log", book + "/contacts.db")
        let bundle = try harness.installPlugin("Contacts")
        try await harness.withEngine { engine async throws in
            #expect(engine.registry.refusals.isEmpty, "\(engine.registry.refusals)")
            #expect(try await engine.reindexAll(bundle) >= 23 + 4 + 3_000)
            #expect(harness.retries == 0)
            #expect(try await found(engine, "kierkegård") == ["Søren Kierkegård"])
            #expect(try await found(engine, "salamander") == ["Simon Perreault"])
            #expect(try await best(engine, "juergen@example.de") == "Jürgen Müller")
            // One hit is in the write-ahead log of the address book, and one in a file.
            #expect(try await found(engine, "marie curie").count { $0 == "Marie Curie" } == 2)
            #expect(try await !found(engine, "sound person").isEmpty)
            let item = try await engine.search("grace hopper", bundle: bundle, limit: 1).hits.map(\.item)[0]
            let card = harness.folder + "/grace.vcf"
            _ = try await engine.drag(item, accepted: ["public.vcard"], to: .file(path: card))
            #expect(try String(contentsOfFile: card, encoding: .utf8).hasPrefix("BEGIN:VCARD\r\nVERSION:3.0"))
            let picture = harness.folder + "/grace.png"
            _ = try await engine.drag(item, accepted: ["public.png"], to: .file(path: picture))
            #expect(try Data(contentsOf: URL(filePath: picture)).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let text = harness.folder + "/grace.txt"
            _ = try await engine.drag(item, accepted: ["public.utf8-plain-text"], to: .file(path: text))
            #expect(try String(contentsOfFile: text, encoding: .utf8).contains("E-mail (home): grace@example.com"))
            let preview = try await engine.preview(of: item, query: "grace")
            #expect(preview.source == .extension, "\(preview.problem ?? "")")
            #expect(String(decoding: preview.content, as: UTF8.self).contains("<img"))
        }
        #expect(refusals == [])
    }

    @Test("Entries of 20 programs are found, between entries that are made to break readers")
    func calendars() async throws {
        try make("calendars", harness.folder + "/.calendars/real")
        try make("hostile-calendars", harness.folder + "/.calendars/hostile")
        let bundle = try harness.installPlugin("Calendars")
        try await harness.withEngine { engine async throws in
            #expect(engine.registry.refusals.isEmpty, "\(engine.registry.refusals)")
            #expect(try await engine.reindexAll(bundle) >= 61 + 3_000)
            #expect(harness.retries == 0)
            #expect(try await found(engine, "nautilus") == ["Stand-up"])
            #expect(try await found(engine, "kind:task fern") == ["Water the ferns"])
            #expect(try await found(engine, "from:grace planning") == ["Planning"])
            #expect(try await !found(engine, "sound event").isEmpty)
            #expect(
                harness.messages.contains { $0.contains("secondly.ics//uid:bomb") && $0.contains("repeats too often") })
            let item = try await engine.search("quartalsgespräch", bundle: bundle, limit: 1).hits.map(\.item)[0]
            let file = harness.folder + "/talk.ics"
            _ = try await engine.drag(item, accepted: ["com.apple.ical.ics"], to: .file(path: file))
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains("SUMMARY;LANGUAGE=de:Quartalsgespräch"))
            let preview = try await engine.preview(of: item, query: "talk")
            #expect(preview.source == .extension, "\(preview.problem ?? "")")
        }
        #expect(refusals == [])
    }

    @Test("A changed card and a moved file are followed")
    func changes() async throws {
        let folder = harness.folder + "/.contacts"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func write(_ names: [String]) throws {
            let cards = names.enumerated().map { "BEGIN:VCARD\nUID:\($0)\nFN:\($1)\nEND:VCARD\n" }
            try Data(cards.joined().utf8).write(to: URL(filePath: folder + "/a.vcf"))
        }
        var names = (0..<100).map { "Sailor \($0)" }
        try write(names)
        let bundle = try harness.installPlugin("Contacts")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 100)
            func update(_ changes: [FileChange]) async throws {
                try await engine.onHost { (host) throws(ExtensionError) in try await host.updateFiles(changes, bundle) }
            }
            names[7] = "Kerosene"
            try write(names)
            try await update([.changed(path: folder + "/a.vcf")])
            #expect(try await found(engine, "kerosene") == ["Kerosene"])
            let before = try await engine.search("kerosene", bundle: bundle, limit: 1).hits.map(\.item)[0]
            try FileManager.default.moveItem(atPath: folder + "/a.vcf", toPath: folder + "/b.vcf")
            try await update([.moved(from: folder + "/a.vcf", to: folder + "/b.vcf")])
            let after = try await engine.search("kerosene", bundle: bundle, limit: 1).hits.map(\.item)[0]
            #expect(after.number == before.number && after.record.contentPath == folder + "/b.vcf")
            unlink(folder + "/b.vcf")
            try await update([.removed(path: folder + "/b.vcf")])
            #expect(try await found(engine, "kerosene") == [])
        }
    }
}
