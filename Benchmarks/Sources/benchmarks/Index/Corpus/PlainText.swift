// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Extracts the prose of marked-up documents as paragraphs. Each format is parsed only roughly,
/// because the result needs only natural text's words in natural proportions.
enum PlainText {
    typealias Lines = [ArraySlice<UInt8>]

    /// Returns a document's paragraphs, which may contain line ends.
    static func paragraphs(of bytes: [UInt8], _ markup: TextSources.Markup) -> [[UInt8]] {
        switch markup {
        case .plain: gathered(lines(of: bytes[...])) { $0 }
        case .html: html(bytes)
        case .manual: gathered(lines(of: bytes[...]), manual)
        case .python: python(bytes)
        case .cHeader: cHeader(bytes)
        case .packageList: packageList(bytes)
        }
    }

    private static func lines(of bytes: ArraySlice<UInt8>) -> Lines {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// Joins lines into paragraphs. An empty line, or a line for which `text` returns `nil`, ends a
    /// paragraph.
    private static func gathered(_ lines: Lines, _ text: (ArraySlice<UInt8>) -> ArraySlice<UInt8>?) -> [[UInt8]] {
        var paragraphs: [[UInt8]] = []
        var paragraph: [UInt8] = []
        for line in lines {
            if let text = text(line), text.contains(where: { $0 > 0x20 }) {
                paragraph += text
                paragraph.append(0x20)
            } else if !paragraph.isEmpty {
                paragraphs.append(paragraph)
                paragraph = []
            }
        }
        if !paragraph.isEmpty { paragraphs.append(paragraph) }
        return paragraphs
    }

    private static func html(_ bytes: [UInt8]) -> [[UInt8]] {
        let inline: Set<String> = [
            "a", "b", "i", "em", "strong", "code", "span", "tt", "var", "samp", "kbd", "cite", "font",
        ]
        let entities = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "nbsp": " ", "rsquo": "’", "lsquo": "‘"]
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "<"), let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")) {
                let tag = bytes[(position + 1)..<end].drop { $0 == UInt8(ascii: "/") }.prefix { $0 > 0x2F }
                if !inline.contains(String(decoding: tag, as: UTF8.self).lowercased()) { text += [0x0A, 0x0A] }
                position = end + 1
            } else if byte == UInt8(ascii: "&"),
                let end = bytes[position...].prefix(10).firstIndex(of: UInt8(ascii: ";"))
            {
                let name = String(decoding: bytes[(position + 1)..<end], as: UTF8.self)
                text += Array((entities[name] ?? " ").utf8)
                position = end + 1
            } else {
                text.append(byte)
                position += 1
            }
        }
        return gathered(lines(of: text[...])) { $0 }
    }

    /// Returns the text of a manual page line. Font requests are text; other requests end the
    /// paragraph.
    private static func manual(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var line = line
        if line.first == UInt8(ascii: "'") { return nil }
        if line.first == UInt8(ascii: ".") {
            let request = line.dropFirst().prefix { $0 > 0x20 }
            let name = String(decoding: request, as: UTF8.self)
            guard ["B", "I", "BR", "IR", "RB", "RI", "BI", "IB", "Nm", "Fl", "Ar", "Xr", "Em"].contains(name) else {
                return nil
            }
            line = line.dropFirst(1 + request.count)
        }
        guard line.contains(UInt8(ascii: "\\")) else { return line }
        var text: [UInt8] = []
        var rest = line
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                text.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "f"): if rest.popFirst() == UInt8(ascii: "(") { rest = rest.dropFirst(2) }
            case UInt8(ascii: "("):
                if rest.prefix(2).elementsEqual("cq".utf8) || rest.prefix(2).elementsEqual("aq".utf8) {
                    text.append(UInt8(ascii: "'"))
                }
                rest = rest.dropFirst(2)
            case UInt8(ascii: "*"): rest = rest.dropFirst(rest.first == UInt8(ascii: "(") ? 3 : 1)
            case UInt8(ascii: "s"): rest = rest.drop { $0 == 0x2B || $0 == 0x2D || (0x30...0x39).contains($0) }
            case UInt8(ascii: "-"), UInt8(ascii: " "): text.append(escape)
            case UInt8(ascii: "e"): text.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "\""): rest = []
            default: break
            }
        }
        return text[...]
    }

    /// Returns docstrings and comments.
    private static func python(_ bytes: [UInt8]) -> [[UInt8]] {
        var isInside = false
        return gathered(lines(of: bytes[...])) { line in
            let text = line.drop { $0 == 0x20 }
            let isQuote = text.starts(with: [0x22, 0x22, 0x22]) || text.starts(with: [0x27, 0x27, 0x27])
            if !isInside, text.first == UInt8(ascii: "#") { return text.drop { $0 == UInt8(ascii: "#") } }
            if isQuote {
                let content = text.dropFirst(3)
                let isClosed = content.suffix(3).elementsEqual([0x22, 0x22, 0x22])
                defer { isInside = !isInside && !isClosed }
                return isInside ? nil : (isClosed ? content.dropLast(3) : content)
            }
            return isInside ? text : nil
        }
    }

    /// Returns comments.
    private static func cHeader(_ bytes: [UInt8]) -> [[UInt8]] {
        var isInside = false
        return gathered(lines(of: bytes[...])) { line in
            var text = line.drop { $0 == 0x20 || $0 == 0x09 }
            if text.starts(with: "//".utf8) { return text.drop { $0 == UInt8(ascii: "/") } }
            if !isInside {
                guard text.starts(with: "/*".utf8) else { return nil }
                isInside = true
                text = text.dropFirst(2)
            }
            text = text.drop { $0 == UInt8(ascii: "*") || $0 == 0x20 }
            if text.suffix(2).elementsEqual("*/".utf8) || text.elementsEqual("/".utf8) {
                isInside = false
                return text.dropLast(2)
            }
            return text
        }
    }

    /// Returns the names and descriptions of packages.
    private static func packageList(_ bytes: [UInt8]) -> [[UInt8]] {
        var isDescription = false
        var name: ArraySlice<UInt8> = []
        return gathered(lines(of: bytes[...])) { line in
            if line.first == 0x20 { return isDescription && line.count > 2 ? line : nil }
            if line.starts(with: "Package: ".utf8) { name = line.dropFirst(9) }
            isDescription = line.starts(with: "Description".utf8) && !line.starts(with: "Description-md5".utf8)
            guard isDescription, let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            return name + ": ".utf8 + line[line.index(after: colon)...] + ".".utf8
        }
    }
}
