// SPDX-License-Identifier: Apache-2.0
import FileReading

/// A key and its values, parsed leniently from a single line that the language's own parser
/// rejects.
struct PropertyLine {
    var key: String
    var values: [String]

    /// Parses `key: value`.
    init?(yaml line: Substring) {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = line[line.utf8.index(after: colon)...]
        guard rest.isEmpty || rest.first?.isWhitespace == true else { return nil }
        self.init(key: line[..<colon], rest: rest)
    }

    /// Parses `key = value`.
    init?(toml line: Substring) {
        guard let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        self.init(key: line[..<equals], rest: line[line.utf8.index(after: equals)...])
    }

    private init?(key: Substring, rest: Substring) {
        self.key = Self.unquoted(key)
        guard !self.key.isEmpty, self.key.utf8.count <= FrontMatter.maximumKey else { return nil }
        let rest = Self.withoutComment(rest.trimmed)
        if rest.first == "[" {
            values = rest.split(whereSeparator: { "[],".contains($0) }).map(Self.unquoted)
        } else {
            values = [Self.unquoted(rest)]
        }
        values.removeAll { $0.isEmpty }
    }

    /// Returns the text without an opening quotation mark and its matching one at the end.
    static func unquoted(_ text: Substring) -> String {
        let text = text.trimmed
        guard let quote = text.first, quote == "\"" || quote == "'" else { return String(text) }
        let rest = text.dropFirst()
        guard let end = rest.firstIndex(of: quote) else { return String(rest.trimmed) }
        return rest.index(after: end) == rest.endIndex ? String(rest[..<end].trimmed) : String(text)
    }

    private static func withoutComment(_ source: Substring) -> Substring {
        var previous: Character = " "
        for index in source.indices {
            if source[index] == "#", previous.isWhitespace { return source[..<index].trimmed }
            previous = source[index]
        }
        return source
    }
}
