// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Promises
import Testing

@Suite("The selected representation")
struct ResolutionTests {
    private static func item(
        data: [String] = [], file: [String] = [], inPlace: [String] = []
    ) -> ItemRecord {
        func list(_ types: [String]) -> AttributeValue { .array(types.map(AttributeValue.string)) }
        return ItemRecord(
            uniqueIdentifier: "one",
            attributes: [
                "providerDataTypeIdentifiers": list(data), "providerFileTypeIdentifiers": list(file),
                "providerInPlaceFileTypeIdentifiers": list(inPlace),
            ])
    }

    @Test("Data comes before files and files before the original, each in the app's order")
    func order() {
        let item = Self.item(
            data: ["public.html", "public.plain-text"], file: ["public.png"], inPlace: ["public.jpeg", "public.html"])
        #expect(
            item.promisedRepresentations == [
                Representation(type: "public.html", form: .data),
                Representation(type: "public.plain-text", form: .data),
                Representation(type: "public.png", form: .file),
                Representation(type: "public.jpeg", form: .inPlaceFile),
                Representation(type: "public.html", form: .inPlaceFile),
            ])
    }

    @Test("One type without a list is a list of one, and a value that is no text promises nothing")
    func looseAttributes() {
        var item = ItemRecord(uniqueIdentifier: "one")
        item.attributes["providerFileTypeIdentifiers"] = .string("public.png")
        item.attributes["providerDataTypeIdentifiers"] = .integer(4)
        item.attributes["providerInPlaceFileTypeIdentifiers"] = .array([.null, .double(.nan)])
        #expect(item.promisedRepresentations == [Representation(type: "public.png", form: .file)])
    }

    @Test("A type serves its supertypes, never its subtypes")
    func conformance() {
        let html = Self.item(data: ["public.html"])
        #expect(PromiseResolution(html, accepted: ["public.text"]).choice?.type == "public.html")
        #expect(PromiseResolution(html, accepted: ["public.data"]).choice?.type == "public.html")
        #expect(PromiseResolution(html, accepted: ["public.plain-text"]).choice == nil)
        #expect(PromiseResolution(Self.item(data: ["public.text"]), accepted: ["public.html"]).choice == nil)
    }

    @Test("The receiver's order takes precedence, or the item's if requested")
    func preference() {
        let item = Self.item(data: ["public.html"], file: ["public.png"])
        let accepted = ["public.image", "public.text"]
        #expect(
            PromiseResolution(item, accepted: accepted).choice == Representation(type: "public.png", form: .file))
        #expect(
            PromiseResolution(item, accepted: accepted, preferring: .source).choice
                == Representation(type: "public.html", form: .data))
    }

    @Test("The same type as data and as file is delivered as data")
    func dataFirst() {
        let item = Self.item(data: ["public.png"], file: ["public.png"], inPlace: ["public.png"])
        #expect(PromiseResolution(item, accepted: ["public.png"]).choice?.form == .data)
    }

    @Test("Nothing offered, nothing accepted and undeclared types")
    func nothing() {
        #expect(PromiseResolution(Self.item(), accepted: ["public.data"]).choice == nil)
        #expect(PromiseResolution(Self.item(data: ["public.png"]), accepted: []).choice == nil)
        let strange = Self.item(data: ["", "no such type", "com.Example.Own"])
        #expect(PromiseResolution(strange, accepted: ["public.png"]).choice == nil)
        #expect(PromiseResolution(strange, accepted: ["com.example.own"]).choice?.type == "com.Example.Own")
    }

    @Test("The types of an item with thousands of promises are truncated")
    func manyTypes() {
        let many = (0..<ItemRecord.maximumElements).map { "com.example.t\($0)" }
        let item = Self.item(data: many, file: ["public.png"])
        #expect(item.promisedRepresentations.count == ItemRecord.maximumRepresentationsPerForm + 1)
        #expect(PromiseResolution(item, accepted: ["public.png", "public.html"]).choice?.type == "public.png")
    }
}
