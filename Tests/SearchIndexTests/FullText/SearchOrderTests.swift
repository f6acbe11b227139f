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

    @Test("Within a small app, newer texts and those of other apps do not hide an old title with the word")
    func smallApp() async throws {
        let store = try Store()
        try await store.put(item("plan", title: "Project plan"))
        try await Self.put(200, in: store) { item("\($0)", title: "Note \($0)", text: "about the project") }
        let mails = try (0..<5000).map { try EncodedItem(item("\($0)", title: "The project \($0)")) }
        try await store.index.index(mails, in: IndexScope(bundle: "com.example.mail"))
        let hits = try await store.index.search(SearchRequest("project ", bundle: Store.app.bundle)).hits
        #expect(hits.first?.item.record.uniqueIdentifier == "plan")
    }

    @Test("Within an app, titles come first although the newest texts are large")
    func largeTexts() async throws {
        let store = try Store()
        try await store.put(item("titled", title: "The annual report"))
        let text = "The annual report. " + String(repeating: "And so it goes. ", count: 4000)
        try await Self.put(60, in: store) { item("\($0)", title: "Document \($0)", text: text) }
        for request in [SearchRequest("\"annual report\" "), SearchRequest("annual ", bundle: Store.app.bundle)] {
            #expect(Self.identifiers(try await store.index.search(request)).first == "titled", "\(request.text)")
        }
    }

    @Test("A text with all words of a question comes before newer ones with its rarest word")
    func question() async throws {
        let store = try Store()
        let words = "please send the signed contract back tomorrow"
        try await store.put(item("all", title: "Hello", text: "Could you \(words)?"))
        try await Self.put(400, in: store) { item("\($0)", title: "Signed \($0)", text: "contract") }
        try await Self.put(800, in: store) {
            item("other \($0)", title: "Other", text: "please send it back to the tomorrow")
        }
        var request = SearchRequest(words + " ")
        request.limits.postings = 600
        #expect(Self.identifiers(try await store.index.search(request)).first == "all")
    }

    @Test("A title in the sixth language of an index is found by the word itself, and suggested")
    func rareLanguage() async throws {
        let store = try Store()
        func put(_ identifier: String, _ title: String, _ language: String) async throws {
            var record = item(identifier, title: title)
            record.attributes["languages"] = .array([.string(language)])
            try await store.put(record)
        }
        for language in ["de", "fr", "es", "it", "pt"] {
            for number in 0..<3 { try await put("\(language) \(number)", "Hotel \(number)", language) }
        }
        try await put("house", "talossa on valo", "fi")
        for request in [SearchRequest("talossa "), SearchRequest("talossa ", bundle: Store.app.bundle)] {
            #expect(Self.identifiers(try await store.index.search(request)) == ["house"])
        }
        let suggestions = try await store.index.suggestions(SuggestionRequest("talos"))
        #expect(suggestions.first.map { "\($0.text) \($0.total?.count ?? 0)" } == "talossa 1")
    }

    @Test("Titles that a filter rejects do not hide a text with all words")
    func rejectedTitles() async throws {
        let store = try Store()
        try await store.put(item("text", title: "Mail", text: "The annual report about the budget"))
        try await Self.put(70, in: store) { item("\($0)", title: "Annual budget report draft \($0)") }
        try await Self.put(400, in: store) { item("part \($0)", title: "Budget \($0)") }
        let hits = try await store.index.search(SearchRequest("budget annual report -draft ")).hits
        #expect(hits.first?.item.record.uniqueIdentifier == "text")
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
