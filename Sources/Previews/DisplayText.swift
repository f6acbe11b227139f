// SPDX-License-Identifier: Apache-2.0

/// Text from items made harmless to show: what an app donated must not drive a terminal or reorder a line.
public enum DisplayText {
    /// The text without control characters (line feed and tab stay) and without those that override the direction of
    /// what follows.
    public static func safe(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !isUnsafe(scalar) { safe.append(scalar) }
        return String(safe)
    }

    /// The same on one line: runs of white space become one space.
    public static func line(_ text: String) -> String {
        safe(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A, 0x09: false
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C: true
        default: false
        }
    }
}
