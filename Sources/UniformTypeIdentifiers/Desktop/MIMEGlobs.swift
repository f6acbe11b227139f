// SPDX-License-Identifier: Apache-2.0

/// The file name patterns of a shared-mime-info database.
///
/// Nearly all patterns are an extension or a complete name, which are looked up in dictionaries.
/// The few other patterns are compared one by one. The highest weight wins; among equal weights,
/// the longest pattern. A name is compared first unchanged, then in lowercase.
struct MIMEGlobs: Sendable {
    /// A pattern for a type.
    struct Entry: Sendable {
        let type: String
        let weight: Int
        /// The length of the pattern in bytes.
        let length: Int
        let isCaseSensitive: Bool
        /// The number of folders read before the folder that contains this pattern.
        let folder: Int
    }

    /// The maximum number of patterns with wildcards in positions other than the start. Each one
    /// costs a comparison per name.
    static let maximumWildcards = 2000
    /// The maximum length of a pattern, in bytes.
    static let maximumPatternBytes = 255

    private var names: [String: [Entry]] = [:]
    private var suffixes: [String: [Entry]] = [:]
    private var wildcards: [(pattern: [UInt8], entry: Entry)] = []
    private var folder = 0
    /// For each type, the first folder in which its patterns are ignored.
    private var disownedFrom: [String: Int] = [:]
    private var count = 0

    mutating func add(_ pattern: String, type: String, weight: Int, isCaseSensitive: Bool) {
        guard !pattern.isEmpty, pattern.utf8.count <= MIMEGlobs.maximumPatternBytes,
            count < SharedMIMEInfo.maximumEntries
        else { return }
        if let end = disownedFrom[type], folder >= end { return }
        count += 1
        let text = isCaseSensitive ? pattern : pattern.lowercased()
        let entry = Entry(
            type: type, weight: weight, length: pattern.utf8.count, isCaseSensitive: isCaseSensitive, folder: folder)
        let isSpecial = { (byte: UInt8) in "*?[".utf8.contains(byte) }
        if !text.utf8.contains(where: isSpecial) {
            names[text, default: []].append(entry)
        } else if text.utf8.starts(with: "*.".utf8), !text.utf8.dropFirst().contains(where: isSpecial) {
            suffixes[String(text.dropFirst()), default: []].append(entry)
        } else if wildcards.count < MIMEGlobs.maximumWildcards {
            wildcards.append((Array(text.utf8), entry))
        }
    }

    /// Ends a folder. The given types' patterns in later folders are ignored.
    mutating func endFolder(discarding types: Set<String>) {
        folder += 1
        for type in types where disownedFrom[type] == nil { disownedFrom[type] = folder }
    }

    /// Returns the types that a name suggests, best first; several only if their weights and
    /// lengths are equal.
    func mimeTypes(for name: String) -> [String] {
        guard !name.isEmpty, name.utf8.count <= 1024 else { return [] }
        let exact = best(name, includesCaseSensitive: true)
        return exact.isEmpty ? best(name.lowercased(), includesCaseSensitive: false) : exact
    }

    private func best(_ name: String, includesCaseSensitive: Bool) -> [String] {
        var found = names[name] ?? []
        // Considers all dots: `x.tar.gz` is looked up as `.tar.gz` and as `.gz`.
        for index in name.utf8.indices where name.utf8[index] == UInt8(ascii: ".") {
            found += suffixes[String(name[index...])] ?? []
        }
        let bytes = Array(name.utf8)
        for wildcard in wildcards where MIMEGlobs.matches(wildcard.pattern[...], bytes[...]) {
            found.append(wildcard.entry)
        }
        found = found.filter { includesCaseSensitive || !$0.isCaseSensitive }
        guard let first = found.max(by: { ($0.weight, $0.length) < ($1.weight, $1.length) }) else { return [] }
        var types: [String] = []
        for entry in found.sorted(by: { $0.folder < $1.folder })
        where entry.weight == first.weight && entry.length == first.length && !types.contains(entry.type) {
            types.append(entry.type)
        }
        return types
    }

    /// Returns `true` if a pattern with `*`, `?` and `[…]` matches a text. Backtracks only to the
    /// last star, so the time is at most quadratic.
    static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        var (p, t) = (pattern.startIndex, text.startIndex)
        var retry: (pattern: Int, text: Int)?
        while t < text.endIndex {
            if p < pattern.endIndex {
                if pattern[p] == UInt8(ascii: "*") {
                    retry = (p + 1, t)
                    p += 1
                    continue
                }
                if let next = step(pattern, p, text[t]) {
                    (p, t) = (next, t + 1)
                    continue
                }
            }
            guard let last = retry else { return false }
            retry = (last.pattern, last.text + 1)
            (p, t) = (last.pattern, last.text + 1)
        }
        while p < pattern.endIndex, pattern[p] == UInt8(ascii: "*") { p += 1 }
        return p == pattern.endIndex
    }

    /// Matches one byte, and returns the position after the matching part of the pattern.
    private static func step(_ pattern: ArraySlice<UInt8>, _ start: Int, _ byte: UInt8) -> Int? {
        switch pattern[start] {
        case UInt8(ascii: "?"): return start + 1
        case UInt8(ascii: "["):
            var position = start + 1
            var isNegated = false
            if position < pattern.endIndex,
                pattern[position] == UInt8(ascii: "!") || pattern[position] == UInt8(ascii: "^")
            {
                isNegated = true
                position += 1
            }
            guard let end = pattern[position...].dropFirst().firstIndex(of: UInt8(ascii: "]")) else {
                return byte == pattern[start] ? start + 1 : nil
            }
            var isMember = false
            while position < end {
                if position + 2 < end, pattern[position + 1] == UInt8(ascii: "-") {
                    if pattern[position] <= byte, byte <= pattern[position + 2] { isMember = true }
                    position += 3
                } else {
                    if pattern[position] == byte { isMember = true }
                    position += 1
                }
            }
            return isMember != isNegated ? end + 1 : nil
        default: return pattern[start] == byte ? start + 1 : nil
        }
    }
}
