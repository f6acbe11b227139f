// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Sanitises text from items: donated text must not control a terminal or reorder a line.
public enum DisplayText {
    /// Returns the text without control characters (except line feed and tab) and without
    /// bidirectional controls. Other line and page separators become line feeds, so that words stay
    /// separate.
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

    /// Returns the safe text on one line, with runs of white space replaced by one space.
    public static func line(_ text: String) -> String {
        safe(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns the safe text on one line, truncated after `limit` characters with an ellipsis.
    public static func line(_ text: String, limit: Int) -> String {
        // Removed characters do not count towards the limit, so the input is bounded too.
        let line = line(String(text.prefix(4 * limit)))
        return line.count > limit || text.dropFirst(4 * limit).first != nil ? line.prefix(limit) + "…" : line
    }

    /// Returns a date and time in UTC, in ISO 8601. Returns `nil` for NaN, infinity, or a year
    /// outside 1 to 9999; for these, Foundation returns a wrong date.
    ///
    /// - Parameter moment: Seconds since 2001-01-01 UTC.
    public static func moment(_ moment: Double) -> String? {
        guard datableMoments.contains(moment) else { return nil }
        return Date(timeIntervalSinceReferenceDate: moment).formatted(.iso8601)
    }

    /// The years 1 to 9999, in seconds since 2001-01-01 UTC.
    package static let datableMoments = -63_113_904_000.0..<252_423_993_600.0

    /// Returns JSON in which the characters that ``safe(_:)`` removes are escaped. They only occur
    /// in strings, so the meaning stays the same, and the result is safe for a terminal. Line feeds
    /// are preserved.
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
