// SPDX-License-Identifier: Apache-2.0

extension DynamicTypeIdentifier {
    /// The prefix of every dynamic identifier: the domain, and the version of the encoding.
    static let prefix = "dyn.a"

    private static let alphabet: [UInt8] = Array("abcdefghkmnpqrstuvwxyz0123456789".utf8)

    /// The supertypes that have a short code in dynamic identifiers.
    private static let parentCodes: [(code: String, identifier: String)] = [
        ("6", "public.data"), ("7", "public.text"), ("8", "public.plain-text"), ("9", "public.utf16-plain-text"),
        ("A", "com.apple.traditional-mac-plain-text"), ("B", "public.image"), ("C", "public.video"),
        ("D", "public.audio"), ("E", "public.directory"), ("F", "public.folder"), ("10", "com.apple.package"),
    ]

    /// The text to be encoded in base 32.
    var decodedForm: String {
        var text = ""
        if let parent {
            let code = DynamicTypeIdentifier.parentCodes.first { $0.identifier == parent }?.code
            text += "?0=" + (code ?? DynamicTypeIdentifier.escaped(parent)) + ":"
        }
        for (position, tag) in tags.enumerated() {
            if position > 0 { text += ":" }
            // Each tag class has a key, because the initializers reject other classes.
            text.unicodeScalars.append(Unicode.Scalar(tag.tagClass.key?.rawValue ?? TagKey.mimeType.rawValue))
            text += "=" + DynamicTypeIdentifier.escaped(tag.value)
        }
        return text
    }

    /// Parses the decoded text of an identifier.
    init?(decodedForm bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var rest = Substring(text)
        let hasParent = rest.utf8.first == UInt8(ascii: "?")
        if hasParent { rest = Substring(rest.utf8.dropFirst()) }

        var parent: String?
        var tags: [Tag] = []
        var fields = DynamicTypeIdentifier.fields(rest)[...]
        if hasParent {
            guard let first = fields.popFirst(), first.utf8.starts(with: "0=".utf8) else { return nil }
            guard let value = DynamicTypeIdentifier.unescaped(Substring(first.utf8.dropFirst(2))), !value.isEmpty else {
                return nil
            }
            let known = DynamicTypeIdentifier.parentCodes.first { $0.code == value }?.identifier
            parent = known ?? value
        }
        for field in fields {
            guard
                let byte = field.utf8.first, let key = TagKey(rawValue: byte), key != .deviceModelCode,
                field.utf8.dropFirst().first == UInt8(ascii: "="),
                let value = DynamicTypeIdentifier.unescaped(Substring(field.utf8.dropFirst(2)))
            else { return nil }
            tags.append(Tag(tagClass: UTTagClass(key), value: value))
        }
        self.init(parent: parent, tags: tags)
    }

    // MARK: - Escapes

    /// Escapes colons, which separate fields, and backslashes. Other characters need no escaping.
    private static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            if scalar == ":" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// Removes escapes. Any character may follow a backslash; a backslash at the end is invalid.
    private static func unescaped(_ value: Substring) -> String? {
        var result = ""
        var isEscape = false
        for scalar in value.unicodeScalars {
            if !isEscape, scalar == "\\" {
                isEscape = true
            } else {
                result.unicodeScalars.append(scalar)
                isEscape = false
            }
        }
        return isEscape ? nil : result
    }

    /// Splits the text at unescaped colons.
    private static func fields(_ text: Substring) -> [Substring] {
        var fields: [Substring] = []
        var start = text.startIndex
        var isEscape = false
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            if isEscape {
                isEscape = false
            } else if scalars[index] == "\\" {
                isEscape = true
            } else if scalars[index] == ":" {
                fields.append(text[start..<index])
                start = scalars.index(after: index)
            }
        }
        fields.append(text[start...])
        return fields
    }

    // MARK: - Base 32

    /// Encodes five bits per character, most significant first. The last character is padded with
    /// zeros.
    static func encodeBase32(_ text: String) -> String {
        var result = prefix
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for byte in text.utf8 {
            bits = (bits << 8 | UInt32(byte)) & 0xFFFF
            count += 8
            while count >= 5 {
                count -= 5
                result.unicodeScalars.append(Unicode.Scalar(alphabet[Int(bits >> count & 31)]))
            }
        }
        if count > 0 { result.unicodeScalars.append(Unicode.Scalar(alphabet[Int(bits << (5 - count) & 31)])) }
        return result
    }

    /// Decodes an identifier; `nil` if it is not the canonical encoding of its bytes.
    static func decodeBase32(_ identifier: String) -> [UInt8]? {
        let limit = prefix.utf8.count + (maximumDecodedBytes * 8 + 4) / 5
        guard identifier.utf8.count <= limit else { return nil }
        let lowercase = TypeIdentifier.lowercased(identifier)
        guard lowercase.utf8.starts(with: prefix.utf8) else { return nil }
        var bytes: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for character in lowercase.utf8.dropFirst(prefix.utf8.count) {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = (bits << 5 | UInt32(value)) & 0xFFFF
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        // Five or more remaining bits indicate an extra character. Remaining bits must be zero.
        guard count < 5, bits & (1 << count - 1) == 0 else { return nil }
        return bytes
    }
}
