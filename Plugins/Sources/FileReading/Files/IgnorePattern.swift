// SPDX-License-Identifier: Apache-2.0

/// A pattern in the syntax of a `.gitignore` line. `*`, `?` and `[a-z]` match within a name, and
/// `**` matches any folders. A slash before the end makes the pattern a path relative to the file's
/// folder. A trailing slash restricts it to folders, and a leading `!` makes it an exception.
struct IgnorePattern: Sendable, Equatable {
    /// The maximum length of a line, in UTF-8 bytes; a longer line is ignored.
    static let maximumLength = 1024

    let isNegated: Bool
    private let isForFolders: Bool
    /// The parts between slashes; nil represents `**`.
    private let parts: [[UInt8]?]

    /// Parses a line. Returns nil for a blank line, a comment or a line that exceeds the maximum
    /// length.
    init?(_ line: Substring) {
        var bytes = Array(line.utf8)
        // Trailing white space is significant only after a backslash.
        while let last = bytes.last, last == 0x20 || last == 0x09 || last == 0x0D,
            bytes.dropLast().last != UInt8(ascii: "\\")
        { bytes.removeLast() }
        guard let first = bytes.first, first != UInt8(ascii: "#"), bytes.count <= Self.maximumLength else { return nil }
        isNegated = first == UInt8(ascii: "!")
        if isNegated { bytes.removeFirst() }
        isForFolders = bytes.last == UInt8(ascii: "/")
        if isForFolders { bytes.removeLast() }
        let isAnchored = bytes.contains(UInt8(ascii: "/"))
        if bytes.first == UInt8(ascii: "/") { bytes.removeFirst() }
        guard !bytes.isEmpty else { return nil }
        let names = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true).map { Array($0) }
        var parts: [[UInt8]?] = names.map { $0 == Array("**".utf8) ? nil : $0 }
        if !isAnchored { parts.insert(nil, at: 0) }
        // "a/**" matches everything in a, but not a itself.
        if parts.count > 1, parts[parts.count - 1] == nil { parts.append(Array("*".utf8)) }
        self.parts = parts
    }

    /// - Parameter path: The components of the path relative to the pattern's folder.
    func matches(_ path: ArraySlice<String>, isFolder: Bool) -> Bool {
        if isForFolders, !isFolder { return false }
        // The indices of the parts that may match the next name.
        var open: Set<Int> = [0]
        for name in path {
            var next: Set<Int> = []
            for start in open {
                var index = start
                while index < parts.count, parts[index] == nil {
                    next.insert(index)
                    index += 1
                }
                if index < parts.count, let part = parts[index], Self.matches(part, Array(name.utf8)) {
                    next.insert(index + 1)
                }
            }
            open = next
        }
        return open.contains(parts.count)
    }

    /// Returns `true` if a name matches a pattern. Only the last `*` backtracks, so the cost is at
    /// most the product of both lengths.
    private static func matches(_ pattern: [UInt8], _ name: [UInt8]) -> Bool {
        var (p, n) = (0, 0)
        var (star, mark) = (-1, 0)
        while n < name.count {
            if p < pattern.count, pattern[p] == UInt8(ascii: "*") {
                (star, mark) = (p, n)
                p += 1
            } else if let next = step(pattern, p, name, n) {
                p = next.pattern
                n = next.name
            } else if star >= 0 {
                mark += 1
                (p, n) = (star + 1, mark)
            } else {
                return false
            }
        }
        while p < pattern.count, pattern[p] == UInt8(ascii: "*") { p += 1 }
        return p == pattern.count
    }

    /// Returns the positions after the next character in both; nil if the characters differ.
    private static func step(
        _ pattern: [UInt8], _ p: Int, _ name: [UInt8], _ n: Int
    ) -> (pattern: Int, name: Int)? {
        guard p < pattern.count else { return nil }
        switch pattern[p] {
        case UInt8(ascii: "?"):
            // Matches a whole UTF-8 character, not a single byte.
            var end = n + 1
            while end < name.count, name[end] & 0xC0 == 0x80 { end += 1 }
            return (p + 1, end)
        case UInt8(ascii: "["):
            guard let end = classEnd(pattern, p) else { return name[n] == pattern[p] ? (p + 1, n + 1) : nil }
            return isInClass(pattern[(p + 1)..<end], name[n]) ? (end + 1, n + 1) : nil
        case UInt8(ascii: "\\") where p + 1 < pattern.count: return pattern[p + 1] == name[n] ? (p + 2, n + 1) : nil
        case let byte: return byte == name[n] ? (p + 1, n + 1) : nil
        }
    }

    private static func classEnd(_ pattern: [UInt8], _ start: Int) -> Int? {
        var index = start + 1
        if index < pattern.count, pattern[index] == UInt8(ascii: "!") || pattern[index] == UInt8(ascii: "^") {
            index += 1
        }
        // A closing bracket in the first position is a member of the class.
        if index < pattern.count, pattern[index] == UInt8(ascii: "]") { index += 1 }
        while index < pattern.count, pattern[index] != UInt8(ascii: "]") { index += 1 }
        return index < pattern.count ? index : nil
    }

    private static func isInClass(_ content: ArraySlice<UInt8>, _ byte: UInt8) -> Bool {
        var rest = content
        let isNegated = rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^")
        if isNegated { rest = rest.dropFirst() }
        var isIn = false
        while let low = rest.popFirst() {
            if rest.count >= 2, rest.first == UInt8(ascii: "-"), let high = rest.dropFirst().first {
                isIn = isIn || low <= byte && byte <= high
                rest = rest.dropFirst(2)
            } else {
                isIn = isIn || low == byte
            }
        }
        return isIn != isNegated
    }
}

