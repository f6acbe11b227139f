// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

@Suite("The order of hits and pages")
struct SearchOrderTests {
    private static func identifiers(_ page: SearchPage) -> [String] { page.hits.map(\.item.record.uniqueIdentifier) }

    private static func put(_ count: Int, in store: Store, _ make: (Int) -> ItemRecord) async throws {
        let items = try (0..<count).map { try EncodedItem(make($0)) }
        try await store.index.index(items, in: Store.app)
    }

    @Test("The exact title comes first although very many items have the word more often")
    func wholeTitle() async throws {
        let store = try Store()
        try await store.put(item("whole", title: "Report"))
        try await Self.put(300, in: store) { item("\($0)", title: "Report \($0)", keywords: ["report"]) }
        let hits = try await store.index.search(SearchRequest("report")).hits
        #expect(hits.first?.item.record.uniqueIdentifier == "whole")
        #expect(hits.map(\.score) == hits.map(\.score).sorted(by: >))
    }

    @Test("Title starts come before titles, although very many items have the words more often")
    func titleStarts() async throws {
        let store = try Store()
        for number in 0..<8 { try await store.put(item("start \(number)", title: "Report \(number)")) }
        try await Self.put(300, in: store) {
            item("\($0)", title: "My report, a report \($0)", keywords: ["my report", "reports"])
        }
        let kinds = try await store.index.search(SearchRequest("report")).hits.map(\.kind)
        #expect(kinds.prefix(9) == Array(repeating: .titleStart, count: 8) + [.title])
    }

    @Test("The exact title comes first also if the last letter is searched in the items")
    func wholeTitleWithLetter() async throws {
        let store = try Store()
        try await store.put(item("whole", title: "Vitamin A"))
        try await Self.put(300, in: store) {
            item("\($0)", title: "Vitamin absorption \($0)", keywords: ["vitamin"])
        }
        var request = SearchRequest("vitamin a")
        request.limits.smallStore = 0
        #expect(Self.identifiers(try await store.index.search(request)).first == "whole")
        request.limits.candidates = 50
        #expect(Self.identifiers(try await store.index.search(request)).first == "whole")
    }

    @Test(
        "A long title that is typed whole comes first, although hundreds of newer ones begin like it",
        arguments: [
            "Minutes of the weekly meeting about the new ferry to the northern islands and its timetable for winter",
            "Minutes of the weekly meeting about the new ferry to the northern islands",
        ])
    func longTitle(title: String) async throws {
        let store = try Store()
        try await store.put(item("whole", title: title))
        try await Self.put(700, in: store) { item("\($0)", title: "\(title) number \($0)") }
        for text in [title, title + " "] {
            #expect(Self.identifiers(try await store.index.search(SearchRequest(text))).first == "whole", "\(text)")
        }
    }

    @Test("An exact title is not hidden by newer expired or excluded ones")
    func hiddenTitles() async throws {
        let store = try Store()
        var record = item("whole", title: "Lemon", expires: .never)
        record.attributes["pageCount"] = .integer(1)
        try await store.put(record)
        try await Self.put(100, in: store) {
            item("expired \($0)", title: "Lemon", expires: .at(store.clock.now + 10))
        }
        try await Self.put(100, in: store) { item("other \($0)", title: "The lemon \($0)", expires: .never) }
        store.clock.advance(by: 20)
        var request = SearchRequest("lemon")
        request.limits.candidates = 50
        #expect(Self.identifiers(try await store.index.search(request)).first == "whole")
    }

    @Test("Deletions between pages repeat nothing and hide nothing else")
    func deletionBetweenPages() async throws {
        let store = try Store()
        for number in 0..<20 {
            // The first item after the batch of seven.
            if number == 13 { try await store.put(item("best", title: "a lemon lemon lemon lemon")) }
            try await store.put(item("\(number)", title: "a lemon \(number)"))
        }
        var request = SearchRequest("lemon")
        request.limit = 3
        request.limits.candidates = 7
        let first = try await store.index.search(request)
        #expect(Self.identifiers(first) == ["19", "18", "17"])
        // Deletes an item of the same batch that no page has shown yet.
        try await store.index.delete(identifiers: ["14"], in: Store.app)
        var found = Self.identifiers(first)
        request.cursor = first.next
        while request.cursor != nil {
            let page = try await store.index.search(request)
            found += Self.identifiers(page)
            request.cursor = page.next
        }
        #expect(found.count == Set(found).count)
        #expect(Set(found) == Set(["best"] + (0..<20).filter { $0 != 14 }.map { "\($0)" }))
    }

    @Test("A damaged number far beyond the others does not prevent the end of a search")
    func damagedNumber() async throws {
        let store = try Store()
        try await store.put(item("one", title: "lemon", text: "tree"))
        try await store.index.write("Damaging") { db in
            try db.execute(sql: "INSERT INTO text_row (id, item) VALUES (?, 0)", arguments: [Int64.max])
        }
        for text in ["lemon", "tree", "l", "absent"] {
            #expect(try await store.found(text) == (text == "absent" ? [] : ["one"]), "\(text)")
        }
        // No other item has that number. That is damage, which is repaired immediately.
        try await store.put(item("two", title: "lime"))
        #expect(try await store.found("lime") == ["two"])
    }
}
