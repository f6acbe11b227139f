// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniformTypeIdentifiers

/// Checks content against its declared type, to the extent that the bytes show it.
public enum ContentSniffer {
    /// Returns the reason why bytes do not have a type; `nil` if they may have it, or if the type
    /// cannot be checked.
    ///
    /// - Parameters:
    ///   - bytes: The content, or its start.
    ///   - isWhole: `true` if the bytes are the whole content.
    ///   - identifier: The declared type. The rules of its supertypes apply too.
    public static func mismatch(_ bytes: [UInt8], isWhole: Bool = true, type identifier: String) -> String? {
        guard let type = UTType(identifier) else { return nil }
        for rule in rules where type == rule.type || type.conforms(to: rule.type) {
            return rule.problem(bytes, isWhole)
        }
        return nil
    }

    /// A check for a type and all types that conform to it.
    private struct Rule: Sendable {
        let type: UTType
        let problem: @Sendable ([UInt8], Bool) -> String?
    }

    /// The rules, more specific types first. Only the first rule that applies is used.
    private static let rules: [Rule] = [
        begins(.png, "a PNG image", [[0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]]),
        begins(.jpeg, "a JPEG image", [[0xFF, 0xD8, 0xFF]]),
        begins(.gif, "a GIF image", [Array("GIF87a".utf8), Array("GIF89a".utf8)]),
        begins(.tiff, "a TIFF image", [[0x49, 0x49, 0x2A, 0x00], [0x4D, 0x4D, 0x00, 0x2A]]),
        begins(.bmp, "a BMP image", [Array("BM".utf8)]),
        begins(.ico, "an ICO image", [[0, 0, 1, 0]]),
        container(.webP, "a WebP image", "RIFF", at: 8, "WEBP"),
        container(.wav, "a WAVE sound", "RIFF", at: 8, "WAVE"),
        container(.aiff, "an AIFF sound", "FORM", at: 8, "AIF"),
        container(.mpeg4Movie, "an MPEG-4 file", "", at: 4, "ftyp"),
        container(.mpeg4Audio, "an MPEG-4 file", "", at: 4, "ftyp"),
        container(.heic, "a HEIC image", "", at: 4, "ftyp"),
        Rule(type: .pdf) { bytes, _ in
            // Readers allow other bytes before the header.
            contains(bytes.prefix(1024), "%PDF-") ? nil : found("a PDF document", bytes)
        },
        begins(.rtf, "rich text", [Array("{\\rtf".utf8)]),
        begins(.gzip, "gzip data", [[0x1F, 0x8B]]),
        begins(.bz2, "bzip2 data", [Array("BZh".utf8)]),
        begins(.zip, "a ZIP archive", [[0x50, 0x4B, 3, 4], [0x50, 0x4B, 5, 6], [0x50, 0x4B, 7, 8]]),
        begins(.epub, "an EPUB book", [[0x50, 0x4B, 3, 4]]),
        begins(.binaryPropertyList, "a binary property list", [Array("bplist0".utf8)]),
        Rule(type: .json) { bytes, isWhole in
            guard isWhole else { return textProblem(bytes, isWhole) }
            let parsed = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            return parsed == nil ? found("JSON", bytes) : nil
        },
        Rule(type: .html) { bytes, isWhole in
            textProblem(bytes, isWhole) ?? (hasElement(bytes) ? nil : "it is text without a single HTML element")
        },
        markup(.svg, "an SVG image"), markup(.xml, "XML"),
        Rule(type: .propertyList) { bytes, isWhole in
            if bytes.starts(with: Array("bplist0".utf8)) || firstLetter(bytes) == UInt8(ascii: "<") { return nil }
            return found("a property list", bytes)
        },
        Rule(type: .url) { bytes, _ in urlProblem(bytes) },
        Rule(type: .vCard) { bytes, _ in startsWith(bytes, "BEGIN:VCARD") ? nil : found("a vCard", bytes) },
        Rule(type: .calendarEvent) { bytes, _ in
            startsWith(bytes, "BEGIN:VCALENDAR") ? nil : found("a calendar event", bytes)
        },
        Rule(type: .utf16ExternalPlainText) { bytes, isWhole in utf16Problem(bytes, isWhole) },
        Rule(type: .utf16PlainText) { bytes, isWhole in utf16Problem(bytes, isWhole) },
        Rule(type: .plainText) { bytes, isWhole in
            // UTF-8, unless a byte order mark indicates UTF-16.
            bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
                ? utf16Problem(bytes, isWhole) : textProblem(bytes, isWhole)
        },
    ]

