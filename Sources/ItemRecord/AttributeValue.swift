// SPDX-License-Identifier: Apache-2.0

/// One value of an item's attribute, as it travels between processes and as it is stored.
///
/// The cases cover what `CSSearchableItemAttributeSet` can hold: property-list values, URLs, people, localised
/// strings, and arrays and dictionaries of these.
public enum AttributeValue: Hashable, Sendable {
    /// The attribute is explicitly absent; in an update it removes the stored one.
    case null
    /// Text of any length.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A floating-point number; NaN is allowed and equals nothing in a query.
    case double(Double)
    /// A truth value; a query sees it as 0 or 1.
    case boolean(Bool)
    /// A moment, in seconds since 2001-01-01 00:00 UTC (Foundation's reference date).
    case date(Double)
    /// Opaque bytes; never searched.
    case data([UInt8])
    /// An absolute URL in its textual form.
    case url(String)
    /// A person, from `CSPerson`.
    case person(PersonValue)
    /// A text in several languages: BCP 47 code to text, from `CSLocalizedString`.
    case localizedString([String: String])
    /// Values in order.
    case array([AttributeValue])
    /// Values by name (mail headers).
    case dictionary([String: AttributeValue])
}

/// A person named by an item: the fields of `CSPerson`.
public struct PersonValue: Hashable, Sendable {
    /// The name to show.
    public var displayName: String?
    /// Addresses, numbers or account names.
    public var handles: [String]
    /// What kind of handles these are: a contact property key.
    public var handleIdentifier: String
    /// The resolved contact, if known.
    public var contactIdentifier: String?

    /// Creates a person from its fields.
    public init(displayName: String?, handles: [String], handleIdentifier: String, contactIdentifier: String? = nil) {
        self.displayName = displayName
        self.handles = handles
        self.handleIdentifier = handleIdentifier
        self.contactIdentifier = contactIdentifier
    }
}

extension AttributeValue {
    /// The texts in the value, in order: the value itself, its elements, names and handles of people, all languages.
    /// Numbers, dates and data have none.
    public var texts: [String] {
        switch self {
        case .string(let text), .url(let text): [text]
        case .localizedString(let texts): texts.sorted { $0.key < $1.key }.map(\.value)
        case .person(let person): (person.displayName.map { [$0] } ?? []) + person.handles
        case .array(let values): values.flatMap(\.texts)
        case .dictionary(let values): values.sorted { $0.key < $1.key }.flatMap { $0.value.texts }
        case .null, .integer, .double, .boolean, .date, .data: []
        }
    }

    /// The first text in the value, if it has any.
    public var text: String? { texts.first }
}
