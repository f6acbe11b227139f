// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Suggestions for a partly typed text")
struct SuggestionTests {
    private static func suggestions(
        _ store: Store, _ text: String, bundle: String? = nil, limit: Int = 10
    ) async throws -> [String] {
        var request = SuggestionRequest(text, bundle: bundle)
        request.limit = limit
        return try await store.index.suggestions(request).map { "\($0.kind) \($0.text)" }
    }

    private static func office() async throws -> Store {
        let store = try Store()
        var mail = item("mail", title: "Quarterly report", text: "The figures, with photosynthesis")
        mail.attributes["authorNames"] = .array([.string("Anna Smith"), .string("Bob")])
        mail.attributes["recipientNames"] = .array([.string("Ännchen")])
        mail.attributes["contentType"] = .string("com.adobe.pdf")
        var second = item("second", title: "A quarterly report for Oslo", keywords: ["budget plan"])
        second.attributes["authorNames"] = .array([.string("Anna Smith")])
        try await store.put(mail, second, item("third", title: "Quartet"))
        return store
    }

    @Test("The last word is completed, and followed by the next words of titles")
    func completions() async throws {
        let store = try await Self.office()
        let found = try await Self.suggestions(store, "quart")
        #expect(Set(found) == ["completion Quartet", "completion quarterly", "title quarterly report"])
        #expect(found.last == "title quarterly report")
        #expect(try await Self.suggestions(store, "report quart") == ["completion report quarterly"])
        // Words of texts, and words of texts that contain the other words.
        #expect(try await Self.suggestions(store, "photo") == ["completion photosynthesis"])
        #expect(try await Self.suggestions(store, "report photo") == ["completion report photosynthesis"])
        #expect(try await Self.suggestions(store, "quartet photo").isEmpty)
        #expect(try await Self.suggestions(store, "quart", limit: 1).count == 1)
        // A phrase ends at the end of its sentence.
        try await store.put(item("signs", title: "Umbrella: rent. Or buy"))
        #expect(try await Self.suggestions(store, "umbr") == ["completion Umbrella"])
    }

    @Test(
        "A text with a closed, quoted or excluded last word, and a text that is too long, have no suggestions",
        arguments: ["", " ", "quart ", "\"quart", "\"quart\"", "-quart", "from:\"Anna\"", "!", "zzzzzz"])
    func nothing(text: String) async throws {
        let store = try await Self.office()
        #expect(try await Self.suggestions(store, text).isEmpty)
        let spaces = String(repeating: " ", count: UserQuery.maximumBytes)
        #expect(try await Self.suggestions(store, spaces + "quart").isEmpty)
    }

