// SPDX-License-Identifier: Apache-2.0

/// A file or URL that an app opens.
package enum LaunchResource: Hashable, Sendable, Codable {
    /// A file or folder, by absolute path.
    case file(String)
    /// A URL whose scheme is not `file`.
    case url(String)

    /// The maximum length of a URL, in bytes.
    package static let maximumURLBytes = 8 << 10

    /// Checks a URL. Returns `nil` if the text has no scheme, contains spaces or control
    /// characters, is too long, or names a file. Non-ASCII characters are percent-encoded.
    package init?(url text: String) {
        guard text.utf8.count <= Self.maximumURLBytes, let scheme = Self.scheme(of: text), scheme != "file",
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        self = .url(Self.encoded(text) { $0 < 0x80 })
    }

    /// The resource as a URI.
    package var uri: String {
        switch self {
        case .file(let path):
            "file://"
                + Self.encoded(path) { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                        || "-._~/!$&'()*+,:=@".utf8.contains(byte)
                }
        case .url(let text): text
        }
    }

    /// Returns the scheme of a URL in lowercase; `nil` if the text has none.
    static func scheme(of text: String) -> String? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text.utf8[..<colon]
        guard let first = scheme.first, isLetter(first), scheme.count <= 64,
            scheme.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { return nil }
        return Substring(scheme).lowercased()
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func encoded(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isKept(byte) { bytes.append(byte) } else { bytes += [0x25, hex[Int(byte >> 4)], hex[Int(byte & 15)]] }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
