// SPDX-License-Identifier: Apache-2.0

/// A limit of the item record; docs/ITEM-RECORD.md lists them.
public enum ItemLimit: Hashable, Sendable, CaseIterable {
    /// The encoded record as a whole.
    case recordBytes
    /// The unique identifier.
    case identifierBytes
    /// The domain identifier.
    case domainBytes
    /// The name of an attribute.
    case attributeNameBytes
    /// How many attributes an item has.
    case attributes
    /// How many values, or texts, one attribute value holds directly.
    case elements
    /// How many values there are in a record, those inside of others included.
    case values
    /// How deep values are nested.
    case depth

    /// The most that is allowed.
    public var maximum: Int {
        switch self {
        case .recordBytes: ItemRecord.maximumRecordBytes
        case .identifierBytes, .domainBytes, .attributeNameBytes: ItemRecord.maximumIdentifierBytes
        case .attributes: ItemRecord.maximumAttributes
        case .elements: ItemRecord.maximumElements
        case .values: ItemRecord.maximumValues
        case .depth: ItemRecord.maximumDepth
        }
    }

    /// What is counted, as it reads behind a number.
    var unit: String {
        switch self {
        case .recordBytes: "bytes"
        case .identifierBytes: "bytes of unique identifier"
        case .domainBytes: "bytes of domain identifier"
        case .attributeNameBytes: "bytes in the name of an attribute"
        case .attributes: "attributes"
        case .elements: "elements in one value"
        case .values: "values"
        case .depth: "levels of nested values"
        }
    }

    /// Refuses more than is allowed.
    func check(_ value: Int) throws(ItemRecordError) {
        guard value <= maximum else { throw .tooLarge(self, value: value) }
    }
}
