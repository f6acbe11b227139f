// SPDX-License-Identifier: Apache-2.0

/// An attribute value of an item, in messages and in storage.
///
/// The cases cover the values of `CSSearchableItemAttributeSet`: property-list values, URLs,
/// people, localized strings, and arrays and dictionaries of these.
public enum AttributeValue: Hashable, Sendable {
    /// An explicitly absent value; in an update it removes the stored value.
    case null
    /// Text of any length.
    case string(String)
    /// An integer.
    case integer(Int64)
    /// A floating-point number. NaN is allowed, and equals nothing in a query.
    case double(Double)
    /// A Boolean, which queries treat as 0 or 1.
    case boolean(Bool)
    /// A date, in seconds since 2001-01-01 00:00 UTC (Foundation's reference date).
    case date(Double)
    /// Opaque bytes; never searched.
    case data([UInt8])
    /// An absolute URL in its textual form.
    case url(String)
    /// A person, from `CSPerson`.
    case person(PersonValue)
    /// A text in several languages, from `CSLocalizedString`: a map from BCP 47 tags to texts.
    case localizedString([String: String])
    /// A list of values, in order.
    case array([AttributeValue])
    /// A map from names to values (mail headers).
    case dictionary([String: AttributeValue])
}

/// A person in an item, with the fields of `CSPerson`.
public struct PersonValue: Hashable, Sendable {
    /// The display name.
    public var displayName: String?
    /// Addresses, numbers or account names.
    public var handles: [String]
    /// The kind of the handles: a contact property key.
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
    /// The texts of the value, in order: the value itself, its elements, the names and handles of
    /// people, and the texts in all languages. Numbers, dates and data have no texts.
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

    /// The first text of the value; `nil` if there is none.
    public var text: String? { texts.first }
}
