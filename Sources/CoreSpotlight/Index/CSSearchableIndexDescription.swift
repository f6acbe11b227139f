// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The description of an index that an app is asked to fill again by App Intents.
///
/// - Note: Unused on Linux: there are no App Intents, so no app receives such a description.
open class CSSearchableIndexDescription: NSObject, NSCopying, NSSecureCoding {
    /// The index's protection class; `nil` for the default.
    ///
    /// - Note: Unused on Linux: there are no App Intents.
    public let protectionClass: FileProtectionType?

    init(protectionClass: FileProtectionType?) { self.protectionClass = protectionClass }

    /// Returns the description itself, because descriptions are immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A Boolean value that indicates that descriptions support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Decodes a description.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: "protectionClass") else {
            protectionClass = nil
            return
        }
        guard let name = coder.decodeObject(of: NSString.self, forKey: "protectionClass") else { return nil }
        protectionClass = FileProtectionType(rawValue: name.substring(from: 0))
    }

    /// Encodes the description.
    open func encode(with coder: NSCoder) {
        guard let protectionClass else { return }
        coder.encode(NSString(string: protectionClass.rawValue), forKey: "protectionClass")
    }
}
