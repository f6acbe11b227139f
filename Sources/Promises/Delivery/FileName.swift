// SPDX-License-Identifier: Apache-2.0

/// A name for a new file, made from untrusted text: one visible path component of at most 255
/// bytes.
public struct FileName: Hashable, Sendable {
    /// The name without its extension.
    public let stem: String
    /// The extension with its dot, or an empty string.
    public let ending: String

    /// The maximum size of a name on usual file systems, in bytes.
    private static let maximumBytes = 255
    /// The space reserved for the number of a further file, in bytes: " (10000)".
    private static let numberBytes = 8
    private static let maximumEndingBytes = 32
    private static let nameless = "item"

    /// Creates a name.
    ///
    /// - Parameters:
    ///   - title: The item's title. Control characters, characters that change the text direction,
    ///     and leading dots and spaces are removed; slashes become hyphens.
    ///   - fileExtension: The extension without a dot. It is not added if the title already ends
    ///     with it.
    public init(title: String, fileExtension: String?) {
        let cleaned = Self.cleaned(fileExtension ?? "").filter { $0 != "." && $0 != " " }
        let ending = cleaned.isEmpty || cleaned.utf8.count > Self.maximumEndingBytes ? "" : "." + cleaned
        var stem = Self.cleaned(title)
        if !ending.isEmpty, stem.lowercased().hasSuffix(ending.lowercased()) { stem.removeLast(ending.count) }
        stem = Self.trimmed(stem)
        if stem.isEmpty { stem = Self.nameless }
        let room = Self.maximumBytes - Self.numberBytes - ending.utf8.count
        var short = ""
        var count = 0
        for character in stem {
            count += character.utf8.count
            guard count <= room else { break }
            short.append(character)
        }
        self.stem = Self.trimmed(short).isEmpty ? Self.nameless : Self.trimmed(short)
        self.ending = ending
    }

    /// Returns the name for the first file, or the name for the second, third and so on.
    ///
    /// - Parameter number: The number, starting at 1.
    public func numbered(_ number: Int) -> String { number == 1 ? stem + ending : "\(stem) (\(number))\(ending)" }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop { $0 == "." || $0.isWhitespace }
        var end = start
        while let last = end.last, last.isWhitespace { end.removeLast() }
        return String(end)
    }

    private static func cleaned(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        var wasSpace = false
        // Only the part of a long title that can fit is read.
        for scalar in text.unicodeScalars.prefix(maximumBytes * 4) {
            let isSpace = scalar.properties.isWhitespace
            defer { wasSpace = isSpace }
            if isSpace {
                if !wasSpace { scalars.append(" ") }
            } else if scalar == "/" {
                scalars.append("-")
            } else if scalar.properties.generalCategory == .control || isDirection(scalar) {
                continue
            } else {
                scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// Returns `true` for characters that change the displayed order of text and could therefore
    /// disguise an extension.
    private static func isDirection(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
