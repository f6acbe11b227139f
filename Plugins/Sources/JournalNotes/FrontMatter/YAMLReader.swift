// SPDX-License-Identifier: Apache-2.0
import FileReading
import Yams

/// Reads a YAML block with Yams: as a whole if it is valid, otherwise key by key, so that an
/// invalid entry does not affect the others.
struct YAMLReader {
    /// The maximum number of bytes parsed for a block, including repeated attempts. It bounds the
    /// time independently of the machine's speed.
    private static let maximumWork = 512 << 10
    /// The maximum number of attempts: with lines that may belong to a broken line, and with lines
    /// of an entry that are left out one at a time.
    private static let maximumAttempts = 32

    private var frontMatter = FrontMatter()
    private var work = 0

    /// Reads a block; nil if it is not a mapping or most of it is not YAML.
    static func read(_ block: Substring) -> FrontMatter? {
        var reader = YAMLReader()
        switch reader.compose(String(block)) {
        case .mapping(let mapping, let source): reader.add(mapping, source: source)
        case .other: return nil
        case .broken: guard reader.recover(LineIterator(block).map { $0 }) else { return nil }
        }
        return reader.frontMatter
    }

    // MARK: Whole

    private enum Composed {
        case mapping(Node.Mapping, source: String)
        /// An empty document, a scalar or a list.
        case other
        /// Invalid YAML, or YAML that is too expensive.
        case broken
    }

    private mutating func compose(_ yaml: String) -> Composed {
        work += yaml.utf8.count
        // The limit allows at least one attempt for each block, in proportion to its size.
        guard work <= Self.maximumWork, YAMLCost.isAcceptable(yaml) else { return .broken }
        do {
            guard let root = try Yams.compose(yaml: yaml, .basic), let mapping = root.mapping else { return .other }
            return .mapping(mapping, source: yaml)
        } catch {
            return .broken
        }
    }

