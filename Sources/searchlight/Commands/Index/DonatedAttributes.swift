// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import JSONText
import MetadataQuery
import Previews
import Synchronization

/// The attributes on a donation line, in stored form: each under its property name, with a value of
/// the property's kind.
struct DonatedAttributes {
    /// A note on an attribute whose value was converted or whose name may be misspelled.
    struct Note: Hashable {
        var attribute: String
        var text: String
    }

    private(set) var values: [String: AttributeValue] = [:]
    private(set) var notes: Set<Note> = []

    /// Converts the attributes on a line.
    ///
    /// - Parameter keys: The names that the line declares as custom attributes, which are not
    ///   checked for misspellings.
    /// - Throws: ``LineRefusal`` for a value of the wrong kind, or if two names denote the same
    ///   attribute.
    init(_ fields: [JSONValue.Field], keys: Set<String>) throws(LineRefusal) {
        var names: [String: String] = [:]
        for field in fields {
            let name = AttributeNames.propertyName(for: field.key)
            if let other = names.updateValue(field.key, forKey: name) {
                throw LineRefusal("\(other) and \(field.key) both name the attribute \(name). Leave out one")
            }
            guard let kind = AttributeNames.kind(of: name) else {
                values[name] = try own(field.value, name)
                if !keys.contains(name) { noteMisspelling(of: name) }
                continue
            }
            let reader = ValueReader(attribute: field.key, kind: kind)
            let (value, conversions) = try reader.read(field.value)
            values[name] = value
            for conversion in conversions { notes.insert(Note(attribute: field.key, text: conversion.rawValue)) }
        }
    }

    private mutating func noteMisspelling(of name: String) {
        // A short name is similar to too many others.
        guard name.utf8.count > 3 else { return }
        guard let near = Self.suggestion(for: name) else { return }
        notes.insert(Note(attribute: name, text: "this attribute has no predefined meaning. \(near)"))
    }

    /// A cache of suggestions by name, because lines use the same names. Its size is bounded,
    /// because the size of the input is not.
    private static let suggestions = Mutex<[String: String?]>([:])

    private static func suggestion(for name: String) -> String? {
        suggestions.withLock { known in
            if let found = known[name] { return found }
            let found = SpellingSuggestions.sentence(to: name, among: AttributeNames.standard(for: name).sorted())
            if known.count < LineDonation.maximumNotes { known.updateValue(found, forKey: name) }
            return found
        }
    }

    /// Converts the value of a custom or unknown attribute.
    private func own(_ value: JSONValue, _ name: String) throws(LineRefusal) -> AttributeValue {
        switch value {
        case .null: return .null
        case .bool(let truth): return .boolean(truth)
        case .integer(let number): return .integer(number)
        case .number(let number): return AttributeValue(number: number)
        case .text(let text): return .string(text)
        case .list(let values):
            var elements: [AttributeValue] = []
            elements.reserveCapacity(values.count)
            for value in values { elements.append(try own(value, name)) }
            return .array(elements)
        case .object: throw LineRefusal("the value of \(name.prefix(80)) is an object, which no attribute accepts")
        }
    }
}

/// Reads the values of one attribute.
private struct ValueReader {
    /// A conversion that preserves the meaning of a value. The raw value is the text of the note.
    enum Conversion: String {
        case numberToText = "a number was converted to text"
        case truthToText = "a Boolean was converted to text"
        case textToNumber = "text was converted to a number"
        case toTruth = "a number or text was converted to a Boolean"
        case textToPerson = "text was converted to a person"
        case toList = "a single value was converted to a list"
        case fromList = "a list of one value was converted to the value"
        case withoutNull = "null was removed from a list"
    }

    /// The name as written on the line.
    let attribute: String
    let kind: AttributeValueKind

    func read(_ value: JSONValue) throws(LineRefusal) -> (AttributeValue, [Conversion]) {
        switch value {
        case .null: return (.null, [])
        case .list(let values) where kind.isList:
            var elements: [AttributeValue] = []
            elements.reserveCapacity(values.count)
            var conversions: [Conversion] = []
            for value in values {
                if case .null = value {
                    conversions.append(.withoutNull)
                    continue
                }
                let (element, conversion) = try element(value)
                elements.append(element)
                if let conversion { conversions.append(conversion) }
            }
            return (.array(elements), conversions)
        case .list(let values):
            guard values.count == 1, let value = values.first, value != .null else {
                throw refusal("a list of \(values.count) values", takes: "one value")
            }
            let (element, conversion) = try element(value)
            return (element, [.fromList] + (conversion.map { [$0] } ?? []))
        default:
            let (element, conversion) = try element(value)
            guard kind.isList else { return (element, conversion.map { [$0] } ?? []) }
            return (.array([element]), [.toList] + (conversion.map { [$0] } ?? []))
        }
    }

