// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Function words in small indexes")
struct FunctionWordTests {
    private static func first(_ text: String, of records: [ItemRecord]) async throws -> String? {
        let store = try Store()
        for record in records { try await store.put(record) }
        var request = SearchRequest(text)
        request.correctsSpelling = false
        return try await store.index.search(request).hits.first?.item.record.uniqueIdentifier
    }

    private static let others = (0..<5).map { item("other \($0)", title: "Invoice \($0)", text: "Paid \($0)") }

    @Test(
        "An item with the content word comes before items with only function words",
        arguments: [
            ("when is the dentist appointment", "Dentist Dr. Okonkwo", "The marmalade is ready."),
            ("when is the dentist appointment ", "Dentist Dr. Okonkwo", "When is the marmalade ready?"),
            ("what did he know about the boiler", "Boiler", "He did know what this is about: the weather"),
            ("how do I renew my passport", "Passport", "How I do my hair"),
            ("where is the key of the garage", "Garage", "Where is the end of the road?"),
        ])
    func english(text: String, wanted: String, other: String) async throws {
        for count in [0, 1, 3] {
            // The content word may be as frequent as the function words.
            let more = (0..<count).map { item("wanted \($0)", title: wanted) }
            let records = [item("wanted", title: wanted)] + more + [item("mail", title: "News", text: other)]
            #expect(try await Self.first(text, of: records + Self.others)?.hasPrefix("wanted") == true, "\(count)")
            #expect(try await Self.first(text, of: records)?.hasPrefix("wanted") == true, "\(count) only")
        }
    }

    @Test("Also in another language, if the typed text or the items show it")
    func german() async throws {
        var mail = item(
            "mail", title: "Neuigkeiten", text: "Die Marmelade ist mit dem Apfel bei der Oma und wann nicht")
        mail.attributes["languages"] = .array([.string("de")])
        let records = [item("wanted", title: "Zahnarzt"), mail] + Self.others
        #expect(try await Self.first("wann ist der Termin mit dem Zahnarzt ", of: records) == "wanted")
    }

    @Test("A text of only function words finds them as before")
    func onlyFunctionWords() async throws {
        let records = [item("band", title: "The Who"), item("film", title: "It is what it is")] + Self.others
        #expect(try await Self.first("the who", of: records) == "band")
        #expect(try await Self.first("what is it ", of: records) == "film")
        #expect(try await Self.first("about", of: records + [item("about", title: "About")]) == "about")
    }

    @Test("An unfinished word is not one of them, and does not change the order at its next letter")
    func unfinished() async throws {
        let records =
            [item("wanted", title: "Sale downtown"), item("other", title: "Sale Paris")] + Self.others
        for text in ["sale d", "sale do", "sale dow"] {
            #expect(try await Self.first(text, of: records) == "wanted", "\(text)")
        }
    }

    @Test("They do not make items similar")
    func similar() async throws {
        let store = try Store()
        try await store.put(
            item("photo", title: "Sunset at the Opera", text: "A photo on the harbour"),
            item("lunch", title: "Lunch on Thursday?", text: "We meet at the door, on the left. What about it?"),
            item("opera", title: "Opera tickets", text: "Row nine"))
        for record in Self.others { try await store.put(record) }
        let number = try #require(try await store.index.items(uniqueIdentifier: "photo").first?.number)
        let page = try #require(try await store.index.similar(to: number, SearchRequest(""), model: nil))
        #expect(page.hits.map(\.item.record.uniqueIdentifier) == ["opera"])
        #expect(page.words == ["opera"])
    }
}
