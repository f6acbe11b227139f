// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Filters with a name, beside dates in words")
struct ExplicitFilterTests {
    private static let day = 86_400.0
    private static let mail = IndexScope(bundle: "org.example.Mail")
    private static let calendars = IndexScope(bundle: "org.example.Calendars")

    /// Creates a store whose items are months old, so that no date in words finds any of them.
    private func store() async throws -> Store {
        let store = try Store()
        let date = store.clock.now
        store.clock.advance(by: 900 * Self.day)
        func record(_ name: String, _ type: String, from author: String, title: String) -> ItemRecord {
            var record = item(name, title: title)
            record.attributes["contentType"] = .string(type)
            record.attributes["authorNames"] = .array([.string(author)])
            record.attributes["contentCreationDate"] = .date(date)
            return record
        }
        try await store.put(
            record("rtf", "public.rtf", from: "Bert", title: "The last year of yesterday"),
            record("pdf", "com.adobe.pdf", from: "Anna", title: "The last year"))
        try await store.put(
            record("letter", "public.email-message", from: "Bert", title: "Yesterday"),
            record("news", "public.email-message", from: "Anna", title: "Lunch"), in: Self.mail)
        try await store.put(
            record("event", "public.calendar-event", from: "Bert", title: "Today and yesterday"), in: Self.calendars)
        return store
    }

    @Test(
        "Hold when the date finds nothing and is searched as words",
        arguments: [
            ("kind:mail last year", []), ("kind:pdf last year", ["pdf"]), ("from:anna last year", ["pdf"]),
            ("app:calendars yesterday", ["event"]), ("-app:calendars yesterday", ["letter", "rtf"]),
            ("yesterday kind:mail", ["letter"]), ("last year -kind:pdf", ["rtf"]), ("in:nowhere last year", []),
            ("title:lunch last year", []), ("after:2026 last year", []), ("kind:mail,pdf year today", ["pdf"]),
        ])
    func secondRun(text: String, expected: [String]) async throws {
        let store = try await store()
        var request = SearchRequest(text)
        (request.findsInsideWords, request.correctsSpelling) = (false, false)
        let found = try await store.index.search(request).hits.map(\.item.record.uniqueIdentifier)
        #expect(found.sorted() == expected)
        #expect(try await store.index.count(request) == expected.count)
        for name in ["rtf", "pdf", "letter", "news", "event"] {
            let number = try #require(try await store.index.items(uniqueIdentifier: name).first?.number)
            let diagnosis = try #require(try await store.index.diagnose(request, item: number))
            #expect((diagnosis.outcome == .shown) == expected.contains(name), "\(name)")
            let isAllowed = diagnosis.conditions.allSatisfy { $0.isMet }
            #expect(isAllowed || diagnosis.outcome != .shown, "\(name)")
        }
    }

    private static let dates = ["last year", "yesterday", "today", "2 days ago", "this week", "since last monday", ""]
    private static let words = ["last", "year", "report", "plan", "yesterday", "anna", ""]

    @Test("No hit on any page violates one", arguments: 1...6 as ClosedRange<UInt64>)
    func property(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        let start = store.clock.now
        store.clock.advance(by: 900 * Self.day)
        let types = ["com.adobe.pdf", "public.rtf", "public.email-message"]
        let authors = ["Anna", "Bert"]
        for number in 0..<60 {
            var record = item("\(number)", title: (0..<4).map { _ in random.pick(Self.words) }.joined(separator: " "))
            record.attributes["contentType"] = .string(random.pick(types))
            record.attributes["authorNames"] = .array([.string(random.pick(authors))])
            record.attributes["contentCreationDate"] = .date(start + Double(random.below(30)) * 30 * Self.day)
            try await store.put(record, in: random.below(2) == 0 ? Self.mail : Self.calendars)
        }
        let filters: [(text: String, holds: (StoredItem) -> Bool)] = [
            ("kind:pdf", { $0.record.texts("contentType") == ["com.adobe.pdf"] }),
            ("-kind:pdf", { $0.record.texts("contentType") != ["com.adobe.pdf"] }),
            ("kind:mail", { $0.record.texts("contentType") == ["public.email-message"] }),
            ("from:anna", { $0.record.texts("authorNames") == ["Anna"] }),
            ("-from:anna", { $0.record.texts("authorNames") != ["Anna"] }),
            ("app:mail", { $0.scope == Self.mail }), ("-app:mail", { $0.scope != Self.mail }),
        ]
        var found = 0
        for _ in 0..<60 {
            let chosen = (0...random.below(2)).map { _ in random.pick(Array(filters.indices)) }
            var parts = chosen.map { filters[$0].text } + (0..<random.below(3)).map { _ in random.pick(Self.words) }
            parts.insert(random.pick(Self.dates), at: random.below(2) == 0 ? 0 : parts.count)
            var request = SearchRequest(parts.joined(separator: " "))
            request.limit = 4
            var seen = 0
            repeat {
                let page = try await store.index.search(request)
                for hit in page.hits {
                    #expect(chosen.allSatisfy { filters[$0].holds(hit.item) }, "\(request.text): \(hit.item)")
                }
                seen += page.hits.count
                request.cursor = page.next
            } while request.cursor != nil
            found += seen == 0 ? 0 : 1
        }
        #expect(found > 20)
    }
}
