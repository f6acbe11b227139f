// SPDX-License-Identifier: Apache-2.0
import Yams

/// Reads a block of YAML by Yams: as a whole if it is whole, else key by key, so that what is broken costs itself alone.
struct YAMLReader {
    /// Bytes that are parsed at most for one block, further attempts included; a measure of time that is the same everywhere.
    private static let maximumWork = 512 << 10
    /// Lines after a broken one that may belong to it, and lines of an entry that are tried without.
    private static let maximumAttempts = 32

    private var frontMatter = FrontMatter()
    private var work = 0

    /// Nil if it is no mapping, and if most of it is no YAML.
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
        /// Nothing, a single value or a list.
        case other
        /// No YAML, or YAML that costs too much.
        case broken
    }

    private mutating func compose(_ yaml: String) -> Composed {
        work += yaml.utf8.count
        // At least one attempt for everything, in proportion to its size.
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
            // YAML takes "tags: #one #two" for a comment, people do not.
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
                    // A set, or what a placeholder in braces looks like.
                    add(name, to: key)
                } else {
                    add(value, to: key + "." + (name.scalar?.string ?? ""))
                }
            }
        case .alias: break
        }
    }

    /// Not by its tag: what was compared with other keys has one by now.
    private static func isMerge(_ key: Node) -> Bool { key.scalar?.string == "<<" && key.scalar?.style == .plain }

    private mutating func add(merged node: Node) {
        switch node {
        case .mapping(let mapping): for (name, value) in mapping { add(value, to: name.scalar?.string ?? "") }
        case .sequence(let nodes): for node in nodes { add(merged: node) }
        case .scalar, .alias: add(node, to: "<<")
        }
    }

    /// Nil for null and binary data.
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

    /// Whether it could be more than a text: spares regular expressions.
    private static func mayBeTyped(_ scalar: Node.Scalar) -> Bool {
        // The tag that is written, if there is one.
        if Resolver.basic.resolveTag(of: .scalar(scalar)) != .str { return true }
        guard scalar.style == .plain else { return false }
        guard let first = scalar.string.utf8.first else { return true }
        return scalar.string.utf8.count <= 64 && "+-.0123456789~nNyYtTfFoO".utf8.contains(first)
    }

    // MARK: In parts

    /// Reads key by key; false if less can be read than cannot.
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

    /// Whether a line at the margin is no comment and no continuation of a list.
    private static func beginsEntry(_ line: Substring) -> Bool {
        guard let first = line.first, !first.isWhitespace else { return false }
        return !"#]}".contains(first) && line != "-" && !line.hasPrefix("- ")
    }

    private mutating func readWhole(_ lines: some Sequence<Substring>) -> Bool {
        guard case .mapping(let mapping, let source) = compose(lines.joined(separator: "\n")) else { return false }
        add(mapping, source: source)
        return true
    }

    /// A list in brackets or a quoted text may go on at the margin. Returns the entry after the last that was read.
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

    /// An entry of several lines, one of which is broken.
    private mutating func readWithoutALine(_ lines: ArraySlice<Substring>) -> Bool {
        for dropped in lines.indices.dropFirst().prefix(Self.maximumAttempts) {
            if readWhole(lines[..<dropped] + lines[(dropped + 1)...]) {
                frontMatter.append(leftover: lines[dropped])
                return true
            }
        }
        return false
    }

    /// What people mean who do not know YAML: the rest of the line, and the lines that are indented below it.
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
