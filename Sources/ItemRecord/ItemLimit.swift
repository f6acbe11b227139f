// SPDX-License-Identifier: Apache-2.0

/// A limit on item records; docs/ITEM-RECORD.md lists all of them.
public enum ItemLimit: Hashable, Sendable, CaseIterable {
    /// The size of the encoded record.
    case recordBytes
    /// The length of the unique identifier.
    case identifierBytes
    /// The length of the domain identifier.
    case domainBytes
    /// The length of an attribute name.
    case attributeNameBytes
    /// The number of attributes of an item.
    case attributes
    /// The number of values or texts directly within one attribute value.
    case elements
    /// The number of values in a record, including nested values.
    case values
    /// The nesting depth of values.
    case depth

    /// The largest allowed value: bytes for sizes and lengths, otherwise a number.
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

    /// The unit of the limit, to be placed after a number.
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

    /// Checks a value against the limit.
    func check(_ value: Int) throws(ItemRecordError) {
        guard value <= maximum else { throw .tooLarge(self, value: value) }
    }
}
