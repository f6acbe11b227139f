// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ItemRecord
import MetadataQuery
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Reasons why a search does not show an item")
struct SearchDiagnosisTests {
    /// Creates a store with a report, and with other items that have no word in common with it.
    private func store() async throws -> Store {
        let store = try Store()
        store.clock.advance(by: 400 * 86400)
        var record = item(
            "one", title: "Annual report", keywords: ["finance"], description: "Connections of sales",
            text: "The budget reports were approved by the workbench.")
        record.attributes["contentType"] = .string("public.html")
        record.attributes["authorNames"] = .array([.string("Anna Smith")])
        record.attributes["com_example_code"] = .string("zebra")
        try await store.put(record, in: IndexScope(bundle: "org.example.Notes"))
        for number in 0..<20 { try await store.put(item("\(number)", title: "Something else \(number)")) }
        return store
    }

    private func diagnosis(
        _ store: Store, _ text: String, limit: Int = 10, bundle: String? = nil, of identifier: String = "one"
    ) async throws -> SearchDiagnosis {
        var request = SearchRequest(text, bundle: bundle)
        request.limit = limit
        let number = try #require(try await store.index.items(uniqueIdentifier: identifier).first?.number)
        return try #require(try await store.index.diagnose(request, item: number))
    }

    @Test("An item on the first page is reported with its rank and score")
    func shown() async throws {
        let diagnosis = try await diagnosis(store(), "annual rep")
        #expect(diagnosis.outcome == .shown && diagnosis.rank == 1 && diagnosis.suggestions.isEmpty)
        #expect(diagnosis.hit?.parts.fit == .titleStart)
        #expect(diagnosis.summary == "It is hit 1.")
    }

    @Test("Each word has its position in the item, and its form")
    func words() async throws {
        let store = try await store()
        for (text, places) in [
            ("annual ", "in the title"), ("report ", "in the title, in the text as “reports”"),
            ("connected ", "in the description as “connections”"), ("finance ", "in the keywords"),
            ("budg", "in the text as “budget”"), ("zebra ", "only in com_example_code, which is not searched"),
            ("giraffe ", "not in the item"), ("nnua", "inside “annual” in the title"),
        ] {
            let words = try await diagnosis(store, text).words
            #expect(words.map(\.places) == [places], "\(text)")
        }
        let matches = try await diagnosis(store, "annual connected bud").words.map { $0.occurrences.map(\.match) }
        #expect(matches == [[.exact], [.form], [.beginning]])
    }

    @Test("Without any of the words there is no hit, and the title of the item finds it")
    func noWord() async throws {
        let diagnosis = try await diagnosis(store(), "giraffe zebra")
        #expect(diagnosis.outcome == .noWord && diagnosis.rank == nil)
        #expect(diagnosis.summary == "It is not found: it has none of the words.")
        #expect(diagnosis.suggestions.map(\.text) == ["Annual report"])
    }

    @Test("A word that nearly every item has makes no hit, and this is reported")
    func commonWord() async throws {
        let store = try await store()
        try await store.put(item("rare", title: "Rare else"))
        let diagnosis = try await diagnosis(store, "else rare ", of: "3")
        #expect(diagnosis.outcome == .noWord)
        #expect(diagnosis.words.map(\.tells) == [false, true])
        #expect(diagnosis.summary.hasSuffix("it only has words that do not make a hit alone."))
    }

    @Test(
        "A filter that does not match is named with its sentence and the value, and the text without it finds the item")
    func filter() async throws {
        let diagnosis = try await diagnosis(store(), "annual kind:pdf from:anna")
        #expect(diagnosis.outcome == .excluded)
        #expect(diagnosis.conditions.map(\.text) == ["kind:pdf", "from:anna"])
        #expect(diagnosis.conditions.map(\.isMet) == [false, true])
        #expect(diagnosis.summary == "It is not found: the search is limited to items of the kind pdf.")
        let unmet = try #require(diagnosis.conditions.first)
        #expect(unmet.attributes == ["contentType"])
        #expect(diagnosis.item.record.attributes["contentType"] == .string("public.html"))
        #expect(diagnosis.suggestions.map(\.text) == ["annual from:anna"])
        #expect(diagnosis.suggestions.first?.rank == 1)
    }

    @Test("A filter of the request that does not match is named too")
    func filterOfRequest() async throws {
        let store = try await store()
        let number = try #require(try await store.index.items(uniqueIdentifier: "one").first?.number)
        var request = SearchRequest("annual")
        request.filters = [try QueryExpression(parsing: "contentType == 'com.adobe.pdf'")]
        let diagnosis = try #require(try await store.index.diagnose(request, item: number))
        #expect(diagnosis.conditions.map(\.kind) == [.query] && diagnosis.outcome == .excluded)
    }

