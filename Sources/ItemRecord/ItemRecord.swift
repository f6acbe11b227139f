// SPDX-License-Identifier: Apache-2.0

/// A searchable item in donations, messages and storage. The donor encodes it once, and the bytes
/// never change after that.
public struct ItemRecord: Hashable, Sendable {
    /// The time at which the item is removed from the index automatically.
    public enum Expiration: Hashable, Sendable {
        /// One month after the donation, by the index's clock (Apple's default).
        case standard
        /// Never (`Date.distantFuture`).
        case never
        /// At this time, in seconds since 2001-01-01 00:00 UTC.
        case at(Double)
    }

    /// The identifier, unique within bundle and index; 1 to ``ItemRecord/maximumIdentifierBytes``
    /// bytes of UTF-8.
    public var uniqueIdentifier: String
    /// The domain, a dotted name for deleting items in groups.
    public var domainIdentifier: String?
    /// The time at which the item is removed from the index.
    public var expiration: Expiration
    /// `true` to merge the attributes into the stored item instead of replacing it.
    public var isUpdate: Bool
    /// The attributes by name: a property name of `CSSearchableItemAttributeSet`, or a custom key.
    public var attributes: [String: AttributeValue]
    /// The traits of attributes that differ from ``AttributeTraits/standard``. Traits of missing
    /// attributes have no effect and are not encoded.
    public var traits: [String: AttributeTraits]

    /// The maximum length of identifiers and domains, in bytes.
    public static let maximumIdentifierBytes = 4096
    /// The largest encoded record, in bytes.
    public static let maximumRecordBytes = 16 << 20
    /// The largest number of attributes of an item.
    public static let maximumAttributes = 1024
    /// The largest number of values in one array or dictionary.
    public static let maximumElements = 65536
    /// The largest number of values in one record, including values in arrays and dictionaries.
    public static let maximumValues = 262_144
    /// The largest nesting depth of values.
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

    /// Returns the first text of an attribute; `nil` if it has none.
    public func text(_ name: String) -> String? { attributes[name]?.text }

    /// Returns all texts of an attribute.
    public func texts(_ name: String) -> [String] { attributes[name]?.texts ?? [] }
}

/// The reason why bytes are not an item record.
public enum ItemRecordError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes end inside a field.
    case truncated(offset: Int)
    /// A field has a value that the format does not allow.
    case malformed(offset: Int, reason: String)
    /// A later version of the program wrote the record.
    case unknownVersion(UInt8)
    /// The record exceeds a limit of the format.
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
