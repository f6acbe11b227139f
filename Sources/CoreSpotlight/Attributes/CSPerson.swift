// SPDX-License-Identifier: Apache-2.0

import Foundation
package import ItemRecord

/// A person associated with an item, such as the author of a message.
open class CSPerson: NSObject, NSCopying, NSSecureCoding {
    package private(set) var value: PersonValue

    /// Creates a person from a name and handles, which are addresses, numbers or account names.
    ///
    /// `handleIdentifier` is a contact property key that describes the kind of handles, such as
    /// `emailAddresses`.
    public init(displayName: String?, handles: [String], handleIdentifier: String) {
        value = PersonValue(displayName: displayName, handles: handles, handleIdentifier: handleIdentifier)
    }

    package init(_ value: PersonValue) { self.value = value }

    /// The display name.
    open var displayName: String? { value.displayName }

    /// The addresses, numbers or account names.
    open var handles: [String] { value.handles }

    /// The kind of the handles, as a contact property key.
    open var handleIdentifier: String { value.handleIdentifier }

    /// The identifier of the matching contact.
    ///
    /// - Note: Differs on Linux: programs that show the item receive it; no contact store exists.
    open var contactIdentifier: String? {
        get { value.contactIdentifier }
        set { value.contactIdentifier = newValue }
    }

    /// Returns a copy of the person.
    open func copy(with zone: NSZone? = nil) -> Any { CSPerson(value) }

    /// Returns `true` if all fields are equal.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CSPerson)?.value == value }

    /// A hash value that is equal for equal persons.
    open override var hash: Int { value.hashValue }

    /// A Boolean value that indicates that persons support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Decodes a person; `nil` if a required field is missing.
    public required init?(coder: NSCoder) {
        func text(_ key: String) -> String? {
            // Decoding a missing key would make the whole archive fail.
            guard coder.containsValue(forKey: key) else { return nil }
            return coder.decodeObject(of: NSString.self, forKey: key)?.substring(from: 0)
        }
        let archived = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "handles") as? NSArray
        guard let handles = archived?.compactMap({ $0 as? String }), let kind = text("handleIdentifier") else {
            return nil
        }
        value = PersonValue(
            displayName: text("displayName"), handles: handles, handleIdentifier: kind,
            contactIdentifier: text("contactIdentifier"))
    }

    /// Encodes the person.
    open func encode(with coder: NSCoder) {
        func write(_ text: String?, _ key: String) { if let text { coder.encode(NSString(string: text), forKey: key) } }
        write(value.displayName, "displayName")
        write(value.handleIdentifier, "handleIdentifier")
        write(value.contactIdentifier, "contactIdentifier")
        coder.encode(NSArray(array: value.handles.map { NSString(string: $0) }), forKey: "handles")
    }
}
