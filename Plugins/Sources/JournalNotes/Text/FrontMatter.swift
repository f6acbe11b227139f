// SPDX-License-Identifier: Apache-2.0

/// The block between two `---` lines at the beginning of a note, read as the few forms of YAML that notes use: `key:
/// value`, quoted values, lists in brackets, after dashes or divided by commas, and folded (`>`) or literal (`|`) text.
///
/// A block that has other forms is still front matter as long as each line could belong to one; what is not understood
/// is left out. Anything else, such as a text that begins with a rule, is not front matter.
package struct FrontMatter: Sendable, Equatable {
    /// Longer blocks are taken for text, in bytes.
    static let maximumSize = 64 << 10

    /// Values by key in lower case; a list has several.
    private var values: [String: [String]] = [:]

    package var title: String? { text("title") }
    package var summary: String? { text("description") ?? text("summary") }
    /// As written.
    package var date: String? { text("date") ?? text("created") }
    /// Without number signs, in order, each once.
    package var tags: [String] {
        var seen: Set<String> = []
        return ["tags", "tag", "keywords"].flatMap { values[$0] ?? [] }.flatMap(Self.tags(in:))
            .filter { seen.insert($0).inserted }
    }

    private func text(_ key: String) -> String? {
        guard let value = values[key]?.joined(separator: ", ").trimmed, !value.isEmpty else { return nil }
        return value
    }

    /// `a, b` is two tags, `#a #b` too; `deep work` is one.
    private static func tags(in value: String) -> [String] {
        value.split(separator: ",").map(\.trimmed).flatMap { part in
            let words = part.split { $0.isWhitespace }
            return words.count > 1 && words.allSatisfy { $0.hasPrefix("#") } ? words : [part]
        }
        .map { String($0.drop { $0 == "#" }) }
        .filter { !$0.isEmpty }
    }
}

extension FrontMatter {
    /// Divides a note into front matter and the rest; the whole text is the rest if there is none.
    package static func split(_ text: String) -> (frontMatter: FrontMatter?, body: Substring) {
        guard text.utf8.starts(with: "---".utf8) else { return (nil, text[...]) }
        var lines = LineIterator(text[...])
        guard lines.next().map(isFence) == true else { return (nil, text[...]) }
        var block: [Substring] = []
        var size = 0
        while let line = lines.next() {
            if isFence(line) || line.trimmed == "..." {
                guard let frontMatter = FrontMatter(lines: block) else { break }
                return (frontMatter, lines.rest)
            }
            size += line.utf8.count + 1
            guard size <= maximumSize else { break }
            block.append(line)
        }
        return (nil, text[...])
    }

    private static func isFence(_ line: Substring) -> Bool {
        line.utf8.starts(with: "---".utf8) && line.trimmed == "---"
    }

    /// Nil if a line fits none of the forms, or no line has a key.
    private init?(lines: [Substring]) {
        var key: String?
        var style = ScalarStyle.plain
        for line in lines {
            let content = line.trimmed
            let isIndented = line.first?.isWhitespace == true
            if content.isEmpty || (content.hasPrefix("#") && style == .plain && !isIndented) { continue }
            if let current = key, content == "-" || content.hasPrefix("- "), style == .plain {
                append(FrontMatterScalar.value(content.dropFirst()), to: current)
            } else if isIndented, let current = key {
                extend(current, with: content, style: style)
            } else if let (name, rest) = Self.keyAndRest(content), !isIndented {
                key = name
                style = ScalarStyle(marker: rest)
                values[name] = style == .plain ? FrontMatterScalar.list(rest, ofTags: Self.isTagKey(name)) : []
            } else {
                return nil
            }
        }
        if values.isEmpty { return nil }
    }

    private mutating func append(_ value: String, to key: String) {
        if !value.isEmpty { values[key, default: []].append(value) }
    }

    /// A further line of a value; nested keys are not understood and left out.
    private mutating func extend(_ key: String, with content: Substring, style: ScalarStyle) {
        guard let last = values[key]?.popLast() else {
            if style != .plain || Self.keyAndRest(content) == nil { append(String(content), to: key) }
            return
        }
        append(last + (style == .literal ? "\n" : " ") + content, to: key)
    }

    private static func isTagKey(_ key: String) -> Bool { ["tags", "tag", "keywords"].contains(key) }

    /// `name: rest` with a name of letters, digits, `_`, `-`, `.` and spaces inside.
    private static func keyAndRest(_ content: Substring) -> (key: String, rest: Substring)? {
        guard let colon = content.firstIndex(of: ":") else { return nil }
        let rest = content[content.index(after: colon)...]
        guard rest.isEmpty || rest.first?.isWhitespace == true else { return nil }
        let name = content[..<colon].trimmed
        guard name.first?.isLetter == true, name.count <= 64,
            name.allSatisfy({ $0.isLetter || $0.isNumber || "_-. ".contains($0) })
        else { return nil }
        return (name.lowercased(), rest.trimmed)
    }
}

/// How the lines after a key belong together.
private enum ScalarStyle {
    case plain, folded, literal

    init(marker: Substring) {
        switch marker {
        case ">", ">-", ">+": self = .folded
        case "|", "|-", "|+": self = .literal
        default: self = .plain
        }
    }
}

/// Lines without their ends: LF, CR LF or CR.
struct LineIterator: IteratorProtocol, Sequence {
    private(set) var rest: Substring

    init(_ text: Substring) { rest = text }

    mutating func next() -> Substring? {
        if rest.isEmpty { return nil }
        let bytes = rest.utf8
        guard let end = bytes.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else {
            defer { rest = rest[rest.endIndex...] }
            return rest
        }
        let line = rest[..<end]
        var next = bytes.index(after: end)
        if bytes[end] == 0x0D, next < bytes.endIndex, bytes[next] == 0x0A { next = bytes.index(after: next) }
        rest = rest[next...]
        return line
    }
}
