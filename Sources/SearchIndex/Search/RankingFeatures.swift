// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import UserSearch

/// The parts of an item that the rule of ranking depends on (docs/SEARCH.md).
///
/// A search ranks hundreds of items, so they are read from the bytes of a record where these hold nothing unusual
/// (``init(scanning:donated:)``). That takes a tenth of the time of decoding it.
struct RankingFeatures: Equatable {
    /// The text of each field, by its number (`TextField`).
    var fields: [String]
    /// The languages that the item names.
    var languages: [String]
    /// The date by which it is new or old, in seconds since 2001 (``Freshness``).
    var date: Double
    var identifier: String
    /// Its `contentURL`.
    var address: String?
    /// What its app says of it (``BundleOrder``).
    var importance: Double

    /// The features of a record, whatever it holds.
    init(_ record: ItemRecord, donated: Double) {
        fields = SearchableText.fields(of: record)
        languages = record.texts("languages")
        date = Freshness.date(of: record, donated: donated)
        identifier = record.uniqueIdentifier
        address = record.text("contentURL")
        importance = BundleOrder.importance(of: record)
    }

    /// The features of an encoded record; `nil` if it has to be decoded: it is damaged or holds texts in several languages, names
    /// of attributes with other letters than those of ASCII, or other unusual things.
    init?(scanning bytes: UnsafeBufferPointer<UInt8>, donated: Double) {
        guard let scan = FeatureScan(bytes, donated: donated), let fields = scan.fields(),
            let identifier = String(validating: bytes[scan.identifier], as: UTF8.self)
        else { return nil }
        (self.fields, self.identifier) = (fields, identifier)
        (date, importance) = (scan.latest ?? donated, scan.importance.factor)
        languages = []
        for range in scan.languages {
            guard let language = String(validating: bytes[range], as: UTF8.self) else { return nil }
            languages.append(language)
        }
        if let range = scan.address {
            guard let text = String(validating: bytes[range], as: UTF8.self) else { return nil }
            address = text
        }
    }

    /// In which language the forms of its words are found.
    var language: WordLanguage { LanguageGuess.indexLanguage(tags: languages, text: SearchableText.telling(fields)) }

    /// What else the item may be called: its identifier, and the name of its file with and without the suffix.
    var names: [String] {
        var names = [identifier]
        if let address, let last = address.split(separator: "/").last {
            let name = String(last).removingPercentEncoding ?? String(last)
            names.append(name)
            if let dot = name.lastIndex(of: "."), dot > name.startIndex { names.append(String(name[..<dot])) }
        }
        return names
    }
}

/// What an attribute is to ranking.
private enum FeatureRole {
    /// A text of a field, and its place among the attributes of the field.
    case text(TextField, order: Int)
    case date, language, address, rankingHint, userFlag

    static let all: [(name: String, role: FeatureRole)] =
        SearchableText.attributes.flatMap { field, names in
            names.enumerated().map { ($1, .text(field, order: $0)) }
        } + Freshness.attributes.map { ($0, .date) }
        + [("languages", .language), ("contentURL", .address), ("rankingHint", .rankingHint)]
        + BundleOrder.userFlags.map { ($0, .userFlag) }
}

/// The roles of attributes by the bytes of their names: a hash table with open addressing.
private struct FeatureTable {
    private let names: [[UInt8]]
    private let roles: [FeatureRole]
    /// One more than the position of a name; 0 in an empty slot.
    private var slots = [UInt8](repeating: 0, count: slotCount)

    private static let slotCount = 256

    static let standard = FeatureTable(FeatureRole.all)

    private init(_ all: [(name: String, role: FeatureRole)]) {
        names = all.map { Array($0.name.utf8) }
        roles = all.map(\.role)
        for (index, name) in names.enumerated() {
            var slot = name.withUnsafeBufferPointer(Self.slot)
            while slots[slot] != 0 { slot = (slot + 1) % Self.slotCount }
            slots[slot] = UInt8(truncatingIfNeeded: index + 1)
        }
    }

