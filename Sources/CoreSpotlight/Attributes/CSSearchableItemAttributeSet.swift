// SPDX-License-Identifier: Apache-2.0

import Foundation
package import ItemRecord
import UniformTypeIdentifiers

/// What is known about an item: its title, text, dates, people, places and so on.
///
/// Values are copied when they are set and when they are read: changing an object afterwards, a ``CSPerson`` too, leaves
/// the set as it is. Booleans are numbers, 0 or 1. One thread at a time may change a set.
open class CSSearchableItemAttributeSet: NSObject, NSCopying, NSSecureCoding {
    /// The attributes by property name or custom key; `.null` where `nil` was set, which an update sends on.
    package var values: [String: AttributeValue]
    /// How custom attributes may be searched, by their keys; the standard is left out.
    package var traits: [String: AttributeTraits] = [:]

    /// The text attribute that was set last; tells ``setLocalizedString(_:for:)`` which one a key path leads to.
    var lastTextAttribute: String?

    /// An empty set, without even a content type.
    public override init() { values = [:] }

    /// A set for content of this type.
    public init(contentType: UTType) { values = ["contentType": .string(contentType.identifier)] }

    /// A set for content of the type with this identifier; texts that name no type are kept as well.
    public init(itemContentType: String) { values = ["contentType": .string(itemContentType)] }

    /// A set with these attributes.
    package init(values: [String: AttributeValue], traits: [String: AttributeTraits] = [:]) {
        self.values = values
        self.traits = traits
    }

    /// A set with the same attributes, independent of this one.
    open func copy(with zone: NSZone? = nil) -> Any {
        CSSearchableItemAttributeSet(values: values, traits: traits)
    }

    /// Takes over all attributes of another set, which is empty afterwards. Attributes that only this set has stay.
    ///
    /// - Note: Differs on Linux: perhaps; Apple names the method and says nothing of what it does.
    open func move(from sourceAttributeSet: CSSearchableItemAttributeSet) {
        guard sourceAttributeSet !== self else { return }
        for (name, value) in sourceAttributeSet.values {
            values[name] = value
            traits[name] = sourceAttributeSet.traits[name]
        }
        sourceAttributeSet.values = [:]
        sourceAttributeSet.traits = [:]
    }

    // MARK: Archiving

    private static let archiveKey = "record"

    /// Sets can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads a set from an archive; `nil` if it holds none, or none of a known format.
    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.archiveKey),
            let record = try? ItemRecord(decoding: Data(referencing: data))
        else { return nil }
        values = record.attributes
        traits = record.traits
    }

    /// Writes the set to an archive. A set over the limits of an item (16 MiB) is left out, and then reads as `nil`.
    open func encode(with coder: NSCoder) {
        // The attributes travel in the format in which they are donated; the identifier is that format's due.
        guard let bytes = try? ItemRecord(uniqueIdentifier: "-", attributes: values, traits: traits).encoded() else {
            return
        }
        coder.encode(NSData(data: Data(bytes)), forKey: Self.archiveKey)
    }
}
