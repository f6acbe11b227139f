// SPDX-License-Identifier: Apache-2.0

/// Single values of front matter.
enum FrontMatterScalar {
    /// One value: quotes taken off and escapes resolved; a comment after a value without quotes removed.
    static func value(_ source: Substring) -> String {
        let source = source.trimmed
        switch source.first {
        case "\"": return doubleQuoted(source.dropFirst()).value
        case "'": return singleQuoted(source.dropFirst()).value
        default: return String(withoutComment(source))
        }
    }

    /// The values after a key: `[a, "b, c"]` has two, anything else is one; none if there is nothing.
    ///
    /// - Parameter ofTags: a number sign at the beginning is then part of a tag, not a comment
    static func list(_ source: Substring, ofTags: Bool) -> [String] {
        guard source.first == "[" else {
            let one = ofTags && source.first == "#" ? String(source) : value(source)
            return one.isEmpty ? [] : [one]
        }
        var values: [String] = []
        var rest = source.dropFirst().trimmed
        while let first = rest.first, first != "]" {
            let (value, after) = listElement(rest)
            if !value.isEmpty { values.append(value) }
            rest = after.drop { $0 != "," && $0 != "]" }
            if rest.first == "," { rest = rest.dropFirst().trimmed }
        }
        return values
    }

    private static func listElement(_ source: Substring) -> (value: String, rest: Substring) {
        switch source.first {
        case "\"": return doubleQuoted(source.dropFirst())
        case "'": return singleQuoted(source.dropFirst())
        default:
            let end = source.firstIndex { $0 == "," || $0 == "]" } ?? source.endIndex
            return (String(source[..<end].trimmed), source[end...])
        }
    }

    /// From after the opening quote; an unclosed one ends with the line.
    private static func doubleQuoted(_ source: Substring) -> (value: String, rest: Substring) {
        var value = ""
        var index = source.startIndex
        while index < source.endIndex, source[index] != "\"" {
            var character = source[index]
            index = source.index(after: index)
            if character == "\\", index < source.endIndex {
                character = source[index]
                index = source.index(after: index)
                switch character {
                case "n": character = "\n"
                case "t": character = "\t"
                default: break
                }
            }
            value.append(character)
        }
        return (value, source[index...].dropFirst())
    }

    /// From after the opening quote; a quote is written twice.
    private static func singleQuoted(_ source: Substring) -> (value: String, rest: Substring) {
        var value = ""
        var rest = source
        while let quote = rest.firstIndex(of: "'") {
            value += rest[..<quote]
            rest = rest[rest.index(after: quote)...]
            guard rest.first == "'" else { return (value, rest) }
            value.append("'")
            rest = rest.dropFirst()
        }
        return (value + rest, rest[rest.endIndex...])
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
