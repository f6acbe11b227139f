// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NSUserActivity {
    /// An error that occurs when a typed payload is written or read.
    public enum TypedPayloadError: Error, Hashable, Sendable {
        /// The user info does not match the type.
        case invalidContent
        /// The value cannot be encoded, or its encoded form is not a dictionary.
        case encodingError
    }

    /// Replaces the user info with the encoded properties of a value.
    ///
    /// - Throws: ``TypedPayloadError/encodingError``.
    public func setTypedPayload<T: Codable>(_ payload: T) throws {
        guard let data = try? PropertyListEncoder().encode(payload),
            let names = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        else { throw TypedPayloadError.encodingError }
        userInfo = names
    }

    /// Returns the value that the user info encodes.
    ///
    /// - Throws: ``TypedPayloadError/invalidContent``.
    public func typedPayload<T: Codable>(_ type: T.Type) throws -> T {
        var names: [String: Any] = [:]
        for (key, value) in userInfo ?? [:] {
            guard let key = key as? String, PropertyListSerialization.propertyList(value, isValidFor: .binary) else {
                continue
            }
            names[key] = value
        }
        do {
            let data = try PropertyListSerialization.data(fromPropertyList: names, format: .binary, options: 0)
            return try PropertyListDecoder().decode(type, from: data)
        } catch {
            throw TypedPayloadError.invalidContent
        }
    }
}
