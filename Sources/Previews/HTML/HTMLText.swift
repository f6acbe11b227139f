// SPDX-License-Identifier: Apache-2.0

/// Text in a page: decoding of character references, and escaping so that text never becomes
/// markup.
package enum HTMLText {
    /// Returns text escaped for use in an element or in a double-quoted value.
    package static func escaped(_ text: some StringProtocol) -> String {
        // Escapes bytes: as a character, "<" combines with a following mark or a preceding sign
        // such as U+0600, and would be missed.
        var escaped: [UInt8] = []
        appendLiteral(Array(text.utf8)[...], to: &escaped)
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Returns a page as UTF-8 without byte order marks, NULs and other control characters. Invalid
    /// UTF-8 becomes U+FFFD; other line ends become line feeds.
    static func cleaned(_ page: ArraySlice<UInt8>) -> [UInt8] {
        let text = Array(String(decoding: page, as: UTF8.self).utf8)
        var clean: [UInt8] = []
        clean.reserveCapacity(text.count)
        var position = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while position < text.count {
            // Most bytes are copied unchanged.
            let run = text[position...].firstIndex { $0 < 0x20 ? $0 != 0x0A : $0 == 0x7F || $0 == 0xC2 } ?? text.count
            clean += text[position..<run]
            guard run < text.count else { break }
            let byte = text[run]
            position = run + 1
            switch byte {
            case 0x09: clean.append(byte)
            case 0x0C: clean.append(0x20)
            case 0x0D: if position == text.count || text[position] != 0x0A { clean.append(0x0A) }
            // U+0080 to U+009F.
            case 0xC2: if position < text.count, text[position] < 0xA0 { position += 1 } else { clean.append(byte) }
            default: break
            }
        }
        return clean
    }

    /// Appends text with character references. Named references are kept, because they represent
    /// text; numeric references are resolved.
    static func append(_ raw: ArraySlice<UInt8>, to output: inout [UInt8], isValue: Bool = false) {
        var position = raw.startIndex
        while position < raw.endIndex {
            guard raw[position] == UInt8(ascii: "&") else {
                let end = raw[position...].firstIndex(of: UInt8(ascii: "&")) ?? raw.endIndex
                appendPlain(raw[position..<end], to: &output, isValue: isValue)
                position = end
                continue
            }
            if let (scalar, end) = numeric(raw[position...]) {
                if let scalar { append(scalar, to: &output, isValue: isValue) }
                position = end
            } else if let (name, end) = named(raw[position...]) {
                output.append(UInt8(ascii: "&"))
                output += name
                output.append(UInt8(ascii: ";"))
                position = end
            } else {
                output += amp
                position += 1
            }
        }
    }

    /// Appends text without character references.
    static func appendLiteral(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var rest = text
        while let next = rest.firstIndex(of: UInt8(ascii: "&")) {
            appendPlain(rest[..<next], to: &output, isValue: true)
            output += amp
            rest = rest[(next + 1)...]
        }
        appendPlain(rest, to: &output, isValue: true)
    }

    /// Appends text without `&`.
    private static func appendPlain(_ text: ArraySlice<UInt8>, to output: inout [UInt8], isValue: Bool) {
        var rest = text
        while let next = rest.firstIndex(where: {
            $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "\"")
        }) {
            output += rest[..<next]
            append(rest[next], to: &output, isValue: isValue)
            rest = rest[(next + 1)...]
        }
        output += rest
    }

    /// Returns an attribute's value with numeric references, and named references for ASCII
    /// characters, resolved. Other references are kept, because they cannot change the scheme of an
    /// address.
    static func decoded(_ raw: ArraySlice<UInt8>) -> [UInt8] {
        guard raw.contains(UInt8(ascii: "&")) else { return Array(raw) }
        var output: [UInt8] = []
        var position = raw.startIndex
        while position < raw.endIndex {
            if raw[position] == UInt8(ascii: "&") {
                if let (scalar, end) = numeric(raw[position...]) {
                    if let scalar { output += Array(String(Character(scalar)).utf8) }
                    position = end
                    continue
                }
                if let (name, end) = named(raw[position...]),
                    let text = asciiNames[String(decoding: name, as: UTF8.self)]
                {
                    output += Array(text.utf8)
                    position = end
                    continue
                }
            }
            output.append(raw[position])
            position += 1
        }
        return output
    }

    private static let amp = Array("&amp;".utf8)
    private static let less = Array("&lt;".utf8)
    private static let greater = Array("&gt;".utf8)
    private static let quote = Array("&quot;".utf8)

    private static func append(_ byte: UInt8, to output: inout [UInt8], isValue: Bool) {
        switch byte {
        case UInt8(ascii: "<"): output += less
        case UInt8(ascii: ">"): output += greater
        case UInt8(ascii: "\"") where isValue: output += quote
        default: output.append(byte)
        }
    }

    private static func append(_ scalar: Unicode.Scalar, to output: inout [UInt8], isValue: Bool) {
        if scalar == "&" { return output += amp }
        if scalar.isASCII { return append(UInt8(scalar.value), to: &output, isValue: isValue) }
        output += Array(String(Character(scalar)).utf8)
    }

    // MARK: References

    /// Parses a numeric reference: its end, and its character if the character may be shown.
    static func numeric(_ raw: ArraySlice<UInt8>) -> (scalar: Unicode.Scalar?, end: Int)? {
        var position = raw.startIndex + 1
        guard position < raw.endIndex, raw[position] == UInt8(ascii: "#") else { return nil }
        position += 1
        let isHexadecimal = position < raw.endIndex && raw[position] | 0x20 == UInt8(ascii: "x")
        if isHexadecimal { position += 1 }
        let first = position
        var value: UInt32 = 0
        while position < raw.endIndex, let digit = digit(raw[position], isHexadecimal) {
            value = min(0x11_0000, value * (isHexadecimal ? 16 : 10) + digit)
            position += 1
        }
        guard position > first else { return nil }
        if position < raw.endIndex, raw[position] == UInt8(ascii: ";") { position += 1 }
        return (shown(value), position)
    }

    private static func digit(_ byte: UInt8, _ isHexadecimal: Bool) -> UInt32? {
        if isDigit(byte) { return UInt32(byte) - 0x30 }
        guard isHexadecimal, (0x61...0x66).contains(byte | 0x20) else { return nil }
        return UInt32(byte | 0x20) - 0x57
    }

    private static func shown(_ value: UInt32) -> Unicode.Scalar? {
        switch value {
        case 0x09, 0x0A: Unicode.Scalar(value)
        // Browsers read these numbers as Windows-1252.
        case 0x80...0x9F: windows1252[Int(value) - 0x80]
        case 0..<0x20, 0x7F: nil
        default: Unicode.Scalar(value) ?? "\u{FFFD}"
        }
    }

    private static let windows1252: [Unicode.Scalar?] = [
        "€", nil, "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", nil, "Ž", nil, nil, "‘", "’", "“", "”", "•",
        "–",
        "—", "˜", "™", "š", "›", "œ", nil, "ž", "Ÿ",
    ]

    /// Parses a named reference and returns its name and its end.
    static func named(_ raw: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, end: Int)? {
        let name = raw.dropFirst().prefix(maximumNameBytes + 1).prefix { isLetter($0) || isDigit($0) }
        guard let first = name.first, isLetter(first), name.count <= maximumNameBytes else { return nil }
        if name.endIndex < raw.endIndex, raw[name.endIndex] == UInt8(ascii: ";") { return (name, name.endIndex + 1) }
        // Some names need no semicolon, except where the reference could be a parameter in an
        // address.
        guard bareNames.contains(String(decoding: name, as: UTF8.self)),
            name.endIndex == raw.endIndex || raw[name.endIndex] != UInt8(ascii: "=")
        else { return nil }
        return (name, name.endIndex)
    }

    /// The longest name in the standard has 31 characters.
    private static let maximumNameBytes = 31
    private static let bareNames: Set<String> = [
        "amp", "AMP", "lt", "LT", "gt", "GT", "quot", "QUOT", "nbsp", "copy", "reg",
    ]

    static let asciiNames: [String: String] = [
        "Tab": "\t", "NewLine": "\n", "excl": "!", "quot": "\"", "QUOT": "\"", "num": "#", "dollar": "$", "percnt": "%",
        "amp": "&", "AMP": "&", "apos": "'", "lpar": "(", "rpar": ")", "ast": "*", "midast": "*", "plus": "+",
        "comma": ",",
        "period": ".", "sol": "/", "colon": ":", "semi": ";", "lt": "<", "LT": "<", "equals": "=", "gt": ">", "GT": ">",
        "quest": "?", "commat": "@", "lsqb": "[", "lbrack": "[", "bsol": "\\", "rsqb": "]", "rbrack": "]", "Hat": "^",
        "lowbar": "_", "UnderBar": "_", "grave": "`", "DiacriticalGrave": "`", "lcub": "{", "lbrace": "{",
        "verbar": "|",
        "vert": "|", "VerticalLine": "|", "rcub": "}", "rbrace": "}", "nbsp": "\u{A0}", "copy": "©", "reg": "®",
    ]
}
