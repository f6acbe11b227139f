// SPDX-License-Identifier: Apache-2.0

/// A list in a message. It is empty in messages of earlier versions, which do not send it.
///
/// ```swift
/// struct Facts: Codable {
///     @LaterList var notes: [String] = []
/// }
/// ```
@propertyWrapper
package struct LaterList<Element: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    package var wrappedValue: [Element]

    package init(wrappedValue: [Element]) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws { wrappedValue = try [Element](from: decoder) }

    package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension KeyedDecodingContainer {
    /// Decodes a list that may be missing. The compiler's code for `Codable` calls it.
    func decode<Element>(_ type: LaterList<Element>.Type, forKey key: Key) throws -> LaterList<Element> {
        try decodeIfPresent(type, forKey: key) ?? LaterList(wrappedValue: [])
    }
}
