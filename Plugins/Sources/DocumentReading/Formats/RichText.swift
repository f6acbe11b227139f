// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import Glibc

/// A bounded reader for RTF 1.9. No library in Debian reads RTF.
///
/// Reads the text, the information group and the characters in all code pages that iconv(3) knows.
/// Skips formatting, pictures and embedded objects.
struct RichText {
    /// The state of a group.
    private struct Group {
        var isSkipped = false
        /// The number of fallback characters after `\u` for programs without Unicode support.
        var fallbacks = 1
        /// The property in the information group that the text belongs to.
        var property: String?
        var date: [String: Int]?
        var charset: String?
    }

    private static let maximumDepth = 1000
    private static let skipped: Set<String> = [
        "fonttbl", "colortbl", "stylesheet", "pict", "object", "objdata", "themedata", "colorschememapping",
        "datastore",
        "latentstyles", "listtable", "listoverridetable", "rsidtbl", "generator", "xmlnstbl", "fldinst", "bkmkstart",
        "bkmkend", "mmathPr", "filetbl", "revtbl", "template", "pgptbl",
    ]
    private static let properties: Set<String> = [
        "title", "author", "subject", "keywords", "doccomm", "company", "operator",
    ]

    private(set) var collector = TextCollector()
    private(set) var values: [String: String] = [:]
    private(set) var dates: [String: Date] = [:]
    private(set) var pageCount: Int?
    private(set) var problem: DocumentProblem?

    private let bytes: [UInt8]
    private var position = 0
    private var groups: [Group] = []
    private var group = Group()
    private var codePage = "CP1252"
    /// Bytes that are not decoded yet.
    private var pending: [UInt8] = []
    private var surrogate: UInt32?
    private var charactersToSkip = 0
    private var isOptional = false

