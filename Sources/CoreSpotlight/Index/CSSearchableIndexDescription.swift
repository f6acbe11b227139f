// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Which index an app is asked to fill again, as App Intents tell it.
///
/// - Note: Unused on Linux: there are no App Intents, so nobody hands one to an app.
open class CSSearchableIndexDescription: NSObject, NSCopying, NSSecureCoding {
    /// The protection class of the index; `nil` for the default.
    ///
    /// - Note: Unused on Linux: there are no protection classes.
    public let protectionClass: FileProtectionType?

    init(protectionClass: FileProtectionType?) { self.protectionClass = protectionClass }

    /// Descriptions never change, so the copy is the description itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Descriptions can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads a description from an archive.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: "protectionClass") else {
            protectionClass = nil
            return
        }
        guard let name = coder.decodeObject(of: NSString.self, forKey: "protectionClass") else { return nil }
        protectionClass = FileProtectionType(rawValue: name.substring(from: 0))
    }

    /// Writes the description to an archive.
    open func encode(with coder: NSCoder) {
        guard let protectionClass else { return }
        coder.encode(NSString(string: protectionClass.rawValue), forKey: "protectionClass")
    }
}
