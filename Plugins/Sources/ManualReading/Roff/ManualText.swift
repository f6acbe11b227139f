// SPDX-License-Identifier: Apache-2.0
import FileReading

/// Collects the blocks of a page, as text and, if requested, as HTML.
struct ManualText {
    enum Font: Sendable { case roman, bold, italic }

    let wantsHTML: Bool
    let limit: Int
    private(set) var blocks: [ManualBlock] = []
    private(set) var size = 0
    /// `true` if line breaks are preserved.
    var isPreformatted = false
    /// `true` if a space precedes the next word in the paragraph.
    var needsSpace = false
    private var kind = ManualBlock.Kind.paragraph
    private var text: [UInt8] = []
    private var html: [UInt8] = []
    /// The last element of the HTML, which text in the same font extends.
    private var lastTag: Character?

    init(wantsHTML: Bool, limit: Int = ManualContent.maximumText) {
        self.wantsHTML = wantsHTML
        self.limit = limit
    }

    var isFull: Bool { size >= limit }
    /// `true` if the current block has text.
    var hasText: Bool { !text.isEmpty }

    /// Begins a block of this kind.
    mutating func begin(_ kind: ManualBlock.Kind) {
        end()
        self.kind = kind
    }

    mutating func end() {
        while let last = text.last, last == 0x0A || last == 0x20 || last == 0x09 { text.removeLast() }
        if !text.isEmpty {
            let kind = kind == .paragraph && isPreformatted ? .preformatted : kind
            blocks.append(
                ManualBlock(kind, String(decoding: text, as: UTF8.self), html: String(decoding: html, as: UTF8.self)))
        }
        text.removeAll(keepingCapacity: true)
        html.removeAll(keepingCapacity: true)
        lastTag = nil
        kind = .paragraph
        needsSpace = false
    }

    /// Ends the current line.
    mutating func lineBreak() {
        needsSpace = false
        guard let last = text.last, last != 0x0A else { return }
        add(0x0A)
    }

    /// Ends a source line, which ends a line of text only if the text is preformatted.
    mutating func sourceLineEnd() {
        if isPreformatted, kind != .heading, kind != .subheading { add(0x0A) } else { needsSpace = true }
    }

    private mutating func add(_ byte: UInt8) {
        lastTag = nil
        text.append(byte)
        size += 1
        if wantsHTML { html.append(byte) }
    }

    mutating func append(_ bytes: some Collection<UInt8>, _ font: Font) {
        guard !bytes.isEmpty, !isFull else { return }
        if needsSpace, let last = text.last, last != 0x20, last != 0x0A { add(0x20) }
        needsSpace = false
        let bytes = bytes.prefix(limit - size)
        text.append(contentsOf: bytes)
        size += bytes.count
        guard wantsHTML else { return }
        let tag: Character? = font == .bold ? "b" : font == .italic ? "i" : nil
        if tag != nil, tag == lastTag {
            html.removeLast(4)
        } else if let tag {
            html += "<\(tag)>".utf8
        }
        lastTag = tag
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "&"): html += "&amp;".utf8
            case UInt8(ascii: "<"): html += "&lt;".utf8
            case UInt8(ascii: ">"): html += "&gt;".utf8
            default: html.append(byte)
            }
        }
        if let tag { html += "</\(tag)>".utf8 }
    }
}
