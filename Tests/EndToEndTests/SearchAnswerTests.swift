// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import ItemRecord
import SearchIndex
import TestSupport
import Testing

@testable import SearchlightEngine

/// The answers to searches, and the cost of sending them to another process.
@Suite("Answers of searches", .timeLimit(.minutes(10)))
struct SearchAnswerTests {
    private static let bundle = "org.example.notes"

    private static func withEngine(
        _ items: [ItemRecord], _ body: (SearchlightEngine, Harness) async throws -> Void
    ) async throws {
        let harness = try Harness()
        let engine = try harness.engine()
        var batch = IndexBatch(scope: IndexScope(bundle: bundle))
        batch.index(try items.map { try EncodedItem($0) })
        try await engine.commit(batch)
        try await engine.settle()
        try await body(engine, harness)
        await engine.close()
    }

    private static func note(_ identifier: String, _ attributes: [String: AttributeValue]) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: identifier)
        record.attributes = attributes
        return record
    }

    @Test("A hit in a note of 10 MB takes less than 10 KB of the answer")
    func largeNote() async throws {
        let text = "The harbour lights. " + String(repeating: "word ", count: 2 << 20)
        let note = Self.note(
            "large",
            ["title": .string("Note"), "textContent": .string(text), "contentType": .string("public.plain-text")])
        try await Self.withEngine([note]) { engine, _ in
            var search = ItemSearch("harbour")
            search.snippetLength = 100
            search.countsUpTo = 10_000
            search.notes = .init(extensionFolders: ["/nowhere"])
            let found = try await engine.find(search)
            let bytes = try BusEncoder.encode(CallOutcome<FoundItems>.answer(found)).approximateBytes
            #expect(bytes < 10_000, "\(bytes)")
            let hit = try #require(found.hits.first)
            #expect(hit.item.record.attributes.isEmpty)
            #expect(hit.title == "Note" && hit.contentType == "public.plain-text")
            // The type's name for users.
            let kind = try #require(hit.kindName)
            #expect(!kind.isEmpty && kind != hit.contentType)
            #expect(hit.snippet?.pieces.filter(\.isMarked).map(\.text) == ["harbour"])
            #expect(found.total == SearchTotal(count: 1, isExact: true))
            #expect(found.notes?.otherExtensionFolders == ["/nowhere"])
        }
    }

    @Test("A hit has exactly the requested attributes, and a title of bounded length")
    func attributes() async throws {
        let title = String(repeating: "lemon ", count: 1000)
        let item = Self.note(
            "one", ["title": .string(title), "url": .url("https://example.org"), "rating": .double(1)])
        try await Self.withEngine([item]) { engine, _ in
            var search = ItemSearch("lemon")
            search.attributes = ["url"]
            let hit = try #require(try await engine.find(search).hits.first)
            #expect(hit.item.record.attributes == ["url": .url("https://example.org")])
            #expect(hit.title.count == FoundItem.maximumTitleCharacters + 1 && hit.title.hasSuffix("…"))
            #expect(hit.snippet == nil && hit.path == nil)
        }
    }

    @Test("A diagnosis knows the filters of the search, and too many filters are rejected")
    func filters() async throws {
        let item = Self.note("one", ["title": .string("lemon"), "rating": .double(1)])
        try await Self.withEngine([item]) { engine, _ in
            var search = ItemSearch("lemon")
            let number = try #require(try await engine.find(search).hits.first).item.number
            search.filters = ["rating > 3"]
            #expect(try await engine.find(search).hits.isEmpty)
            #expect(try await engine.diagnose(search, item: number).outcome == .excluded)
            search.filters = Array(repeating: "rating < 3", count: ItemSearch.maximumFilters)
            #expect(try await engine.find(search).hits.count == 1)
            search.filters.append("rating > 3")
            await #expect(throws: EngineError.self) { _ = try await engine.find(search) }
            await #expect(throws: EngineError.self) { _ = try await engine.diagnose(search, item: number) }
            search.filters = []
            await #expect(throws: EngineError.itemNotFound("@999")) {
                _ = try await engine.diagnose(search, item: 999)
            }
        }
    }

    @Test(
        "A snippet does not repeat the title",
        arguments: [
            ("The ferry\n\nIt leaves at noon.", "It leaves at noon."), ("The ferry leaves.", "The ferry leaves."),
            ("The ferryman", "The ferryman"), ("The ferry", nil), ("The ferry \n", nil),
        ] as [(String, String?)])
    func title(text: String, expected: String?) async throws {
        let note = Self.note("note", ["title": .string("The ferry"), "textContent": .string(text)])
        try await Self.withEngine([note]) { engine, _ in
            var search = ItemSearch("ferry")
            search.snippetLength = 100
            let hits = try await engine.find(search).hits
            #expect(hits.count == 1 && hits.first?.snippet?.text == expected)
        }
    }

    @Test("The kind of an item in a calendar file is an event, and other kinds have the names of their types")
    func kinds() async throws {
        let items = [("event", "com.apple.ical.ics"), ("page", "com.adobe.pdf")].map {
            Self.note($0.0, ["title": .string("ferry"), "contentType": .string($0.1)])
        }
        try await Self.withEngine(items) { engine, _ in
            let hits = try await engine.find(ItemSearch("ferry")).hits
            #expect(Set(hits.compactMap(\.kindName)) == ["calendar event", "PDF document"])
        }
    }

    @Test("The total covers all pages, up to the requested bound")
    func totals() async throws {
        let items = (0..<50).map { Self.note("\($0)", ["title": .string("lemon \($0)")]) }
        try await Self.withEngine(items) { engine, _ in
            var search = ItemSearch("lemon")
            search.limit = 7
            #expect(try await engine.find(search).total == nil)
            search.countsUpTo = 100
            let first = try await engine.find(search)
            #expect(first.total == SearchTotal(count: 50, isExact: true) && first.hits.count == 7)
            search.cursor = first.next
            #expect(try await engine.find(search).total == SearchTotal(count: 50, isExact: true))
            search.countsUpTo = 20
            #expect(try await engine.find(search).total == SearchTotal(count: 20, isExact: false))
            search.text = "nowhere"
            #expect(try await engine.find(search).total == SearchTotal(count: 0, isExact: true))
        }
    }

    @Test(
        "The command's search sends one request to the service, and prints the same as its own engine",
        arguments: [false, true])
    func oneRequest(hasPendingReindex: Bool) async throws {
        let command = Command(harness: try Harness())
        let donated = try await command.inProcess.outcome(
            ["donate", "--bundle", Self.bundle, "-"],
            input: (0..<30).map { #"{"uniqueIdentifier": "\#($0)", "attributes": {"title": "lemon \#($0)"}}"# }
                .joined(separator: "\n"))
        try #require(donated.status == 0, "\(donated)")
        if hasPendingReindex { _ = try await command.inProcess.outcome(["reindex", Self.bundle]) }
        let host = try ServiceHost(command.harness)
        for arguments in [["search", "lemon"], ["search", "lemon", "--json"], ["search", "lemon", "--numbers"]] {
            let before = host.requests.value
            let served = try await command.outcome(arguments)
            // Hello is the first call.
            #expect(host.requests.value - before == 2, "\(arguments)")
            let alone = try await command.inProcess.outcome(arguments)
            #expect(served == alone)
        }
        await host.close()
    }

    @Test("A list of items takes one request, and invalid entries are reported one by one")
    func listedItems() async throws {
        let harness = try Harness()
        let host = try ServiceHost(harness)
        let remote = try #require(
            try await RemoteEngine.connect(storeDirectory: harness.store, program: "test", patience: .seconds(60)))
        var batch = IndexBatch(scope: IndexScope(bundle: Self.bundle))
        batch.index(try (0..<40).map { try EncodedItem(Self.note("note \($0)", ["title": .string("lemon")])) })
        try await remote.commit(batch)
        try await remote.perform(SettleCall())
        let before = host.requests.value
        let names = ["note 3", "nobody", "@1"] + (4..<40).map { "note \($0)" }
        let found = try await remote.items(named: names)
        #expect(host.requests.value - before == 1)
        #expect(try found[0].get().record.uniqueIdentifier == "note 3")
        #expect(throws: EngineError.itemNotFound("nobody")) { try found[1].get() }
        #expect(try found[2].get().number == 1)
        #expect(found.count == names.count)
        await remote.close()
        await host.close()
    }
}
