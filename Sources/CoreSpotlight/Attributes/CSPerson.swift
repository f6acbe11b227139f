// SPDX-License-Identifier: Apache-2.0

import Foundation
package import ItemRecord

/// A person named by an item, such as the author of a message.
open class CSPerson: NSObject, NSCopying, NSSecureCoding {
    package private(set) var value: PersonValue

    /// A person with a name and the addresses, numbers or account names in `handles`; `handleIdentifier` says what kind of
    /// handles they are, as a contact property key such as `emailAddresses`.
    public init(displayName: String?, handles: [String], handleIdentifier: String) {
        value = PersonValue(displayName: displayName, handles: handles, handleIdentifier: handleIdentifier)
    }

    package init(_ value: PersonValue) { self.value = value }

    /// The name to show.
    open var displayName: String? { value.displayName }

    /// Addresses, numbers or account names.
    open var handles: [String] { value.handles }

    /// What kind of handles these are, as a contact property key.
    open var handleIdentifier: String { value.handleIdentifier }

    /// The contact that the person was found to be.
    ///
    /// - Note: Differs on Linux: programs that show the item are given it; there is no store of contacts to look it up in.
    open var contactIdentifier: String? {
        get { value.contactIdentifier }
        set { value.contactIdentifier = newValue }
    }

    /// A person with the same fields.
    open func copy(with zone: NSZone? = nil) -> Any { CSPerson(value) }

    /// People are equal when all their fields are.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CSPerson)?.value == value }

    /// Equal for equal people.
    open override var hash: Int { value.hashValue }

    /// People can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads a person from an archive; `nil` if a field is missing.
    public required init?(coder: NSCoder) {
        func text(_ key: String) -> String? {
            // Asking for what is not there makes the whole archive fail.
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

    /// Writes the person to an archive.
    open func encode(with coder: NSCoder) {
        func write(_ text: String?, _ key: String) { if let text { coder.encode(NSString(string: text), forKey: key) } }
        write(value.displayName, "displayName")
        write(value.handleIdentifier, "handleIdentifier")
        write(value.contactIdentifier, "contactIdentifier")
        coder.encode(NSArray(array: value.handles.map { NSString(string: $0) }), forKey: "handles")
    }
}
