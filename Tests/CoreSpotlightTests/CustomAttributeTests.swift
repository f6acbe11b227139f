// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Testing

@testable import CoreSpotlight

@Suite("Custom attributes")
struct CustomAttributeTests {
    @Test(arguments: ["com_example_app_mood", "a", "Z9", "_", String(repeating: "a", count: 4096), "KMDx", "xkMD"])
    func allowedNames(_ name: String) throws {
        let key = try #require(CSCustomAttributeKey(keyName: name))
        #expect(key.keyName == name)
        #expect(key.isSearchable && !key.isSearchableByDefault && !key.isUnique && !key.isMultiValued)
    }

    @Test(arguments: [
        "", "com.example.mood", "a b", "größe", "a-b", "kMDItemTitle", "kMD", "a\u{0}b",
        String(repeating: "a", count: 4097),
    ])
    func refusedNames(_ name: String) {
        #expect(CSCustomAttributeKey(keyName: name) == nil)
    }

    @Test func keysAreComparedCopiedAndArchivedWithTheirTraits() throws {
        func make(_ unique: Bool) throws -> CSCustomAttributeKey {
            try #require(
                CSCustomAttributeKey(
                    keyName: "k", searchable: false, searchableByDefault: true, unique: unique, multiValued: true))
        }
        let key = try make(true)
        #expect(!key.isSearchable && key.isSearchableByDefault && key.isUnique && key.isMultiValued)
        #expect(try key == make(true))
        #expect(try key != make(false))
        #expect(key.copy() as? CSCustomAttributeKey == key)
        let data = try NSKeyedArchiver.archivedData(withRootObject: key, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CSCustomAttributeKey.self, from: data) == key)
    }

    @Test func valuesOfEveryAllowedKindComeBack() throws {
        let key = try #require(CSCustomAttributeKey(keyName: "com_example_k"))
        let person = CSPerson(displayName: "Ada", handles: ["h"], handleIdentifier: "k")
        let date = NSDate(timeIntervalSinceReferenceDate: 5)
        let values: [(any NSObjectProtocol & NSSecureCoding, AttributeValue)] = [
            ("text" as NSString, .string("text")), (NSNumber(value: 7), .integer(7)),
            (NSNumber(value: true), .boolean(true)),
            (NSNumber(value: 0.5), .double(0.5)), (NSData(data: Data([1])), .data([1])), (date, .date(5)),
            (person, .person(person.value)),
            (NSArray(array: ["a" as NSString, NSNumber(value: 1)]), .array([.string("a"), .integer(1)])),
            (NSArray(array: [person]), .array([.person(person.value)])),
        ]
        let set = CSSearchableItemAttributeSet()
        for (value, stored) in values {
            set.setValue(value, forCustomKey: key)
            #expect(set.values == ["com_example_k": stored])
            let read = try #require(set.value(forCustomKey: key) as? any NSObjectProtocol)
            #expect(read.isEqual(value), "\(value)")
        }
    }

    @Test func nilNullAndUnknownClassesRemove() throws {
        let key = try #require(CSCustomAttributeKey(keyName: "k"))
        let set = CSSearchableItemAttributeSet()
        let removers: [(any NSSecureCoding)?] = [nil, NSNull(), NSUUID(), NSArray(array: [NSUUID()])]
        for remover in removers {
            set.setValue("x" as NSString, forCustomKey: key)
            set.setValue(remover, forCustomKey: key)
            #expect(set.value(forCustomKey: key) == nil)
        }
    }

    @Test func theTraitsOfTheLastKeyGoWithTheValue() throws {
        func key(_ searchableByDefault: Bool) throws -> CSCustomAttributeKey {
            try #require(
                CSCustomAttributeKey(
                    keyName: "k", searchable: true, searchableByDefault: searchableByDefault, unique: true,
                    multiValued: false))
        }
        let set = CSSearchableItemAttributeSet()
        set.setValue("x" as NSString, forCustomKey: try key(true))
        #expect(set.traits == ["k": [.searchable, .searchableByDefault, .unique]])
        let copy = try #require(set.copy() as? CSSearchableItemAttributeSet)
        let data = try NSKeyedArchiver.archivedData(withRootObject: set, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CSSearchableItemAttributeSet.self, from: data)
        set.setValue("x" as NSString, forCustomKey: try key(false))
        #expect(set.traits == ["k": [.searchable, .unique]])
        #expect(copy.traits == ["k": [.searchable, .searchableByDefault, .unique]])
        #expect(read?.traits == copy.traits && read?.values == copy.values)
        set.setValue("x" as NSString, forCustomKey: try #require(CSCustomAttributeKey(keyName: "k")))
        #expect(set.traits == [:])
        set.setValue("x" as NSString, forCustomKey: try key(true))
        set.setValue(nil, forCustomKey: try key(true))
        #expect(set.traits == [:] && set.values == ["k": .null])
    }

    @Test func itemsAreDonatedCopiedAndArchivedWithTheTraits() throws {
        let key = try #require(
            CSCustomAttributeKey(
                keyName: "k", searchable: false, searchableByDefault: true, unique: false, multiValued: true))
        let set = CSSearchableItemAttributeSet()
        // The value determines whether it is an array.
        set.setValue("x" as NSString, forCustomKey: key)
        let item = CSSearchableItem(uniqueIdentifier: "1", domainIdentifier: nil, attributeSet: set)
        #expect(item.record.traits == ["k": [.searchableByDefault, .multiValued]])
        #expect(item.record.attributes == ["k": .string("x")])
        let copy = try #require(item.copy() as? CSSearchableItem)
        let data = try NSKeyedArchiver.archivedData(withRootObject: item, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CSSearchableItem.self, from: data)
        #expect(copy.record == item.record && read?.record == item.record)
    }

    @Test func nestingDeeperThanARecordAllowsIsLeftOut() throws {
        let key = try #require(CSCustomAttributeKey(keyName: "k"))
        let set = CSSearchableItemAttributeSet()
        var nested: NSArray = ["leaf"]
        for _ in 0..<(ItemRecord.maximumDepth - 1) { nested = [nested] }
        set.setValue(nested, forCustomKey: key)
        #expect(set.value(forCustomKey: key) != nil)
        #expect(throws: Never.self) { try ItemRecord(uniqueIdentifier: "i", attributes: set.values).encoded() }
        set.setValue(NSArray(array: [nested]), forCustomKey: key)
        #expect(set.value(forCustomKey: key) == nil)
    }

    @Test func peopleAreComparedByTheirFieldsAndArchived() throws {
        let person = CSPerson(displayName: nil, handles: ["1", "2"], handleIdentifier: "phoneNumbers")
        person.contactIdentifier = "c"
        let data = try NSKeyedArchiver.archivedData(withRootObject: person, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CSPerson.self, from: data) == person)
        let copy = try #require(person.copy() as? CSPerson)
        copy.contactIdentifier = nil
        #expect(copy != person)
    }
}