    private func refusal(_ value: String, takes: String) -> LineRefusal {
        LineRefusal("\(attribute) is \(value), and the attribute takes \(takes)")
    }

    /// Converts a value that is neither null nor a list.
    private func element(_ value: JSONValue) throws(LineRefusal) -> (AttributeValue, Conversion?) {
        if case .object = value {
            throw LineRefusal("the value of \(attribute) is an object, which no attribute accepts")
        }
        switch kind.element ?? kind {
        case .text, .texts: return try text(value)
        case .number: return try number(value)
        case .truth: return try truth(value)
        case .date, .dates: return (try date(value), nil)
        case .url: return (try url(value), nil)
        case .data: return (try data(value), nil)
        case .people: return try person(value)
        case .headers: throw refusal(value.kind, takes: "lists by name, which this command cannot donate")
        }
    }

    private func text(_ value: JSONValue) throws(LineRefusal) -> (AttributeValue, Conversion?) {
        switch value {
        case .text(let text): return (.string(text), nil)
        case .integer(let number): return (.string("\(number)"), .numberToText)
        case .bool(let truth): return (.string("\(truth)"), .truthToText)
        // The parser does not preserve the spelling of a number, and 1.10 may be a version number.
        case .number: throw refusal("the number \(value.shown)", takes: "text. Put the number in quotes")
        default: throw refusal(value.kind, takes: "texts")
        }
    }

    private func number(_ value: JSONValue) throws(LineRefusal) -> (AttributeValue, Conversion?) {
        switch value {
        case .integer(let number): return (.integer(number), nil)
        case .number(let number): return (AttributeValue(number: number), nil)
        case .text(let text):
            switch try? JSONValue(reading: Array(text.utf8)[...], maximumDepth: 0) {
            case .integer(let number)?: return (.integer(number), .textToNumber)
            case .number(let number)?: return (AttributeValue(number: number), .textToNumber)
            default: throw refusal("the text \(text.prefix(80).debugDescription)", takes: "numbers")
            }
        default: throw refusal(value.shown, takes: "numbers")
        }
    }

    private func truth(_ value: JSONValue) throws(LineRefusal) -> (AttributeValue, Conversion?) {
        if case .bool(let truth) = value { return (.boolean(truth), nil) }
        let text = if case .text(let text) = value { text.lowercased() } else { value.shown }
        switch text {
        case "1", "true", "yes": return (.boolean(true), .toTruth)
        case "0", "false", "no": return (.boolean(false), .toTruth)
        default: throw refusal(value.shown, takes: "true or false")
        }
    }

    private func date(_ value: JSONValue) throws(LineRefusal) -> AttributeValue {
        let dates = DisplayText.datableMoments
        if case .text(let text) = value {
            guard let moment = ISOMoment(text)?.instant else {
                throw LineRefusal("\(attribute) is not a date: \(text.prefix(80).debugDescription) is not ISO 8601")
            }
            guard dates.contains(moment) else {
                throw LineRefusal(
                    "\(attribute) is not a date: \(text.prefix(80).debugDescription) is not in the years 1 to 9999")
            }
            return .date(moment)
        }
        guard let seconds = value.number, dates.contains(seconds) else {
            throw LineRefusal(
                """
                \(attribute) is not a date: \(value.shown) is neither ISO 8601 nor seconds since 2001 in the years 1 to 9999
                """)
        }
        return .date(seconds)
    }

    private func url(_ value: JSONValue) throws(LineRefusal) -> AttributeValue {
        guard case .text(let text) = value, URL(string: text)?.scheme != nil else {
            throw LineRefusal("\(attribute) is not an absolute URL: \(value.shown)")
        }
        return .url(text)
    }

    private func data(_ value: JSONValue) throws(LineRefusal) -> AttributeValue {
        guard case .text(let text) = value, let data = Data(base64Encoded: text) else {
            throw LineRefusal("\(attribute) is not base64")
        }
        return .data(Array(data))
    }

    /// Converts a name or an email address.
    private func person(_ value: JSONValue) throws(LineRefusal) -> (AttributeValue, Conversion?) {
        guard case .text(let text) = value else { throw refusal(value.shown, takes: "names of people") }
        let isAddress = text.contains("@") && !text.contains(where: \.isWhitespace)
        let person = PersonValue(
            displayName: isAddress ? nil : text, handles: isAddress ? [text] : [],
            handleIdentifier: isAddress ? "emailAddresses" : "")
        return (.person(person), .textToPerson)
    }
}

extension AttributeValue {
    /// Converts a number. Numbers such as 3.0 and 1e3 become integers.
    fileprivate init(number: Double) {
        self = Int64(exactly: number).map { .integer($0) } ?? .double(number)
    }
}
