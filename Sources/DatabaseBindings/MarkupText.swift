// SPDX-License-Identifier: Apache-2.0
import JSONText

/// Conversions between column values and text that is displayed or indexed.
package enum MarkupText {
    /// Returns text with HTML's special characters replaced by character references.
    package static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            case 0: bytes += "\u{FFFD}".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Elements that end a line.
    private static let blocks: Set<String> = [
        "p", "div", "br", "li", "ul", "ol", "tr", "table", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre",
        "section", "article", "header", "footer", "hr", "dd", "dt", "figure", "figcaption",
    ]
    /// Elements whose contents are not displayed text.
    private static let hidden: Set<String> = ["script", "style", "template", "noscript", "svg", "math", "head"]
    /// Named references that texts often use. Other references are kept.
    private static let references: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "ndash": "–", "mdash": "—",
        "hellip": "…", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "auml": "ä", "ouml": "ö", "uuml": "ü",
        "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü", "szlig": "ß", "eacute": "é", "egrave": "è", "agrave": "à", "ccedil": "ç",
        "copy": "©", "reg": "®", "euro": "€", "bull": "•", "middot": "·", "times": "×", "shy": "\u{AD}",
    ]

    /// Returns the text of HTML in a column, without tags, comments, scripts and styles, and with a
    /// line end after each block. Only for the index, since previews pass through a full sanitizer
    /// in the host. Takes time proportional to the length.
    package static func plain(_ html: String) -> String {
        let bytes = Array(html.utf8)
        var result: [UInt8] = []
        var (place, skipped) = (0, String?.none)
        while place < bytes.count {
            let byte = bytes[place]
            // Inside a hidden element, only a closing tag is recognized: `i<n` in a script is not a
            // tag.
            let mayBeTag = skipped == nil || place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: "/")
            if byte == UInt8(ascii: "<"), mayBeTag, let tag = Tag(bytes, at: place) {
                place = tag.end
                if let open = skipped {
                    if tag.isClosing, tag.name == open { skipped = nil }
                } else if hidden.contains(tag.name), !tag.isClosing, !tag.isEmpty {
                    skipped = tag.name
                } else if blocks.contains(tag.name), result.last != UInt8(ascii: "\n"), !result.isEmpty {
                    result.append(UInt8(ascii: "\n"))
                }
                continue
            }
            if byte == UInt8(ascii: "&"), let (text, end) = reference(bytes, at: place) {
                if skipped == nil { result += text.utf8 }
                place = end
                continue
            }
            if skipped == nil { result.append(byte) }
            place += 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    private struct Tag {
        var name: String
        var isClosing = false
        var isEmpty = false
        /// The offset after the tag.
        var end: Int

        /// Reads a tag, a comment or a declaration; `nil` for a “<” that is text.
        init?(_ bytes: [UInt8], at start: Int) {
            var place = start + 1
            guard place < bytes.count else { return nil }
            if bytes[place] == UInt8(ascii: "!") || bytes[place] == UInt8(ascii: "?") {
                let isComment = bytes[place...].starts(with: "!--".utf8)
                name = ""
                while place < bytes.count {
                    if bytes[place] == UInt8(ascii: ">"),
                        !isComment
                            || place >= start + 6 && bytes[place - 1] == UInt8(ascii: "-")
                                && bytes[place - 2] == UInt8(ascii: "-")
                    {
                        break
                    }
                    place += 1
                }
                end = min(place + 1, bytes.count)
                return
            }
            if bytes[place] == UInt8(ascii: "/") {
                isClosing = true
                place += 1
            }
            let first = place
            while place < bytes.count, bytes[place].isLetterOrDigit { place += 1 }
            guard place > first, !(0x30...0x39).contains(bytes[first]) else { return nil }
            name = String(decoding: bytes[first..<place], as: UTF8.self).lowercased()
            var quote: UInt8?
            while place < bytes.count {
                let byte = bytes[place]
                if let open = quote {
                    if byte == open { quote = nil }
                } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    quote = byte
                } else if byte == UInt8(ascii: ">") {
                    break
                }
                place += 1
            }
            isEmpty = place > first && place <= bytes.count && bytes[place - 1] == UInt8(ascii: "/")
            end = min(place + 1, bytes.count)
        }
    }

    private static func reference(_ bytes: [UInt8], at start: Int) -> (String, end: Int)? {
        let window = bytes[(start + 1)..<min(start + 12, bytes.count)]
        guard let end = window.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
        if let text = references[name] { return (text, end + 1) }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        guard let value = UInt32(isHexadecimal ? digits.dropFirst() : digits, radix: isHexadecimal ? 16 : 10),
            value != 0, let scalar = Unicode.Scalar(value)
        else { return nil }
        return (String(Character(scalar)), end + 1)
    }

    /// Returns the texts and numbers of a JSON array; none if the text is not an array.
    static func jsonTexts(_ text: String) -> [String] {
        guard case .list(let values)? = try? JSONValue(reading: ArraySlice(text.utf8), maximumDepth: 4) else {
            return []
        }
        return values.compactMap { value in
            switch value {
            case .text(let text): text
            case .integer(let number): "\(number)"
            case .number(let number): number.plain
            default: nil
            }
        }
    }

    /// Returns a time in seconds since 2001 as `2026-11-27 08:30` in UTC.
    static func date(_ moment: Double) -> String {
        let minutes = Int(((moment + 978_307_200) / 60).rounded(.down))
        let (days, minute) = minutes.quotientAndRemainder(dividingBy: 1440)
        // The inverse of counting days, with years that begin in March.
        let shifted = (minute < 0 ? days - 1 : days) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let day = shifted - era * 146_097
        let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let number = month < 10 ? month + 3 : month - 9
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let ofDay = minute < 0 ? minute + 1440 : minute
        return
            "\(year + era * 400 + (number <= 2 ? 1 : 0))-\(two(number))-\(two(dayOfYear - (153 * month + 2) / 5 + 1)) "
            + "\(two(ofDay / 60)):\(two(ofDay % 60))"
    }
}
