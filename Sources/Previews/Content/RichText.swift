// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Converts rich text (RTF 1.9.1) to plain text, for viewers without RTF support: words, tabs and
/// line ends, without formatting.
///
/// It makes one pass over the bytes without recursion, and returns whatever could be read from
/// invalid input. It omits hidden text, the internals of fields and objects, pictures, document
/// information, and code pages of individual fonts.
public enum RichText {
    /// The maximum number of bytes to read.
    public static let maximumBytes = 8 << 20
    /// The maximum size of the text, in bytes.
    public static let maximumTextBytes = 2 << 20
    /// The maximum nesting depth of groups. The text of deeper groups is omitted.
    static let maximumDepth = 200

    /// Returns the text, without control characters except line feeds and tabs. Blocks the calling
    /// thread for some milliseconds per megabyte.
    ///
    /// - Parameter bytes: The document.
    public static func text(of bytes: [UInt8]) -> String {
        var reader = RichTextReader(bytes.prefix(maximumBytes))
        return DisplayText.safe(reader.text()).trimmingCharacters(in: .newlines)
    }
}

/// Reads the groups and control words in rich text.
private struct RichTextReader {
    private struct Group {
        /// `true` if the group's content is omitted.
        var isHidden = false
        /// `true` if the text is formatted as hidden.
        var isInvisible = false
        /// The number of fallback characters after each Unicode character (`\uc`), for readers
        /// without Unicode.
        var fallbackLength = 1
    }
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private var group = Group()
    private var groups: [Group] = []
    private var tooDeep = 0
    /// The number of fallback characters still to be skipped.
    private var fallbackLeft = 0
    private var encoding = String.Encoding.windowsCP1252
    private var output = ""
    private var outputBytes = 0
    /// The characters in the document's code page, and in UTF-16, that have not been converted yet.
    private var encoded: [UInt8] = []
    private var units: [UInt16] = []

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    mutating func text() -> String {
        while let byte = next(), outputBytes < RichText.maximumTextBytes {
            switch byte {
            case UInt8(ascii: "{"): open()
            case UInt8(ascii: "}"): close()
            case UInt8(ascii: "\\"): control()
            case 0, 0x0A, 0x0D: break
            default: write(encoded: byte)
            }
        }
        flush()
        return output
    }

