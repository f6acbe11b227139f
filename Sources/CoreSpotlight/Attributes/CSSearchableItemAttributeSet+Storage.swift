// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ItemRecord
import UniformTypeIdentifiers

// The accessors of all properties. Inside a property, `#function` is the property's name, which is
// also the attribute's name, so the two cannot differ. An attribute whose value has a different
// kind reads as `nil`.
extension CSSearchableItemAttributeSet {
    func value(_ name: String = #function) -> String? { values[name]?.displayText }

    func value(_ name: String = #function) -> NSNumber? { values[name]?.number }

    func value(_ name: String = #function) -> [String]? { elements(name, \.displayText) }

    func value(_ name: String = #function) -> Date? { values[name]?.moment }

    func value(_ name: String = #function) -> [Date]? { elements(name, \.moment) }

    func value(_ name: String = #function) -> [CSPerson]? { elements(name, \.human) }

    func value(_ name: String = #function) -> URL? {
        guard case .url(let text) = values[name] else { return nil }
        return URL(string: text)
    }

    func value(_ name: String = #function) -> Data? {
        guard case .data(let bytes) = values[name] else { return nil }
        return Data(bytes)
    }

    func value(_ name: String = #function) -> UTType? {
        guard case .string(let identifier) = values[name] else { return nil }
        // A type that this process does not know is still returned as it was set.
        return UTType(identifier) ?? UTType(importedAs: identifier)
    }

    func value(_ name: String = #function) -> [String: [Any]]? {
        guard case .dictionary(let headers) = values[name] else { return nil }
        return headers.compactMapValues { header in
            guard case .array(let values) = header else { return nil }
            return values.compactMap(\.plainValue)
        }
    }

    private func elements<Element>(_ name: String, _ element: (AttributeValue) -> Element?) -> [Element]? {
        guard case .array(let values) = values[name] else { return nil }
        return values.compactMap(element)
    }

    func store(_ value: String?, _ name: String = #function) {
        values[name] = value.map(AttributeValue.string) ?? .null
        lastTextAttribute = name
    }

    func store(_ value: NSNumber?, _ name: String = #function) {
        values[name] = value.map(AttributeValue.init(number:)) ?? .null
    }

    func store(_ value: [String]?, _ name: String = #function) {
        values[name] = value.map { .array($0.map(AttributeValue.string)) } ?? .null
    }

    func store(_ value: Date?, _ name: String = #function) {
        values[name] = value.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null
    }

    func store(_ value: [Date]?, _ name: String = #function) {
        values[name] = value.map { .array($0.map { .date($0.timeIntervalSinceReferenceDate) }) } ?? .null
    }

    func store(_ value: [CSPerson]?, _ name: String = #function) {
        values[name] = value.map { .array($0.map { .person($0.value) }) } ?? .null
    }

    func store(_ value: URL?, _ name: String = #function) {
        values[name] = value.map { .url($0.absoluteString) } ?? .null
    }

    func store(_ value: Data?, _ name: String = #function) {
        values[name] = value.map { .data([UInt8]($0)) } ?? .null
    }

    func store(_ value: UTType?, _ name: String = #function) {
        values[name] = value.map { .string($0.identifier) } ?? .null
    }

    func store(_ value: [String: [Any]]?, _ name: String = #function) {
        values[name] =
            value.map { headers in
                .dictionary(headers.mapValues { .array($0.compactMap { AttributeValue(foundation: $0) }) })
            } ?? .null
    }
}
