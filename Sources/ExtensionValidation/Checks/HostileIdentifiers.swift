// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// Identifiers that authors do not expect, but that a message can contain.
enum HostileIdentifiers {
    private static let classics = [
        "", " ", ".", "..", "/", "//", "../../../../etc/passwd", "/etc/passwd", "/dev/zero", "/proc/self/mem",
        "%s%n%x%d",
        "%00", "'; DROP TABLE items; --", "\"", "\\", "\n", "\r\n", "\t", "\u{1B}[31m", "\u{7F}", "\u{202E}gnp.exe",
        "\u{FEFF}", "e\u{301}", "é", "ﬁ", "İ", "ß", "👩‍👩‍👧‍👦", "𝟏", "Ω", "null", "nil", "NaN", "-1",
        "18446744073709551616", "<script>", "&amp;", "file:///etc/passwd", "http://127.0.0.1/", "~", "$HOME", "`id`",
        "$(id)",
        "*", "?", "CON", "a b", "a\u{200B}b", "\u{10FFFD}", "\u{1}\u{2}\u{3}",
    ]

    /// Returns one of these identifiers, or a random one.
    ///
    /// - Parameter known: Valid identifiers, which are changed slightly.
    static func next(_ generator: inout SeededGenerator, like known: [String]) -> String {
        switch generator.below(6) {
        case 0, 1: return classics[generator.below(classics.count)]
        case 2: return long(classics[generator.below(classics.count)], &generator)
        case 3 where !known.isEmpty: return changed(known[generator.below(known.count)], &generator)
        case 4 where !known.isEmpty:
            return bounded(known[generator.below(known.count)] + classics[generator.below(classics.count)])
        default: return random(&generator)
        }
    }

    /// Returns an identifier of up to the maximum length.
    private static func long(_ seed: String, _ generator: inout SeededGenerator) -> String {
        let piece = seed.isEmpty ? "a" : seed
        let count = 1 + generator.below(ItemRecord.maximumIdentifierBytes / piece.utf8.count)
        return bounded(String(repeating: piece, count: count))
    }

    private static func changed(_ name: String, _ generator: inout SeededGenerator) -> String {
        var scalars = Array(name.unicodeScalars)
        guard !scalars.isEmpty else { return "x" }
        let place = generator.below(scalars.count)
        switch generator.below(4) {
        case 0: scalars.remove(at: place)
        case 1: scalars.insert(scalar(&generator), at: place)
        case 2: scalars[place] = scalar(&generator)
        default: return generator.below(2) == 0 ? bounded(name.uppercased()) : bounded(name + "\u{301}")
        }
        return bounded(String(String.UnicodeScalarView(scalars)))
    }

    private static func random(_ generator: inout SeededGenerator) -> String {
        let length = generator.below(generator.below(4) == 0 ? 600 : 24)
        return bounded(String(String.UnicodeScalarView((0..<length).map { _ in scalar(&generator) })))
    }

    /// Returns a random character that is valid in a message: no NUL, no surrogate, no
    /// noncharacter.
    private static func scalar(_ generator: inout SeededGenerator) -> Unicode.Scalar {
        while true {
            let bound: Int = [0x80, 0x250, 0xD800, 0x11_0000][generator.below(4)]
            let value = UInt32(generator.below(bound))
            guard value > 0, value & 0xFFFE != 0xFFFE, !(0xFDD0...0xFDEF).contains(value),
                let scalar = Unicode.Scalar(value)
            else { continue }
            return scalar
        }
    }

    private static func bounded(_ text: String) -> String {
        guard text.utf8.count > ItemRecord.maximumIdentifierBytes else { return text }
        var scalars = String.UnicodeScalarView()
        var bytes = 0
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= ItemRecord.maximumIdentifierBytes else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
