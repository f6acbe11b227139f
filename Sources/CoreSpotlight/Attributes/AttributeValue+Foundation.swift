// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ItemRecord

extension AttributeValue {
    /// Creates a number value of the same kind that the `NSNumber` was created with.
    init(number: NSNumber) {
        // In `NSNumber`, only the type encoding distinguishes a Boolean from a small integer.
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "B"), UInt8(ascii: "c"): self = .boolean(number.boolValue)
        case UInt8(ascii: "f"), UInt8(ascii: "d"): self = .double(number.doubleValue)
        case UInt8(ascii: "Q"):
            self = Int64(exactly: number.uint64Value).map { .integer($0) } ?? .double(number.doubleValue)
        default: self = .integer(number.int64Value)
        }
    }

    /// Converts a property-list value, URL, person, localized text, or an array or dictionary of
    /// these. Returns `nil` for other values, and for values that are nested more deeply than a
    /// record allows.
    init?(foundation value: Any, depth: Int = 0) {
        guard depth <= ItemRecord.maximumDepth else { return nil }
        switch value {
        case let text as CSLocalizedString: self = .localizedString(text.texts)
        case let text as NSString: self = .string(text.substring(from: 0))
        case let text as String: self = .string(text)
        case let number as NSNumber: self = AttributeValue(number: number)
        case let truth as Bool: self = .boolean(truth)
        case let number as any BinaryInteger:
            self = Int64(exactly: number).map { .integer($0) } ?? .double(Double(number))
        case let number as Double: self = .double(number)
        case let number as Float: self = .double(Double(number))
        case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
        case let date as NSDate: self = .date(date.timeIntervalSinceReferenceDate)
        case let data as Data: self = .data([UInt8](data))
        case let data as NSData: self = .data([UInt8](Data(referencing: data)))
        case let url as URL: self = .url(url.absoluteString)
        case let url as NSURL: self = .url(url.absoluteString)
        case let person as CSPerson: self = .person(person.value)
        case is NSNull: self = .null
        case let values as [Any]: self.init(elements: values, depth: depth)
        case let values as NSArray: self.init(elements: Array(values), depth: depth)
        case let values as [String: Any]: self.init(entries: values, depth: depth)
        case let values as NSDictionary:
            var entries: [String: Any] = [:]
            for (key, value) in values { if let key = key as? String { entries[key] = value } }
            self.init(entries: entries, depth: depth)
        default: return nil
        }
    }

    private init?(elements: [Any], depth: Int) {
        var values: [AttributeValue] = []
        for element in elements {
            guard let value = AttributeValue(foundation: element, depth: depth + 1) else { return nil }
            values.append(value)
        }
        self = .array(values)
    }

    private init?(entries: [String: Any], depth: Int) {
        var values: [String: AttributeValue] = [:]
        for (name, entry) in entries {
            guard let value = AttributeValue(foundation: entry, depth: depth + 1) else { return nil }
            values[name] = value
        }
        self = .dictionary(values)
    }

    /// The value as a Foundation object.
    var object: any NSObjectProtocol & NSSecureCoding {
        switch self {
        case .null: NSNull()
        case .string(let text), .url(let text): NSString(string: text)
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .boolean(let truth): NSNumber(value: truth)
        case .date(let moment): NSDate(timeIntervalSinceReferenceDate: moment)
        case .data(let bytes): NSData(data: Data(bytes))
        case .person(let person): CSPerson(person)
        case .localizedString(let texts): CSLocalizedString(texts: texts)
        case .array(let values): NSArray(array: values.map(\.object))
        case .dictionary(let values): NSDictionary(dictionary: values.mapValues(\.object))
        }
    }

    /// The value as a Swift type, such as `String` or `Date`.
    var plainValue: Any? {
        switch self {
        case .null: nil
        case .string(let text): text
        case .url(let text): URL(string: text)
        case .date(let moment): Date(timeIntervalSinceReferenceDate: moment)
        case .data(let bytes): Data(bytes)
        case .array(let values): values.compactMap(\.plainValue)
        case .dictionary(let values): values.compactMapValues(\.plainValue)
        case .integer, .double, .boolean, .person, .localizedString: object
        }
    }

    /// The text, in the user's language if there are several.
    var displayText: String? {
        switch self {
        case .string(let text): text
        case .localizedString(let texts): CSLocalizedString.text(in: texts)
        default: nil
        }
    }

    var number: NSNumber? {
        switch self {
        case .integer(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .boolean(let truth): NSNumber(value: truth)
        default: nil
        }
    }

    var moment: Date? {
        guard case .date(let seconds) = self else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    var human: CSPerson? {
        guard case .person(let person) = self else { return nil }
        return CSPerson(person)
    }
}
