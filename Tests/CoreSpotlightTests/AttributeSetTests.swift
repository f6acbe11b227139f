// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import Testing

@testable import CoreSpotlight

@Suite("Attribute sets")
struct AttributeSetTests {
    let set = CSSearchableItemAttributeSet()

    /// Sets and reads each property separately, checks the stored value and its name, then sets
    /// nil.
    private func check<Value: Equatable>(
        _ properties: AttributeTable.Properties<Value?>, _ value: Value, as stored: AttributeValue
    ) {
        for (name, property) in properties {
            let set = CSSearchableItemAttributeSet()
            #expect(set[keyPath: property] == nil, "\(name)")
            set[keyPath: property] = value
            #expect(set[keyPath: property] == value, "\(name)")
            #expect(set.values == [name: stored], "\(name)")
            set[keyPath: property] = nil
            #expect(set[keyPath: property] == nil, "\(name)")
            #expect(set.values == [name: .null], "\(name)")
        }
    }

    @Test func everyPropertyKeepsItsValueUnderItsName() throws {
        check(AttributeTable.texts, "Übung", as: .string("Übung"))
        check(AttributeTable.textLists, ["a", "b"], as: .array([.string("a"), .string("b")]))
        check(AttributeTable.numbers, NSNumber(value: 42), as: .integer(42))
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
        check(AttributeTable.dates, date, as: .date(700_000_000.25))
        check(
            AttributeTable.dateLists, [date, .distantPast], as: .array([.date(700_000_000.25), .date(-63_114_076_800)]))
        check(AttributeTable.data, Data([0, 255]), as: .data([0, 255]))
        let url = try #require(URL(string: "https://example.com/a%20b?q=1#f"))
        check(AttributeTable.urls, url, as: .url("https://example.com/a%20b?q=1#f"))
        let type = try #require(UTType("public.jpeg"))
        check(AttributeTable.types, type, as: .string("public.jpeg"))
        let person = CSPerson(displayName: "Ada", handles: ["ada@example.com"], handleIdentifier: "emailAddresses")
        check(AttributeTable.personLists, [person], as: .array([.person(person.value)]))
    }

    @Test func theTableHasEveryPropertyThatCanBeSet() {
        let names =
            AttributeTable.texts.map(\.name) + AttributeTable.textLists.map(\.name)
            + AttributeTable.plainTextLists.map(\.name)
            + AttributeTable.urls.map(\.name) + AttributeTable.data.map(\.name) + AttributeTable.dates.map(\.name)
            + AttributeTable.dateLists.map(\.name) + AttributeTable.numbers.map(\.name)
            + AttributeTable.plainNumbers.map(\.name) + AttributeTable.types.map(\.name)
            + AttributeTable.personLists.map(\.name) + AttributeTable.headers.map(\.name)
        // 190 properties in total; textContentSummary and isPriority are read-only.
        #expect(Set(names).count == 188)
        #expect(names.count == 188)
        #expect(Set(names + ["textContentSummary", "isPriority"]) == AttributeNames.standard)
    }

    @Test func theTableOfKindsSaysTheTypeOfEachProperty() {
        func check<Value>(_ properties: AttributeTable.Properties<Value>, _ kinds: AttributeValueKind...) {
            for (name, _) in properties {
                #expect(AttributeNames.kind(of: name).map(kinds.contains) == true, "\(name)")
            }
        }
        check(AttributeTable.texts, .text)
        check(AttributeTable.textLists, .texts)
        check(AttributeTable.plainTextLists, .texts)
        check(AttributeTable.urls, .url)
        check(AttributeTable.data, .data)
        check(AttributeTable.dates, .date)
        check(AttributeTable.dateLists, .dates)
        check(AttributeTable.numbers, .number, .truth)
        check(AttributeTable.plainNumbers, .truth)
        check(AttributeTable.types, .text)
        check(AttributeTable.personLists, .people)
        check(AttributeTable.headers, .headers)
        #expect(AttributeNames.kind(of: "textContentSummary") == .text)
        #expect(AttributeNames.kind(of: "com_example_mood") == nil)
    }

    @Test func propertiesThatAreNeverNilHaveDefaults() {
        #expect(set.actionIdentifiers == [])
        #expect(set.likelyJunk == 0)
        set.actionIdentifiers = ["reply"]
        set.likelyJunk = true
        #expect(set.actionIdentifiers == ["reply"])
        #expect(set.values["likelyJunk"] == .boolean(true))
    }

    @Test func propertiesOfTheSystemAreReadFromWhatItStored() {
        #expect(set.textContentSummary == nil && set.isPriority == nil)
        let found = CSSearchableItemAttributeSet(values: [
            "textContentSummary": .string("s"), "isPriority": .integer(1),
        ])
        #expect(found.textContentSummary == "s" && found.isPriority == 1)
    }

    @Test func numbersKeepTheirKind() {
        let kinds: [(NSNumber, AttributeValue)] = [
            (true, .boolean(true)), (NSNumber(value: false), .boolean(false)), (1, .integer(1)), (0, .integer(0)),
            (NSNumber(value: Int8(1)), .integer(1)), (NSNumber(value: UInt8(255)), .integer(255)),
            (NSNumber(value: Int64.min), .integer(.min)), (NSNumber(value: UInt64(5)), .integer(5)), (1.0, .double(1)),
            (NSNumber(value: Float(0.5)), .double(0.5)),
            (NSNumber(value: UInt64.max), .double(18_446_744_073_709_551_616)),
            (NSDecimalNumber(string: "1.5"), .double(1.5)),
        ]
        for (number, value) in kinds {
            set.rating = number
            #expect(set.values["rating"] == value, "\(number)")
            #expect(set.rating == number, "\(number)")
        }
    }

