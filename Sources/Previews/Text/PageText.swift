// SPDX-License-Identifier: Apache-2.0

/// A page as text for a terminal: headings, lists, quotations, tables, code and links as people write them in plain text.
///
/// Takes what ``HTMLSanitizer`` wrote; what anything else wrote is taken within the same bounds. Linear in its length.
public struct PageText: Sendable {
    /// The text, in order; no control characters but line feeds.
    public let pieces: [TextPiece]
    /// Whether the page goes on behind the limits.
    public let isCut: Bool
    /// Whether it has a heading, and so says itself what it is.
    public let hasHeading: Bool
    /// Whether it says anything, and does not only show pictures.
    public let hasWords: Bool

    /// The most that is read of a page's text, in bytes: a preview is read, not archived.
    public static let maximumBytes = 1 << 20
    /// The most that is written for a byte that may be read: what is aligned grows.
    static let growth = 4

    /// Reads a page. Blocks the caller, no longer than ``maximumBytes`` of text and the tags around them take.
    ///
    /// - Parameters:
    ///   - page: HTML in UTF-8.
    ///   - width: In columns, at least 20; `nil` breaks no lines.
    public init(_ page: [UInt8], width: Int?) { self.init(page, width: width, limit: Self.maximumBytes) }

    /// The same with another limit.
    init(_ page: [UInt8], width: Int?, limit: Int) {
        var tokenizer = HTMLTokenizer(HTMLText.cleaned(page[...]))
        var writer = PageTextWriter(tokenizer.bytes, width: width.map { max(20, $0) }, limit: limit)
        while !writer.isFull, let token = tokenizer.next() { writer.take(token) }
        let endedEarly = writer.isFull
        pieces = writer.finish()
        isCut = endedEarly || writer.isFull
        hasHeading = writer.hasHeading
        hasWords = writer.hasWords
    }
}

/// Takes the pieces of a page and writes text.
struct PageTextWriter {
    let bytes: [UInt8]
    var lines: TextLines
    var inline = InlineText()
    var table: TextTable?
    var cell: HTMLTag?
    var link: (address: String, text: String)?
    /// The numbers of the next items of the lists that are open; `nil` where they have none.
    var lists: [Int?] = []
    var isPreformatted = false
    /// Whether what is preformatted is code.
    var isCode = false
    var hasHeading = false
    private(set) var hasWords = false

    /// The elements that are open, each with whether it opened something in the lines.
    private var open: [(name: String, hasMark: Bool)] = []
    /// How many open elements there are of each style.
    private var styles: [TextPiece.Style: Int] = [:]
    /// The hidden element that is passed over, and how often it is open.
    private var hidden: (name: String, depth: Int)?
    /// How much more text is read, in bytes.
    private var room: Int
    private var isCut = false

    private static let maximumOpen = 2 * HTMLSanitizer.maximumDepth
    private static let maximumAddressCharacters = 2000
    private static let maximumAddressBytes = 4 * maximumAddressCharacters

    init(_ bytes: [UInt8], width: Int?, limit: Int) {
        self.bytes = bytes
        room = limit
        lines = TextLines(width: width, limit: PageText.growth * limit)
    }

    var isFull: Bool { isCut || lines.isFull || table?.isFull == true }

    mutating func take(_ token: HTMLToken) {
        switch token {
        case .text(let range):
            guard hidden == nil else { return }
            let read = firstBytes(of: range)
            room -= read.count
            isCut = read.count < range.count
            let words = DisplayText.safe(HTMLText.readable(bytes[read]))
            hasWords = hasWords || words.contains { !$0.isWhitespace }
            text(words)
        // Styles and the title of the window.
        case .raw: break
        case .start(let tag): start(tag)
        case .end(let element): end(element.name)
        }
    }

    mutating func finish() -> [TextPiece] {
        while !open.isEmpty { closeLast() }
        endBlock()
        return lines.pieces
    }

    // MARK: Text

    /// As much of a text as may be read, in whole characters.
    private func firstBytes(of range: Range<Int>) -> Range<Int> {
        guard range.count > room else { return range }
        var end = range.lowerBound + room
        // Within a character of UTF-8.
        while end > range.lowerBound, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return range.lowerBound..<end
    }

    mutating func text(_ text: String) {
        // In bytes, since a character may be as long as the page.
        if let said = link?.text.utf8.count, said < Self.maximumAddressBytes { link?.text += text }
        write(text)
    }

    /// Writes text that is no part of what a link says.
    mutating func write(_ text: String, _ style: TextPiece.Style? = nil) {
        if isPreformatted {
            inline.appendPreformatted(text, style ?? self.style)
        } else {
            inline.append(text, style ?? self.style)
        }
    }

    /// What was searched for is seen in any case; code and headings rather than emphasis in them.
    private var style: TextPiece.Style {
        let order: [TextPiece.Style] = [.found, .code, .strong, .emphasis]
        return order.first { styles[$0, default: 0] > 0 } ?? (link == nil ? .plain : .link)
    }

    /// Writes the block that was read so far; in a cell only its line ends.
    mutating func endBlock(blankLine: Bool = false) {
        guard cell == nil else { return inline.endLine() }
        let text = inline.take()
        if !text.isEmpty { lines.addWrapped(text) }
        if blankLine { lines.separate() }
    }

    // MARK: Elements

    private mutating func start(_ tag: HTMLTag) {
        if let hidden {
            if tag.name == hidden.name { self.hidden?.depth += 1 }
            return
        }
        let isVoid = HTMLElements.void.contains(tag.name)
        if !isVoid, tag.attributes.contains(where: { $0.name == "hidden" }) { return hidden = (tag.name, 1) }
        guard !isVoid else { return writeVoid(tag) }
        guard open.count < Self.maximumOpen else { return }
        if let style = PageTextElements.styles[tag.name] { styles[style, default: 0] += 1 }
        open.append((tag.name, begin(tag)))
    }

    private mutating func end(_ name: String) {
        if let hidden {
            guard hidden.name == name else { return }
            self.hidden = hidden.depth > 1 ? (name, hidden.depth - 1) : nil
            return
        }
        guard let place = open.lastIndex(where: { $0.name == name }) else { return }
        while open.count > place { closeLast() }
    }

    private mutating func closeLast() {
        guard let (name, hasMark) = open.popLast() else { return }
        finish(name, hasMark: hasMark)
        if let style = PageTextElements.styles[name] { styles[style, default: 1] -= 1 }
    }

    private mutating func writeVoid(_ tag: HTMLTag) {
        switch tag.name {
        case "br": inline.breakLine()
        case "hr":
            endBlock(blankLine: true)
            guard cell == nil else { return }
            lines.add([TextPiece(String(repeating: "─", count: min(72, lines.available ?? 72)), .faint)])
            lines.separate()
        case "img":
            guard let words = value("alt", of: tag) else { return text("[picture]") }
            if words.contains(where: { !$0.isWhitespace }) { text("[picture: \(DisplayText.line(words, limit: 200))]") }
        default: break
        }
    }

    /// What an attribute says.
    func value(_ name: String, of tag: HTMLTag) -> String? {
        tag.attributes.first { $0.name == name }.map { attribute in
            let raw = bytes[attribute.value].prefix(Self.maximumAddressBytes)
            return DisplayText.line(HTMLText.readable(raw), limit: Self.maximumAddressCharacters)
        }
    }
}
