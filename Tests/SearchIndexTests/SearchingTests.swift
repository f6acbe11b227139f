// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Searching the index")
struct SearchingTests {
    @Test("A word in the title is worth more than in the keywords, the description or the text")
    func ranking() async throws {
        let store = try Store()
        try await store.put(
            item("text", title: "b", keywords: ["b"], description: "b", text: "lemon"),
            item("description", title: "b", keywords: ["b"], description: "lemon", text: "b"),
            item("title", title: "lemon", keywords: ["b"], description: "b", text: "b"),
            item("keywords", title: "b", keywords: ["lemon"], description: "b", text: "b"))
        // Other items, so that the word does not occur in every item, which would make it
        // worthless.
        for number in 0..<20 { try await store.put(item("other \(number)", title: "c", text: "d")) }
        #expect(try await store.found("lemon") == ["title", "keywords", "description", "text"])
        let scores = try await store.index.search("lemon").hits.map(\.score)
        #expect(scores == scores.sorted(by: >) && Set(scores).count == 4)
    }

    @Test("Equal hits are sorted newest first, and a limit does not change their number")
    func limit() async throws {
        let store = try Store()
        for number in 0..<10 { try await store.put(item("\(number)", title: "same")) }
        let (hits, total) = try await store.index.search("same", limit: 3)
        #expect(hits.map(\.item.record.uniqueIdentifier) == ["9", "8", "7"])
        #expect(total == 10)
        for limit in [0, -1, .min] { #expect(try await store.index.search("same", limit: limit).hits.count == 1) }
        #expect(try await store.index.search("same", limit: .max).hits.count == 10)
    }

    @Test("The last word may be a prefix, unless a space or a quote closes it")
    func prefix() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Wonderful morning"))
        for text in ["w", "wonder", "wonderful morn", "MORN", "\"wonderful mor"] {
            #expect(try await store.found(text) == ["one"], "\(text)")
        }
        for text in ["mor ", "\"wonder\"", "onderful", "mor mornings "] {
            #expect(try await store.found(text).isEmpty == (text != "mor mornings "), "\(text)")
        }
    }

    @Test("Items with all words come first, in any order and any column, then items with some")
    func allWords() async throws {
        let store = try Store()
        try await store.put(
            item("one", title: "Apple", keywords: ["red"], text: "sweet"), item("two", title: "Apple"))
        #expect(try await store.found("sweet red apple ") == ["one", "two"])
        #expect(Set(try await store.found("apple sour")) == ["one", "two"])
        #expect(try await store.found("pear sour").isEmpty)
        let kinds = try await store.index.search(SearchRequest("sweet red apple ")).hits.map(\.kind)
        #expect(kinds == [.text, .someWords])
    }

    @Test("Filters in the text restrict the results of the words, and alone they find the newest items")
    func filtersInText() async throws {
        let store = try Store()
        store.clock.advance(by: 400 * 86400)
        for (number, type) in ["com.adobe.pdf", "public.html", "com.adobe.pdf"].enumerated() {
            var record = item("\(number)", title: "Annual report \(number)")
            record.attributes["contentType"] = .string(type)
            record.attributes["authorNames"] = .array([.string(number == 2 ? "Anna Smith" : "Bert")])
            record.attributes["contentModificationDate"] = .date(store.clock.now - Double(number * 100) * 86400)
            try await store.put(record, in: IndexScope(bundle: number == 0 ? "org.example.Notes" : "org.example.Mail"))
        }
        for (text, found) in [
            ("report kind:pdf", ["0", "2"]), ("report -kind:pdf", ["1"]), ("report from:anna", ["2"]),
            ("kind:pdf", ["0", "2"]), ("report app:notes", ["0"]), ("report -app:notes", ["1", "2"]),
            ("report after:\"last week\"", ["0"]), ("report kind:pdf from:bert", ["0"]), ("report kind:folder", []),
        ] {
            #expect(try await store.found(text) == found, "\(text)")
        }
        // A date phrase that leaves no results is not a filter.
        #expect(try await store.found("html 2 today") == ["2"])
        var request = SearchRequest("kind:pdf")
        request.readsFilters = false
        #expect(try await store.index.search(request).hits.isEmpty)
    }

    @Test("Words in quotes must be adjacent")
    func phrases() async throws {
        let store = try Store()
        try await store.put(item("one", title: "black and white cat"), item("two", title: "cat in black"))
        #expect(try await store.found("\"white cat\"") == ["one"])
        #expect(try await store.found("\"black cat\"").isEmpty)
        #expect(Set(try await store.found("black cat ")) == ["one", "two"])
        #expect(try await store.found("cat \"in black\"") == ["two"])
    }

    @Test("The best of many items with a phrase comes first, however old it is")
    func strongPhrase() async throws {
        let store = try Store()
        try await store.put(item("best", title: "Feature crate", text: "A \"log\" of the feature of a crate"))
        for number in 0..<300 { try await store.put(item("\(number)", title: "Other \(number)", text: "some log")) }
        for number in 0..<400 { try await store.put(item("none \(number)", title: "None", text: "nothing")) }
        let hits = try await store.index.search("feature crate \"log\"", limit: 10).hits
        #expect(hits.first?.item.record.uniqueIdentifier == "best")
        #expect(hits.count == 10)
    }

