// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Words that nearly every item has")
struct CommonWordTests {
    /// Creates a store in which every item is a diary, and only one app's items contain “winter”.
    private func store() async throws -> Store {
        let store = try Store()
        for number in 0..<40 {
            let isWinter = number < 4
            try await store.put(
                item("\(number)", title: isWinter ? "Diary of winter \(number)" : "Diary \(number)"),
                in: IndexScope(bundle: isWinter ? "org.example.Winter" : "org.example.Notes"))
        }
        return store
    }

    private func found(_ store: Store, _ text: String, countsUpTo: Int? = nil) async throws -> SearchPage {
        var request = SearchRequest(text)
        (request.limit, request.countsUpTo) = (50, countsUpTo)
        return try await store.index.search(request)
    }

    @Test("Make no hit beside a rare word that some items have")
    func besideRareWord() async throws {
        let page = try await found(store(), "diary winter ")
        #expect(page.hits.count == 4)
    }

    @Test("Make hits if the filters exclude all items with a rare word, and the total counts them")
    func filtersExcludeRareWord() async throws {
        let store = try await store()
        for text in ["diary winter -app:winter", "diary winter app:notes", "diary of winter -app:winter "] {
            let page = try await found(store, text, countsUpTo: 100)
            #expect(page.hits.count == 36 && page.total == SearchTotal(count: 36, isExact: true), "\(text)")
        }
        #expect(try await found(store, "diary winter -diary").hits.isEmpty)
    }

    @Test("The next page continues with them")
    func pages() async throws {
        let store = try await store()
        var request = SearchRequest("diary winter -app:winter")
        request.limit = 10
        var seen: Set<String> = []
        for _ in 0..<5 {
            let page = try await store.index.search(request)
            for hit in page.hits { #expect(seen.insert(hit.item.record.uniqueIdentifier).inserted) }
            guard let next = page.next else { break }
            request.cursor = next
        }
        #expect(seen.count == 36)
    }

    @Test("The oracle and the diagnosis agree")
    func oracleAndDiagnosis() async throws {
        let store = try await store()
        let request = SearchRequest("diary winter -app:winter")
        #expect(try await store.index.rankingOfAll(request).count == 36)
        let number = try #require(try await store.index.items(uniqueIdentifier: "39").first?.number)
        let diagnosis = try #require(try await store.index.diagnose(request, item: number))
        #expect(diagnosis.hit != nil && diagnosis.words.map(\.tells) == [true, true])
    }
}