    @Test("A date in words without matches is read as words, as in the search, and names no filter")
    func impliedDate() async throws {
        let store = try await store()
        let diagnosis = try await diagnosis(store, "budget last week")
        #expect(diagnosis.conditions.isEmpty && diagnosis.outcome == .shown)
        #expect(diagnosis.words.map(\.text) == ["budget", "last", "week"])
    }

    @Test("A thousand hits are counted, and more are more than a thousand")
    func total() async throws {
        let store = try await store()
        for number in 0..<999 { try await store.put(item("report \(number)", title: "report \(number)")) }
        #expect(try await diagnosis(store, "report ").total == SearchTotal(count: 1000, isExact: true))
        try await store.put(item("last", title: "report"))
        #expect(try await diagnosis(store, "report ").total == SearchTotal(count: 1000, isExact: false))
    }

    @Test("An app that does not match is named, in the text and in the request")
    func app() async throws {
        let store = try await store()
        let typed = try await diagnosis(store, "annual app:mail")
        #expect(typed.conditions.map(\.kind) == [.app] && typed.outcome == .excluded)
        #expect(typed.suggestions.map(\.text) == ["annual"])
        let held = try await diagnosis(store, "annual -app:mail app:notes")
        #expect(held.conditions.map(\.isMet) == [true, true] && held.outcome == .shown)
        let asked = try await diagnosis(store, "annual", bundle: Store.app.bundle)
        #expect(asked.conditions.map(\.kind) == [.bundle] && asked.outcome == .excluded)
        let suggestion = try #require(asked.suggestions.first)
        #expect(suggestion.text == "annual" && suggestion.bundle == nil && suggestion.rank == 1)
    }

    @Test("A phrase with separated words does not match, and its words without quotes find the item")
    func phrase() async throws {
        let diagnosis = try await diagnosis(store(), "\"annual budget\"")
        #expect(diagnosis.conditions.map(\.sentence) == ["with “annual budget” side by side"])
        #expect(diagnosis.outcome == .excluded)
        #expect(diagnosis.suggestions.map(\.text) == ["annual budget"])
    }

    @Test("An excluded word of the item is named, and left out of the suggestion")
    func excludedWord() async throws {
        let diagnosis = try await diagnosis(store(), "annual -budget -giraffe")
        #expect(diagnosis.conditions.map(\.isMet) == [false, true])
        #expect(diagnosis.summary == "It is not found: the search is limited to items without “budget”.")
        #expect(diagnosis.suggestions.map(\.text) == ["annual -giraffe"])
    }

    @Test("All reasons of a missing item are removed together")
    func severalObstacles() async throws {
        let diagnosis = try await diagnosis(store(), "report giraffe -budget kind:pdf \"sales of\"")
        #expect(diagnosis.conditions.map(\.isMet) == [false, false, false])
        let suggestion = try #require(diagnosis.suggestions.last)
        #expect(suggestion.text == "report giraffe sales of" && suggestion.rank == 1)
    }