/// The pattern of a `!pattern` line in the settings.
struct Exclusion: Sendable {
    static let maximumCount = 256

    /// The configured folder to which the pattern applies; nil for all.
    var folder: String?
    var pattern: IgnorePattern
}

/// The rules that exclude files and folders below a configured folder. They come from the settings,
/// which take precedence, and from the `.searchlightignore` files in the folder and its subfolders.
struct IgnoreRules: Sendable {
    /// The name of the ignore files.
    static let fileName = ".searchlightignore"
    /// The maximum number of bytes that are read from an ignore file.
    static let maximumSize = 64 << 10
    private static let maximumPatterns = 2_000

    /// The patterns from the settings, relative to the configured folder.
    private let settings: [IgnorePattern]
    /// The patterns from ignore files, outermost first, with their depth below the configured
    /// folder.
    private var files: [(depth: Int, patterns: [IgnorePattern])] = []

    /// - Parameter folder: A configured folder.
    init(_ exclusions: [Exclusion], in folder: String) {
        settings = exclusions.filter { $0.folder == nil || $0.folder == folder }.map(\.pattern)
    }

    /// Returns these rules extended by the ignore file of a folder at `depth` below the configured
    /// folder.
    func entering(_ folder: Descriptor, depth: Int, opener: FileOpener) -> IgnoreRules {
        var rules = self
        if let patterns = Self.read(in: folder, opener: opener), !patterns.isEmpty {
            rules.files.append((depth, patterns))
        }
        return rules
    }

    /// - Parameter path: The components relative to the configured folder. The folders that contain
    ///   it must not be excluded.
    func leavesOut(_ path: [String], isFolder: Bool) -> Bool {
        if settings.contains(where: { $0.matches(path[...], isFolder: isFolder) }) { return true }
        for (depth, patterns) in files.reversed() where depth < path.count {
            if let last = patterns.last(where: { $0.matches(path[depth...], isFolder: isFolder) }) {
                return !last.isNegated
            }
        }
        return false
    }

    private static func read(in folder: Descriptor, opener: FileOpener) -> [IgnorePattern]? {
        do throws(SkipReason) {
            let status = try folder.status(ofEntry: fileName, followingLinks: false)
            guard FileType(mode: status.st_mode) == .regular else { return nil }
            let file = try OpenedFile(in: folder, name: fileName, followingLinks: false, opener: opener)
            let text = String(decoding: try file.readAll(limit: maximumSize), as: UTF8.self)
            return Array(LineIterator(text[...]).lazy.compactMap { IgnorePattern($0) }.prefix(maximumPatterns))
        } catch {
            return nil
        }
    }
}
