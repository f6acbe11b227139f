// SPDX-License-Identifier: Apache-2.0
import FileReading

/// Decodes the values of content lines.
package enum ContentText {
    /// Decodes bytes as UTF-8. If they are not valid UTF-8, decodes them from the named encoding,
    /// or else as Windows-1252, a superset of Latin-1.
    package static func decoded(_ bytes: ArraySlice<UInt8>, charset: String?) -> String {
        let isUTF8 = charset.map { ["UTF-8", "UTF8", "US-ASCII", "ASCII"].contains($0.uppercased()) } ?? true
        if isUTF8, let text = valid(bytes) { return text }
        if let charset, !isUTF8, isName(charset),
            let text = TextReading.decode(Array(bytes), as: charset.uppercased())
        {
            return withoutZeros(text)
        }
        if let text = valid(bytes) { return text }
        return withoutZeros(
            TextReading.decode(Array(bytes), as: "WINDOWS-1252") ?? String(decoding: bytes, as: UTF8.self))
    }

    /// `true` if an encoding name is safe to pass to iconv(3).
    private static func isName(_ charset: String) -> Bool {
        (1...40).contains(charset.utf8.count)
            && charset.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "-_:.".utf8.contains(byte)
            }
    }

    private static func valid(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let text = try? String(copying: UTF8Span(validating: bytes.span)) else { return nil }
        return withoutZeros(text)
    }

    private static func withoutZeros(_ text: String) -> String {
        text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
    }

    /// Splits a value at a separator, except where a backslash escapes the separator.
    ///
    /// - Parameter limit: The maximum number of parts; the last part contains the rest.
    package static func split(
        _ value: ArraySlice<UInt8>, at separator: UInt8, limit: Int = 1000
    ) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = value.startIndex
        var index = value.startIndex
        while index < value.endIndex {
            if value[index] == UInt8(ascii: "\\") {
                index = min(index + 2, value.endIndex)
                continue
            }
            if value[index] == separator, parts.count + 1 < limit {
                parts.append(value[start..<index])
                start = index + 1
            }
            index += 1
        }
        parts.append(value[start...])
        return parts
    }

    /// Replaces the escapes `\n`, `\N`, `\,`, `\;`, `\:` and `\\`. Other backslashes are kept.
    package static func unescaped(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard value.contains(UInt8(ascii: "\\")) else { return value }
        var result: [UInt8] = []
        result.reserveCapacity(value.count)
        var index = value.startIndex
        while index < value.endIndex {
            let byte = value[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < value.endIndex else {
                result.append(byte)
                continue
            }
            switch value[index] {
            case UInt8(ascii: "n"), UInt8(ascii: "N"): result.append(0x0A)
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "\\"):
                result.append(value[index])
            default: result += [byte, value[index]]
            }
            index += 1
        }
        return result[...]
    }

    /// Decodes quoted-printable (RFC 2045) whose soft line breaks have already been removed.
    package static func quotedPrintable(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard value.contains(UInt8(ascii: "=")) else { return value }
        var result: [UInt8] = []
        result.reserveCapacity(value.count)
        var index = value.startIndex
        while index < value.endIndex {
            if value[index] == UInt8(ascii: "="), index + 2 < value.endIndex,
                let high = hexadecimal(value[index + 1]), let low = hexadecimal(value[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(value[index])
                index += 1
            }
        }
        return result[...]
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Decodes base64, ignoring white space. Returns nil for other characters, and for a result
    /// longer than `limit` bytes.
    package static func base64(_ value: ArraySlice<UInt8>, limit: Int) -> [UInt8]? {
        guard value.count / 4 * 3 <= limit + limit / 16 + 64 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(min(limit, value.count / 4 * 3 + 3))
        var (bits, count): (UInt32, Int) = (0, 0)
        for byte in value {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): digit = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): digit = 63
            case UInt8(ascii: "="), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                continue
            default: return nil
            }
            bits = bits << 6 | UInt32(digit)
            count += 6
            if count >= 8 {
                count -= 8
                guard result.count < limit else { return nil }
                result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return result
    }
}

extension ContentLine {
    private var charset: String? { parameter("CHARSET") }

    /// The value without its transfer encoding, still escaped.
    package var value: ArraySlice<UInt8> {
        parameter("ENCODING")?.uppercased() == "QUOTED-PRINTABLE" ? ContentText.quotedPrintable(rawValue) : rawValue
    }

    /// The value as text.
    package var text: String { ContentText.decoded(ContentText.unescaped(value), charset: charset) }

    /// The parts of the value between commas or another separator, as text.
    package func texts(separator: UInt8 = UInt8(ascii: ","), limit: Int = 200) -> [String] {
        ContentText.split(value, at: separator, limit: limit)
            .map { ContentText.decoded(ContentText.unescaped($0), charset: charset) }
    }

    /// `true` if the value is base64-encoded.
    package var isBase64: Bool { ["B", "BASE64"].contains(parameter("ENCODING")?.uppercased()) }
}
