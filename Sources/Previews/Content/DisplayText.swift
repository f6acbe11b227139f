// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Text from items made harmless to show: what an app donated must not drive a terminal or reorder a line.
public enum DisplayText {
    /// The text without control characters (line feed and tab stay) and without those that override the direction of
    /// what follows. Other ends of lines and pages become line feeds, so that the words beside them stay apart.
    public static func safe(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if isLineEnd(scalar) {
                if !(scalar == "\n" && previous == "\r") { safe.append("\n") }
            } else if !isUnsafe(scalar) {
                safe.append(scalar)
            }
            previous = scalar
        }
        return String(safe)
    }

    /// The same on one line: runs of white space become one space.
    public static func line(_ text: String) -> String {
        safe(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The same, cut after so many characters, with an ellipsis then.
    public static func line(_ text: String, limit: Int) -> String {
        // What cleaning removes does not count, but what is cleaned is bounded too.
        let line = line(String(text.prefix(4 * limit)))
        return line.count > limit || text.dropFirst(4 * limit).first != nil ? line.prefix(limit) + "…" : line
    }

    /// A day and a time in UTC, as ISO 8601 writes them; `nil` for what is no time: NaN, an infinity, or a year that is
    /// not 1 to 9999. Foundation would make one up.
    ///
    /// - Parameter moment: In seconds since 2001-01-01 UTC.
    public static func moment(_ moment: Double) -> String? {
        guard datableMoments.contains(moment) else { return nil }
        return Date(timeIntervalSinceReferenceDate: moment).formatted(.iso8601)
    }

    /// The years 1 to 9999, in seconds since 2001-01-01 UTC.
    package static let datableMoments = -63_113_904_000.0..<252_423_993_600.0

    /// JSON with the characters escaped that ``safe(_:)`` removes. They stand in its strings only, so it means the same,
    /// and a terminal can be shown it. Line feeds stay.
    public static func safeJSON(_ json: String) -> String {
        var safe = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            if scalar != "\n", isUnsafe(scalar) || isLineEnd(scalar) {
                let digits = String(scalar.value, radix: 16)
                safe.append(
                    contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
            } else {
                safe.append(scalar)
            }
        }
        return String(safe)
    }

    private static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09: false
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C: true
        default: false
        }
    }
}
