// SPDX-License-Identifier: Apache-2.0
import FileReading

/// Reads Logseq's page properties: `key:: value` lines before all other text, which may be the
/// first item of a list.
enum LogseqReader {
    /// Returns the properties and the number of bytes that they take; nil if the first line is not
    /// a property.
    static func read(_ text: String) -> (frontMatter: FrontMatter, length: Int)? {
        var frontMatter = FrontMatter()
        var lines = LineIterator(text[...])
        var length = 0
        var isFirst = true
        while let line = lines.next(), let (key, value) = property(line, isFirst: isFirst) {
            isFirst = false
            let isList = [.tags, .aliases].contains(NoteField(key: key))
            for part in isList ? value.split(separator: ",") : [value] where !part.trimmed.isEmpty {
                frontMatter.append(.text(withoutBrackets(part.trimmed)), to: key)
            }
            length = text.utf8.distance(from: text.startIndex, to: lines.rest.startIndex)
        }
        return isFirst ? nil : (frontMatter, length)
    }

    private static func property(_ line: Substring, isFirst: Bool) -> (key: String, value: Substring)? {
        var content = line.trimmed
        if isFirst, content.hasPrefix("- ") { content = content.dropFirst(2).trimmed }
        var index = content.startIndex
        while index < content.endIndex, content[index] != ":" { index = content.index(after: index) }
        let rest = content[index...]
        let key = content[..<index]
        guard rest.hasPrefix("::"), rest.count == 2 || rest.dropFirst(2).first == " ", !key.isEmpty,
            key.utf8.count <= FrontMatter.maximumKey,
            key.allSatisfy({ $0.isLetter || $0.isNumber || "-_./?".contains($0) })
        else { return nil }
        return (String(key), rest.dropFirst(2))
    }

    /// Returns the page name if the value is a single link to a page; otherwise the value.
    private static func withoutBrackets(_ value: Substring) -> String {
        guard value.hasPrefix("[["), value.hasSuffix("]]"), !value.dropFirst(2).dropLast(2).contains("[") else {
            return String(value)
        }
        return String(value.dropFirst(2).dropLast(2))
    }
}

/// Reads Pandoc's title block: up to three fields (title, authors, date) that begin with `%` and
/// continue on indented lines.
enum PandocReader {
    /// Returns the properties and the number of bytes that they take; nil if the block is empty.
    static func read(_ text: String) -> (frontMatter: FrontMatter, length: Int)? {
        var fields: [[Substring]] = []
        var lines = LineIterator(text[...])
        var length = 0
        while let line = lines.next() {
            if line.first == "%", fields.count < 3, line.count == 1 || line.dropFirst().first?.isWhitespace == true {
                fields.append([line.dropFirst().trimmed])
            } else if line.first == " " || line.first == "\t", !fields.isEmpty, !line.trimmed.isEmpty {
                fields[fields.count - 1].append(line.trimmed)
            } else {
                break
            }
            length = text.utf8.distance(from: text.startIndex, to: lines.rest.startIndex)
        }
        var frontMatter = FrontMatter()
        for (key, field) in zip(["title", "author", "date"], fields) {
            if key == "author" {
                for name in field.flatMap({ $0.split(separator: ";") }) {
                    frontMatter.append(.text(String(name.trimmed)), to: key)
                }
            } else {
                frontMatter.append(.text(field.joined(separator: " ")), to: key)
            }
        }
        return frontMatter.entries.isEmpty ? nil : (frontMatter, length)
    }
}
