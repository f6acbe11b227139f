// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The groups in a desktop entry or list of default applications, read as GLib's `GKeyFile` does:
/// spaces around `=` are ignored, and a key's last value is used. Lines that are neither a group
/// nor a key are skipped.
///
/// Other programs write these files. The stricter `KeyFile` reads files whose content determines
/// permissions.
package struct DesktopFile: Sendable {
    /// The maximum size of a desktop entry, in bytes.
    package static let maximumEntryBytes = 256 << 10
    /// The maximum size of a list of default applications, in bytes.
    static let maximumListBytes = 4 << 20

    /// A group of keys.
    private struct Group: Sendable {
        var values: [String: Substring] = [:]
        /// The keys in file order.
        var keys: [String] = []
    }

    private let groups: [String: Group]

    /// Reads a regular file. Returns `nil` if it cannot be read, is too large or is not UTF-8.
    package init?(path: String, limit: Int) {
        guard let bytes = try? BoundedFile.regular(path, limit: limit),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        self.init(text)
    }

    /// Parses the text of a file.
    package init(_ text: String) {
        var groups: [String: Group] = [:]
        var group: String?
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = Self.trimmed(Substring(line))
            guard let first = line.utf8.first, first != UInt8(ascii: "#") else { continue }
            if first == UInt8(ascii: "[") {
                group = line.utf8.last == UInt8(ascii: "]") ? String(line.dropFirst().dropLast()) : nil
            } else if let group, let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) {
                let key = String(Self.trimmed(line[..<equals]))
                let value = Self.trimmed(line[line.utf8.index(after: equals)...])
                if groups[group, default: Group()].values.updateValue(value, forKey: key) == nil {
                    groups[group]?.keys.append(key)
                }
            }
        }
        self.groups = groups
    }

    /// Returns a key's value as text, with escapes replaced.
    package func text(_ key: String, in group: String) -> String? {
        groups[group]?.values[key].map { String(decoding: Self.unescaped($0.utf8[...]), as: UTF8.self) }
    }

    /// Returns `true` if a key has the value `true`.
    func flag(_ key: String, in group: String) -> Bool { groups[group]?.values[key] == "true" }

    /// Returns a key's values, which are separated by semicolons.
    func list(_ key: String, in group: String) -> [String] { groups[group]?.values[key].map(Self.list) ?? [] }

    /// Returns the lists of all keys in a group, in file order.
    func lists(in group: String) -> [(key: String, values: [String])] {
        guard let group = groups[group] else { return [] }
        return group.keys.map { ($0, group.values[$0].map(Self.list) ?? []) }
    }

    private static func list(_ value: Substring) -> [String] {
        var (values, current): ([String], [UInt8]) = ([], [])
        var rest = value.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ";") {
                if !current.isEmpty { values.append(String(decoding: unescaped(current[...]), as: UTF8.self)) }
                current = []
            } else if byte == UInt8(ascii: "\\"), let next = rest.popFirst() {
                current += next == UInt8(ascii: ";") ? [next] : [byte, next]
            } else {
                current.append(byte)
            }
        }
        if !current.isEmpty { values.append(String(decoding: unescaped(current[...]), as: UTF8.self)) }
        return values
    }

    /// Replaces `\s`, `\n`, `\t`, `\r` and `\\`. Other escapes are kept.
    private static func unescaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
                result.append(byte)
                continue
            }
            switch next {
            case UInt8(ascii: "s"): result.append(0x20)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "\\"): result.append(next)
            default: result += [byte, next]
            }
        }
        return result
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let start = text.utf8.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
        return Substring(start[...last])
    }
}
