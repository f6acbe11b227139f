// SPDX-License-Identifier: Apache-2.0

/// The command line of a desktop entry (`Exec`). It is first split into words; a field code is then
/// replaced within one word. A path or URL can therefore never become several words, an option or a
/// shell command.
struct ExecLine: Hashable, Sendable {
    /// The words, with field codes.
    let words: [String]

    /// The maximum number of words.
    static let maximumWords = 256

    /// An error for a malformed command line. The text completes a sentence about the command line.
    struct Malformed: Error, Hashable, Sendable {
        var reason: String
    }

    /// Splits a command line as `g_shell_parse_argv` does. Nothing is expanded or executed.
    init(_ text: String) throws(Malformed) {
        guard !text.utf8.contains(0) else { throw Malformed(reason: "has a NUL character") }
        var words: [String] = []
        var (word, isWord): ([UInt8], Bool) = ([], false)
        var rest = text.utf8[...]
        func end() throws(Malformed) {
            guard words.count < Self.maximumWords else { throw Malformed(reason: "has more than 256 words") }
            words.append(String(decoding: word, as: UTF8.self))
            (word, isWord) = ([], false)
        }
        while let byte = rest.popFirst() {
            switch byte {
            case 0x20, 0x09, 0x0A: if isWord { try end() }
            case UInt8(ascii: "'"):
                isWord = true
                guard let close = rest.firstIndex(of: byte) else { throw Malformed(reason: "has an open quote") }
                word += rest[..<close]
                rest = rest[rest.index(after: close)...]
            case UInt8(ascii: "\""):
                isWord = true
                try Self.quoted(&rest, into: &word)
            case UInt8(ascii: "\\"):
                isWord = true
                guard let next = rest.popFirst() else { throw Malformed(reason: "ends with a backslash") }
                word.append(next)
            default:
                isWord = true
                word.append(byte)
            }
        }
        if isWord { try end() }
        guard !words.isEmpty else { throw Malformed(reason: "is empty") }
        self.words = words
    }

    private static func quoted(_ rest: inout Substring.UTF8View, into word: inout [UInt8]) throws(Malformed) {
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else { break }
                // Before other characters, the backslash is kept.
                if !"\"`$\\\n".utf8.contains(next) { word.append(byte) }
                word.append(next)
            default: word.append(byte)
            }
        }
        throw Malformed(reason: "has an open quote")
    }

    /// The field codes that accept files, and those that also accept URLs.
    private static let (fileCodes, urlCodes) = ("fF", "uU")

    /// Returns `true` if the command line has a field code for a resource.
    func takes(_ resource: LaunchResource) -> Bool {
        let codes = Set(words.flatMap(Self.codes))
        let accepted = if case .file = resource { Self.fileCodes + Self.urlCodes } else { Self.urlCodes }
        return accepted.contains { codes.contains($0) }
    }

    private static func codes(in word: String) -> [Character] {
        var (found, rest): ([Character], Substring) = ([], word[...])
        while let percent = rest.firstIndex(of: "%") {
            rest = rest[rest.index(after: percent)...]
            if let code = rest.popFirst() { found.append(code) }
        }
        return found
    }

    /// Replaces the field codes. The first code for files or URLs is replaced with the resource.
    ///
    /// - Throws: ``Malformed`` for an unknown field code.
    func expanded(_ resource: LaunchResource?, of entry: DesktopEntry, name: String) throws(Malformed) -> [String] {
        var (result, rest) = ([String](), resource)
        for word in words {
            if word == "%i" {
                if let icon = entry.icon, !icon.isEmpty { result += ["--icon", icon] }
                continue
            }
            guard word.utf8.contains(UInt8(ascii: "%")) else {
                result.append(word)
                continue
            }
            let replaced = try Self.replaced(word, &rest, of: entry, name: name)
            // A code without a value adds no argument.
            if !replaced.isEmpty { result.append(replaced) }
        }
        return result
    }

    private static func replaced(
        _ word: String, _ resource: inout LaunchResource?, of entry: DesktopEntry, name: String
    ) throws(Malformed) -> String {
        var (result, rest) = ("", word[...])
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            guard let code = rest.popFirst() else { throw Malformed(reason: "ends with %") }
            switch code {
            case "%": result += "%"
            case "f", "F":
                if case .file(let path) = resource {
                    result += path
                    resource = nil
                }
            case "u", "U":
                if let found = resource {
                    result += found.uri
                    resource = nil
                }
            case "c": result += name
            case "k": result += entry.path
            // Deprecated codes are removed.
            case "i", "d", "D", "n", "N", "v", "m": break
            default: throw Malformed(reason: "has the unknown field code %\(code)")
            }
        }
        return result + rest
    }
}
