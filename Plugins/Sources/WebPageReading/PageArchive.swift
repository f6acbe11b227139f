// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// An MHTML file (RFC 2557): a multipart MIME message that contains a page and its pictures.
///
/// The parts stay encoded until they are requested. Reading takes time linear in the size: browsers
/// write one level of parts, and nested parts from other programs are not treated as parts.
struct PageArchive {
    struct Part {
        var headers: [String: String]
        var body: ArraySlice<UInt8>
    }

    static let maximumParts = 5_000
    private static let maximumHeaders = 200
    private static let maximumHeader = 64 << 10

    private(set) var headers: [String: String]
    private(set) var parts: [Part] = []
    /// `true` if parts beyond the limit were left out.
    private(set) var hasMore = false

    /// Returns nil for a file without a header.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        headers = Self.headers(&rest)
        guard !headers.isEmpty else { return nil }
        guard let boundary = Self.parameter("boundary", of: headers["content-type"] ?? ""), !boundary.isEmpty else {
            parts = [Part(headers: headers, body: rest)]
            return
        }
        let mark = Array("--\(boundary)".utf8)
        var start: Int?
        var line = rest.startIndex
        while line < rest.endIndex {
            let end = rest[line...].firstIndex(of: 0x0A) ?? rest.endIndex
            if let isLast = Self.isLast(rest[line..<end], mark) {
                if let start { add(rest[start..<line]) }
                start = min(end + 1, rest.endIndex)
                if isLast { return }
                if parts.count >= Self.maximumParts {
                    hasMore = true
                    return
                }
            }
            line = end + 1
        }
        // The file ends too early.
        if let start { add(rest[start...]) }
    }

    /// Returns whether a line is the last boundary; nil if it is not a boundary.
    private static func isLast(_ line: ArraySlice<UInt8>, _ mark: [UInt8]) -> Bool? {
        guard line.starts(with: mark) else { return nil }
        let isLast = line.dropFirst(mark.count).starts(with: [0x2D, 0x2D])
        let rest = line.dropFirst(mark.count + (isLast ? 2 : 0))
        return rest.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } ? isLast : nil
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        let headers = Self.headers(&rest)
        parts.append(Part(headers: headers, body: rest))
    }

    /// The part that contains the page: the part that the header names, or else the first HTML
    /// part.
    var page: Part? {
        let wanted = Self.parameter("start", of: headers["content-type"] ?? "")
        let named = wanted.flatMap { wanted in parts.first { $0.headers["content-id"] == wanted } }
        return named ?? parts.first { ["text/html", "application/xhtml+xml"].contains($0.type) }
    }

    /// Returns the part with this URL, which is a picture in the page.
    func part(_ address: String) -> Part? {
        let identifier = address.hasPrefix("cid:") ? "<\(address.dropFirst(4))>" : nil
        return parts.first { part in
            identifier.map { part.headers["content-id"] == $0 } ?? (part.headers["content-location"] == address)
        }
    }

    /// Reads the header fields up to an empty line. The names are converted to lower case.
    private static func headers(_ rest: inout ArraySlice<UInt8>) -> [String: String] {
        var fields: [String: String] = [:]
        var last: String?
        let all = rest.prefix(maximumHeader)
        while rest.startIndex < all.endIndex {
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            var line = rest[..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            if line.last == 0x0D { line = line.dropLast() }
            if line.isEmpty { return fields }
            if let name = last, line.first == 0x20 || line.first == 0x09 {
                fields[name, default: ""] += " " + String(decoding: line, as: UTF8.self).trimmed
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")), fields.count < maximumHeaders {
                let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
                let value = String(decoding: line[(colon + 1)...], as: UTF8.self).trimmed
                last = fields[name] == nil ? name : nil
                if fields[name] == nil { fields[name] = value }
            } else {
                last = nil
            }
        }
        return fields
    }

    /// Returns a field's parameter, such as `boundary="x"`.
    static func parameter(_ name: String, of field: String) -> String? {
        for part in field.split(separator: ";").dropFirst().prefix(20) {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].trimmed.lowercased() == name else { continue }
            return pair[1].trimmed.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        }
        return nil
    }
}

extension PageArchive.Part {
    /// The media type in lower case.
    var type: String {
        headers["content-type"].map { String($0.prefix { $0 != ";" }).trimmed.lowercased() } ?? "text/plain"
    }

    /// The content without its transfer encoding.
    var contents: [UInt8] {
        switch headers["content-transfer-encoding"]?.lowercased() {
        case "base64": Array(Data(base64Encoded: Data(body), options: .ignoreUnknownCharacters) ?? Data())
        case "quoted-printable": Self.unquoted(body)
        default: Array(body)
        }
    }

    /// The text, decoded with the declared encoding or else with the one detected from the content.
    var text: (text: String, reading: TextReading) {
        let bytes = contents
        let declared = PageArchive.parameter("charset", of: headers["content-type"] ?? "")
        if let declared, declared.utf8.count <= 40, declared.lowercased() != "utf-8",
            let text = TextReading.decode(bytes, as: declared.uppercased())
        {
            return (text, .encoding(declared, replaced: 0))
        }
        return TextReading.text(of: bytes)
    }

    /// Decodes `=3D`, and `=` at the end of a line, which joins it with the next line.
    static func unquoted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                result.append(byte)
                continue
            }
            if rest.first == 0x0A {
                rest = rest.dropFirst()
            } else if rest.starts(with: [0x0D, 0x0A]) {
                rest = rest.dropFirst(2)
            } else if let high = hexadecimal(rest.first), let low = hexadecimal(rest.dropFirst().first) {
                result.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func hexadecimal(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
    }
}

extension PageArchive {
    /// Returns a header with its encoded words decoded (RFC 2047): `=?utf-8?Q?caf=C3=A9?=`.
    static func decoded(_ header: String) -> String {
        var result = ""
        var rest = header.prefix(maximumUTF8Bytes: 4096)[...]
        var isAfterWord = false
        while let start = rest.range(of: "=?") {
            let parts = rest[start.upperBound...].split(separator: "?", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, parts[3].hasPrefix("="), parts[0].utf8.count <= 40 else { break }
            let bytes: [UInt8]
            if parts[1].lowercased() == "b" {
                bytes = Array(Data(base64Encoded: String(parts[2])) ?? Data())
            } else {
                bytes = Part.unquoted(Array(parts[2].replacing("_", with: " ").utf8)[...])
            }
            let text =
                parts[0].lowercased() == "utf-8"
                ? String(decoding: bytes, as: UTF8.self) : TextReading.decode(bytes, as: parts[0].uppercased()) ?? ""
            let before = rest[..<start.lowerBound]
            // White space between two encoded words is ignored.
            if !isAfterWord || before.contains(where: { !$0.isWhitespace }) { result += before }
            result += text
            rest = parts[3].dropFirst()
            isAfterWord = true
        }
        return result + rest
    }
}