    static func read(_ file: OpenedFile) throws(SkipReason) -> DocumentContent {
        var content = DocumentContent()
        let bytes = try file.readAll()
        guard bytes.starts(with: "{\\rtf".utf8) else {
            content.problem = .damaged
            return content
        }
        var reader = RichText(bytes)
        reader.run()
        content.take(reader.collector)
        content.missing += max(0, Int(file.size) - bytes.count)
        content.title = reader.values["title"].flatMap(DocumentContent.title)
        content.authors = reader.values["author"].map { [$0] } ?? []
        content.subject = reader.values["subject"]
        content.keywords = reader.values["keywords"].map(DocumentContent.list) ?? []
        content.summary = reader.values["doccomm"]
        content.created = reader.dates["creatim"]
        content.modified = reader.dates["revtim"]
        content.pageCount = reader.pageCount
        content.problem = reader.problem
        return content
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func run() {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "{"):
                flush()
                guard groups.count < Self.maximumDepth else {
                    problem = .tooDeep
                    return
                }
                groups.append(group)
                charactersToSkip = 0
            case UInt8(ascii: "}"):
                flush()
                endGroup()
                if groups.isEmpty { return }
            case UInt8(ascii: "\\"): control()
            case 0x0D, 0x0A, 0: break
            default: character(byte)
            }
        }
        flush()
        // The file ends in the middle of a control word or group.
        problem = .damaged
    }

    private mutating func endGroup() {
        if let property = group.property, let parts = group.date, groups.last?.date == nil {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .current
            let components = DateComponents(
                year: parts["yr"], month: parts["mo"], day: parts["dy"], hour: parts["hr"], minute: parts["min"])
            if parts["yr"].map({ (1900...3000).contains($0) }) == true {
                dates[property] = calendar.date(from: components)
            }
        }
        group = groups.popLast() ?? Group()
        charactersToSkip = 0
        isOptional = false
    }

    private mutating func control() {
        guard position < bytes.count else { return }
        let first = bytes[position]
        guard Self.isLetter(first) else {
            position += 1
            symbol(first)
            return
        }
        var end = position
        while end < bytes.count, end - position < 32, Self.isLetter(bytes[end]) { end += 1 }
        let word = String(decoding: bytes[position..<end], as: UTF8.self)
        var isNegative = false
        if end < bytes.count, bytes[end] == UInt8(ascii: "-") {
            isNegative = true
            end += 1
        }
        var number: Int?
        var digits = 0
        while end < bytes.count, digits < 10, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[end]) {
            number = (number ?? 0) * 10 + Int(bytes[end] - UInt8(ascii: "0"))
            digits += 1
            end += 1
        }
        if isNegative { number = number.map { -$0 } }
        if end < bytes.count, bytes[end] == UInt8(ascii: " ") { end += 1 }
        position = end
        perform(word, number)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private mutating func symbol(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "'"):
            guard position + 1 < bytes.count else { return }
            let digits = String(decoding: bytes[position..<(position + 2)], as: UTF8.self)
            position += 2
            if let value = UInt8(digits, radix: 16) { character(value) }
        case UInt8(ascii: "\\"), UInt8(ascii: "{"), UInt8(ascii: "}"): character(byte)
        case UInt8(ascii: "~"): character(UInt8(ascii: " "))
        case UInt8(ascii: "_"): character(UInt8(ascii: "-"))
        case UInt8(ascii: "*"): isOptional = true
        case 0x0A, 0x0D: perform("par", nil)
        default: break
        }
    }

    private mutating func perform(_ word: String, _ number: Int?) {
        let wasOptional = isOptional
        isOptional = false
        if wasOptional || Self.skipped.contains(word) {
            flush()
            group.isSkipped = true
            return
        }
        switch word {
        case "u":
            flush()
            unicode(number ?? 0)
            charactersToSkip = group.fallbacks
        case "uc": group.fallbacks = min(max(0, number ?? 1), 16)
        case "par", "sect", "page", "row", "line":
            flush()
            put("\n")
        case "tab", "cell", "nestcell":
            flush()
            put("\t")
        case "emdash": insert("—")
        case "endash": insert("–")
        case "lquote": insert("‘")
        case "rquote": insert("’")
        case "ldblquote": insert("“")
        case "rdblquote": insert("”")
        case "bullet": insert("•")
        case "ansicpg":
            if let number, number > 0 { codePage = number == 65001 ? "UTF-8" : "CP\(number)" }
        case "mac": codePage = "MACINTOSH"
        case "pc": codePage = "CP437"
        case "nofpages": if let number, (1...1_000_000).contains(number) { pageCount = number }
        case "yr", "mo", "dy", "hr", "min": if group.date != nil { group.date?[word] = number }
        case "creatim", "revtim":
            flush()
            group.property = word
            group.date = [:]
        case "bin":
            // Binary data of this length follows.
            position = min(bytes.count, position + max(0, number ?? 0))
        default:
            if Self.properties.contains(word) {
                flush()
                group.property = word
            } else if word == "info" {
                flush()
                group.property = "info"
            }
        }
    }

    private mutating func insert(_ text: String) {
        flush()
        put(text)
    }

    private mutating func character(_ byte: UInt8) {
        if charactersToSkip > 0 {
            charactersToSkip -= 1
            return
        }
        if !group.isSkipped { pending.append(byte) }
        if pending.count > 64 << 10 { flush() }
    }

    /// Decodes the pending bytes.
    private mutating func flush() {
        guard !pending.isEmpty else { return }
        defer { pending.removeAll(keepingCapacity: true) }
        if pending.allSatisfy({ $0 < 0x80 }) {
            put(String(decoding: pending, as: UTF8.self))
        } else {
            put(TextReading.decode(pending, as: codePage) ?? String(decoding: pending, as: UTF8.self))
        }
    }

    private mutating func unicode(_ number: Int) {
        let unit = UInt32(truncatingIfNeeded: number) & 0xFFFF
        if (0xD800..<0xDC00).contains(unit) {
            surrogate = unit
            return
        }
        var value = unit
        if (0xDC00..<0xE000).contains(unit) {
            guard let high = surrogate else { return }
            value = 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00)
        }
        surrogate = nil
        if let scalar = Unicode.Scalar(value), value >= 0x20 { put(String(Character(scalar))) }
    }

    private mutating func put(_ text: String) {
        if group.isSkipped { return }
        guard let property = group.property else {
            if text == "\n" { collector.endLine() } else { collector.append(text) }
            return
        }
        if property == "info" { return }
        values[property] = ((values[property] ?? "") + text).prefix(maximumUTF8Bytes: 4096)
    }
}
