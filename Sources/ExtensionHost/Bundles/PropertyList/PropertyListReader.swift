// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A parser of XML property lists (Apple's `PropertyList-1.0.dtd`) from untrusted sources.
///
/// Foundation's parser is not used. It accepts entity declarations that expand a few bytes into
/// gigabytes, uses the last of two equal keys, and recurses without a bound.
struct PropertyListReader {
    /// The maximum number of nested dictionaries and arrays. Manifests have about six levels.
    static let maximumDepth = 32
    static let maximumValues = 20_000

    /// A parse error, with the line number if it is known.
    struct Problem: Error, Hashable {
        /// The reason, to follow “cannot be read: ”.
        let reason: String
    }

    private let bytes: [UInt8]
    private var place = 0
    private var count = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    static func read(_ bytes: [UInt8]) throws(Problem) -> PropertyValue {
        var reader = PropertyListReader(bytes)
        try reader.checkCharacters()
        return try reader.document()
    }

    // MARK: The document

    private mutating func document() throws(Problem) -> PropertyValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        try skipBetweenElements()
        guard place < bytes.count else { throw Problem(reason: "it is empty") }
        guard bytes[place] == UInt8(ascii: "<") else {
            throw Problem(
                reason: "it is not XML; convert it, for example with “plutil -convert xml1” or “plistutil -f xml”")
        }
        let root = try tag()
        guard root.name == "plist", !root.isEnd, !root.isEmpty else {
            throw problem("its first element is <\(root.name.prefix(40))>, not <plist>")
        }
        try skipBetweenElements()
        let value = try element(depth: 0)
        try skipBetweenElements()
        let end = try tag()
        guard end.isEnd, end.name == "plist" else { throw problem("there is more than one value in <plist>") }
        try skipBetweenElements()
        guard place == bytes.count else { throw problem("there is content after </plist>") }
        return value
    }

    /// Rejects bytes that are not XML 1.0 in UTF-8.
    private mutating func checkCharacters() throws(Problem) {
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            throw Problem(reason: "it is UTF-16; save it as UTF-8")
        }
        if bytes.starts(with: "bplist".utf8) {
            throw Problem(
                reason: """
                    it is a binary property list, not XML; convert it, for example with “plutil -convert xml1” or \
                    “plistutil -f xml”
                    """)
        }
        for index in bytes.indices where bytes[index] < 0x20 {
            guard [0x09, 0x0A, 0x0D].contains(bytes[index]) else {
                place = index
                throw problem("there is a control character (byte \(bytes[index]))")
            }
        }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Problem(reason: "it is not UTF-8") }
    }

    /// Skips white space, comments, processing instructions and the document type.
    private mutating func skipBetweenElements() throws(Problem) {
        while place < bytes.count {
            if [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) {
                place += 1
            } else if follows("<!--") {
                try skip(beyond: "-->", "a comment")
            } else if follows("<?") {
                let start = place
                try skip(beyond: "?>", "a processing instruction")
                try checkEncoding(String(decoding: bytes[start..<place], as: UTF8.self).lowercased())
            } else if follows("<!DOCTYPE") {
                let start = place
                try skip(beyond: ">", "the document type")
                // Entity declarations allow an exponential expansion.
                if bytes[start..<place].contains(UInt8(ascii: "[")) {
                    throw problem("its document type has declarations; remove them")
                }
            } else {
                return
            }
        }
    }

    private func checkEncoding(_ instruction: String) throws(Problem) {
        guard instruction.hasPrefix("<?xml"), let range = instruction.range(of: "encoding") else { return }
        let name = instruction[range.upperBound...].split(whereSeparator: { "=\"' ?".contains($0) }).first ?? ""
        guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(name) else {
            throw problem("its encoding is \(name.prefix(40)); save it as UTF-8")
        }
    }

    // MARK: Elements

    private struct Tag {
        var name: String
        var isEnd = false
        var isEmpty = false
    }

    private static let maximumNameBytes = 32

    /// Parses the tag at the cursor.
    private mutating func tag() throws(Problem) -> Tag {
        guard place < bytes.count else { throw problem("it ends too early") }
        guard bytes[place] == UInt8(ascii: "<") else { throw problem("there is text where an element is expected") }
        place += 1
        var tag = Tag(name: "")
        if place < bytes.count, bytes[place] == UInt8(ascii: "/") {
            tag.isEnd = true
            place += 1
        }
        let start = place
        while place < bytes.count, bytes[place] > 0x20, !"/>".utf8.contains(bytes[place]) { place += 1 }
        guard place > start, place - start <= Self.maximumNameBytes else { throw problem("a tag has no known name") }
        tag.name = String(decoding: bytes[start..<place], as: UTF8.self)
        var quote: UInt8?
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                tag.isEmpty = bytes[place - 2] == UInt8(ascii: "/") && !tag.isEnd
                return tag
            }
        }
        throw problem("the tag <\(tag.name)> has no end")
    }

    private mutating func element(depth: Int) throws(Problem) -> PropertyValue {
        let tag = try tag()
        guard !tag.isEnd else { throw problem("there is </\(tag.name)> where a value is expected") }
        return try value(of: tag, depth: depth)
    }

    private mutating func value(of tag: Tag, depth: Int) throws(Problem) -> PropertyValue {
        guard depth < Self.maximumDepth else { throw problem("it has more than \(Self.maximumDepth) levels") }
        count += 1
        guard count <= Self.maximumValues else { throw problem("it has more than \(Self.maximumValues) values") }
        switch tag.name {
        case "dict": return .dictionary(tag.isEmpty ? [:] : try dictionary(depth: depth))
        case "array": return .array(tag.isEmpty ? [] : try array(depth: depth))
        case "string": return .string(tag.isEmpty ? "" : try text(of: tag))
        case "true", "false":
            if !tag.isEmpty, try !text(of: tag).allSatisfy(\.isWhitespace) {
                throw problem("<\(tag.name)> has content")
            }
            return .boolean(tag.name == "true")
        case "integer", "real", "date", "data":
            let text = tag.isEmpty ? "" : try text(of: tag)
            guard let value = Self.scalar(tag.name, text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw problem("\(text.prefix(40).debugDescription) is not a valid <\(tag.name)>")
            }
            return value
        default: throw problem("<\(tag.name)> is not an element of a property list")
        }
    }

    private static func scalar(_ kind: String, _ text: String) -> PropertyValue? {
        switch kind {
        case "integer":
            let digits = text.lowercased().hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
            return digits.map { .integer($0) }
        case "real": return Double(text).flatMap { $0.isFinite ? .real($0) : nil }
        case "date":
            return (try? Date(text, strategy: .iso8601)).map { .date($0.timeIntervalSinceReferenceDate) }
        default:
            let packed = text.filter { !$0.isWhitespace }
            return Data(base64Encoded: packed).map { .data(Array($0)) }
        }
    }

    private mutating func dictionary(depth: Int) throws(Problem) -> [String: PropertyValue] {
        var values: [String: PropertyValue] = [:]
        while true {
            try skipBetweenElements()
            let tag = try tag()
            if tag.isEnd {
                guard tag.name == "dict" else { throw problem("<dict> is ended by </\(tag.name)>") }
                return values
            }
            guard tag.name == "key" else { throw problem("there is <\(tag.name)> where a <key> is expected") }
            let key = tag.isEmpty ? "" : try text(of: tag)
            guard values[key] == nil else {
                throw problem("the key \(key.prefix(80).debugDescription) occurs twice in one dictionary")
            }
            try skipBetweenElements()
            if follows("</dict") { throw problem("the key \(key.prefix(80).debugDescription) has no value") }
            values[key] = try element(depth: depth + 1)
        }
    }

    private mutating func array(depth: Int) throws(Problem) -> [PropertyValue] {
        var values: [PropertyValue] = []
        while true {
            try skipBetweenElements()
            let tag = try tag()
            if tag.isEnd {
                guard tag.name == "array" else { throw problem("<array> is ended by </\(tag.name)>") }
                return values
            }
            values.append(try value(of: tag, depth: depth + 1))
        }
    }

    // MARK: Text

    /// Returns the text up to the end tag of an element, and moves beyond that tag.
    private mutating func text(of tag: Tag) throws(Problem) -> String {
        var text = ""
        while true {
            let start = place
            while place < bytes.count, bytes[place] != UInt8(ascii: "<"), bytes[place] != UInt8(ascii: "&") {
                place += 1
            }
            text += String(decoding: bytes[start..<place], as: UTF8.self)
            guard place < bytes.count else { throw problem("<\(tag.name)> has no end") }
            if bytes[place] == UInt8(ascii: "&") {
                text.unicodeScalars.append(try entity())
            } else if follows("<!--") {
                try skip(beyond: "-->", "a comment")
            } else if follows("<![CDATA[") {
                let start = place + 9
                try skip(beyond: "]]>", "a CDATA section")
                text += String(decoding: bytes[start..<place - 3], as: UTF8.self)
            } else {
                let end = try self.tag()
                guard end.isEnd, end.name == tag.name else {
                    throw problem("<\(tag.name)> contains <\(end.isEnd ? "/" : "")\(end.name)>")
                }
                return text.contains("\r") ? text.replacing("\r\n", with: "\n") : text
            }
        }
    }

    private static let entities: [String: Unicode.Scalar] = [
        "lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'",
    ]

    private mutating func entity() throws(Problem) -> Unicode.Scalar {
        let start = place + 1
        let limit = min(bytes.count, start + 12)
        guard let end = bytes[start..<limit].firstIndex(of: UInt8(ascii: ";")) else {
            throw problem("“&” does not begin an entity; write &amp;")
        }
        let name = String(decoding: bytes[start..<end], as: UTF8.self)
        place = end + 1
        if let scalar = Self.entities[name] { return scalar }
        let number: UInt32? =
            if name.hasPrefix("#x") { UInt32(name.dropFirst(2), radix: 16) } else if name.hasPrefix("#") {
                UInt32(name.dropFirst())
            } else { nil }
        guard let number, let scalar = Unicode.Scalar(number), number >= 0x20 || [9, 10, 13].contains(number) else {
            throw problem("&\(name); is not a known character")
        }
        return scalar
    }

    private func follows(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - place >= count else { return false }
        return text.withUTF8Buffer { expected in bytes[place..<place + count].elementsEqual(expected) }
    }

    private mutating func skip(beyond end: StaticString, _ what: String) throws(Problem) {
        let start = place
        while place < bytes.count {
            if follows(end) {
                place += end.utf8CodeUnitCount
                return
            }
            place += 1
        }
        place = start
        throw problem("\(what) has no end")
    }

    /// Returns a problem at the cursor's line.
    private func problem(_ reason: String) -> Problem {
        let line = 1 + bytes[..<min(place, bytes.count)].count { $0 == UInt8(ascii: "\n") }
        return Problem(reason: "line \(line): \(reason)")
    }
}