    @Test func mailHeadersKeepTheirValues() {
        set.emailHeaders = ["To": ["a@b.c", "d@e.f"], "X-Spam": [3, true], "Odd": [UUID()]]
        #expect(
            set.values["emailHeaders"]
                == .dictionary([
                    "To": .array([.string("a@b.c"), .string("d@e.f")]),
                    "X-Spam": .array([.integer(3), .boolean(true)]),
                    "Odd": .array([]),
                ]))
        #expect(set.emailHeaders?["To"] as? [String] == ["a@b.c", "d@e.f"])
        #expect(set.emailHeaders?["X-Spam"]?.count == 2)
        set.emailHeaders = nil
        #expect(set.emailHeaders == nil)
    }

    @Test func anyTextMayBeTheContentType() throws {
        #expect(CSSearchableItemAttributeSet().contentType == nil)
        #expect(CSSearchableItemAttributeSet(itemContentType: "Team").contentType == "Team")
        #expect(
            CSSearchableItemAttributeSet(contentType: try #require(UTType("public.text"))).contentType == "public.text")
        set.contentType = "no type at all"
        #expect(set.contentType == "no type at all")
    }

    @Test func aPersonChangedLaterDoesNotChangeTheSet() {
        let person = CSPerson(displayName: nil, handles: [], handleIdentifier: "k")
        set.authors = [person]
        person.contactIdentifier = "later"
        #expect(set.authors?.first?.contactIdentifier == nil)
    }

    @Test func aValueOfAnotherKindReadsAsNil() {
        let odd = CSSearchableItemAttributeSet(values: [
            "title": .integer(1), "rating": .string("x"), "url": .string("x"), "dueDate": .integer(1),
            "keywords": .string("x"), "authors": .array([.string("x")]), "emailHeaders": .array([]),
        ])
        #expect(odd.title == nil && odd.rating == nil && odd.url == nil && odd.dueDate == nil && odd.keywords == nil)
        #expect(odd.authors == [] && odd.emailHeaders == nil)
    }

    @Test func copiesAreIndependent() throws {
        set.title = "one"
        let copy = try #require(set.copy() as? CSSearchableItemAttributeSet)
        set.title = "two"
        copy.keywords = ["k"]
        #expect(copy.title == "one" && set.title == "two" && set.keywords == nil)
    }

    @Test func archivesBringBackEveryKindOfValue() throws {
        set.title = "t"
        set.rating = 4.5
        set.flashOn = true
        set.keywords = ["a"]
        set.authors = [CSPerson(displayName: "Ada", handles: ["h"], handleIdentifier: "k")]
        set.subject = nil
        let data = try NSKeyedArchiver.archivedData(withRootObject: set, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CSSearchableItemAttributeSet.self, from: data)
        #expect(read?.values == set.values)
    }

    @Test func localizedTextsReadInThePersonsLanguage() {
        let texts = ["de": "Haus", "en": "house", "pt-BR": "casa"]
        #expect(CSLocalizedString.text(in: texts, languages: ["de-AT"]) == "Haus")
        #expect(CSLocalizedString.text(in: texts, languages: ["ja", "pt_BR"]) == "casa")
        #expect(CSLocalizedString.text(in: texts, languages: ["ja"]) == "house")
        #expect(CSLocalizedString.text(in: ["fr": "maison", "it": "casa"], languages: ["ja"]) == "maison")
        #expect(CSLocalizedString.text(in: [:], languages: ["ja"]) == "")
    }

    @Test func localizedTextsAreStringsAndKeepTheirTranslations() throws {
        let text = CSLocalizedString(localizedStrings: ["fr": "été", 5: "left out"])
        #expect(text.localizedString() == "été")
        #expect(text as String == "été")
        #expect(text.length == 3)
        #expect(text.isEqual(to: "été"))
        set.setLocalizedString(text, for: \.displayName)
        #expect(set.values == ["displayName": .localizedString(["fr": "été"])])
        #expect(set.displayName == "été")
        set.setLocalizedString(nil, for: \.displayName)
        #expect(set.displayName == nil)
    }

    @Test func thePersonsLanguagesComeFromTheEnvironment() {
        func languages(_ environment: [String: String]) -> [String] { CSLocalizedString.languages(environment) }
        #expect(languages(["LANG": "de_AT.UTF-8@euro"]) == ["de_AT"])
        #expect(languages(["LANG": "de_DE", "LC_ALL": "", "LC_MESSAGES": "fr"]) == ["fr"])
        #expect(languages(["LANG": "de_DE", "LANGUAGE": "pt_BR:it"]) == ["pt_BR", "it", "de_DE"])
        #expect(languages(["LANG": "C.UTF-8", "LANGUAGE": "it"]) == [])
        #expect(languages([:]) == [])
    }

    @Test func movingTakesEverythingOver() {
        let (target, source) = (CSSearchableItemAttributeSet(), CSSearchableItemAttributeSet())
        target.title = "old"
        target.comment = "stays"
        source.title = "new"
        source.subject = nil
        let key = CSCustomAttributeKey(
            keyName: "k", searchable: false, searchableByDefault: false, unique: false, multiValued: false)!
        source.setValue(NSNumber(value: 1), forCustomKey: key)
        target.move(from: source)
        #expect(target.title == "new" && target.comment == "stays" && target.values["subject"] == .null)
        #expect(target.traits["k"] != nil && source.values.isEmpty && source.traits.isEmpty)
        target.move(from: target)
        #expect(target.title == "new")
    }
}
