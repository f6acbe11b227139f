// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import MetadataQuery
import Previews

extension CheckContext {
    /// Compares the donated attributes with the attributes of `CSSearchableItemAttributeSet`.
    ///
    /// An index accepts any name and any value. But only queries with its name find an attribute
    /// with a misspelt name, and a value of a different kind is read like a missing value.
    func checkAttributes() -> CheckResult {
        guard !survey.records.isEmpty else { return .skipped(reason: "it donated no items") }
        var finder = AttributeFinder()
        for record in survey.records { finder.add(record) }
        return finder.result
    }
}

/// Finds attributes with unknown names and attributes with unsuitable values, and counts the items.
struct AttributeFinder {
    private struct Problem: Hashable, Comparable {
        var attribute: String
        var text: String

        static func < (one: Problem, other: Problem) -> Bool {
            (one.attribute, one.text) < (other.attribute, other.text)
        }
    }

    private var counts: [Problem: Int] = [:]
    /// The problems of names: `nil` for a name without one.
    private var names: [String: String?] = [:]
    /// The maximum number of different problems, and of custom names. An extension can donate any
    /// number of names; further names are not checked.
    private static let maximumNames = 500
    /// The length of a name in a message, in characters.
    private static let shownCharacters = 80

    /// Checks the attributes of an item.
    mutating func add(_ record: ItemRecord) {
        for (name, value) in record.attributes {
            let text: String?
            if let kind = AttributeNames.kind(of: name) {
                text = Self.problem(value, kind)
            } else {
                // An attribute with traits is declared as a custom attribute. The standard traits
                // are not stored.
                text = record.traits[name] == nil ? problem(ofUnknown: name) : nil
            }
            guard let text else { continue }
            let problem = Problem(attribute: name, text: text)
            if counts[problem] == nil, counts.count >= Self.maximumNames { continue }
            counts[problem, default: 0] += 1
        }
    }

    /// The result for all items.
    var result: CheckResult {
        var findings = Findings()
        for (problem, count) in counts.sorted(by: { $0.key < $1.key }) {
            let name = String(problem.attribute.prefix(Self.shownCharacters))
            findings.warn(
                "\(count == 1 ? "1 item has" : "\(count) items have") the attribute \(name.quoted): \(problem.text)",
                AttributeNames.kind(of: problem.attribute) == nil
                    ? """
                    Use a name of CSSearchableItemAttributeSet. For a custom attribute, use a name such as \
                    com_example_recipes_cuisine.
                    """
                    : "Give a value of this kind. Apps and previews ignore another value.")
        }
        return findings.result
    }

    /// Returns the problem of a name that is not in an attribute set; `nil` for a custom attribute.
    private mutating func problem(ofUnknown name: String) -> String? {
        if let known = names[name] { return known }
        guard names.count < Self.maximumNames else { return nil }
        let found = Self.problem(ofUnknown: name)
        names.updateValue(found, forKey: name)
        return found
    }

    private static func problem(ofUnknown name: String) -> String? {
        let property = AttributeNames.propertyName(for: name)
        guard property == name else { return "only queries use this name. Did you mean \(property)?" }
        // A short name is similar to too many others.
        let near = name.utf8.count > 3 ? SpellingSuggestions.sentence(to: name, among: standard(for: name)) : nil
        if let near { return "there is no such attribute. \(near)" }
        return name.contains("_") || name.contains(".") ? nil : "there is no such attribute, and searches ignore it."
    }

    private static let properties = AttributeNames.standard.sorted()

    private static func standard(for name: String) -> [String] {
        name.hasPrefix("kMDItem") ? AttributeNames.standard(for: name).sorted() : properties
    }

    /// Returns the problem of a value of a known attribute.
    private static func problem(_ value: AttributeValue, _ kind: AttributeValueKind) -> String? {
        switch value {
        case .null: return nil
        case .array(let values) where kind.isList:
            return values.lazy.compactMap { problem(ofOne: $0, kind, "it has \($0.shortName) in its array") }.first
        default:
            guard !kind.isList else { return takes(kind, "it has \(value.shortName)") }
            return problem(ofOne: value, kind, "it has \(value.shortName)")
        }
    }

    /// Returns the problem of a value, or of an element of an array.
    private static func problem(ofOne value: AttributeValue, _ kind: AttributeValueKind, _ given: String) -> String? {
        switch (kind.element ?? kind, value) {
        case (.text, .string), (.text, .localizedString), (.people, .person), (.data, .data), (.headers, .dictionary):
            return nil
        // An NSNumber may have been created with a truth value.
        case (.number, .integer), (.number, .boolean), (.truth, .boolean): return nil
        case (.number, .double(let number)): return number.isFinite ? nil : "\(number) is not a number."
        case (.truth, .integer(let number)): return (0...1).contains(number) ? nil : takes(kind, given)
        case (.date, .date(let moment)):
            guard !DisplayText.datableMoments.contains(moment) else { return nil }
            return "its date is not in the years 1 to 9999. Dates are in seconds."
        // The interface for C has no function for URLs.
        case (.url, .url(let text)), (.url, .string(let text)):
            return isAbsoluteURL(text) ? nil : "\(String(text.prefix(shownCharacters)).quoted) is not an absolute URL."
        default: return takes(kind, given)
        }
    }

    private static func takes(_ kind: AttributeValueKind, _ given: String) -> String {
        let taken =
            switch kind {
            case .text: "a text"
            case .texts: "an array of texts"
            case .number: "a number"
            case .truth: "a truth value"
            case .date: "a date"
            case .dates: "an array of dates"
            case .url: "an absolute URL"
            case .data: "bytes"
            case .people: "an array of people (CSPerson)"
            case .headers: "a dictionary with arrays"
            }
        return "\(given), and takes \(taken)."
    }

    /// Returns `true` for a text that begins with a scheme and a colon (RFC 3986), and has neither
    /// spaces nor control characters.
    private static func isAbsoluteURL(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.unicodeScalars.first,
            first.isASCII, first.properties.isAlphabetic
        else { return false }
        let scheme = text.utf8[..<colon].allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
        return scheme && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}

extension AttributeValue {
    /// The kind of the value, for a message.
    fileprivate var shortName: String {
        switch self {
        case .null: "an absent value"
        case .string: "a text"
        case .integer, .double: "a number"
        case .boolean: "a truth value"
        case .date: "a date"
        case .data: "bytes"
        case .url: "a URL"
        case .person: "a CSPerson"
        case .localizedString: "a text in several languages"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}
