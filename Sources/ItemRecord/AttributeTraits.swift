// SPDX-License-Identifier: Apache-2.0

/// How an attribute that an app defined for itself may be searched: the traits of its `CSCustomAttributeKey`.
///
/// They belong to the attribute: whoever sets its value sets them too, also in an update.
public struct AttributeTraits: OptionSet, Hashable, Sendable {
    /// The traits as bits, those of the item record.
    public let rawValue: UInt8

    /// Traits from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The attribute may be found at all; without it, it is only kept.
    public static let searchable = AttributeTraits(rawValue: 1)
    /// Queries that name no attribute, and searches for words, look here too. Means nothing without ``searchable``.
    public static let searchableByDefault = AttributeTraits(rawValue: 2)
    /// Many items share few values. Kept, and without effect: the index stores values compactly by itself.
    public static let unique = AttributeTraits(rawValue: 4)
    /// The value is an array. Kept, and without effect: values are stored as they are given.
    public static let multiValued = AttributeTraits(rawValue: 8)

    /// What an attribute has of which nothing is said.
    public static let standard: AttributeTraits = .searchable
    /// Every trait there is.
    public static let all: AttributeTraits = [.searchable, .searchableByDefault, .unique, .multiValued]

    /// Attributes the index itself relies on; their traits have no effect.
    private static let reserved: Set<String> = [
        "uniqueIdentifier", "domainIdentifier", "contentType", "contentTypeTree", "relatedUniqueIdentifier",
    ]

    /// Whether the traits of the attribute with this name have an effect.
    package static func apply(to name: String) -> Bool { !reserved.contains(name) }

    /// Whether an app may give an attribute of its own this name: ASCII letters, digits and `_`, 1 to
    /// ``ItemRecord/maximumIdentifierBytes`` of them, and not beginning with `kMD`, which is the system's (Apple's rule).
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
    /// Whether the attribute may be found.
    public func isSearchable(_ name: String) -> Bool {
        guard let traits = traits[name] else { return true }
        return traits.contains(.searchable) || !AttributeTraits.apply(to: name)
    }

    /// Whether the item itself says that queries which name no attribute look at this one.
    public func isSearchableByDefault(_ name: String) -> Bool {
        guard let traits = traits[name] else { return false }
        return traits.isSuperset(of: [.searchable, .searchableByDefault]) && AttributeTraits.apply(to: name)
    }
}
