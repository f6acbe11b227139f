// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text up to a number of UTF-8 bytes, cut where a scalar ends.
    package func prefix(maximumUTF8Bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let bytes = utf8
        var end = bytes.index(startIndex, offsetBy: limit)
        // Continuation bytes are 10xxxxxx.
        while end > startIndex, bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
        return String(self[..<end])
    }

    /// One line of at most so many characters: white space becomes single spaces, and what is too long ends at a word
    /// with an ellipsis.
    package func summary(maximumCharacters limit: Int) -> String {
        // A character may have any number of scalars; 16 bytes for each is generous for all that is written by people.
        let words = prefix(maximumUTF8Bytes: limit * 16).split { $0.isWhitespace || $0.isNewline }
        let line = words.joined(separator: " ")
        let isWhole = utf8.count <= limit * 16
        guard let end = line.index(line.startIndex, offsetBy: limit, limitedBy: line.endIndex) else {
            return isWhole ? line : line + "…"
        }
        if isWhole, end == line.endIndex { return line }
        // Room for the ellipsis; a first word that is longer than everything is cut through.
        let room = line[..<line.index(before: end)]
        let nextIsSpace = room.endIndex < line.endIndex && line[room.endIndex] == " "
        let cut = nextIsSpace ? room.endIndex : room.lastIndex(of: " ") ?? room.endIndex
        return line[..<cut] + "…"
    }

    /// Control characters replaced, so that a hostile name cannot forge a line of a log.
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

    var trimmed: String { String(self[...].trimmed) }
}

extension Substring {
    /// The text up to a number of UTF-8 bytes: whole lines, unless the first is longer.
    func lines(maximumUTF8Bytes limit: Int) -> Substring {
        let bytes = utf8
        guard bytes.count > limit else { return self }
        let end = bytes.index(startIndex, offsetBy: limit)
        guard let last = bytes[..<end].lastIndex(of: 0x0A) else {
            return String(self[..<end]).prefix(maximumUTF8Bytes: limit)[...]
        }
        return self[..<last]
    }

    /// The last place of some bytes.
    func lastRange(ofBytes bytes: [UInt8]) -> Range<Index>? {
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

    /// Without white space at both ends.
    var trimmed: Substring {
        let rest = drop { $0.isWhitespace }
        guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return rest[rest.endIndex...] }
        return rest[...last]
    }
}
