// SPDX-License-Identifier: Apache-2.0
import FileReading

/// A value in front matter, with its source text.
package enum FrontMatterValue: Sendable, Equatable {
    case text(String)
    case integer(Int, source: String)
    case real(Double, source: String)
    case flag(Bool, source: String)

    package var text: String {
        switch self {
        case .text(let text): text
        case .integer(_, let source), .real(_, let source), .flag(_, let source): source
        }
    }

    /// The number that the value is or represents as text; nil for other values.
    package var number: Double? {
        switch self {
        case .integer(let number, _): Double(number)
        case .real(let number, _): number.isFinite ? number : nil
        case .text(let text): Double(text.trimmed).flatMap { $0.isFinite ? $0 : nil }
        case .flag: nil
        }
    }
}

/// The properties before a note's text. Four syntaxes are supported: YAML between two `---` lines
/// (or `---` and `...`), TOML between two `+++` lines, Logseq `key:: value` lines, and Pandoc's
/// title block (lines that begin with `%`).
///
/// A line that cannot be parsed does not affect other lines; its text is added to ``leftovers``. A
/// null, an empty value and a comment are not values.
package struct FrontMatter: Sendable, Equatable {
    /// The maximum size of a block, in bytes; a larger block is treated as text.
    package static let maximumSize = 64 << 10
    /// The maximum length of a key, in UTF-8 bytes, including the names of the enclosing tables or
    /// mappings.
    static let maximumKey = 256
    static let maximumKeys = 2_000

    /// A key and its values. It has several values if it introduces a list or occurs more than
    /// once.
    package struct Entry: Sendable, Equatable {
        /// The key as written. The keys of nested mappings are joined with dots, outermost first.
        package var key: String
        package var values: [FrontMatterValue]
    }

    /// The entries, in the order of their first values.
    package private(set) var entries: [Entry] = []
    /// The texts of lines that cannot be parsed.
    package private(set) var leftovers: [String] = []
    private var positions: [String: Int] = [:]

    mutating func append(_ value: FrontMatterValue, to key: String) {
        // An escape can produce scalars that a text must not contain.
        if value.text.allSatisfy(\.isWhitespace) { return }
        let key = key.prefix(maximumUTF8Bytes: Self.maximumKey).trimmed
        if let position = positions[key] {
            entries[position].values.append(value)
        } else if !key.isEmpty, entries.count < Self.maximumKeys {
            positions[key] = entries.count
            entries.append(Entry(key: key, values: [value]))
        } else {
            leftovers.append(value.text)
        }
    }

    mutating func append(leftover line: some StringProtocol) {
        let text = String(line).trimmed
        if !text.isEmpty { leftovers.append(text) }
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.entries == other.entries && one.leftovers == other.leftovers
    }
}

extension FrontMatter {
    /// Splits a note into front matter and text. Without front matter, everything is text.
    package static func split(_ text: String, kind: NoteKind = .markdown) -> (
        frontMatter: FrontMatter?, body: Substring
    ) {
        var lines = LineIterator(text[...])
        guard let first = lines.next() else { return (nil, text[...]) }
        let isYAML = first.hasPrefix("---") && first.trimmed == "---"
        if isYAML || first.hasPrefix("+++") && first.trimmed == "+++" {
            guard let (block, rest) = block(lines.rest, endsWith: isYAML ? ["---", "..."] : ["+++"])
            else { return (nil, text[...]) }
            let frontMatter = isYAML ? YAMLReader.read(block) : TOMLReader.read(block)
            return frontMatter.map { ($0, rest) } ?? (nil, text[...])
        }
        let read: (String) -> (frontMatter: FrontMatter, length: Int)?
        if kind == .markdown, first.utf8.first == UInt8(ascii: "%") {
            read = PandocReader.read
        } else if first.contains("::") {
            read = LogseqReader.read
        } else {
            return (nil, text[...])
        }
        guard let (frontMatter, length) = read(text.prefix(maximumUTF8Bytes: maximumSize)) else {
            return (nil, text[...])
        }
        return (frontMatter, Substring(text.utf8.dropFirst(length)))
    }

    /// Returns the lines before the first fence, and the text after it.
    private static func block(_ text: Substring, endsWith fences: [String]) -> (block: Substring, rest: Substring)? {
        var lines = LineIterator(text)
        while true {
            let start = lines.rest.startIndex
            guard let line = lines.next(), text.utf8.distance(from: text.startIndex, to: start) <= maximumSize else {
                return nil
            }
            if let first = fences.first?.utf8.first, line.utf8.first == first || line.utf8.first == UInt8(ascii: "."),
                fences.contains(String(line.trimmed))
            {
                return (text[..<start], lines.rest)
            }
        }
    }
}