    /// FNV-1a.
    private static func slot(_ name: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt32 = 0x811C_9DC5
        for byte in name { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int(hash ^ hash >> 16) % slotCount
    }

    subscript(name: UnsafeBufferPointer<UInt8>) -> FeatureRole? {
        var slot = Self.slot(name)
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            if names[index].count == name.count, names[index].elementsEqual(name) { return roles[index] }
            slot = (slot + 1) % Self.slotCount
        }
        return nil
    }
}

/// One walk over the bytes of a record.
private struct FeatureScan {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var identifier = 0..<0
    private(set) var languages: [Range<Int>] = []
    private(set) var latest: Double?
    private(set) var address: Range<Int>?
    private(set) var importance = BundleOrder.Importance()
    /// The texts of fields, to be put into the order of their attributes.
    private var texts: [(field: TextField, order: Int, range: Range<Int>)] = []

    /// Attributes that an item itself calls searchable come behind the others of their field.
    private static let firstCustom = 1 << 16

    init?(_ bytes: UnsafeBufferPointer<UInt8>, donated: Double) {
        self.bytes = bytes
        var scanner = RecordScanner(bytes)
        guard let header = scanner.header(), let count = scanner.count() else { return nil }
        identifier = header.identifier
        let table = FeatureTable.standard
        var before = UnsafeBufferPointer(rebasing: bytes[0..<0])
        for number in 0..<count {
            guard let range = scanner.text(), let traits = scanner.traits() else { return nil }
            let name = UnsafeBufferPointer(rebasing: bytes[range])
            // Other spellings of a name are canonically equivalent, and a name that is there twice is damage.
            guard name.allSatisfy({ $0 < 0x80 }), number == 0 || before.lexicographicallyPrecedes(name) else {
                return nil
            }
            before = name
            let isRead: Bool
            switch table[name] {
            case .text(let field, let order):
                isRead =
                    traits.contains(.searchable)
                    ? addTexts(field, order, &scanner) : scanner.skipValue(depth: 0)
            case let role where Self.isCustom(name, traits):
                // It may have another role as well, which is left to decoding.
                guard role == nil else { return nil }
                isRead = addTexts(.description, Self.firstCustom + number, &scanner)
            case .date: isRead = addDate(donated, &scanner)
            case .language: isRead = scanner.forEachText { languages.append($0) }
            case .address: isRead = scanner.forEachText { address = address ?? $0 }
            case .rankingHint, .userFlag:
                guard let number = scanner.number() else { return nil }
                if case .rankingHint = table[name] {
                    importance.add(hint: number)
                } else {
                    importance.add(flag: number)
                }
                isRead = true
            case nil: isRead = scanner.skipValue(depth: 0)
            }
            guard isRead else { return nil }
        }
        guard scanner.isAtEnd else { return nil }
    }

    private static func isCustom(_ name: UnsafeBufferPointer<UInt8>, _ traits: AttributeTraits) -> Bool {
        traits.isSuperset(of: [.searchable, .searchableByDefault])
            && AttributeTraits.apply(to: String(decoding: name, as: UTF8.self))
    }

    private mutating func addTexts(_ field: TextField, _ order: Int, _ scanner: inout RecordScanner) -> Bool {
        scanner.forEachText { texts.append((field, order, $0)) }
    }

    private mutating func addDate(_ donated: Double, _ scanner: inout RecordScanner) -> Bool {
        guard let date = scanner.date() else { return scanner.skipValue(depth: 0) }
        if date.isFinite, date <= donated { latest = max(latest ?? date, date) }
        return true
    }

    /// The text of each field; `nil` if one is no UTF-8.
    func fields() -> [String]? {
        var fields = [String](repeating: "", count: TextField.allCases.count)
        for field in TextField.allCases {
            let parts = texts.filter { $0.field == field }
            guard let first = parts.first else { continue }
            let text: String?
            if parts.count == 1 {
                text = String(validating: bytes[first.range], as: UTF8.self)
            } else {
                var joined: [UInt8] = []
                // A stable sort: the texts of an attribute keep their order.
                for part in parts.enumerated().sorted(by: {
                    ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
                }) {
                    if !joined.isEmpty { joined.append(0x0A) }
                    joined += bytes[part.element.range]
                }
                text = String(validating: joined, as: UTF8.self)
            }
            guard let text else { return nil }
            fields[field.rawValue] = SearchableText.harmless(text)
        }
        return fields
    }
}