    private static func begins(_ type: UTType, _ name: String, _ starts: [[UInt8]]) -> Rule {
        Rule(type: type) { bytes, _ in starts.contains { bytes.starts(with: $0) } ? nil : found(name, bytes) }
    }

    private static func container(
        _ type: UTType, _ name: String, _ start: String, at offset: Int, _ mark: String
    ) -> Rule {
        Rule(type: type) { bytes, _ in
            bytes.starts(with: Array(start.utf8)) && bytes.dropFirst(offset).starts(with: Array(mark.utf8))
                ? nil : found(name, bytes)
        }
    }

    private static func markup(_ type: UTType, _ name: String) -> Rule {
        Rule(type: type) { bytes, isWhole in
            textProblem(bytes, isWhole) ?? (firstLetter(bytes) == UInt8(ascii: "<") ? nil : found(name, bytes))
        }
    }

    /// Returns a description of the actual content.
    private static func found(_ expected: String, _ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "it should be \(expected), and is empty" }
        let start = String(decoding: bytes.prefix(24), as: UTF8.self)
        return "it should be \(expected), and begins with \(start.debugDescription)"
    }

    private static func firstLetter(_ bytes: [UInt8]) -> UInt8? {
        bytes.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }
    }

    private static func startsWith(_ bytes: [UInt8], _ text: String) -> Bool {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return String(decoding: bytes.prefix(text.utf8.count), as: UTF8.self).uppercased() == text
    }

    private static func contains(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard bytes.count >= wanted.count else { return false }
        return (bytes.startIndex...bytes.endIndex - wanted.count).contains { bytes[$0...].starts(with: wanted) }
    }

    /// Returns `true` if the bytes contain something that looks like a tag: `<` followed by a
    /// letter, `!`, `?` or `/`.
    private static func hasElement(_ bytes: [UInt8]) -> Bool {
        zip(bytes, bytes.dropFirst()).contains { first, second in
            first == UInt8(ascii: "<")
                && ((0x61...0x7A).contains(second | 0x20) || [0x21, 0x3F, 0x2F].contains(second))
        }
    }

    /// Returns the reason why bytes are not UTF-8 text.
    static func textProblem(_ bytes: [UInt8], _ isWhole: Bool) -> String? {
        if let position = bytes.firstIndex(of: 0) { return "it should be text, and has a NUL at byte \(position)" }
        // Incomplete content may end in the middle of a character.
        let tails = isWhole ? 0...0 : 0...3
        let isValid = tails.contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
        return isValid ? nil : "it should be text in UTF-8, and is not"
    }

    private static func utf16Problem(_ bytes: [UInt8], _ isWhole: Bool) -> String? {
        guard bytes.count.isMultiple(of: 2) || !isWhole else {
            return "it should be text in UTF-16, and has an odd number of bytes (\(bytes.count))"
        }
        let isBig = bytes.starts(with: [0xFE, 0xFF])
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { position -> UInt16 in
            let (first, second) = (UInt16(bytes[position]), UInt16(bytes[position + 1]))
            return isBig ? first << 8 | second : second << 8 | first
        }
        let tails = isWhole ? 0...0 : 0...1
        let isValid = tails.contains { String(validating: units.dropLast($0), as: UTF16.self) != nil }
        return isValid ? nil : "it should be text in UTF-16, and is not"
    }

    private static func urlProblem(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self),
            let url = URL(string: text.trimmingCharacters(in: .whitespacesAndNewlines)), let scheme = url.scheme,
            !scheme.isEmpty
        else { return found("a URL", bytes) }
        return nil
    }
}
