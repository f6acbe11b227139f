// SPDX-License-Identifier: Apache-2.0

/// The validation rules for identifiers and tags.
enum TypeIdentifier {
    /// The maximum length of an identifier, in bytes. Dynamic identifiers have a separate limit.
    static let maximumBytes = 1024
    /// The maximum length of a tag, in bytes.
    static let maximumTagBytes = 2048

    /// Returns `true` if a text is a valid identifier: ASCII letters, digits, `-`, `.`, and
    /// characters above U+007F.
    static func isWellFormed(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= maximumBytes else { return isLongDynamic(text) }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x80...0xFF: true
            default: false
            }
        }
    }

    /// Returns `true` for a valid dynamic identifier. Because it contains tags, it may exceed the
    /// limit for other identifiers.
    private static func isLongDynamic(_ text: String) -> Bool {
        isDynamic(text) && DynamicTypeIdentifier(text) != nil
    }

    /// Returns `true` if a text is in the `dyn.` domain.
    static func isDynamic(_ text: String) -> Bool {
        let prefix = Array(text.utf8.prefix(5))
        return prefix.count == 5 && prefix[0] | 0x20 == 0x64 && prefix[1] | 0x20 == 0x79 && prefix[2] | 0x20 == 0x6E
            && prefix[3] == 0x2E
    }

    /// Returns `true` if a text is a valid tag: no control characters, and not too long. An empty
    /// text is valid, because extensions may be empty. A four-character code may end in NUL
    /// characters.
    static func isTagText(_ text: String, _ key: TagKey) -> Bool {
        guard text.utf8.count <= maximumTagBytes else { return false }
        var bytes = Array(text.utf8)[...]
        if key == .osType, bytes.count == 4, bytes[0] != 0 { bytes = bytes[...(bytes.lastIndex { $0 != 0 } ?? 0)] }
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// Returns the lowercase form of an identifier. Identifiers are compared in this form.
    static func lowercased(_ text: String) -> String {
        // Most identifiers are already lowercase; the check avoids a copy.
        text.utf8.contains { $0 >= 0x80 || ($0 >= 0x41 && $0 <= 0x5A) } ? text.lowercased() : text
    }
}
