// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ItemRecord

/// The name of an app's custom attribute, and its search options.
open class CSCustomAttributeKey: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Sendable: a key is immutable.

    /// The name, which consists of ASCII letters, digits and `_`, such as
    /// `com_example_journal_mood`.
    public let keyName: String
    /// A Boolean value that indicates whether the attribute can be searched. An attribute that is
    /// not searchable is only stored with the item.
    public let isSearchable: Bool
    /// A Boolean value that indicates whether word searches, and queries without an attribute name,
    /// include the attribute. It only affects searchable attributes.
    public let isSearchableByDefault: Bool
    /// A Boolean value that indicates whether many items share the same values. It is stored but
    /// has no effect.
    public let isUnique: Bool
    /// A Boolean value that indicates whether the value is an array. It is stored but has no
    /// effect: arrays are stored and found with any key.
    public let isMultiValued: Bool

    /// Creates a searchable key with one value; `nil` if the name is invalid.
    public convenience init?(keyName: String) {
        self.init(
            keyName: keyName, searchable: true, searchableByDefault: false, unique: false, multiValued: false)
    }

    /// Creates a key; `nil` if the name is invalid.
    ///
    /// A valid name has 1 to 4096 ASCII letters, digits and `_`, and does not begin with `kMD`,
    /// which is reserved for the system.
    public init?(keyName: String, searchable: Bool, searchableByDefault: Bool, unique: Bool, multiValued: Bool) {
        guard AttributeTraits.isKeyName(keyName) else { return nil }
        self.keyName = keyName
        isSearchable = searchable
        isSearchableByDefault = searchableByDefault
        isUnique = unique
        isMultiValued = multiValued
    }

    /// Returns the key itself, because keys are immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns `true` if the names and all options are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CSCustomAttributeKey else { return false }
        return keyName == other.keyName && traits == other.traits
    }

    /// A hash value that is equal for equal keys.
    open override var hash: Int { keyName.hashValue }

    /// The options in the form used by item records.
    var traits: AttributeTraits {
        var traits: AttributeTraits = []
        if isSearchable { traits.insert(.searchable) }
        if isSearchableByDefault { traits.insert(.searchableByDefault) }
        if isUnique { traits.insert(.unique) }
        if isMultiValued { traits.insert(.multiValued) }
        return traits
    }

    /// A Boolean value that indicates that keys support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Decodes a key; `nil` if the name is missing or invalid.
    public required convenience init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "keyName") else { return nil }
        self.init(
            keyName: name.substring(from: 0), searchable: coder.decodeBool(forKey: "searchable"),
            searchableByDefault: coder.decodeBool(forKey: "searchableByDefault"),
            unique: coder.decodeBool(forKey: "unique"), multiValued: coder.decodeBool(forKey: "multiValued"))
    }

    /// Encodes the key.
    open func encode(with coder: NSCoder) {
        coder.encode(NSString(string: keyName), forKey: "keyName")
        coder.encode(isSearchable, forKey: "searchable")
        coder.encode(isSearchableByDefault, forKey: "searchableByDefault")
        coder.encode(isUnique, forKey: "unique")
        coder.encode(isMultiValued, forKey: "multiValued")
    }
}

extension CSSearchableItemAttributeSet {
    /// Sets the value of a custom attribute.
    ///
    /// The value is a text, number, date, data, `NSNull`, ``CSPerson``, ``CSLocalizedString``, or
    /// an array of these. `nil`, or a value of any other class, removes the attribute. The key's
    /// search options are stored with the value, including in an update.
    public func setValue(_ value: (any NSSecureCoding)?, forCustomKey key: CSCustomAttributeKey) {
        let stored = value.flatMap { AttributeValue(foundation: $0) } ?? .null
        values[key.keyName] = stored
        traits[key.keyName] = stored == .null || key.traits == .standard ? nil : key.traits
    }

    /// Returns the value of a custom attribute; `nil` if there is none.
    public func value(forCustomKey key: CSCustomAttributeKey) -> (any NSSecureCoding)? {
        switch values[key.keyName] {
        case nil, .null: nil
        case .some(let value): value.object
        }
    }
}
