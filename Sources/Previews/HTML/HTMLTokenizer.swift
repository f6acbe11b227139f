// SPDX-License-Identifier: Apache-2.0

/// A start tag as written, with names in lower case and values including their character
/// references.
struct HTMLTag {
    let element: HTMLElement
    var name: String { element.name }
    var attributes: [(name: String, value: Range<Int>)] = []
    var isSelfClosing = false
    /// The number of attributes beyond ``HTMLTokenizer/maximumAttributes``.
    var omittedAttributes = 0
}

/// A token of a page. Ranges refer to the tokenizer's bytes.
enum HTMLToken {
    /// Text, including its character references.
    case text(Range<Int>)
    /// A start tag.
    case start(HTMLTag)
    /// The content of a raw element, such as `script`. Its end tag was skipped.
    case raw(HTMLElement, Range<Int>)
    /// An end tag.
    case end(HTMLElement)
}

/// A tokenizer that splits HTML into tags and text like a browser (HTML standard, section 13.2.5),
/// in one pass over the bytes.
///
/// Comments, doctypes, processing instructions and an incomplete tag at the end are skipped.
/// Differences from browsers have no effect, because ``HTMLSanitizer`` rewrites everything that is
/// shown.
struct HTMLTokenizer {
    let bytes: [UInt8]
    private var position = 0
    private var rawElement: HTMLElement?

    /// The maximum number of attributes in a tag.
    static let maximumAttributes = 64
    private static let maximumNameBytes = 64

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the next token; `nil` at the end.
    mutating func next() -> HTMLToken? {
        if let element = rawElement {
            rawElement = nil
            return .raw(element, rawContent(of: element))
        }
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<"), position + 1 < bytes.count else { return text() }
            switch bytes[position + 1] {
            case UInt8(ascii: "!"): passComment()
            case UInt8(ascii: "?"): passBogusComment()
            case UInt8(ascii: "/"):
                guard position + 2 < bytes.count else { return text() }
                guard isLetter(bytes[position + 2]) else {
                    passBogusComment()
                    continue
                }
                position += 2
                if let tag = tag() { return .end(tag.element) }
            case let byte where isLetter(byte):
                position += 1
                guard let tag = tag() else { continue }
                if tag.element.isRaw { rawElement = tag.element }
                return .start(tag)
            default: return text()
            }
        }
        return nil
    }

    /// Returns the text from here to the next `<`, including a `<` at this position.
    private mutating func text() -> HTMLToken {
        let start = position
        position += 1
        position = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        return .text(start..<position)
    }

    // MARK: Tags

    /// Parses the tag whose name starts here; `nil` if the page ends within it.
    private mutating func tag() -> HTMLTag? {
        let start = position
        while position < bytes.count, !isTagEnd(bytes[position]) { position += 1 }
        var tag = HTMLTag(element: .named(name(start..<position)))
        while true {
            while position < bytes.count, isSpace(bytes[position]) || bytes[position] == UInt8(ascii: "/") {
                position += 1
            }
            guard position < bytes.count else { return nil }
            if bytes[position] == UInt8(ascii: ">") {
                tag.isSelfClosing = bytes[position - 1] == UInt8(ascii: "/")
                position += 1
                return tag
            }
            guard let (name, value) = attribute() else { return nil }
            if tag.attributes.count >= Self.maximumAttributes {
                tag.omittedAttributes += 1
            } else {
                let text = self.name(name)
                // If a name occurs twice, the first value is used.
                if !tag.attributes.contains(where: { $0.name == text }) { tag.attributes.append((text, value)) }
            }
        }
    }

    private mutating func attribute() -> (name: Range<Int>, value: Range<Int>)? {
        let start = position
        // A leading equals sign is part of the name.
        position += 1
        while position < bytes.count, !isTagEnd(bytes[position]), bytes[position] != UInt8(ascii: "=") { position += 1 }
        let name = start..<position
        var next = position
        while next < bytes.count, isSpace(bytes[next]) { next += 1 }
        guard next < bytes.count else { return nil }
        guard bytes[next] == UInt8(ascii: "=") else { return (name, next..<next) }
        position = next + 1
        while position < bytes.count, isSpace(bytes[position]) { position += 1 }
        guard position < bytes.count else { return nil }
        let quote = bytes[position]
        let value: Range<Int>
        switch quote {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            guard let end = bytes[(position + 1)...].firstIndex(of: quote) else {
                position = bytes.count
                return nil
            }
            value = position + 1..<end
            position = end + 1
        default:
            let start = position
            while position < bytes.count, !isSpace(bytes[position]), bytes[position] != UInt8(ascii: ">") {
                position += 1
            }
            value = start..<position
        }
        return (name, value)
    }

    /// Returns a name in lower case. A name that is longer than all known names is truncated, so
    /// that it stays unknown.
    private func name(_ range: Range<Int>) -> String {
        let bytes = bytes[range].prefix(Self.maximumNameBytes)
        return String(unsafeUninitializedCapacity: bytes.count) { buffer in
            for (index, byte) in bytes.enumerated() { buffer[index] = lowered(byte) }
            return bytes.count
        }
    }

    // MARK: Skipped parts

    private mutating func passComment() {
        guard bytes[position...].starts(with: [0x3C, 0x21, 0x2D, 0x2D]) else { return passBogusComment() }
        position += 4
        // <!--> and <!---> are complete comments.
        if byte(position) == UInt8(ascii: ">") {
            position += 1
            return
        }
        if byte(position) == UInt8(ascii: "-"), byte(position + 1) == UInt8(ascii: ">") {
            position += 2
            return
        }
        while let dash = bytes[position...].firstIndex(of: UInt8(ascii: "-")) {
            position = dash + 1
            guard byte(position) == UInt8(ascii: "-") else { continue }
            if byte(position + 1) == UInt8(ascii: ">") {
                position += 2
                return
            }
            if byte(position + 1) == UInt8(ascii: "!"), byte(position + 2) == UInt8(ascii: ">") {
                position += 3
                return
            }
        }
        position = bytes.count
    }

    private func byte(_ position: Int) -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func passBogusComment() {
        position = bytes[position...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? bytes.count
    }

    private mutating func rawContent(of element: HTMLElement) -> Range<Int> {
        let start = position
        // Compared without the closing `>`, because white space may precede it.
        let end = element.closing.dropLast()
        while let mark = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            position = mark + 1
            let after = mark + end.count
            guard after < bytes.count, isTagEnd(bytes[after]), hasLowered(bytes[mark...], end) else { continue }
            position = after
            _ = tag()
            return start..<mark
        }
        position = bytes.count
        return start..<position
    }
}

// MARK: Bytes

func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0C || byte == 0x0D }
func lowered(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
/// Returns `true` if the bytes start with `start`, ignoring case. `start` must be in lower case.
func hasLowered(_ bytes: ArraySlice<UInt8>, _ start: some Collection<UInt8>) -> Bool {
    bytes.count >= start.count && zip(bytes, start).allSatisfy { lowered($0) == $1 }
}
private func isTagEnd(_ byte: UInt8) -> Bool {
    isSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">")
}
