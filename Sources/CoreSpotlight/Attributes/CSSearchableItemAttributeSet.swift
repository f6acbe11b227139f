// SPDX-License-Identifier: Apache-2.0

import Foundation
package import ItemRecord
import UniformTypeIdentifiers

/// The attributes of an item, such as its title, text, dates, people and places.
///
/// Values are copied when they are set and read. Later changes to an object, such as a
/// ``CSPerson``, do not change the set. Boolean attributes are numbers, 0 or 1. Change a set from
/// one thread at a time.
open class CSSearchableItemAttributeSet: NSObject, NSCopying, NSSecureCoding {
    /// The attributes by property name or custom key. `.null` represents an attribute that was set
    /// to `nil`; updates include it.
    package var values: [String: AttributeValue]
    /// The search options of custom attributes by key, without default options.
    package var traits: [String: AttributeTraits] = [:]

    /// The name of the text attribute that was set last. ``setLocalizedString(_:for:)`` uses it to
    /// identify a key path.
    var lastTextAttribute: String?

    /// Creates an empty set without a content type.
    public override init() { values = [:] }

    /// Creates a set for content with a type.
    public init(contentType: UTType) { values = ["contentType": .string(contentType.identifier)] }

    /// Creates a set for content with a type identifier. A text that is not a type identifier is
    /// stored too.
    public init(itemContentType: String) { values = ["contentType": .string(itemContentType)] }

    /// Creates a set with these attributes.
    package init(values: [String: AttributeValue], traits: [String: AttributeTraits] = [:]) {
        self.values = values
        self.traits = traits
    }

    /// Returns an independent copy of the set.
    open func copy(with zone: NSZone? = nil) -> Any {
        CSSearchableItemAttributeSet(values: values, traits: traits)
    }

    /// Moves all attributes from another set, which is empty afterwards. Attributes that only this
    /// set contains are kept.
    ///
    /// - Note: Differs on Linux: the result may differ, because Apple does not document the method.
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

    /// A Boolean value that indicates that attribute sets support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Decodes a set; `nil` if the archive contains none or has an unknown format.
    public required init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.archiveKey),
            let record = try? ItemRecord(decoding: Data(referencing: data))
        else { return nil }
        values = record.attributes
        traits = record.traits
    }

    /// Encodes the set. A set that exceeds the size limit for an item (16 MiB) is not encoded, and
    /// decodes as `nil`.
    open func encode(with coder: NSCoder) {
        // The attributes are encoded as an item record, which requires an identifier.
        guard let bytes = try? ItemRecord(uniqueIdentifier: "-", attributes: values, traits: traits).encoded() else {
            return
        }
        coder.encode(NSData(data: Data(bytes)), forKey: Self.archiveKey)
    }
}
