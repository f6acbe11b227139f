// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery

/// The rows of one item in the attribute index: each attribute with the values by which it is
/// found.
///
/// Numbers, Booleans (0 and 1) and dates (seconds since 2001) are SQLite numbers; texts are keys
/// (``AttributeKey``). ``present`` marks an attribute that only has other values. ``unknown`` marks
/// an attribute with values that are not listed, so that every lookup must include the item.
struct AttributeRows {
    /// The name of the sorted list that a value belongs to.
    enum Name: Hashable {
        case attribute(String)
        /// All attributes that the item declares searchable by default, combined. A query without
        /// an attribute name then reads one list instead of a list for every name that apps have
        /// used, and still finds only matches.
        case searchableByDefault
    }

    /// The distinct values of each searchable attribute that has a value, in the order of attribute
    /// names.
    private(set) var values: [(name: Name, values: [DatabaseValue])] = []
    private var count = 0

    /// A marker for an attribute with a value that queries cannot test: data, NaN.
    static let present = Data([0]).databaseValue
    /// A marker for an attribute with values that are not listed.
    static let unknown = Data([1]).databaseValue

    /// The largest number of listed values of one attribute, and of one item.
    static let maximumPerAttribute = 1024
    static let maximumPerItem = 8192

    init(_ record: ItemRecord) {
        values.reserveCapacity(record.attributes.count + 1)
        var attributes = record.attributes
        // Domain and identifier come from the item, even if an attribute has the same name, as in
        // the evaluator.
        attributes["uniqueIdentifier"] = nil
        if let domain = record.domainIdentifier { attributes["domainIdentifier"] = .string(domain) }
        for (name, value) in attributes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            if record.isSearchable(name) { add(.attribute(name), [value]) }
        }
        // The item's own column serves ASCII identifiers.
        if !record.uniqueIdentifier.utf8.allSatisfy({ $0 < 0x80 }) {
            add(.attribute("uniqueIdentifier"), [.string(record.uniqueIdentifier)])
        }
        guard !record.traits.isEmpty else { return }
        let byDefault = attributes.filter { record.isSearchableByDefault($0.key) }
        add(.searchableByDefault, byDefault.sorted { $0.key < $1.key }.map(\.value))
    }

    private mutating func add(_ name: Name, _ values: [AttributeValue]) {
        guard values.contains(where: Self.isPresent) else { return }
        var list = ValueList(limit: min(Self.maximumPerAttribute, Self.maximumPerItem - count))
        list.isType = name == .attribute("contentType") || name == .attribute("contentTypeTree")
        for value in values { list.add(value) }
        if list.isIncomplete { list.insert(Self.unknown) }
        if list.values.isEmpty { list.insert(Self.present) }
        count += list.values.count
        self.values.append((name, list.values))
    }

    /// Returns `true` if an attribute value counts as present (docs/QUERY-LANGUAGE.md, "Presence,
    /// absence and `!=`"): null and collections without values do not.
    static func isPresent(_ value: AttributeValue) -> Bool {
        switch value {
        case .null: false
        case .array(let values): values.contains(where: isPresent)
        case .dictionary(let values): values.values.contains(where: isPresent)
        case .localizedString(let texts): !texts.isEmpty
        default: true
        }
    }
}

/// The distinct values of one attribute, up to a limit.
private struct ValueList {
    private(set) var values: [DatabaseValue] = []
    private var known: Set<DatabaseValue> = []
    private(set) var isIncomplete = false
    /// `true` if the values are type identifiers. Conformance is tested on the keys, so each key
    /// must equal its type.
    var isType = false
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(_ value: AttributeValue) {
        guard !isIncomplete else { return }
        switch value {
        case .null, .data: return
        case .string(let text), .url(let text): add(text)
        case .integer(let number): insert(number.databaseValue, limit: limit)
        case .double(let number), .date(let number): add(number)
        case .boolean(let truth): insert((truth ? 1 : 0).databaseValue, limit: limit)
        case .person, .localizedString: for text in value.texts { add(text) }
        case .array(let elements): for element in elements { add(element) }
        case .dictionary(let elements):
            // Sorted, so that the same record always yields the same rows, which its deletion
            // relies on.
            for (_, element) in elements.sorted(by: { $0.key < $1.key }) { add(element) }
        }
    }

    private mutating func add(_ text: String) {
        guard let key = AttributeKey.key(of: text) else {
            isIncomplete = true
            return
        }
        if isType, !text.utf8.allSatisfy({ $0 < 0x80 }) { isIncomplete = true }
        insert(key.databaseValue, limit: limit)
    }

    private mutating func add(_ number: Double) {
        guard !number.isNaN else { return }
        // SQLite compares integers and doubles by value, and stores integers in fewer bytes.
        let value = Int64(exactly: number).map(\.databaseValue) ?? number.databaseValue
        insert(value, limit: limit)
    }

    mutating func insert(_ value: DatabaseValue, limit: Int = .max) {
        // A single value, the usual case, needs no set.
        if values.isEmpty, limit > 0 {
            values.append(value)
            return
        }
        if values.count == 1 { known = Set(values) }
        guard values.count < limit else {
            isIncomplete = isIncomplete || !known.contains(value)
            return
        }
        if known.insert(value).inserted { values.append(value) }
    }
}
