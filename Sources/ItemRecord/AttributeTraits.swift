// SPDX-License-Identifier: Apache-2.0

/// The search traits of an app-defined attribute, from its `CSCustomAttributeKey`.
///
/// Traits belong to the attribute. An item or an update sets them together with the attribute's
/// value.
public struct AttributeTraits: OptionSet, Hashable, Sendable {
    /// The bits of the traits, as stored in the item record.
    public let rawValue: UInt8

    /// Creates traits from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Queries can find the attribute; otherwise it is only stored.
    public static let searchable = AttributeTraits(rawValue: 1)
    /// Queries without an attribute name, and text searches, include the attribute. No effect
    /// without ``searchable``.
    public static let searchableByDefault = AttributeTraits(rawValue: 2)
    /// Many items share few values. The trait is stored but has no effect: the index always stores
    /// values compactly.
    public static let unique = AttributeTraits(rawValue: 4)
    /// The value is an array. The trait is stored but has no effect: values are stored as given.
    public static let multiValued = AttributeTraits(rawValue: 8)

    /// The traits of attributes for which no traits are set.
    public static let standard: AttributeTraits = .searchable
    /// All traits.
    public static let all: AttributeTraits = [.searchable, .searchableByDefault, .unique, .multiValued]

    /// The attributes that the index itself relies on; their traits have no effect.
    private static let reserved: Set<String> = [
        "uniqueIdentifier", "domainIdentifier", "contentType", "contentTypeTree", "relatedUniqueIdentifier",
    ]

    /// Returns `true` if the traits of an attribute have an effect.
    package static func apply(to name: String) -> Bool { !reserved.contains(name) }

    /// Returns `true` if an app may use this name for a custom attribute. A name has 1 to
    /// ``ItemRecord/maximumIdentifierBytes`` ASCII letters, digits and `_`. The prefix `kMD` is
    /// reserved for the system (Apple's rule).
    public static func isKeyName(_ name: String) -> Bool {
        (1...ItemRecord.maximumIdentifierBytes).contains(name.utf8.count) && !name.hasPrefix("kMD")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, 0x5F: true
                default: false
                }
            }
    }
}

extension ItemRecord {
    /// Returns `true` if queries can find the attribute.
    public func isSearchable(_ name: String) -> Bool {
        guard let traits = traits[name] else { return true }
        return traits.contains(.searchable) || !AttributeTraits.apply(to: name)
    }

    /// Returns `true` if the item declares that queries without an attribute name include this
    /// attribute.
    public func isSearchableByDefault(_ name: String) -> Bool {
        guard let traits = traits[name] else { return false }
        return traits.isSuperset(of: [.searchable, .searchableByDefault]) && AttributeTraits.apply(to: name)
    }
}
