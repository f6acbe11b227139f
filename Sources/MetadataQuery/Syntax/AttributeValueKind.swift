// SPDX-License-Identifier: Apache-2.0

/// The kind of value of a property of `CSSearchableItemAttributeSet`.
public enum AttributeValueKind: String, Hashable, Sendable, CaseIterable {
    /// One text.
    case text
    /// A list of texts.
    case texts
    /// One number.
    case number
    /// A truth value; Apple declares such properties as numbers.
    case truth
    /// One moment.
    case date
    /// A list of moments.
    case dates
    /// One absolute URL.
    case url
    /// Bytes.
    case data
    /// A list of people.
    case people
    /// The headers of a message: a list of values for each name.
    case headers

    /// The kind of a list's elements; `nil` for kinds that are not lists.
    public var element: AttributeValueKind? {
        switch self {
        case .texts: .text
        case .dates: .date
        case .text, .number, .truth, .date, .url, .data, .people, .headers: nil
        }
    }

    /// `true` if the attribute can have several values.
    public var isList: Bool { self == .people || element != nil }
}
