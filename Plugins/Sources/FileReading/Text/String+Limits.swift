// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Returns the longest prefix that has at most this many UTF-8 bytes and ends at a scalar
    /// boundary.
    package func prefix(maximumUTF8Bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let bytes = utf8
        var end = bytes.index(startIndex, offsetBy: limit)
        // Continuation bytes are 10xxxxxx.
        while end > startIndex, bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
        return String(self[..<end])
    }

    /// Returns one line of at most `limit` characters. White space becomes single spaces, and
    /// longer text ends with an ellipsis after a word.
    package func summary(maximumCharacters limit: Int) -> String {
        // A character may have any number of scalars; 16 bytes per character are enough for real
        // text.
        let words = prefix(maximumUTF8Bytes: limit * 16).split { $0.isWhitespace || $0.isNewline }
        let line = words.joined(separator: " ")
        let isWhole = utf8.count <= limit * 16
        guard let end = line.index(line.startIndex, offsetBy: limit, limitedBy: line.endIndex) else {
            return isWhole ? line : line + "…"
        }
        if isWhole, end == line.endIndex { return line }
        // Reserves room for the ellipsis. A first word that exceeds the limit is cut.
        let room = line[..<line.index(before: end)]
        let nextIsSpace = room.endIndex < line.endIndex && line[room.endIndex] == " "
        let cut = nextIsSpace ? room.endIndex : room.lastIndex(of: " ") ?? room.endIndex
        return line[..<cut] + "…"
    }

    /// The string with control characters escaped, so that a hostile name cannot forge a log line.
    package var onOneLine: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: result += scalar.escaped(asASCII: true)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    package var trimmed: String { String(self[...].trimmed) }
}

extension Substring {
    /// Returns the complete lines that fit into a number of UTF-8 bytes; if the first line is
    /// longer, it is cut.
    package func lines(maximumUTF8Bytes limit: Int) -> Substring {
        let bytes = utf8
        guard bytes.count > limit else { return self }
        let end = bytes.index(startIndex, offsetBy: limit)
        guard let last = bytes[..<end].lastIndex(of: 0x0A) else {
            return String(self[..<end]).prefix(maximumUTF8Bytes: limit)[...]
        }
        return self[..<last]
    }

    /// Returns the range of the last occurrence of a byte sequence.
    package func lastRange(ofBytes bytes: [UInt8]) -> Range<Index>? {
        let view = utf8
        var end = view.endIndex
        while let last = view[..<end].lastIndex(of: bytes[bytes.count - 1]) {
            let after = view.index(after: last)
            if view.distance(from: view.startIndex, to: after) >= bytes.count {
                let start = view.index(after, offsetBy: -bytes.count)
                if view[start..<after].elementsEqual(bytes) { return start..<after }
            }
            end = last
        }
        return nil
    }

    /// The string without leading and trailing white space.
    package var trimmed: Substring {
        let rest = drop { $0.isWhitespace }
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return rest[rest.endIndex...] }
        return rest[...last]
    }
}

extension String {
    /// The string escaped for HTML text and for attribute values in double quotes.
    package var escapedForHTML: String {
        var result: [UInt8] = []
        result.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "&"): result += "&amp;".utf8
            case UInt8(ascii: "<"): result += "&lt;".utf8
            case UInt8(ascii: ">"): result += "&gt;".utf8
            case UInt8(ascii: "\""): result += "&quot;".utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
