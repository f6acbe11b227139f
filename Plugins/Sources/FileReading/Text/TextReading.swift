// SPDX-License-Identifier: Apache-2.0
import CUchardet
import Foundation
import Glibc

/// The result of decoding the text of a file.
package enum TextReading: Sendable, Equatable {
    case utf8
    /// The text was decoded from another encoding, given by its iconv name; `replaced` invalid
    /// sequences became U+FFFD.
    case encoding(String, replaced: Int)
    /// The text is UTF-8 with `replaced` invalid sequences, which became U+FFFD.
    case repaired(replaced: Int)
    /// The bytes are not text.
    case binary

    /// The warning about the encoding, which follows the file's path; nil for UTF-8.
    package var remark: String? {
        switch self {
        case .utf8: nil
        case .encoding(let name, 0): "is read as \(name), not UTF-8"
        case .encoding(let name, let replaced): "is read as \(name), not UTF-8; \(Self.places(replaced)) not text in it"
        case .repaired(let replaced): "is UTF-8 but for \(replaced == 1 ? "1 place" : "\(replaced) places")"
        case .binary: "is not text, so only its name is indexed"
        }
    }

    private static func places(_ count: Int) -> String { count == 1 ? "1 place is" : "\(count) places are" }
}

extension TextReading {
    /// The maximum number of bytes that are read to guess an encoding.
    private static let maximumSample = 1 << 20

    /// Decodes a file. The encoding is determined by the byte order mark, else UTF-8 if valid, else
    /// by the declaration in the file, else by a guess. Accepts any bytes.
    package static func text(of bytes: [UInt8]) -> (text: String, reading: TextReading) {
        let marks: [(mark: [UInt8], encoding: String)] = [
            ([0xFF, 0xFE, 0, 0], "UTF-32LE"), ([0, 0, 0xFE, 0xFF], "UTF-32BE"), ([0xFF, 0xFE], "UTF-16LE"),
            ([0xFE, 0xFF], "UTF-16BE"),
        ]
        for (mark, encoding) in marks where bytes.starts(with: mark) {
            if let decoded = decoded(bytes.dropFirst(mark.count), as: encoding) { return finished(decoded) }
        }
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        let hasZeros = body.contains(0)
        if !hasZeros, let text = utf8(body) { return (text, .utf8) }
        if hasZeros, let encoding = wideEncoding(body), let decoded = decoded(body, as: encoding) {
            return finished(decoded)
        }
        if isMostlyUTF8(body) {
            let text = String(decoding: body, as: UTF8.self)
            let replaced = text.unicodeScalars.reduce(0) { $0 + ($1 == "\u{FFFD}" ? 1 : 0) }
            return finished((text, .repaired(replaced: replaced)))
        }
        for encoding in [declaredEncoding(body), guessedEncoding(body), "WINDOWS-1252"].compactMap({ $0 }) {
            if let decoded = decoded(body, as: encoding) { return finished(decoded) }
        }
        return finished((String(decoding: body, as: UTF8.self), .repaired(replaced: 1)))
    }

    /// Returns the text with zero bytes replaced, or an empty text if too many of its characters
    /// are control characters.
    private static func finished(_ read: (text: String, reading: TextReading)) -> (text: String, reading: TextReading) {
        var (controls, count) = (0, 0)
        for scalar in read.text.unicodeScalars {
            count += 1
            let isControl = scalar.value < 0x20 && !(0x09...0x0D).contains(scalar.value) && scalar.value != 0x1B
            if isControl { controls += 1 }
        }
        if controls * 20 > count { return ("", .binary) }
        return (read.text.replacing("\0", with: "\u{FFFD}"), read.reading)
    }

    /// Decodes UTF-8. Returns nil if a byte is invalid; a character that is cut off at the end is
    /// allowed.
    private static func utf8(_ bytes: ArraySlice<UInt8>) -> String? {
        do {
            return try String(copying: UTF8Span(validating: bytes.span))
        } catch {
            let start = bytes.startIndex + error.byteOffsets.lowerBound
            let rest = bytes[start...]
            let isCut = rest.count < 4 && bytes.count >= OpenedFile.maximumSize - 4 && (rest.first ?? 0) >= 0xC2
            return isCut ? utf8(bytes[..<start]) : nil
        }
    }

