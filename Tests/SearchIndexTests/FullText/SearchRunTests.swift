// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

@Suite("The results of a search")
struct SearchRunTests {
    /// Returns a request with limits that a few items reach.
    private static func small(_ text: String, bundle: String? = nil, limit: Int = 10) -> SearchRequest {
        var request = SearchRequest(text, bundle: bundle)
        request.limit = limit
        request.limits.candidates = 7
        request.limits.smallStore = 0
        request.limits.sample = 20
        request.limits.countedOccurrences = 4
        request.limits.together = 5
        request.limits.fewCandidates = 4
        request.limits.readItems = 3
        request.findsInsideWords = false
        return request
    }

    @Test("With any limits of the work, all matches are found, each once", arguments: 1...6 as ClosedRange<UInt64>)
    func completeness(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        let words = ["apple", "apricot", "avocado", "banana", "blueberry", "cherry", "東京", "zoo"]
        func text(_ count: Int) -> String { (0..<count).map { _ in random.pick(words) }.joined(separator: " ") }
        for number in 0..<120 {
            try await store.put(
                item(
                    "\(number)", title: text(random.below(3)), description: text(random.below(2)),
                    text: text(random.below(4))))
        }
        for _ in 0..<40 {
            let typed = (0..<(1 + random.below(2))).map { _ in
                let word = random.pick(words)
                return String(word.prefix(1 + random.below(word.count)))
            }
            let last = random.pick(["", " "])
            let excluded = random.below(4) == 0 ? "-" + random.pick(words) + " " : ""
            let query = excluded + typed.joined(separator: " ") + last
            var plain = SearchRequest(query)
            plain.limit = 1000
            plain.findsInsideWords = false
            let hits = try await store.index.search(plain).hits
            let expected = hits.map(\.item.number)
            var found: [Int64] = []
            var request = Self.small(query, limit: 1 + random.below(9))
            repeat {
                let page = try await store.index.search(request)
                found += page.hits.map(\.item.number)
                request.cursor = page.next
            } while request.cursor != nil
            #expect(Set(found) == Set(expected) && found.count == expected.count, "seed \(seed): \(query)")
            // If any hit contains all words, only such hits are counted.
            let complete = hits.count { $0.kind != .someWords }
            #expect(
                try await store.index.count(request) == (complete > 0 ? complete : hits.count), "seed \(seed): \(query)"
            )
        }
    }

    @Test("An exact title comes first and a title start next, however old they are")
    func titles() async throws {
        let store = try Store()
        try await store.put(item("whole", title: "Zebra"), item("start", title: "Zébra crossing rules"))
        for number in 0..<200 { try await store.put(item("new \(number)", title: "The zebra \(number)")) }
        for text in ["zebra", "ZEBRA ", "zébra"] {
            let hits = try await store.index.search(Self.small(text)).hits
            #expect(hits.prefix(2).map(\.item.record.uniqueIdentifier) == ["whole", "start"], "\(text)")
            #expect(hits.map(\.kind) == [.wholeTitle, .titleStart] + Array(repeating: .title, count: 8))
        }
        for text in ["ze", "zeb", "zebr"] {
            let kinds = try await store.index.search(Self.small(text)).hits.map(\.kind)
            #expect(kinds.prefix(3) == [.titleStart, .titleStart, .title], "\(text)")
        }
    }

    @Test(
        "A title is exact at any length, and with any white space or quotes around it",
        arguments: [
            "x", "weekly report", " weekly \t report", "\"weekly report\"",
            String(repeating: "long ", count: 40) + "title",
        ])
    func anyTitle(typed: String) async throws {
        let store = try Store()
        let title = typed.replacing("\"", with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        try await store.put(item("whole", title: title.capitalized))
        for number in 0..<150 { try await store.put(item("\(number)", title: "\(title) \(number) \(title)")) }
        let hits = try await store.index.search(Self.small(typed)).hits
        #expect(hits.first?.item.record.uniqueIdentifier == "whole" && hits.first?.kind == .wholeTitle)
        #expect(hits.count == 10)
    }

    @Test("Among many title starts ten are shown, with the exact title before them")
    func manyStarts() async throws {
        let store = try Store()
        try await store.put(item("whole", title: "report"))
        for number in 0..<60 { try await store.put(item("start \(number)", title: "Report \(number)")) }
        for number in 0..<60 { try await store.put(item("new \(number)", title: "A report \(number)")) }
        let hits = try await store.index.search(Self.small("report")).hits
        #expect(hits.first?.item.record.uniqueIdentifier == "whole")
        #expect(hits.dropFirst().map(\.kind) == Array(repeating: .titleStart, count: 9))
    }

    @Test("Titles before texts, texts before parts of words")
    func kinds() async throws {
        let store = try Store()
        try await store.put(
            item("inside", title: "My workbenches"), item("text", title: "Furniture", text: "a bench"),
            item("title", title: "An old bench"), item("keyword", title: "Seats", keywords: ["benches"]),
            item("other", title: "ben chair"))
        let hits = try await store.index.search(SearchRequest("bench")).hits
        #expect(hits.map(\.item.record.uniqueIdentifier) == ["title", "keyword", "text", "inside"])
        #expect(hits.map(\.kind) == [.title, .title, .text, .insideWords])
        #expect(hits.map(\.score) == hits.map(\.score).sorted(by: >))
        var words = SearchRequest("bench")
        words.findsInsideWords = false
        #expect(try await store.index.search(words).hits.count == 3)
        #expect(try await store.index.count(SearchRequest("bench")) == 4)
    }

    @Test("A word is found by its end and its middle, beside whole words")
    func insideWords() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Photosynthesis in seaweeds"), item("two", title: "Synthesizer"))
        for text in ["synthesis", "otosynth", "photosynthesis weed", "in synthesis"] {
            #expect(
                try await store.index.search(SearchRequest(text)).hits.map(\.item.record.uniqueIdentifier).last == "one"
            )
        }
        #expect(try await store.index.search(SearchRequest("weasel thesis")).hits.isEmpty)
        // The other words must be in the item's title too.
        try await store.put(item("text", title: "Handbook", text: "all about seaweeds"))
        #expect(try await store.index.search(SearchRequest("handbook weed")).hits.map(\.kind) == [.someWords])
        #expect(try await store.index.search(SearchRequest("photosynthesis weed", bundle: "other")).hits.isEmpty)
        try await store.index.delete(identifiers: ["text"], in: Store.app)
        try await store.index.delete(identifiers: ["one"], in: Store.app)
        #expect(try await store.index.search(SearchRequest("weeds")).hits.isEmpty)
        let kept = try await store.index.write("Purging") { db in
            try TermDictionary.purge(db)
            return try String.fetchAll(db, sql: "SELECT text FROM term ORDER BY text")
        }
        #expect(kept == ["synthesizer"])
        try await store.checkIntegrity()
    }

    @Test(
        "Parts of words are found with any number of words, even removed words",
        arguments: [0, 512])
    func manyWords(fewCandidates: Int) async throws {
        let store = try Store()
        let other = IndexScope(bundle: "com.example.other")
        try await store.index.index((0..<150).map { try EncodedItem(item("\($0)", title: "\($0)ber")) }, in: Store.app)
        try await store.index.index(
            (0..<20).map { try EncodedItem(item("\($0)", title: "lumber\($0) lumbering")) }, in: other)
        var request = SearchRequest("ber")
        request.limits.fewCandidates = fewCandidates
        request.limit = 1000
        #expect(try await store.index.count(request) == 170)
        let hits = try await store.index.search(request).hits
        #expect(hits.count == 170 && Set(hits.map(\.item.number)).count == 170)
        request.bundle = other.bundle
        #expect(try await store.index.search(request).hits.count == 20)
        // The words of deleted items stay in the dictionary.
        try await store.index.delete(identifiers: (0..<150).map(String.init), in: Store.app)
        request.bundle = nil
        #expect(try await store.index.search(request).hits.count == 20)
        for text in ["berx", "xber", "ber number"] {
            request.text = text
            #expect(try await store.index.count(request) == 0, "\(text)")
        }
    }

    @Test("With any number of donated words, only a limited number is searched for parts")
    func boundedWords() async throws {
        let store = try Store()
        let titles = (0..<150).map { "\($0)ber" } + (0..<600).map { "abc\($0)bcd" } + ["xabcd"]
        try await store.index.index(
            titles.enumerated().map { try EncodedItem(item("\($0.offset)", title: $0.element)) }, in: Store.app)
        var request = SearchRequest("ber")
        request.limits.wordLookups = 2
        #expect(try await store.index.count(request) == 2 * TermDictionary.wordsAtOnce)
        // A word that contains all trigrams, but not adjacent, is checked too, up to the limit.
        let (words, end) = try await store.index.write("Looking") { db in
            try TermDictionary.words(containing: "abcd", after: 0, db)
        }
        #expect(words.isEmpty && end == nil)
    }

    @Test(
        "A closed word is a whole one, so that parts of others are no matches",
        arguments: ["bench ", "\"bench\"", "bench."])
    func closedWords(typed: String) async throws {
        let store = try Store()
        try await store.put(
            item("part", title: "My workbenches"), item("start", title: "benches"), item("word", title: "A bench"))
        let closed = try await store.index.search(SearchRequest(typed)).hits
        // In quotation marks, no other form of the word matches either.
        let expected: Set = typed.hasPrefix("\"") ? ["word"] : ["word", "start"]
        #expect(Set(closed.map(\.item.record.uniqueIdentifier)) == expected)
        let open = try await store.index.search(SearchRequest("bench")).hits
        #expect(open.count == 3 && open.last?.item.record.uniqueIdentifier == "part")
    }

    @Test(
        "Parts of words are found equally in small and large stores, with and without a bundle",
        arguments: 1...4 as ClosedRange<UInt64>)
    func insideWordsAlike(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        let words = [
            "workbench", "benchmark", "bench", "Überbench", "debenchén", "seat", "東京", "wood", "अकमला", "अकमल", "zमल",
        ]
        for number in 0..<200 {
            let title = (0..<(1 + random.below(3))).map { _ in random.pick(words) }.joined(
                separator: random.pick([" ", "—"]))
            let keywords = random.below(3) == 0 ? [random.pick(words)] : []
            try await store.put(item("\(number)", title: title, keywords: keywords, text: random.pick(words)))
        }
        for typed in [
            "seat bench", "wood benchm", "東京 enc", "seat wood ench", "workbench bench", "seat 東京", "bench", "enchm",
            "enc", "seat कमल", "कमल",
        ] {
            var found: [[Int64]] = []
            for (smallStore, bundle) in [(1000, nil), (0, nil), (0, Store.app.bundle)] as [(Int64, String?)] {
                var request = SearchRequest(typed, bundle: bundle)
                request.limit = 1000
                request.limits.smallStore = smallStore
                let hits = try await store.index.search(request).hits.filter { $0.kind == .insideWords }
                found.append(hits.map(\.item.number).sorted())
                #expect(found.last == found.first, "seed \(seed): \(typed), \(smallStore)")
            }
            #expect(typed == "seat 東京" || typed == "wood benchm" || !found[0].isEmpty, "seed \(seed): \(typed)")
        }
    }

    @Test(
        "The newest of many title starts come first even if the text ends in a single letter or sign",
        arguments: [
            ("zebra t", "Zebra t", "Zebra other", 40), ("c+", "C++", "Chapter", 40), ("東京", "東京", "東北", 300),
            (".g", ".gitignore", "Green glass gold garden", 100),
        ])
    func startsWithLetter(typed: String, start: String, other: String, others: Int) async throws {
        let store = try Store()
        let titles =
            (0..<300).map { "\(start) \($0)" } + (0..<others).map { "\(other) \($0)" }
            + (0..<20).map { "The \(start) \($0)" }
        try await store.index.index(
            titles.enumerated().map { try EncodedItem(item("\($0.offset)", title: $0.element)) }, in: Store.app)
        let request = Self.small(typed)
        let hits = try await store.index.search(request).hits
        #expect(hits.prefix(10).map(\.kind) == Array(repeating: .titleStart, count: 10))
        #expect(hits.first?.item.record.texts("title") == ["\(start) 299"])
    }

    @Test("A character with combining marks is longer, and still found")
    func signs() async throws {
        let store = try Store()
        try await store.put(item("thai", title: "วัด"))
        #expect(try await store.index.search(Self.small("ว")).hits.map(\.item.record.uniqueIdentifier) == ["thai"])
    }

    @Test("Text without spaces is found by any part")
    func scriptsWithoutSpaces() async throws {
        let store = try Store()
        try await store.put(
            item("tower", title: "東京タワーの写真", text: "夜景がきれいです"), item("kyoto", title: "京都"),
            item("party", title: "Party 🎉🎂", text: "สวัสดีครับ"))
        for (text, found) in [
            ("東京", ["tower"]), ("京タ", ["tower"]), ("写真", ["tower"]), ("きれい", ["tower"]), ("東京 夜景", ["tower"]),
            ("🎂", ["party"]), ("สวัสดี", ["party"]), ("京東", []),
        ] {
            #expect(try await store.found(text) == found, "\(text)")
        }
        #expect(Set(try await store.found("京")) == ["tower", "kyoto"])
    }

    @Test("An app's own ranks order its items within their positions, and lift none above another app's")
    func hints() async throws {
        let other = IndexScope(bundle: "com.example.other")
        var places: [[String]] = []
        for hint in [0, 100] {
            let store = try Store()
            store.clock.advance(by: 400 * 86400)
            for number in 0..<6 {
                var record = item("a\(number)", title: "lemon tree")
                record.attributes["rankingHint"] = .integer(Int64(number * hint / 5))
                record.attributes["userCurated"] = .boolean(hint > 0 && number == 5)
                record.attributes["contentModificationDate"] = .date(store.clock.now - Double(number) * 20 * 86400)
                try await store.put(record)
                record.uniqueIdentifier = "b\(number)"
                record.attributes["rankingHint"] = .integer(50)
                record.attributes["userCurated"] = nil
                try await store.put(record, in: other)
            }
            places.append(try await store.found("lemon"))
        }
        #expect(places[0].map { $0.prefix(1) } == places[1].map { $0.prefix(1) })
        #expect(places[0].filter { $0.hasPrefix("b") } == places[1].filter { $0.hasPrefix("b") })
        #expect(places[0].first { $0.hasPrefix("a") } == "a0" && places[1].first { $0.hasPrefix("a") } == "a5")
    }

    @Test("Of two equal hits the last used one comes first, in any order of donation")
    func freshness() async throws {
        let store = try Store()
        store.clock.advance(by: 2000 * 86400)
        for (identifier, days) in [("new", 1.0), ("old", 400), ("older", 900)] {
            var record = item(identifier, title: "same thing")
            record.attributes["contentModificationDate"] = .date(store.clock.now - days * 86400)
            try await store.put(record)
        }
        #expect(try await store.found("same") == ["new", "old", "older"])
        // A date in the future does not prove recent use.
        var record = item("promise", title: "same thing")
        record.attributes["lastUsedDate"] = .date(store.clock.now + 1e9)
        record.attributes["contentModificationDate"] = .date(store.clock.now - 1200 * 86400)
        try await store.put(record)
        #expect(try await store.found("same").last == "promise")
    }

    @Test("Filters restrict, attribute lists select, bundles stay separate")
    func filters() async throws {
        let store = try Store()
        for number in 0..<30 {
            var record = item("\(number)", title: "lemon \(number)", text: "sour")
            record.attributes["pageCount"] = .integer(Int64(number))
            try await store.put(record, in: IndexScope(bundle: number % 3 == 0 ? "a" : "b"))
        }
        var request = Self.small("lemon", bundle: "a", limit: 50)
        request.filters = [try QueryExpression(parsing: "pageCount > 20")]
        request.attributes = ["title"]
        let hits = try await store.index.search(request).hits
        #expect(Set(hits.map(\.item.record.uniqueIdentifier)) == ["21", "24", "27"])
        #expect(hits.allSatisfy { Set($0.item.record.attributes.keys) == ["title"] })
        #expect(try await store.index.search(Self.small("lemon", bundle: "c")).hits.isEmpty)
        var others = Self.small("lemon", limit: 50)
        others.excludedBundles = ["a", "c", "B"]
        let left = try await store.index.search(others).hits
        #expect(left.count == 20 && left.allSatisfy { $0.item.scope.bundle == "b" })
        others.excludedBundles = ["a", "b"]
        #expect(try await store.index.search(others).hits.isEmpty)
    }

    @Test("Pages repeat nothing and miss nothing, with changes and additions between them")
    func pages() async throws {
        let store = try Store()
        for number in 0..<40 { try await store.put(item("\(number)", title: "lemon \(number)")) }
        var request = Self.small("lemon", limit: 10)
        let first = try await store.index.search(request)
        try await store.put(item("new", title: "lemon"), item("3", title: "lemon again"))
        var found = first.hits.map(\.item.record.uniqueIdentifier)
        request.cursor = first.next
        while request.cursor != nil {
            let page = try await store.index.search(request)
            found += page.hits.map(\.item.record.uniqueIdentifier)
            request.cursor = page.next
        }
        #expect(Set(found).count == found.count)
        #expect(Set(found) == Set((0..<40).map { "\($0)" } + ["new"]))
    }

    @Test("A text cannot pass for another bundle's text", arguments: ["\u{1}\u{F0001}", "\u{F0001}", "\u{1}"])
    func forgedTags(text: String) async throws {
        let store = try Store()
        try await store.put(item("one", title: "lemon"))
        try await store.put(
            item("two", title: text, keywords: [text], text: text + " lemon"), in: IndexScope(bundle: "b"))
        #expect(try await store.found("lemon", bundle: Store.app.bundle) == ["one"])
        #expect(try await store.found(text).isEmpty)
        #expect(try await store.found("lemon", bundle: "b") == ["two"])
    }

    @Test("A changed item has its new words, and counts as new")
    func changes() async throws {
        let store = try Store()
        try await store.put(item("changed", title: "lemon"))
        for number in 0..<20 { try await store.put(item("\(number)", title: "lemon tree")) }
        try await store.put(item("changed", title: "a lemon tree"))
        var request = Self.small("tree")
        request.limits.candidates = 1
        #expect(try await store.index.search(request).hits.first?.item.record.uniqueIdentifier == "changed")
    }

    @Test("A rebuilt index finds the same, the newest last")
    func rebuild() async throws {
        let store = try Store()
        store.clock.advance(by: 100 * 86400)
        for number in 0..<50 {
            var record = item(
                "\(number)", title: "lemon \(number)", keywords: ["k\(number)"], text: "sour \(number % 7)")
            record.attributes["contentModificationDate"] = .date(Double(number * 37 % 50) * 86400)
            try await store.put(record)
        }
        try await store.index.delete(identifiers: ["3", "4"], in: Store.app)
        let vocabulary = try await store.vocabulary()
        let order = try await store.index.write("Rebuilding") { db in
            try FullTextIndex.derived.rebuild(db)
            return try String.fetchAll(
                db,
                sql: "SELECT unique_identifier FROM text_row JOIN item ON item.id = text_row.item ORDER BY text_row.id")
        }
        #expect(try await store.vocabulary() == vocabulary)
        #expect(order == order.sorted { Int($0)! * 37 % 50 < Int($1)! * 37 % 50 } && order.count == 48)
        try await store.put(item("5", title: "lime"))
        #expect(try await store.found("lime") == ["5"])
        #expect(try await store.found("lemon 5").contains("5") == false)
        try await store.checkIntegrity()
    }

    @Test("Merging in steps ends and changes nothing")
    func merging() async throws {
        let store = try Store()
        for number in 0..<40 { try await store.put(item("\(number)", title: "lemon \(number)", text: "sour")) }
        let vocabulary = try await store.vocabulary()
        var steps = 0
        while try await store.index.write("Merging", { try FullTextMerging.step($0, pages: 1) }) { steps += 1 }
        #expect(steps < 1000)
        #expect(try await store.vocabulary() == vocabulary)
        #expect(try await store.found("lemon").count == 40)
        try await store.checkIntegrity()
    }

    @Test("A cancelled search ends with that error")
    func cancelled() async throws {
        let store = try Store()
        try await store.put(item("one", title: "lemon"))
        let task = Task { () async throws -> SearchPage in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.index.search(SearchRequest("lemon"))
        }
        await #expect(throws: IndexQueryError.cancelled) { try await task.value }
    }
}
