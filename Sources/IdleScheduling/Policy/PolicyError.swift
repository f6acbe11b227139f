// SPDX-License-Identifier: Apache-2.0

/// An error in a configuration. The configuration as a whole is then ignored.
public enum PolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The configuration is not a JSON object, or it is too large.
    case unreadable(String)
    /// The configuration contains an unknown key.
    case unknownKey(String)
    /// A value is not allowed.
    case badValue(key: String, value: String, allowed: String)
    /// Two values contradict each other.
    case contradiction(key: String, value: String, allowed: String)

    /// A description of the error and the allowed values.
    public var description: String {
        switch self {
        case .unreadable(let reason): "The scheduling configuration cannot be read: \(reason)"
        case .unknownKey(let key):
            "The scheduling configuration has the unknown key “\(key)”. docs/SCHEDULING.md lists the keys."
        case .badValue(let key, let value, let allowed):
            "The scheduling configuration sets \(key) to \(value). Set it to \(allowed)."
        case .contradiction(let key, let value, let allowed):
            "The scheduling configuration sets \(key) to \(value), which contradicts other keys: \(allowed)."
        }
    }
}
