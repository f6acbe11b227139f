// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import UserSearch

/// The properties of an item that the ranking rule uses (docs/SEARCH.md).
///
/// A search ranks hundreds of items. If a record contains nothing unusual, the features are read
/// directly from its bytes (``init(scanning:donated:)``), which takes a tenth of the time needed to
/// decode it.
struct RankingFeatures: Equatable {
    /// The text of each field, by its number (`TextField`).
    var fields: [String]
    /// The languages declared by the item.
    var languages: [String]
    /// The date that determines freshness, in seconds since 2001 (``Freshness``).
    var date: Double
    var identifier: String
    /// The item's `contentURL`.
    var address: String?
    /// The importance that the app assigns to the item (``BundleOrder``).
    var importance: Double

    /// Extracts the features of a decoded record.
    init(_ record: ItemRecord, donated: Double) {
        fields = SearchableText.fields(of: record)
        languages = record.texts("languages")
        date = Freshness.date(of: record, donated: donated)
        identifier = record.uniqueIdentifier
        address = record.text("contentURL")
        importance = BundleOrder.importance(of: record)
    }

    /// Extracts the features of an encoded record. Returns `nil` if the record has to be decoded.
    /// That is the case for damaged records and for unusual content, such as texts in several
    /// languages or non-ASCII attribute names.
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

    /// The language that determines the forms of the item's words.
    var language: WordLanguage { LanguageGuess.indexLanguage(tags: languages, text: SearchableText.telling(fields)) }

    /// Additional names of the item: its identifier, and its file name with and without the
    /// extension.
    var names: [String] {
        var names = [identifier]
        if let address, let last = address.utf8.split(separator: UInt8(ascii: "/")).last {
            let written = String(Substring(last))
            let isEncoded = last.contains(UInt8(ascii: "%"))
            let name = isEncoded ? written.removingPercentEncoding ?? written : written
            names.append(name)
            if let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex {
                names.append(String(name[..<dot]))
            }
        }
        return names
    }
}

/// The role of an attribute in ranking.
private enum FeatureRole {
    /// A text of a field, and the position of its attribute within the field.
    case text(TextField, order: Int)
    case date, language, address, rankingHint, userFlag

    static let all: [(name: String, role: FeatureRole)] =
        SearchableText.attributes.flatMap { field, names in
            names.enumerated().map { ($1, .text(field, order: $0)) }
        } + Freshness.attributes.map { ($0, .date) }
        + [("languages", .language), ("contentURL", .address), ("rankingHint", .rankingHint)]
        + BundleOrder.userFlags.map { ($0, .userFlag) }
}

/// Maps the bytes of attribute names to roles: a hash table with open addressing.
private struct FeatureTable {
    private let names: [[UInt8]]
    private let roles: [FeatureRole]
    /// The position of a name plus one; 0 for an empty slot.
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

    /// The FNV-1a hash.
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

/// A single pass over the bytes of a record.
private struct FeatureScan {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var identifier = 0..<0
    private(set) var languages: [Range<Int>] = []
    private(set) var latest: Double?
    private(set) var address: Range<Int>?
    private(set) var importance = BundleOrder.Importance()
    /// The texts of fields, before sorting by attribute order.
    private var texts: [(field: TextField, order: Int, range: Range<Int>)] = []

    /// The first position of custom attributes, which follow the other attributes of their field.
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
            // Other spellings of a name may be canonically equivalent, and a repeated name means
            // damage.
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
                // The attribute may also have another role, which requires decoding.
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

    /// Returns the text of each field; `nil` if a text is not valid UTF-8.
    func fields() -> [String]? {
        var fields = [String](repeating: "", count: TextField.allCases.count)
        for field in TextField.allCases {
            guard let first = texts.first(where: { $0.field == field }) else { continue }
            let text: String?
            if texts.count(where: { $0.field == field }) == 1 {
                text = String(validating: bytes[first.range], as: UTF8.self)
            } else {
                let parts = texts.filter { $0.field == field }
                var joined: [UInt8] = []
                // A stable sort, so that the texts of an attribute keep their order.
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
