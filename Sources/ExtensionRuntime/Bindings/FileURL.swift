// SPDX-License-Identifier: Apache-2.0
import Glibc

/// File URLs and paths without Foundation, which would take half of a worker's start time.
enum FileURL {
    private static let scheme = "file://"

    /// Returns the absolute path of a file URL; `nil` for other URLs.
    static func path(of url: String) -> String? {
        guard url.lowercased().hasPrefix(scheme) else { return nil }
        var rest = url.dropFirst(scheme.count)
        if rest.hasPrefix("localhost/") { rest = rest.dropFirst("localhost".count) }
        rest = rest.prefix { $0 != "?" && $0 != "#" }
        guard rest.hasPrefix("/") else { return nil }
        var bytes: [UInt8] = []
        var source = Array(rest.utf8)[...]
        while let byte = source.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = source.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), value != 0
            else { return nil }
            bytes.append(value)
            source = source.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    static func text(_ path: String) -> String {
        var text = scheme
        for byte in path.utf8 {
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "/-._~!$&'()*+,=:@".utf8.contains(byte)
            let digits = String(byte, radix: 16, uppercase: true)
            text += isPlain ? String(scalar) : "%" + (digits.count == 1 ? "0" : "") + digits
        }
        return text
    }

    /// Expands the start of a path in a manifest: `~`, `$HOME` or one of the XDG folders.
    static func expanded(_ path: String) -> String? {
        let home = variable("HOME")
        let places: [(String, String?)] = [
            ("~", home), ("$HOME", home),
            ("$XDG_CONFIG_HOME", variable("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }),
            ("$XDG_DATA_HOME", variable("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" }),
            ("$XDG_CACHE_HOME", variable("XDG_CACHE_HOME") ?? home.map { $0 + "/.cache" }),
            ("$XDG_STATE_HOME", variable("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" }),
        ]
        if path.hasPrefix("/") { return path }
        for (name, folder) in places where path == name || path.hasPrefix(name + "/") {
            return folder.map { $0 + path.dropFirst(name.count) }
        }
        return nil
    }

    /// Returns the part of a path after `$TMPDIR`; `nil` if the path does not start with `$TMPDIR`
    /// or contains `..`.
    static func inTemporaryFolder(_ path: String) -> String? {
        let name = "$TMPDIR"
        guard path == name || path.hasPrefix(name + "/") else { return nil }
        let rest = path.dropFirst(name.count)
        return rest.split(separator: "/").contains("..") ? nil : String(rest)
    }

    /// Returns `true` if a component of the path is hidden. Hidden components of the home folder's
    /// own path are ignored.
    static func isHidden(_ path: String) -> Bool {
        var names = path.utf8[...]
        if let home = variable("HOME"), names.starts(with: (home + "/").utf8) {
            names = names.dropFirst(home.utf8.count)
        }
        return names.split(separator: UInt8(ascii: "/")).contains { $0.first == UInt8(ascii: ".") }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
        return value
    }
}
