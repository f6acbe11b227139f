// SPDX-License-Identifier: Apache-2.0

/// A searchable item as it is donated, sent and stored: encoded once by the donor, kept as it is.
public struct ItemRecord: Hashable, Sendable {
    /// When the item leaves the index by itself.
    public enum Expiration: Hashable, Sendable {
        /// One month after the donation, counted by the index (Apple's default).
        case standard
        /// Never (`Date.distantFuture`).
        case never
        /// At this moment, in seconds since 2001-01-01 00:00 UTC.
        case at(Double)
    }

    /// Unique within bundle and index; 1 to ``ItemRecord/maximumIdentifierBytes`` bytes of UTF-8.
    public var uniqueIdentifier: String
    /// The dotted domain, for deletion in groups.
    public var domainIdentifier: String?
    /// When the item leaves the index.
    public var expiration: Expiration
    /// Whether the attributes are merged into the stored item instead of replacing it.
    public var isUpdate: Bool
    /// The attributes by name (the property names of `CSSearchableItemAttributeSet`, or custom keys).
    public var attributes: [String: AttributeValue]
    /// How attributes may be searched that are not ``AttributeTraits/standard``. Those of names without an attribute mean
    /// nothing and are not encoded.
    public var traits: [String: AttributeTraits]

    /// The longest identifier and domain, in bytes.
    public static let maximumIdentifierBytes = 4096
    /// The largest encoded record, in bytes.
    public static let maximumRecordBytes = 16 << 20
    /// The most attributes an item may have.
    public static let maximumAttributes = 1024
    /// The most values one array or dictionary may hold.
    public static let maximumElements = 65536
    /// The most values in one record, those inside of arrays and dictionaries included.
    public static let maximumValues = 262_144
    /// How deep values may nest.
    public static let maximumDepth = 4

    /// Creates an item from its parts.
    public init(
        uniqueIdentifier: String, domainIdentifier: String? = nil, expiration: Expiration = .standard,
        isUpdate: Bool = false, attributes: [String: AttributeValue] = [:], traits: [String: AttributeTraits] = [:]
    ) {
        self.uniqueIdentifier = uniqueIdentifier
        self.domainIdentifier = domainIdentifier
        self.expiration = expiration
        self.isUpdate = isUpdate
        self.attributes = attributes
        self.traits = traits.filter { $0.value != .standard && attributes[$0.key] != nil }
    }

    /// The text of an attribute, or `nil` if it has none.
    public func text(_ name: String) -> String? { attributes[name]?.text }

    /// All texts of an attribute.
    public func texts(_ name: String) -> [String] { attributes[name]?.texts ?? [] }
}

/// Why bytes are not an item record.
public enum ItemRecordError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes end inside a field.
    case truncated(offset: Int)
    /// A field holds what the format does not allow.
    case malformed(offset: Int, reason: String)
    /// The record was written by a later version of the format.
    case unknownVersion(UInt8)
    /// A limit of the format is exceeded.
    case tooLarge(ItemLimit, value: Int)

    /// The error in one sentence.
    public var description: String {
        switch self {
        case .truncated(let offset): "The item record ends inside a field at byte \(offset)."
        case .malformed(let offset, let reason): "The item record is malformed at byte \(offset): \(reason)."
        case .unknownVersion(let version):
            "The item record has format version \(version); this program reads version \(ItemRecord.formatVersion)."
        case .tooLarge(let limit, let value):
            "The item has \(value) \(limit.unit), and the limit is \(limit.maximum)."
        }
    }
}
