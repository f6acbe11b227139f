// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// Texts and dates in metadata.
enum MetadataText {
    /// The maximum length of a text, in UTF-8 bytes.
    private static let maximumSize = 16 << 10

    /// Returns a text without leading and trailing white space. Bytes that are not UTF-8 are read
    /// as Windows-1252. Returns nil if the text is empty.
    static func text(_ bytes: some Collection<UInt8>) -> String? {
        let bytes = Array(bytes.prefix(maximumSize))
        return text(String(validating: bytes, as: UTF8.self) ?? TextReading.decode(bytes, as: "WINDOWS-1252") ?? "")
    }

    static func text(_ text: String) -> String? {
        let text = text.prefix(maximumUTF8Bytes: maximumSize).replacing("\0", with: "").trimmed
        return text.isEmpty ? nil : text
    }

    /// Returns a list entry on one line; nil if it is empty.
    static func entry(_ text: String) -> String? {
        let entry = text.summary(maximumCharacters: 200)
        return entry.isEmpty ? nil : entry
    }

    /// Returns the date for an EXIF text such as `2024:05:01 12:30:00`.
    ///
    /// - Parameters:
    ///   - offset: The offset from UTC, such as `+02:00`; nil for this machine's time zone.
    ///   - fraction: The digits after the seconds.
    static func date(_ text: String?, offset: String?, fraction: String?) -> Date? {
        guard let text, text.utf8.count >= 19 else { return nil }
        let fields = text.split { $0 == ":" || $0 == " " || $0 == "-" || $0 == "T" }.prefix(6)
        guard fields.count == 6 else { return nil }
        let digits = fraction.map { $0.prefix { $0.isASCII && $0.isNumber } } ?? ""
        var date = fields[0..<3].joined(separator: "-") + "T" + fields[3..<6].joined(separator: ":")
        if !digits.isEmpty { date += "." + digits.prefix(9) }
        if let offset, offset.first == "+" || offset.first == "-" || offset == "Z" { date += offset }
        return ISO8601.date(from: date, timeZone: .current)
    }
}
