// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Dates of items with a start and an end")
struct EventSpanTests {
    /// Returns an event; its dates are ISO 8601 moments.
    private static func event(_ name: String, _ dates: [String: String]) throws -> ItemRecord {
        var record = item(name, title: "Bologna \(name)")
        for (attribute, date) in dates { record.attributes[attribute] = .date(try #require(ISOMoment(date)).instant) }
        return record
    }

    private static func store() async throws -> Store {
        let store = try Store()
        let now = try #require(ISOMoment("2026-11-30T10:00:00Z")).instant
        store.clock.advance(by: now - store.clock.now)
        try await store.put(
            // 28 November through 2 December; the end of an all-day event is exclusive.
            event("fair", ["startDate": "2026-11-28T00:00:00Z", "endDate": "2026-12-03T00:00:00Z"]),
            event("train", ["startDate": "2026-11-29T22:00:00Z", "endDate": "2026-11-30T06:00:00Z"]),
            event("night", ["startDate": "2026-11-29T20:00:00Z", "endDate": "2026-11-30T00:00:00Z"]),
            event("call", ["startDate": "2026-11-30T00:00:00Z", "endDate": "2026-11-30T00:00:00Z"]),
            event("start", ["startDate": "2026-11-28T09:00:00Z"]), event("end", ["endDate": "2026-12-01T12:00:00Z"]),
            event("midnight", ["endDate": "2026-12-04T00:00:00Z"]),
            event("task", ["startDate": "2026-11-27T00:00:00Z", "dueDate": "2026-12-01T00:00:00Z"]),
            event("wrong", ["startDate": "2026-12-05T00:00:00Z", "endDate": "2026-11-20T00:00:00Z"]))
        return store
    }

    @Test(
        "A period finds the items whose time overlaps it",
        arguments: [
            ("on:2026-11-27", ["task"]), ("on:2026-11-28", ["fair", "start", "task"]),
            ("on:2026-11-29", ["fair", "night", "task", "train"]),
            ("on:2026-11-30", ["call", "fair", "task", "train"]), ("on:today", ["call", "fair", "task", "train"]),
            ("on:2026-12-01", ["end", "fair", "task"]), ("on:2026-12-02", ["fair"]), ("on:2026-12-03", []),
            ("on:2026-12-04", ["midnight"]), ("before:2026-12-04 title:midnight", []),
            ("until:2026-12-04 title:midnight", ["midnight"]),
            ("on:2026-11-26", []), ("bologna on:2026-11-30", ["call", "fair", "task", "train"]),
            ("fair -on:today", []), ("fair -on:2026-12-03", ["fair"]),
            ("bologna today", ["call", "fair", "task", "train"]),
            ("after:2026-12-03", ["midnight", "wrong"]), ("after:2026-12-02", ["fair", "midnight", "wrong"]),
            ("before:2026-11-28", ["task"]), ("until:2026-11-28", ["fair", "start", "task"]),
            ("due:2026-11-30", []), ("due:2026-12-01", ["task"]), ("on:2026-12-05", ["wrong"]),
            ("before:2026-12-02 title:end", ["end"]), ("before:2026-12-01 title:end", []),
        ])
    func period(text: String, expected: [String]) async throws {
        let store = try await Self.store()
        var request = SearchRequest(text)
        (request.findsInsideWords, request.correctsSpelling) = (false, false)
        let found = try await store.index.search(request).hits.map(\.item.record.uniqueIdentifier)
        #expect(found.sorted() == expected)
        #expect(try await store.index.count(request) == expected.count)
    }

    @Test("Also if the attribute index chooses the candidates")
    func candidates() async throws {
        let store = try await Self.store()
        for number in 0..<200 {
            try await store.put(
                Self.event("old \(number)", ["startDate": "2025-01-01T00:00:00Z", "endDate": "2025-01-02T00:00:00Z"]))
        }
        var request = SearchRequest("on:2026-11-30 title:fair")
        for limit in [0, 20_000] {
            request.limits.filteredTexts = limit
            let found = try await store.index.search(request).hits.map(\.item.record.uniqueIdentifier)
            #expect(found == ["fair"])
        }
    }
}