    @Test("A hit behind the first page has its rank beside the last shown hit, and a limit that shows it")
    func behind() async throws {
        let store = try await store()
        for number in 0..<60 {
            try await store.put(item("better \(number)", title: "report \(number % 7)"), in: Store.app)
        }
        let diagnosis = try await diagnosis(store, "report ", limit: 20)
        #expect(diagnosis.outcome == .behind)
        let rank = try #require(diagnosis.rank)
        #expect(rank > 20 && diagnosis.total == SearchTotal(count: 61, isExact: true))
        #expect(diagnosis.summary == "It is hit \(rank) of 61; the first page shows 20.")
        let (hit, last) = (try #require(diagnosis.hit), try #require(diagnosis.lastShown))
        #expect(hit.score < last.score && last.title.hasPrefix("report"))
        #expect(diagnosis.suggestions.map(\.text) == ["report ", "app:org.example.Notes report "])
        #expect(diagnosis.suggestions.first.map { $0.limit >= rank && $0.limit < rank + 10 } == true)
        #expect(diagnosis.suggestions.last?.rank == 1)
        for suggestion in diagnosis.suggestions {
            var request = SearchRequest(suggestion.text)
            request.limit = suggestion.limit
            let hits = try await store.index.search(request).hits
            #expect(hits.contains { $0.item.record.uniqueIdentifier == "one" })
        }
    }

    @Test("An expired item is reported as such")
    func expired() async throws {
        let store = try await store()
        try await store.put(
            item("gone", title: "Gone tomorrow", expires: .at(store.clock.now + 86400)), in: Store.app)
        let number = try #require(try await store.index.items(uniqueIdentifier: "gone").first?.number)
        store.clock.advance(by: 2 * 86400)
        #expect(try await store.index.items(uniqueIdentifier: "gone").isEmpty)
        #expect(try await store.index.expiredItem(named: "gone", bundle: nil) == number)
        #expect(try await store.index.expiredItem(named: "@\(number)", bundle: Store.app.bundle) == number)
        #expect(try await store.index.expiredItem(named: "one", bundle: nil) == nil)
        let diagnosis = try #require(try await store.index.diagnose(SearchRequest("gone"), item: number))
        #expect(diagnosis.conditions.map(\.kind) == [.expiry] && diagnosis.outcome == .excluded)
        #expect(diagnosis.summary == "It is not found: the search is limited to items that have not expired.")
        #expect(diagnosis.suggestions.isEmpty)
    }

    @Test("The number of an expired item takes precedence over an identifier that looks like the number")
    func expiredNumber() async throws {
        let store = try await store()
        let last = try #require(try await store.index.items(uniqueIdentifier: "19").first?.number)
        for name in ["@\(last + 2)", "second"] {
            try await store.put(item(name, expires: .at(store.clock.now + 86400)), in: Store.app)
        }
        #expect(try await store.index.items(uniqueIdentifier: "second").first?.number == last + 2)
        store.clock.advance(by: 2 * 86400)
        #expect(try await store.index.expiredItem(named: "@\(last + 2)", bundle: nil) == last + 2)
    }

    @Test("The corrected words of a search are used")
    func correction() async throws {
        let store = try await store()
        let corrected = try await diagnosis(store, "annual reprot")
        #expect(corrected.correction?.text == "annual report" && corrected.text == "annual reprot")
        #expect(corrected.words.map(\.text) == ["annual", "report"] && corrected.outcome == .shown)
        var request = SearchRequest("reprot")
        request.correctsSpelling = false
        let typed = try #require(try await store.index.diagnose(request, item: corrected.item.number))
        #expect(typed.correction == nil && typed.outcome == .noWord)
    }

    @Test("Pending donations of the item's app are reported, because they may change the item")
    func pending() async throws {
        let folder = try TemporaryFolder()
        var seams = StoreHooks()
        (seams.readLimits.time, seams.readLimits.timeForLittle) = (.zero, .zero)
        let index = try SearchIndex(
            directory: folder.path("store"), access: .readWrite, knownGeneration: nil, now: { 1 }, seams: seams)
        let applier = try #require(index.applier)
        try await index.index([try EncodedItem(item("one", title: "lemon"))], in: Store.app)
        try await index.settle()
        let number = try #require(try await index.items(uniqueIdentifier: "one").first?.number)
        let gate = DispatchSemaphore(value: 0)
        applier.onQueue { gate.wait() }
        try await index.index([try EncodedItem(item("one", title: "pear"))], in: Store.app)
        try await ReadPatience.moment.during { () throws in
            let diagnosis = try #require(try await index.diagnose(SearchRequest("pear"), item: number))
            #expect(diagnosis.outcome == .noWord && diagnosis.pending?.total.items == 1)
            #expect(
                diagnosis.summary.hasSuffix(
                    "none of the words. 1 donation of its app is not applied yet and may change it."))
        }
        gate.signal()
        try await index.settle()
        let diagnosis = try #require(try await index.diagnose(SearchRequest("pear"), item: number))
        #expect(diagnosis.outcome == .shown && diagnosis.pending == nil && diagnosis.summary == "It is hit 1.")
        try await index.close()
    }

    @Test("A text without a word is reported, and an unknown number is not an item")
    func nothing() async throws {
        let store = try await store()
        let diagnosis = try await diagnosis(store, "-report")
        #expect(diagnosis.outcome == .excluded || diagnosis.outcome == .nothingSought)
        #expect(try await self.diagnosis(store, "…").outcome == .nothingSought)
        #expect(try await store.index.diagnose(SearchRequest("report"), item: 999_999) == nil)
    }

    @Test(
        "Any typed text has a diagnosis, and every suggestion finds the item",
        arguments: 1...4 as ClosedRange<UInt64>)
    func anything(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try await store()
        let pieces = [
            "annual", "report", "giraffe", "\"annual report\"", "\"budget sales\"", "-budget", "-zebra", "kind:pdf",
            "kind:html", "-kind:html", "from:anna", "app:notes", "-app:notes", "today", "last week", "else", "annu",
            "larger:10MB", "“", "\"", "-", "東京",
        ]
        for _ in 0..<20 {
            let text = (0...random.below(4)).map { _ in random.pick(pieces) }.joined(separator: " ")
            let diagnosis = try await diagnosis(store, text, limit: 1 + random.below(3))
            let hits = try await store.index.search(
                { request in
                    var request = request
                    request.limit = diagnosis.limit
                    return request
                }(SearchRequest(text))
            ).hits
            let isShown = hits.contains { $0.item.record.uniqueIdentifier == "one" }
            #expect(isShown == (diagnosis.outcome == .shown), "seed \(seed): \(text)")
            for suggestion in diagnosis.suggestions {
                var request = SearchRequest(suggestion.text, bundle: suggestion.bundle)
                request.limit = suggestion.limit
                let found = try await store.index.search(request).hits
                #expect(
                    found.contains { $0.item.record.uniqueIdentifier == "one" },
                    "seed \(seed): \(text): \(suggestion)")
            }
        }
    }
}
