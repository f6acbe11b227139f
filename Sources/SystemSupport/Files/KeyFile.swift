// SPDX-License-Identifier: Apache-2.0

/// A small, strict parser for desktop key files (`[Group]`, `key=value`, `#` comments) whose
/// content determines rights. Ambiguous content is an error.
struct KeyFile {
    enum Failure: Error, Hashable, CustomStringConvertible {
        case notText
        case malformed(line: Int)
        case repeated(line: Int)

        var description: String {
            switch self {
            case .notText: "it is not UTF-8 text"
            case .malformed(let line): "line \(line) is neither a group, nor a key with a value, nor a comment"
            case .repeated(let line): "line \(line) repeats a group or a key"
            }
        }
    }

    private let groups: [String: [String: String]]

    /// Parses the bytes of a file. The caller must limit the number of bytes.
    init(_ bytes: [UInt8]) throws(Failure) {
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { throw .notText }
        var groups: [String: [String: String]] = [:]
        var group: String?
        for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            let line = Substring(line)
            if first == UInt8(ascii: "[") {
                guard line.utf8.last == UInt8(ascii: "]") else { throw .malformed(line: index + 1) }
                let name = String(line.dropFirst().dropLast())
                guard !name.isEmpty, name.utf8.allSatisfy(Self.belongsInGroup) else {
                    throw .malformed(line: index + 1)
                }
                guard groups.updateValue([:], forKey: name) == nil else { throw .repeated(line: index + 1) }
                group = name
            } else {
                guard let group, let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                    throw .malformed(line: index + 1)
                }
                let key = String(line[..<equals])
                guard !key.isEmpty, key.utf8.allSatisfy(Self.belongsInKey) else { throw .malformed(line: index + 1) }
                let value = String(line[line.utf8.index(after: equals)...])
                guard groups[group]?.updateValue(value, forKey: key) == nil else { throw .repeated(line: index + 1) }
            }
        }
        self.groups = groups
    }

    /// Returns the unmodified value of a key.
    func value(_ group: String, _ key: String) -> String? { groups[group]?[key] }

    private static func belongsInGroup(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: "[") && byte != UInt8(ascii: "]")
    }

    /// Returns `true` if a byte is allowed in a key. Keys may be bus names and paths, so only
    /// spaces and control characters are excluded.
    private static func belongsInKey(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7F }
}
