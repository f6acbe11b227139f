// SPDX-License-Identifier: Apache-2.0

/// A start tag as it was written: names in lower case, values with their character references.
struct HTMLTag {
    let element: HTMLElement
    var name: String { element.name }
    var attributes: [(name: String, value: Range<Int>)] = []
    var isSelfClosing = false
    /// How many attributes there were beyond ``HTMLTokenizer/maximumAttributes``.
    var omittedAttributes = 0
}

/// A piece of a page. Ranges are of the tokenizer's bytes.
enum HTMLToken {
    /// Text with its character references.
    case text(Range<Int>)
    /// A start tag.
    case start(HTMLTag)
    /// What stands in an element whose content is no markup, such as `script`; its end tag was passed.
    case raw(HTMLElement, Range<Int>)
    /// An end tag.
    case end(HTMLElement)
}

/// Cuts HTML into tags and text as browsers do (the HTML standard, section 13.2.5), in one pass over the bytes.
///
/// Comments, doctypes and processing instructions are passed over, and so is a tag that the page ends in. Where this differs
/// from a browser nothing depends on it: what is shown is written anew by ``HTMLSanitizer``.
struct HTMLTokenizer {
    let bytes: [UInt8]
    private var position = 0
    private var rawElement: HTMLElement?

    /// More attributes of one tag than any page needs.
    static let maximumAttributes = 64
    private static let maximumNameBytes = 64

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next piece; `nil` at the end.
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

    /// Text from here to the next `<`; the one that is here is part of it.
    private mutating func text() -> HTMLToken {
        let start = position
        position += 1
        position = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        return .text(start..<position)
    }

    // MARK: Tags

    /// The tag whose name begins here; `nil` if the page ends in it.
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
                // Of one name the first counts.
                if !tag.attributes.contains(where: { $0.name == text }) { tag.attributes.append((text, value)) }
            }
        }
    }

    private mutating func attribute() -> (name: Range<Int>, value: Range<Int>)? {
        let start = position
        // An equals sign in front belongs to the name.
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

    /// A name in lower case; one that is longer than any that is known is cut, and so is none.
    private func name(_ range: Range<Int>) -> String {
        let bytes = bytes[range].prefix(Self.maximumNameBytes)
        return String(unsafeUninitializedCapacity: bytes.count) { buffer in
            for (index, byte) in bytes.enumerated() { buffer[index] = lowered(byte) }
            return bytes.count
        }
    }

    // MARK: What is passed over

    private mutating func passComment() {
        guard bytes[position...].starts(with: [0x3C, 0x21, 0x2D, 0x2D]) else { return passBogusComment() }
        position += 4
        // <!--> and <!---> are whole comments.
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
        // Without what closes it, for there may be white space before that.
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
/// Whether bytes begin with others, which are in lower case, whatever their own case is.
func hasLowered(_ bytes: ArraySlice<UInt8>, _ start: some Collection<UInt8>) -> Bool {
    bytes.count >= start.count && zip(bytes, start).allSatisfy { lowered($0) == $1 }
}
private func isTagEnd(_ byte: UInt8) -> Bool {
    isSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">")
}
