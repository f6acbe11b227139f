// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import Testing

@testable import ExtensionValidation

/// The check of the names and values of attributes.
@Suite("The check of attributes")
struct AttributeCheckTests {
    /// Returns the reasons for items with these attributes.
    private func reasons(
        _ attributes: [String: AttributeValue], traits: [String: AttributeTraits] = [:], items: Int = 1
    ) -> String {
        var finder = AttributeFinder()
        for number in 0..<items {
            finder.add(ItemRecord(uniqueIdentifier: "\(number)", attributes: attributes, traits: traits))
        }
        return finder.result.reason ?? ""
    }

    @Test("accepts known attributes with values of their kinds, and attributes of an app")
    func accepted() {
        let accepted: [String: AttributeValue] = [
            "title": .localizedString(["en": "Sheet"]), "keywords": .array([.string("paper")]),
            "pageCount": .integer(3),
            "rating": .double(4.5), "contentCreationDate": .date(0), "contentURL": .string("file:///sheet"),
            "thumbnailData": .data([1]), "comment": .null, "com_example_mood": .string("calm"),
            "com.example.mood": .date(0), "com_searchlight_missingTextBytes": .integer(4),
        ]
        #expect(reasons(accepted) == "")
        let traits: AttributeTraits = [.searchable, .searchableByDefault]
        #expect(reasons(["titel": .string("Sheet")], traits: ["titel": traits]) == "", "it is declared")
    }

    @Test(
        "names the nearest attribute for an unknown name",
        arguments: [
            ("titel", "Did you mean title?"), ("Title", "Did you mean title?"), ("text_content", "textContent"),
            ("keyword", "keywords"), ("kMDItemTitle", "Did you mean title?"), ("kMDItemTitel", "kMDItemTitle"),
            ("body", "searches ignore it"), ("\u{1B}[31m", #"\u{1B}"#),
        ])
    func unknownName(_ name: String, _ words: String) {
        let reasons = reasons([name: .string("Sheet")], items: 3)
        #expect(reasons.hasPrefix("3 items have the attribute \(name.debugDescription): "), "\(reasons)")
        #expect(reasons.contains(words), "\(reasons)")
    }

    @Test(
        "reports a value of a wrong kind",
        arguments: [
            ("title", AttributeValue.integer(4), "it has a number, and takes a text"),
            ("keywords", .string("paper"), "it has a text, and takes an array of texts"),
            ("keywords", .array([.string("paper"), .integer(1)]), "it has a number in its array"),
            ("authors", .array([.string("Ann")]), "takes an array of people"),
            ("pageCount", .string("3"), "it has a text, and takes a number"),
            ("pageCount", .double(.nan), "is not a number"),
            ("contentCreationDate", .string("2026-01-01"), "takes a date"),
            ("contentCreationDate", .date(1.7e12), "Dates are in seconds"),
            ("thumbnailData", .string("PNG"), "takes bytes"),
            ("contentURL", .string("/home/ann/sheet.txt"), #""/home/ann/sheet.txt" is not an absolute URL"#),
            ("contentURL", .string("file:///a b"), "is not an absolute URL"),
        ])
    func kind(_ name: String, _ value: AttributeValue, _ words: String) {
        let reasons = reasons([name: value])
        #expect(reasons.hasPrefix("1 item has the attribute \(name.debugDescription): "), "\(reasons)")
        #expect(reasons.contains(words), "\(reasons)")
    }

    @Test("keeps a bounded number of names")
    func bounded() {
        let many = Dictionary(uniqueKeysWithValues: (0..<3000).map { ("strange\($0)", AttributeValue.integer(1)) })
        let reasons = reasons(many)
        #expect(reasons.contains("… and 495 more"), "\(reasons.suffix(200))")
    }

    @Test("prefers the cause of a failure to its consequences")
    func consequences() {
        let lost = ExtensionError.crashed(
            identifier: "a", during: "preview", exit: .endedAfter(request: "reindex 2 items"), lastOutput: [])
        let cause = ExtensionError.failed(identifier: "a", during: "reindex 2 items", status: .failed, message: "no")
        guard case .failed? = ExtensionError.first(of: [nil, lost, cause, lost]) else {
            Issue.record("The consequence came first.")
            return
        }
        #expect(ExtensionError.first(of: [nil, lost])?.isConsequence == true)
        #expect(ExtensionError.first(of: [nil]) == nil)
        #expect(lost.description.contains("another request (to reindex 2 items) had failed"), "\(lost)")
    }
}