    /// Returns `true` if the bytes have more multibyte characters than invalid sequences.
    private static func isMostlyUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        var (characters, faults) = (0, 0)
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): if !scalar.isASCII { characters += 1 }
            case .emptyInput: return faults > 0 && characters > faults
            case .error: faults += 1
            }
        }
    }

    /// Returns UTF-16 or UTF-32 if the zero bytes are in the positions typical of that encoding.
    private static func wideEncoding(_ bytes: ArraySlice<UInt8>) -> String? {
        let sample = bytes.prefix(4096)
        var zeros = [0, 0, 0, 0]
        for (offset, byte) in sample.enumerated() where byte == 0 { zeros[offset % 4] += 1 }
        let quarter = sample.count / 4
        guard quarter > 0 else { return nil }
        let isZero = zeros.map { $0 * 10 >= quarter * 7 }
        switch (isZero[0], isZero[1], isZero[2], isZero[3]) {
        case (false, true, true, true): return "UTF-32LE"
        case (true, true, true, false): return "UTF-32BE"
        case (false, true, false, true): return "UTF-16LE"
        case (true, false, true, false): return "UTF-16BE"
        default: return nil
        }
    }

    /// Returns the encoding that an editor line, an HTML page or front matter declares at the
    /// beginning: `coding: latin-1`, `charset="koi8-r"`, `encoding = …`.
    private static func declaredEncoding(_ bytes: ArraySlice<UInt8>) -> String? {
        let head = String(decoding: bytes.prefix(1024).map { $0 < 0x80 ? $0 : UInt8(ascii: " ") }, as: UTF8.self)
            .lowercased()
        for word in ["coding", "charset"] {
            for match in head.ranges(of: word) {
                let rest = head[match.upperBound...].drop { $0 == " " || $0 == "\"" }
                guard rest.first == ":" || rest.first == "=" else { continue }
                let name = rest.dropFirst().drop { " \"'".contains($0) }.prefix {
                    $0.isASCII && ($0.isLetter || $0.isNumber || "-_.:".contains($0))
                }
                if !name.isEmpty, name.utf8.count <= 40, !["utf-8", "utf8"].contains(name) { return name.uppercased() }
            }
        }
        return nil
    }

    private static func guessedEncoding(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let detector = uchardet_new() else { return nil }
        defer { uchardet_delete(detector) }
        let sample = bytes.prefix(maximumSample)
        let result = sample.withUnsafeBytes { bytes in
            uchardet_handle_data(detector, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard result == 0 else { return nil }
        uchardet_data_end(detector)
        let name = uchardet_get_charset(detector).map { String(cString: $0) } ?? ""
        return name.isEmpty || name == "UTF-8" || name == "ASCII" ? nil : name
    }

    /// Decodes bytes in an encoding that iconv(3) supports; invalid sequences become U+FFFD.
    /// Returns nil if the encoding is unknown or most bytes are invalid.
    package static func decode(_ bytes: [UInt8], as encoding: String) -> String? {
        decoded(bytes[...], as: encoding)?.text
    }

    /// Decodes with iconv(3). Returns nil if the encoding is unknown or most bytes are invalid.
    private static func decoded(_ bytes: ArraySlice<UInt8>, as encoding: String) -> (
        text: String, reading: TextReading
    )? {
        guard let converter = iconv_open("UTF-8", encoding), converter != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(converter) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count * 3 / 2)
        var replaced = 0
        let width = encoding.hasPrefix("UTF-16") ? 2 : encoding.hasPrefix("UTF-32") ? 4 : 1
        var source = Array(bytes)
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        let isDecoded = source.withUnsafeMutableBytes { source -> Bool in
            var from = source.baseAddress?.assumingMemoryBound(to: CChar.self)
            var left = source.count
            while left > 0 {
                let code = buffer.withUnsafeMutableBufferPointer { buffer -> Int32 in
                    var to = buffer.baseAddress
                    var room = buffer.count
                    let status = iconv(converter, &from, &left, &to, &room)
                    let code = status == -1 ? errno : 0
                    result.append(
                        contentsOf: UnsafeRawBufferPointer(start: buffer.baseAddress, count: buffer.count - room))
                    return code
                }
                if code == 0 { break }
                if code == E2BIG { continue }
                guard code == EILSEQ || code == EINVAL else { return false }
                replaced += 1
                result += [0xEF, 0xBF, 0xBD]
                let skipped = min(left, width)
                from = from.map { $0 + skipped }
                left -= skipped
            }
            return true
        }
        guard isDecoded, replaced * 10 <= bytes.count else { return nil }
        return (String(decoding: result, as: UTF8.self), .encoding(encoding, replaced: replaced))
    }
}
