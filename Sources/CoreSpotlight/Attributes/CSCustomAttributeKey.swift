// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ItemRecord

/// The name of an attribute that an app defines for itself, and how it may be searched.
open class CSCustomAttributeKey: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Sendable: nothing of a key ever changes.

    /// The name: ASCII letters, digits and `_`, as in `com_example_journal_mood`.
    public let keyName: String
    /// Whether the attribute may be found. Without it, it is only kept with the item.
    public let isSearchable: Bool
    /// Whether queries that name no attribute, and searches for words, look here too; if it is searchable at all.
    public let isSearchableByDefault: Bool
    /// Whether many items share few values, so that each is worth storing once. Kept, and without effect.
    public let isUnique: Bool
    /// Whether the value is an array. Kept, and without effect: an array is stored and found as one with any key.
    public let isMultiValued: Bool

    /// A searchable key with one value; `nil` for a name that is not allowed.
    public convenience init?(keyName: String) {
        self.init(
            keyName: keyName, searchable: true, searchableByDefault: false, unique: false, multiValued: false)
    }

    /// A key; `nil` unless the name has ASCII letters, digits and `_` only, at least one of them and at most 4096, and does
    /// not begin with `kMD`, which is the system's.
    public init?(keyName: String, searchable: Bool, searchableByDefault: Bool, unique: Bool, multiValued: Bool) {
        guard AttributeTraits.isKeyName(keyName) else { return nil }
        self.keyName = keyName
        isSearchable = searchable
        isSearchableByDefault = searchableByDefault
        isUnique = unique
        isMultiValued = multiValued
    }

    /// Keys never change, so the copy is the key itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Keys are equal when the name and all traits are.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CSCustomAttributeKey else { return false }
        return keyName == other.keyName && traits == other.traits
    }

    /// Equal for equal keys.
    open override var hash: Int { keyName.hashValue }

    /// The traits as an item carries them.
    var traits: AttributeTraits {
        var traits: AttributeTraits = []
        if isSearchable { traits.insert(.searchable) }
        if isSearchableByDefault { traits.insert(.searchableByDefault) }
        if isUnique { traits.insert(.unique) }
        if isMultiValued { traits.insert(.multiValued) }
        return traits
    }

    /// Keys can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads a key from an archive; `nil` if the name is missing or not allowed.
    public required convenience init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: "keyName") else { return nil }
        self.init(
            keyName: name.substring(from: 0), searchable: coder.decodeBool(forKey: "searchable"),
            searchableByDefault: coder.decodeBool(forKey: "searchableByDefault"),
            unique: coder.decodeBool(forKey: "unique"), multiValued: coder.decodeBool(forKey: "multiValued"))
    }

    /// Writes the key to an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(NSString(string: keyName), forKey: "keyName")
        coder.encode(isSearchable, forKey: "searchable")
        coder.encode(isSearchableByDefault, forKey: "searchableByDefault")
        coder.encode(isUnique, forKey: "unique")
        coder.encode(isMultiValued, forKey: "multiValued")
    }
}

extension CSSearchableItemAttributeSet {
    /// Sets an attribute of the app's own: a text, number, date, data, `NSNull`, ``CSPerson`` or ``CSLocalizedString``, or
    /// an array of these. `nil` removes it, and so does a value of any other class. The key says how it may be searched,
    /// also in an update: the traits of the last key with that name are kept with the value.
    public func setValue(_ value: (any NSSecureCoding)?, forCustomKey key: CSCustomAttributeKey) {
        let stored = value.flatMap { AttributeValue(foundation: $0) } ?? .null
        values[key.keyName] = stored
        traits[key.keyName] = stored == .null || key.traits == .standard ? nil : key.traits
    }

    /// The value of an attribute of the app's own, `nil` if it has none.
    public func value(forCustomKey key: CSCustomAttributeKey) -> (any NSSecureCoding)? {
        switch values[key.keyName] {
        case nil, .null: nil
        case .some(let value): value.object
        }
    }
}