    private mutating func next() -> UInt8? {
        guard position < bytes.endIndex else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    // MARK: Groups

    private mutating func open() {
        fallbackLeft = 0
        guard groups.count < RichText.maximumDepth else { return tooDeep += 1 }
        groups.append(group)
    }

    private mutating func close() {
        fallbackLeft = 0
        guard tooDeep == 0 else { return tooDeep -= 1 }
        group = groups.popLast() ?? Group()
    }

    // MARK: Controls

    private mutating func control() {
        guard let byte = next() else { return }
        switch byte {
        case let byte where isLetter(byte): word(byte)
        case UInt8(ascii: "'"):
            guard let high = next().flatMap(Self.digit), let low = next().flatMap(Self.digit) else { return }
            write(encoded: high << 4 | low)
        case UInt8(ascii: "\\"), UInt8(ascii: "{"), UInt8(ascii: "}"): write(encoded: byte)
        case UInt8(ascii: "~"): write("\u{A0}")
        case UInt8(ascii: "_"): write("\u{2011}")
        // An optional destination, which readers may ignore.
        case UInt8(ascii: "*"): group.isHidden = true
        case 0x0A, 0x0D: write("\n")
        default: break
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }

    /// Reads a control word, its number, and the space that ends it.
    private mutating func word(_ first: UInt8) {
        var name = [first]
        while position < bytes.endIndex, isLetter(bytes[position]) {
            // All known words are shorter.
            if name.count <= Self.maximumNameBytes { name.append(bytes[position]) }
            position += 1
        }
        var number: Int?
        let isNegative = position < bytes.endIndex && bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        while position < bytes.endIndex, isDigit(bytes[position]) {
            number = min(1 << 40, (number ?? 0) * 10 + Int(bytes[position] - 0x30))
            position += 1
        }
        if position < bytes.endIndex, bytes[position] == 0x20 { position += 1 }
        apply(String(decoding: name, as: UTF8.self), number.map { isNegative ? -$0 : $0 })
    }

    private static let maximumNameBytes = 32

    private mutating func apply(_ name: String, _ number: Int?) {
        if let text = Self.texts[name] { return write(text) }
        switch name {
        case "u":
            if let number { write(unit: UInt16(truncatingIfNeeded: number)) }
            fallbackLeft = group.fallbackLength
        case "uc": group.fallbackLength = max(0, min(number ?? 1, Self.maximumFallback))
        case "v": group.isInvisible = number != 0
        case "plain": group.isInvisible = false
        case "ansicpg": encoding = Self.encodings[number ?? 0] ?? encoding
        // The binary data of a picture or an object.
        case "bin": position = min(bytes.endIndex, position + max(0, number ?? 0))
        default: if Self.hidden.contains(name) { group.isHidden = true }
        }
    }

    private static let maximumFallback = 64

    private static let texts: [String: String] = [
        "par": "\n", "line": "\n", "sect": "\n", "page": "\n", "column": "\n", "row": "\n", "nestrow": "\n",
        "cell": "\t", "nestcell": "\t", "tab": "\t", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
        "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": "\u{2003}", "enspace": "\u{2002}",
    ]
    private static let hidden: Set<String> = [
        "fonttbl", "colortbl", "stylesheet", "info", "pict", "nonshppict", "objdata", "objclass", "objname", "fldinst",
        "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "filetbl", "listtable",
        "listoverridetable", "revtbl", "rsidtbl", "generator", "xmlnstbl", "bkmkstart", "bkmkend", "themedata",
        "colorschememapping", "datastore", "latentstyles", "pntxta", "pntxtb", "sn", "sv", "template", "NeXTGraphic",
    ]
    private static let encodings: [Int: String.Encoding] = [
        932: .shiftJIS, 1250: .windowsCP1250, 1251: .windowsCP1251, 1252: .windowsCP1252, 1253: .windowsCP1253,
        1254: .windowsCP1254, 65001: .utf8,
    ]

    // MARK: Text

    private var isShown: Bool { !group.isHidden && !group.isInvisible && tooDeep == 0 }

    /// Returns `true` for a fallback character, which is skipped.
    private mutating func isFallback() -> Bool {
        guard fallbackLeft > 0 else { return false }
        fallbackLeft -= 1
        return true
    }

    private mutating func write(encoded byte: UInt8) {
        guard !isFallback(), isShown else { return }
        if !units.isEmpty { flush() }
        encoded.append(byte)
        outputBytes += byte < 0x80 ? 1 : 2
    }

    private mutating func write(unit: UInt16) {
        guard isShown else { return }
        if !encoded.isEmpty { flush() }
        units.append(unit)
        outputBytes += 3
    }

    private mutating func write(_ text: String) {
        guard !isFallback(), isShown else { return }
        flush()
        output += text
        outputBytes += text.utf8.count
    }

    /// Converts the pending characters to text.
    private mutating func flush() {
        if !encoded.isEmpty {
            output += String(bytes: encoded, encoding: encoding) ?? singly(encoded)
            encoded.removeAll(keepingCapacity: true)
        }
        if !units.isEmpty {
            output += String(decoding: units, as: UTF16.self)
            units.removeAll(keepingCapacity: true)
        }
    }

    /// Decodes bytes one by one, because some are invalid, or only valid in sequences.
    private func singly(_ bytes: [UInt8]) -> String {
        bytes.map { String(bytes: [$0], encoding: encoding) ?? "\u{FFFD}" }.joined()
    }
}
