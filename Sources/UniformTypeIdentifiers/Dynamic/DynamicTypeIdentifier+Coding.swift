// SPDX-License-Identifier: Apache-2.0

extension DynamicTypeIdentifier {
    /// What every dynamic identifier begins with: the domain and the version of the encoding.
    static let prefix = "dyn.a"

    private static let alphabet: [UInt8] = Array("abcdefghkmnpqrstuvwxyz0123456789".utf8)

    /// The parents that have a short code (uniform-types.md §8).
    private static let parentCodes: [(code: String, identifier: String)] = [
        ("6", "public.data"), ("7", "public.text"), ("8", "public.plain-text"), ("9", "public.utf16-plain-text"),
        ("A", "com.apple.traditional-mac-plain-text"), ("B", "public.image"), ("C", "public.video"),
        ("D", "public.audio"), ("E", "public.directory"), ("F", "public.folder"), ("10", "com.apple.package"),
    ]

    /// The text that is put into base 32.
    var decodedForm: String {
        var text = ""
        if let parent {
            let code = DynamicTypeIdentifier.parentCodes.first { $0.identifier == parent }?.code
            text += "?0=" + (code ?? DynamicTypeIdentifier.escaped(parent)) + ":"
        }
        for (position, tag) in tags.enumerated() {
            if position > 0 { text += ":" }
            // Every tag's class has a key: the initialisers refuse others.
            text.unicodeScalars.append(Unicode.Scalar(tag.tagClass.key?.rawValue ?? TagKey.mimeType.rawValue))
            text += "=" + DynamicTypeIdentifier.escaped(tag.value)
        }
        return text
    }

    /// Reads the text inside of an identifier.
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

    /// A colon would end the field. Only what is needed to read a value back is escaped.
    private static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            if scalar == ":" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// Any character may stand behind a backslash; a backslash at the end is malformed.
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

    /// Splits at the colons that are not escaped.
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

    /// Five bits a character, most significant first, the last one padded with zeros.
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

    /// The bytes of an identifier, or `nil` if it is not the shortest and only spelling of them.
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
        // Five bits or more left over are a character too many; bits that are set were never written.
        guard count < 5, bits & (1 << count - 1) == 0 else { return nil }
        return bytes
    }
}