    @Test("People are suggested as filters, by the beginnings of their names")
    func people() async throws {
        let store = try await Self.office()
        let people = ["person from:\"Anna Smith\"", "person to:Ännchen"]
        // People's names are words of the items too.
        #expect(try await Self.suggestions(store, "ann") == ["completion anna", "completion annchen"] + people)
        #expect(
            try await Self.suggestions(store, "anna sm") == ["completion anna Smith", "person from:\"Anna Smith\""])
        #expect(try await Self.suggestions(store, "report ann").contains("person report from:\"Anna Smith\""))
        #expect(try await Self.suggestions(store, "from:\"anna s") == ["person from:\"Anna Smith\""])
        #expect(try await Self.suggestions(store, "by:b") == ["person by:Bob"])
        #expect(try await Self.suggestions(store, "quartet from:ann").isEmpty)
    }

    @Test("Filters are completed by their names and by values with results")
    func filters() async throws {
        let store = try await Self.office()
        #expect(try await Self.suggestions(store, "ki") == ["filter kind:"])
        #expect(try await Self.suggestions(store, "KIND:p") == ["filter kind:pdf"])
        #expect(try await Self.suggestions(store, "report kind:p") == ["filter report kind:pdf"])
        #expect(try await Self.suggestions(store, "quartet kind:p").isEmpty)
        #expect(try await Self.suggestions(store, "tag:bud") == ["filter tag:\"budget plan\""])
        #expect(try await Self.suggestions(store, "app:").contains("filter app:app"))
        // No item has a size or a date.
        #expect(try await Self.suggestions(store, "larg").isEmpty)
        #expect(try await Self.suggestions(store, "before:y").isEmpty)
        try await store.put(update("third", ["contentCreationDate": .date(0)]))
        #expect(try await Self.suggestions(store, "before:t").contains("filter before:today"))
        #expect(try await Self.suggestions(store, "bef") == ["filter before:"])
        #expect(try await Self.suggestions(store, "in:").isEmpty)
    }

    @Test("Folders and containers of items are suggested, containers with hits first")
    func folders() async throws {
        let store = try Store()
        for (name, folder) in [("tax", "Taxes"), ("bill", "Taxes"), ("trip", "Trips to Rome")] {
            var item = item(name, title: name)
            item.attributes["path"] = .string("/home/anna/\(folder)/\(name).txt")
            try await store.put(item)
        }
        var moved = update("trip", ["contentURL": .url("file:///home/anna/Trips%20to%20Rome/trip.txt")])
        moved.attributes["containerTitle"] = .string("Ödland")
        try await store.put(moved)
        #expect(
            try await Self.suggestions(store, "in:t") == ["filter in:Taxes", "filter in:\"Trips to Rome\""])
        #expect(try await Self.suggestions(store, "in:od") == ["filter in:Ödland"])
        #expect(try await Self.suggestions(store, "trip in:t") == ["filter trip in:\"Trips to Rome\""])
        #expect(try await Self.suggestions(store, "in:trip.") == [])
        #expect(try await Self.suggestions(store, "in:t", bundle: "com.example.other").isEmpty)
    }

    @Test("Dates of old items are suggested")
    func oldDates() async throws {
        let store = try Store()
        var old = item("old", title: "Lemon")
        old.attributes["contentModificationDate"] = .date(-10_000_000)
        try await store.put(old)
        for number in 0..<50 {
            var new = item("\(number)", title: "Lemon")
            new.attributes["contentModificationDate"] = .date(1_000_000)
            try await store.put(new)
        }
        #expect(try await Self.suggestions(store, "before:").contains("filter before:today"))
        #expect(try await Self.suggestions(store, "lemon before:").contains("filter lemon before:\"last week\""))
    }

    @Test("A misspelled last word is corrected, with the words before it")
    func corrections() async throws {
        let store = try await Self.office()
        #expect(try await Self.suggestions(store, "quartrely") == ["correction quarterly"])
        #expect(try await Self.suggestions(store, "quartrely reprot").first == "correction quarterly report")
    }

    @Test("A suggestion has its number of items, exact up to a bound")
    func totals() async throws {
        let store = try Store()
        for number in 0..<(Suggestion.maximumCounted + 1) {
            try await store.put(
                item("\(number)", title: number > Suggestion.maximumCounted - 2 ? "Lemonade stand" : "Lemon \(number)"),
                item("gone \(number)", title: "Lemonade", expires: .at(2_000_000)))
        }
        store.clock.advance(by: 1_500_000)
        let suggestions = try await store.index.suggestions(SuggestionRequest("lemo"))
        let totals = Dictionary(uniqueKeysWithValues: suggestions.map { ($0.text, $0.total) })
        #expect(totals["Lemonade"] == SearchTotal(count: 2, isExact: true))
        #expect(totals["Lemon"] == SearchTotal(count: Suggestion.maximumCounted - 1, isExact: true))
        try await store.put(item("more", title: "Lemon"), item("most", title: "Lemon"))
        let more = try await store.index.suggestions(SuggestionRequest("lemo"))
        #expect(more.first?.total == SearchTotal(count: Suggestion.maximumCounted, isExact: false))
    }

    @Test("The number of items includes those with other forms of the words, as the search does")
    func forms() async throws {
        let store = try Store()
        try await store.put(item("one", title: "Quarterly report"), item("two", title: "Quarterly reports"))
        let suggestions = try await store.index.suggestions(SuggestionRequest("quarterly repo"))
        let totals = Dictionary(uniqueKeysWithValues: suggestions.map { ($0.text, $0.total) })
        #expect(totals["quarterly report"] == SearchTotal(count: 2, isExact: true), "\(totals)")
        var request = SearchRequest("quarterly report ")
        request.countsUpTo = 10
        #expect(try await store.index.search(request).total == SearchTotal(count: 2, isExact: true))
    }

    @Test(
        "Every suggestion finds its stated number of items, and at least one", arguments: 1...4 as ClosedRange<UInt64>)
    func honesty(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        let words = ["apple", "applet", "apricot", "banana", "bandana", "cherry", "chervil", "Anna", "annex", "zoo"]
        func text(_ count: Int) -> String { (0..<count).map { _ in random.pick(words) }.joined(separator: " ") }
        for number in 0..<60 {
            var record = item("\(number)", title: text(random.below(4)), text: text(random.below(5)))
            if random.below(3) == 0 { record.attributes["authorNames"] = .array([.string(text(2))]) }
            if random.below(4) == 0 { record.attributes["contentType"] = .string("com.adobe.pdf") }
            try await store.put(record, in: IndexScope(bundle: random.pick(["com.example.one", "com.example.two"])))
        }
        for _ in 0..<60 {
            var typed = random.below(2) == 0 ? "" : random.pick(words) + " "
            if random.below(4) == 0 {
                typed += random.pick(["kind:pdf ", "-zoo ", "\"banana cherry\" ", "from:anna "])
            }
            let last = random.pick(words + ["kind:", "from:", "bananna", "kin"])
            typed += last.prefix(1 + random.below(last.count))
            let bundle = random.pick([nil, "com.example.one"])
            let suggestions = try await store.index.suggestions(SuggestionRequest(typed, bundle: bundle))
            #expect(suggestions.count <= 10 && Set(suggestions.map(\.text)).count == suggestions.count)
            for suggestion in suggestions {
                guard let total = suggestion.total else {
                    #expect(suggestion.kind == .filter && suggestion.text.hasSuffix(":"))
                    continue
                }
                var request = SearchRequest(suggestion.text + " ", bundle: bundle)
                request.correctsSpelling = false
                request.limit = 1000
                let hits = try await store.index.search(request).hits
                let complete = hits.count { $0.kind != .someWords }
                // Plain words only, unchanged.
                let isPlain = suggestion.text.allSatisfy { $0.isLetter || $0 == " " }
                request.text = suggestion.text.split(separator: " ").map { "\"\($0)\"" }.joined(separator: " ")
                let exact = try isPlain ? await store.index.search(request).hits.count : total.count
                let isRight = total.count <= complete && (!total.isExact || total.count == exact)
                #expect(total.count > 0 && isRight, "seed \(seed): \(typed) → \(suggestion), \(complete)")
            }
        }
    }

    @Test("An app gets no word, name or value of another app")
    func bundles() async throws {
        let store = try await Self.office()
        try await store.put(item("own", title: "Quarrel"), in: IndexScope(bundle: "com.example.own"))
        for text in ["quart", "ann", "from:a", "kind:p", "tag:b", "photo"] {
            #expect(try await Self.suggestions(store, text, bundle: "com.example.own").isEmpty, "\(text)")
        }
        #expect(
            try await Self.suggestions(store, "quartrely", bundle: "com.example.own") == ["correction quarrel"])
        #expect(try await Self.suggestions(store, "qua", bundle: "com.example.own") == ["completion Quarrel"])
        #expect(try await Self.suggestions(store, "app:", bundle: "com.example.own") == ["filter app:own"])
    }

    @Test("Random texts are completed without an error", arguments: [1, 2, 3] as [UInt64])
    func randomText(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try await Self.office()
        let parts = ["\"", "“", "-", ":", "kind:", "from:", "a", "qua", " ", "é", "*", "\u{1}", "'", "\0", "東", "ann"]
        for _ in 0..<300 {
            let text = (0..<random.below(8)).map { _ in random.pick(parts) }.joined()
            _ = try await store.index.suggestions(SuggestionRequest(text))
        }
    }

    private static let other = IndexScope(bundle: "com.example.other")

    @Test("With any words and values of other bundles, the words and values of one bundle are suggested")
    func foreignWords() async throws {
        let store = try Store()
        let letters = Array("abcdefghij")
        var foreign: [ItemRecord] = []
        for number in 0..<120 {
            let digits = String(format: "%03d", number).compactMap(\.wholeNumberValue).map { letters[$0] }
            var other = item(
                "\(number)", text: "lem\(String(digits)) fem\(String(digits.prefix(1)))n\(String(digits.suffix(1)))")
            other.attributes["authorNames"] = .array([.string("An \(String(digits))")])
            other.attributes["contentType"] = .string("a.type.\(String(digits))")
            foreign.append(other)
        }
        var own = item("own", text: "lemonade")
        own.attributes["authorNames"] = .array([.string("Anna")])
        own.attributes["contentType"] = .string("com.adobe.pdf")
        try await store.put(own)
        for other in foreign { try await store.put(other, in: Self.other) }
        try await store.put(item("dated", text: "nothing"), in: Self.other)
        try await store.put(update("dated", ["dueDate": .date(0)]), in: Self.other)
        let bundle = Store.app.bundle
        #expect(try await Self.suggestions(store, "lem", bundle: bundle) == ["completion lemonade"])
        #expect(try await Self.suggestions(store, "an", bundle: bundle).contains("person from:Anna"))
        #expect(try await Self.suggestions(store, "kind:p", bundle: bundle) == ["filter kind:pdf"])
        #expect(try await Self.suggestions(store, "lemonade kind:p", bundle: bundle) == ["filter lemonade kind:pdf"])
        // A filter on an attribute that only other items have is not suggested.
        #expect(try await Self.suggestions(store, "due") == ["filter due:"])
        #expect(try await Self.suggestions(store, "due", bundle: bundle).isEmpty)
        try await store.put(update("own", ["dueDate": .date(0)]))
        for number in 0..<40 { try await store.put(item("newer \(number)"), in: Self.other) }
        #expect(try await Self.suggestions(store, "due", bundle: bundle) == ["filter due:"])
        #expect(try await Self.suggestions(store, "before:to", bundle: bundle).contains("filter before:today"))
    }

    @Test("Items that are too large for filters make a count inexact")
    func largeItems() async throws {
        let store = try Store()
        var small = item("small", title: "Lemon")
        small.attributes["contentType"] = .string("com.adobe.pdf")
        var large = item("large", title: "Lemon", text: String(repeating: "word ", count: 1_800_000))
        large.attributes["contentType"] = .string("com.adobe.pdf")
        try await store.put(small)
        let one = try await store.index.suggestions(SuggestionRequest("lemon kind:p"))
        #expect(one.map(\.total) == [SearchTotal(count: 1, isExact: true)])
        try await store.put(large)
        let both = try await store.index.suggestions(SuggestionRequest("lemon kind:p"))
        #expect(both.map(\.total) == [SearchTotal(count: 1, isExact: false)])
    }
}