    private mutating func add(_ mapping: Node.Mapping, source: String) {
        var lines: [Substring]?
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            if Self.isMerge(key) { add(merged: value) } else { add(value, to: name) }
            // YAML parses "tags: #one #two" as a comment, but authors mean tags.
            if NoteField(key: name) == .tags, value.scalar?.string.isEmpty == true, let mark = key.mark {
                let all = lines ?? LineIterator(source[...]).map { $0 }
                lines = all
                guard all.indices.contains(mark.line - 1) else { continue }
                for word in all[mark.line - 1].split(separator: " ") where word.hasPrefix("#") && word.count > 1 {
                    frontMatter.append(.text(String(word)), to: name)
                }
            }
        }
    }

    private mutating func add(_ node: Node, to key: String) {
        switch node {
        case .scalar(let scalar): if let value = Self.value(scalar) { frontMatter.append(value, to: key) }
        case .sequence(let nodes): for node in nodes { add(node, to: key) }
        case .mapping(let mapping):
            for (name, value) in mapping {
                if Self.isMerge(name) {
                    add(value, to: key)
                } else if let scalar = value.scalar, Self.value(scalar) == nil {
                    // A set, or a placeholder in braces, which parses like one.
                    add(name, to: key)
                } else {
                    add(value, to: key + "." + (name.scalar?.string ?? ""))
                }
            }
        case .alias: break
        }
    }

    /// Does not check the tag, since comparing this key with other keys has already resolved it.
    private static func isMerge(_ key: Node) -> Bool { key.scalar?.string == "<<" && key.scalar?.style == .plain }

    private mutating func add(merged node: Node) {
        switch node {
        case .mapping(let mapping): for (name, value) in mapping { add(value, to: name.scalar?.string ?? "") }
        case .sequence(let nodes): for node in nodes { add(merged: node) }
        case .scalar, .alias: add(node, to: "<<")
        }
    }

    /// Returns the value of a scalar; nil for null and binary data.
    static func value(_ scalar: Node.Scalar) -> FrontMatterValue? {
        let source = scalar.string
        guard mayBeTyped(scalar) else { return .text(source) }
        switch Resolver.default.resolveTag(of: .scalar(scalar)) {
        case .null where scalar.style == .plain: return nil
        case .binary: return nil
        case .bool: return Bool.construct(from: scalar).map { .flag($0, source: source) } ?? .text(source)
        case .int: return Int.construct(from: scalar).map { .integer($0, source: source) } ?? .text(source)
        case .float: return Double.construct(from: scalar).map { .real($0, source: source) } ?? .text(source)
        default: return .text(source)
        }
    }

    /// Returns `true` if the scalar may be more than plain text. Avoids the resolver's regular
    /// expressions.
    private static func mayBeTyped(_ scalar: Node.Scalar) -> Bool {
        // An explicit tag.
        if Resolver.basic.resolveTag(of: .scalar(scalar)) != .str { return true }
        guard scalar.style == .plain else { return false }
        guard let first = scalar.string.utf8.first else { return true }
        return scalar.string.utf8.count <= 64 && "+-.0123456789~nNyYtTfFoO".utf8.contains(first)
    }

    // MARK: In parts

    /// Reads key by key; returns `false` if more lines are unreadable than readable.
    private mutating func recover(_ lines: [Substring]) -> Bool {
        guard let first = lines.first(where: { !$0.hasPrefix("#") }), !first.trimmed.isEmpty else { return false }
        let starts = lines.indices.filter { Self.beginsEntry(lines[$0]) } + [lines.count]
        var (read, unread) = (0, PropertyLine(yaml: first) == nil ? 1 : 0)
        var index = 0
        while index < starts.count - 1 {
            let entry = lines[starts[index]..<starts[index + 1]]
            var end = index + 1
            if !readWhole(entry) {
                if let joined = readJoined(lines, starts: starts[index...]) {
                    end = joined
                } else if !readWithoutALine(entry), !readPlainly(entry) {
                    (read, unread) = (read - 1, unread + 1)
                }
            }
            read += 1
            index = end
        }
        return read > 0 && read >= unread
    }

    /// Returns `true` for an unindented line that is neither a comment nor a list continuation.
    private static func beginsEntry(_ line: Substring) -> Bool {
        guard let first = line.first, !first.isWhitespace else { return false }
        return !"#]}".contains(first) && line != "-" && !line.hasPrefix("- ")
    }

    private mutating func readWhole(_ lines: some Sequence<Substring>) -> Bool {
        guard case .mapping(let mapping, let source) = compose(lines.joined(separator: "\n")) else { return false }
        add(mapping, source: source)
        return true
    }

    /// Reads an entry whose bracketed list or quoted text continues without indentation. Returns
    /// the index after the last entry that was read.
    private mutating func readJoined(_ lines: [Substring], starts: ArraySlice<Int>) -> Int? {
        let first = lines[starts[starts.startIndex]]
        guard let start = starts.first, first.contains(where: { "[{\"'".contains($0) }) else { return nil }
        for index in starts.indices.dropFirst(2).prefix(Self.maximumAttempts) {
            let joined = lines[start..<starts[index]].joined(separator: "\n")
            if case .mapping(let mapping, let source) = compose(joined), mapping.count == 1 {
                add(mapping, source: source)
                return index
            }
        }
        return nil
    }

    /// Reads an entry of several lines without its one broken line.
    private mutating func readWithoutALine(_ lines: ArraySlice<Substring>) -> Bool {
        for dropped in lines.indices.dropFirst().prefix(Self.maximumAttempts) {
            if readWhole(lines[..<dropped] + lines[(dropped + 1)...]) {
                frontMatter.append(leftover: lines[dropped])
                return true
            }
        }
        return false
    }

    /// Reads an entry as authors without YAML knowledge mean it: the rest of the line, and the
    /// indented lines below it.
    private mutating func readPlainly(_ lines: ArraySlice<Substring>) -> Bool {
        guard let first = lines.first, let property = PropertyLine(yaml: first) else {
            for line in lines { frontMatter.append(leftover: line) }
            return false
        }
        var values = property.values
        for line in lines.dropFirst() {
            let content = line.trimmed
            if content.isEmpty || content.hasPrefix("#") { continue }
            if content == "-" || content.hasPrefix("- ") {
                values.append(PropertyLine.unquoted(content.dropFirst()))
            } else if let last = values.popLast() {
                values.append(last + " " + content)
            } else {
                values.append(String(content))
            }
        }
        for value in values { frontMatter.append(.text(value), to: property.key) }
        return true
    }
}
