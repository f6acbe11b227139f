// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import Previews
import SearchIndex
import SearchlightEngine

/// Converts an item to named values for launchers (docs/DBUS.md).
enum LauncherItem {
    /// The maximum nesting depth of a value. Deeper values are reduced to their texts.
    private static let maximumDepth = 4
    /// The maximum length of a snippet in characters.
    static let snippetLength = 160

    /// Returns the values for an item that a search found.
    ///
    /// - Parameter hasAttributes: `true` if attributes were requested.
    static func found(_ hit: FoundItem, hasAttributes: Bool) -> [String: BusValue] {
        var values = common(hit.item, title: hit.title, contentType: hit.contentType, path: hit.path)
        values["score"] = .double(hit.score)
        values["kind"] = .string("\(hit.fit)")
        if let snippet = hit.snippet { values["snippet"] = .string(text: snippet.text) }
        if hasAttributes { values["attributes"] = value(of: hit.item.record.attributes, depth: 2) }
        return values
    }

    /// Returns all values for an item.
    static func all(of item: StoredItem) -> [String: BusValue] {
        var values = common(
            item, title: item.displayTitle, contentType: item.contentType, path: item.record.contentPath)
        if let domain = item.record.domainIdentifier { values["domain"] = .string(text: domain) }
        values["donated"] = .double(item.donated + unixTimeOfReferenceDate)
        if let expires = item.expires { values["expires"] = .double(expires + unixTimeOfReferenceDate) }
        values["attributes"] = value(of: item.record.attributes, depth: 2)
        return values
    }

    /// Returns the amount of donations that are not included yet.
    static func pending(_ amount: PendingDonations.Amount) -> [String: BusValue] {
        [
            "donations": .unsigned(UInt64(clamping: amount.donations)),
            "items": .unsigned(UInt64(clamping: amount.items)), "bytes": .unsigned(UInt64(clamping: amount.bytes)),
        ]
    }

    private static func common(
        _ item: StoredItem, title: String, contentType: String?, path: String?
    ) -> [String: BusValue] {
        var values: [String: BusValue] = [
            "number": .unsigned(UInt64(max(0, item.number))), "bundle": .string(text: item.scope.bundle),
            "uniqueIdentifier": .string(text: item.record.uniqueIdentifier),
            "title": .string(text: title),
        ]
        if let index = item.scope.index { values["index"] = .string(text: index) }
        if let contentType { values["contentType"] = .string(text: contentType) }
        if let path { values["path"] = .string(text: path) }
        return values
    }

    /// 2001-01-01 00:00 UTC in seconds since 1970.
    private static let unixTimeOfReferenceDate = 978_307_200.0

    static func value(of entries: [String: AttributeValue], depth: Int) -> BusValue {
        var values: [String: BusValue] = [:]
        for (name, entry) in entries where name.isFitForBus { values[name] = value(of: entry, depth: depth + 1) }
        return .dictionary(values)
    }

    /// Returns the bus value for an attribute; `nil` if it has none. Values beyond the maximum
    /// depth are reduced to their texts.
    private static func value(of attribute: AttributeValue, depth: Int) -> BusValue? {
        switch attribute {
        case .null: return nil
        case .string(let text), .url(let text): return .string(text: text)
        case .integer(let number): return .signed(number)
        case .double(let number): return .double(number)
        case .boolean(let truth): return .boolean(truth)
        case .date(let moment): return .double(moment + unixTimeOfReferenceDate)
        case .data(let bytes): return .bytes(bytes)
        case .person, .localizedString, .array, .dictionary:
            guard depth <= maximumDepth else { return texts(of: attribute) }
        }
        switch attribute {
        case .person(let person): return .dictionary(value(of: person))
        case .localizedString(let texts): return value(of: texts.mapValues { .string($0) }, depth: depth)
        case .dictionary(let entries): return value(of: entries, depth: depth)
        case .array(let elements):
            let people = elements.compactMap { element -> [String: BusValue]? in
                if case .person(let person) = element { value(of: person) } else { nil }
            }
            return !people.isEmpty && people.count == elements.count ? .dictionaries(people) : texts(of: attribute)
        default: return nil
        }
    }

    /// Returns an attribute's texts. D-Bus has no arrays of mixed types, so numbers and dates in an
    /// array become texts.
    private static func texts(of attribute: AttributeValue) -> BusValue {
        guard case .array(let elements) = attribute else { return .strings(attribute.texts.map(\.fitForBus)) }
        return .strings(
            elements.flatMap { element -> [String] in
                switch element {
                case .integer(let number): ["\(number)"]
                case .double(let number): ["\(number)"]
                case .boolean(let truth): ["\(truth)"]
                case .date(let moment): ["\(moment + unixTimeOfReferenceDate)"]
                default: element.texts
                }
            }.map(\.fitForBus))
    }

    private static func value(of person: PersonValue) -> [String: BusValue] {
        var values: [String: BusValue] = [
            "handles": .strings(person.handles.map(\.fitForBus)),
            "handleIdentifier": .string(text: person.handleIdentifier),
        ]
        if let name = person.displayName { values["displayName"] = .string(text: name) }
        if let contact = person.contactIdentifier { values["contactIdentifier"] = .string(text: contact) }
        return values
    }
}
