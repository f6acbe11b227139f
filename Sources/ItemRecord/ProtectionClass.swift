// SPDX-License-Identifier: Apache-2.0

/// The condition under which the items of an index can be read. The raw values are Apple's.
///
/// Items of the first two classes are readable whenever the user is logged in, and the store keeps
/// them unencrypted. The store encrypts items of the other two classes, which are readable only
/// while the store is unlocked.
///
/// ```swift
/// ProtectionClass(rawValue: "NSFileProtectionComplete")?.isEncrypted  // true
/// ```
public enum ProtectionClass: String, CaseIterable, Hashable, Sendable, Codable {
    /// Readable at any time.
    case none = "NSFileProtectionNone"
    /// Readable once the user has logged in.
    case completeUntilFirstUserAuthentication = "NSFileProtectionCompleteUntilFirstUserAuthentication"
    /// Readable while the store is unlocked. Apps may donate at any time.
    case completeUnlessOpen = "NSFileProtectionCompleteUnlessOpen"
    /// Readable while the store is unlocked. Apps may only donate during that time.
    case complete = "NSFileProtectionComplete"

    /// `true` if the store encrypts the items of this class.
    public var isEncrypted: Bool { self == .complete || self == .completeUnlessOpen }

    /// The name of the class in commands: the last part of its raw value, in lower camel case, as
    /// in `completeUnlessOpen`.
    public var name: String {
        switch self {
        case .none: "none"
        case .completeUntilFirstUserAuthentication: "completeUntilFirstUserAuthentication"
        case .completeUnlessOpen: "completeUnlessOpen"
        case .complete: "complete"
        }
    }
}
