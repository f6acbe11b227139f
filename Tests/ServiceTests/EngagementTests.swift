// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import SearchIndex
import ServiceMessages
import TestSupport
import Testing

@testable import CoreSpotlight
@testable import SearchlightEngine
@testable import SearchlightService

@Suite("Reports of use", .timeLimit(.minutes(10)))
struct EngagementTests {
    private static func isCounted(
        _ client: TestClient, _ item: String, after text: String = "note", kind: String = "select"
    ) async throws -> Bool {
        let request = QueryRequest.engaged(number: 9, item: item, text: text, kind: kind)
        var answer = BusArguments(try await client.connection.call(request.member, request.arguments), of: "Engaged")
        return try answer.boolean()
    }

    @Test("An app's reports order its own searches, for its own items only, and change no other app's order")
    func apps() async throws {
        let service = try await TestService()
        let notes = try await service.app("com.example.notes")
        let mail = try await service.app("com.example.mail")
        try await notes.donate((0..<5).map { "n\($0)" }, title: "Note")
        try await mail.donate((0..<5).map { "m\($0)" }, title: "Note")
        let before = try await notes.search("not").identifiers
        #expect(before.first != "n1")
        #expect(try await Self.isCounted(notes, "n1"))
        #expect(try await notes.search("not").identifiers.first == "n1")
        #expect(try await mail.search("not").identifiers.first != "m1")
        // Items of another app, and kinds of engagement that apps may not report.
        #expect(try await !Self.isCounted(notes, "m1"))
        #expect(try await !Self.isCounted(mail, "n1"))
        for kind in ["open", "drag", "", "SELECT"] {
            await #expect(throws: BusError.self) { try await Self.isCounted(notes, "n1", kind: kind) }
        }
        let shell = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        let history = try await shell.history(limit: 10)
        #expect(history.entries.map(\.reporter) == [.app] && history.entries.map(\.uniqueIdentifier) == ["n1"])
        await service.stop()
    }

    @Test("A use that an app reports through the library comes first in its next query")
    func library() async throws {
        let service = try await TestService()
        let app = LibraryApp(store: service.store)
        try await app.index().indexSearchableItems((0..<5).map { LibraryApp.item("Note \($0)") })
        func found(choosesLast: Bool) async throws -> [CSUserQuery.Item] {
            try await ProcessTransports.$replacement.withValue(.init(query: app.transport)) {
                let query = CSUserQuery(userQueryString: "not", userQueryContext: nil)
                var items: [CSUserQuery.Item] = []
                for try await response in query.responses {
                    if case .item(let item) = response { items.append(item) }
                }
                let last = try #require(items.last)
                if choosesLast { query.userEngaged(last, visibleItems: items, interaction: .select) }
                return items
            }
        }
        let before = try await found(choosesLast: true)
        #expect(before.count == 5)
        // No notification announces that a report was counted.
        var tries = 0
        while try await found(choosesLast: false).first?.id != before.last?.id, tries < 1000 { tries += 1 }
        #expect(tries < 1000)
        await service.stop()
    }

    @Test("The user's actions elsewhere do not change an app's results")
    func hidden() async throws {
        let service = try await TestService()
        let notes = try await service.app("com.example.notes")
        try await notes.donate((0..<5).map { "n\($0)" }, title: "Note")
        let before = try await notes.search("not").identifiers
        let shell = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        let item = try await shell.item(named: "n1", bundle: nil)
        #expect(
            try await shell.perform(EngageCall(.init(item: item.number, text: "not", kind: .open))) == 1)
        #expect(try await notes.search("not").identifiers == before)
        let found = try await shell.find(ItemSearch("not"))
        #expect(found.hits.first?.item.number == item.number && found.hits.first?.parts.engagement ?? 0 > 0)
        await service.stop()
    }

    @Test("A launcher reports opened, dragged and viewed items by number", .enabled(if: PrivateBus.isAvailable))
    func launcher() async throws {
        let bus = try PrivateBus()
        let service = try await TestService { $0.sessionBus = bus.address }
        let notes = try await service.app()
        try await notes.donate((0..<5).map { "n\($0)" }, title: "Note")
        _ = try await notes.query("title == '*'")
        let launcher = try await BusTestClient(bus)
        let numbers = try await launcher.search("not").compactMap { item -> UInt64? in
            if case .unsigned(let number)? = item["number"] { number } else { nil }
        }
        let last = try #require(numbers.last)
        func engaged(_ number: UInt64, _ kind: String) async throws -> Bool {
            var answer = BusArguments(
                try await launcher.call(
                    BusMember(LauncherRequest.interface, "Engaged"),
                    [.unsigned(number), .string("not"), .string(kind)]), of: "Engaged")
            return try answer.boolean()
        }
        for kind in ["open", "drag", "preview"] { #expect(try await engaged(last, kind)) }
        #expect(try await !engaged(99_999, "open"))
        #expect(try await !engaged(.max, "open"))
        await #expect(throws: BusError.self) { try await engaged(last, "select") }
        guard case .unsigned(last)? = try await launcher.search("not").first?["number"] else {
            Issue.record("It does not come first.")
            return
        }
        await service.stop()
    }
}
