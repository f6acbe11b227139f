// SPDX-License-Identifier: Apache-2.0

/// Why a configuration is no policy. Nothing of such a configuration is used.
public enum PolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no JSON object, or too large.
    case unreadable(String)
    /// It has a key that means nothing.
    case unknownKey(String)
    /// A value is none that is allowed.
    case badValue(key: String, value: String, allowed: String)
    /// Two values contradict each other.
    case contradiction(key: String, value: String, allowed: String)

    /// What is wrong, and what is allowed.
    public var description: String {
        switch self {
        case .unreadable(let reason): "The scheduling configuration cannot be read: \(reason)"
        case .unknownKey(let key):
            "The scheduling configuration has the key “\(key)”, which means nothing. docs/SCHEDULING.md lists the keys."
        case .badValue(let key, let value, let allowed):
            "The scheduling configuration sets \(key) to \(value); allowed is \(allowed)."
        case .contradiction(let key, let value, let allowed):
            "The scheduling configuration sets \(key) to \(value), which contradicts the rest; \(allowed)."
        }
    }
}