    @Test("Of titles with the same words the first is the one with the same characters")
    func sameSigns() async throws {
        let store = try Store()
        try await store.put(item("minus", title: "locale-gen"))
        try await store.put(item("dot", title: "locale.gen"), item("space", title: "Locale Gen"))
        for name in ["minus": "locale-gen", "dot": "locale.gen", "space": "locale gen"] {
            #expect(try await store.found(name.value).first == name.key)
        }
    }

    @Test("An item that lacks only a very common word ranks nearly like one with all words")
    func stopWords() async throws {
        let store = try Store()
        let filler = String(repeating: "how do i the an of. ", count: 40)
        for number in 0..<40 { try await store.put(item("\(number)", title: "Page \(number)", text: filler)) }
        try await store.put(item("wanted", title: "Suspend", text: "To suspend an execution group, do this."))
        try await store.put(item("long", title: "Long", text: filler + "Suspend one execution of a group." + filler))
        #expect(try await store.found("how do I suspend an execution group ").first == "wanted")
    }

    @Test("Case and accents make no difference, composed or not")
    func diacritics() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Crème brûlée"), item("two", title: "CREME Bru\u{302}le\u{301}e"))
        for text in ["creme brulee ", "CRÈME", "cre\u{300}me", "brûlée "] {
            #expect(Set(try await store.found(text)) == ["one", "two"], "\(text)")
        }
    }

    @Test("A character without letters beside a word does not hide the word's hits")
    func symbolsBesideWords() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Party 🎉 tonight"), item("two", title: "Party"))
        for text in ["🎉 party", "party 🎉", "party & tonight", "… party", "party 🎉 tonight"] {
            #expect(try await store.found(text).contains("one"), "\(text)")
        }
    }

    @Test(
        "The syntax of FTS5 is only text",
        arguments: [
            "title:apple", "apple*", "^apple", "+apple", "apple + pie", "{title} : apple", "NEAR(apple pie)",
            "NEAR(apple pie, 1)", "apple OR", "AND apple", "NOT apple", "apple AND", "(apple", "apple)", "((()))", "\"",
            "\"\"", "\"\"\"", "apple\"", "\"apple", "apple\"pie", "apple\"\"pie", "'; DROP TABLE item; --", "%", "*",
            "* *", "\\", "apple\\\"", "a:b:c", "-", "--", "-apple", "{", "}", ":", "^", "\"apple\"*", "apple\0pie",
            "\0",
            "\u{600}\"", "apple\u{600}\" OR pie", "apple\"\u{301} OR pie", "\"\u{338}", "\u{FE0F}", "\u{301}", "🙂",
            "🙂*", "\u{202E}elppa", "\u{FFFF}", "\u{10FFFF}", "\u{E000}", "Ⓐ", "\r\n", "item_text", "rowid:1",
        ])
    func hostileSyntax(text: String) async throws {
        let store = try Store()
        try await store.put(item("one", title: "apple pie"), item("two", title: "pie"))
        for text in [text, text + " ", "x " + text, text + text] {
            _ = try await store.index.search(text)
        }
        #expect(try await store.found("apple ") == ["one"])
    }

    @Test("A quote inside a word cannot start another expression", arguments: ["\u{600}\"", "\"\u{301}", "\""])
    func injection(quote: String) async throws {
        let store = try Store()
        try await store.put(item("one", title: "pie"))
        for text in ["nothing\(quote) OR \"pie", "nothing\(quote) OR pie"] {
            #expect(try await store.index.search(SearchRequest(text)).hits.map(\.kind) == [.someWords])
        }
    }

    @Test("Random text is searched without an error", arguments: [1, 2, 3, 4] as [UInt64])
    func randomText(seed: UInt64) async throws {
        let store = try Store()
        var random = SplitMix64(seed: seed)
        for number in 0..<20 {
            try await store.put(item("\(number)", title: random.text(length: 20), text: random.text(length: 200)))
        }
        for _ in 0..<250 {
            let text = random.text(length: random.below(30))
            await #expect(throws: Never.self, "\(Array(text.unicodeScalars))") {
                _ = try await store.index.search(text)
            }
        }
        try await store.checkIntegrity()
    }

    @Test("Very long text is searched without harm", arguments: ["a", "a ", "a.", "\"", "\"a\" ", "-a ", "é"])
    func enormousText(part: String) async throws {
        let store = try Store()
        try await store.put(item("one", title: "a a a", text: String(repeating: "a ", count: 10_000)))
        let text = String(repeating: part, count: (1 << 20) / part.utf8.count)
        _ = try await store.index.search(text)
        _ = try await store.index.search("\"" + text)
    }

    @Test("An empty search finds nothing", arguments: ["", " ", "\t\n", "!?", "\"...\"", "—", "\0"])
    func nothing(text: String) async throws {
        let store = try Store()
        try await store.put(item("one", title: "apple ! — ?"))
        let (hits, total) = try await store.index.search(text)
        #expect(hits.isEmpty && total == 0)
    }
}
