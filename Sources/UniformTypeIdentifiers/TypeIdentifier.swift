// SPDX-License-Identifier: Apache-2.0

/// The rules for identifiers and tags as texts (uniform-types.md §4).
enum TypeIdentifier {
    /// The longest identifier that is taken from outside, in bytes; dynamic ones have their own limit.
    static let maximumBytes = 1024
    /// The longest tag, in bytes.
    static let maximumTagBytes = 2048

    /// Whether a text can be an identifier: ASCII letters, digits, `-`, `.`, and anything above U+007F.
    static func isWellFormed(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= maximumBytes else { return isLongDynamic(text) }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x80...0xFF: true
            default: false
            }
        }
    }

    /// Dynamic identifiers carry whole tags and may be longer than names.
    private static func isLongDynamic(_ text: String) -> Bool {
        isDynamic(text) && DynamicTypeIdentifier(text) != nil
    }

    /// Whether a text lies in the `dyn.` domain.
    static func isDynamic(_ text: String) -> Bool {
        let prefix = Array(text.utf8.prefix(5))
        return prefix.count == 5 && prefix[0] | 0x20 == 0x64 && prefix[1] | 0x20 == 0x79 && prefix[2] | 0x20 == 0x6E
            && prefix[3] == 0x2E
    }

    /// Whether a text can be a tag: no control characters, not too long. An empty text can (an empty extension exists). A
    /// four-character code may be filled up with NULs.
    static func isTagText(_ text: String, _ key: TagKey) -> Bool {
        guard text.utf8.count <= maximumTagBytes else { return false }
        var bytes = Array(text.utf8)[...]
        if key == .osType, bytes.count == 4, bytes[0] != 0 { bytes = bytes[...(bytes.lastIndex { $0 != 0 } ?? 0)] }
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// Identifiers are compared without case; the lowercase spelling stands for all.
    static func lowercased(_ text: String) -> String {
        // Most identifiers are lowercase already; looking first saves the copy.
        text.utf8.contains { $0 >= 0x80 || ($0 >= 0x41 && $0 <= 0x5A) } ? text.lowercased() : text
    }
}
