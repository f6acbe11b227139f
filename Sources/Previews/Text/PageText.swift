// SPDX-License-Identifier: Apache-2.0

/// A page as plain text for a terminal: headings, lists, quotations, tables, code and links in the
/// usual notation.
///
/// The input is the output of ``HTMLSanitizer``; other input is processed within the same limits.
/// The time is linear in the input's length.
public struct PageText: Sendable {
    /// The text, in order, without control characters except line feeds.
    public let pieces: [TextPiece]
    /// `true` if the page exceeds the limits.
    public let isCut: Bool
    /// `true` if the page has a heading and therefore needs no title.
    public let hasHeading: Bool
    /// `true` if the page contains words, not only pictures.
    public let hasWords: Bool

    /// The maximum amount of text to read from a page, in bytes.
    public static let maximumBytes = 1 << 20
    /// The maximum number of bytes written for each byte of the limit, because alignment adds
    /// spaces.
    static let growth = 4

    /// Converts a page. Blocks the calling thread while it processes at most ``maximumBytes`` of
    /// text, and the tags in it.
    ///
    /// - Parameters:
    ///   - page: HTML in UTF-8.
    ///   - width: The width in columns, at least 20; `nil` for no line breaking.
    public init(_ page: [UInt8], width: Int?) { self.init(page, width: width, limit: Self.maximumBytes) }

    /// Converts a page with another limit.
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

/// Writes text from the tokens of a page.
struct PageTextWriter {
    let bytes: [UInt8]
    var lines: TextLines
    var inline = InlineText()
    var table: TextTable?
    var cell: HTMLTag?
    var link: (address: String, text: String)?
    /// The next numbers of the open lists; `nil` for unnumbered lists.
    var lists: [Int?] = []
    var isPreformatted = false
    /// `true` if the preformatted text is code.
    var isCode = false
    var hasHeading = false
    private(set) var hasWords = false

    /// The open elements, each with `hasMark` set if it opened a container in the lines.
    private var open: [(name: String, hasMark: Bool)] = []
    /// The number of open elements for each style.
    private var styles: [TextPiece.Style: Int] = [:]
    /// The hidden element that is being skipped, and its nesting depth.
    private var hidden: (name: String, depth: Int)?
    /// The number of bytes of text that may still be read.
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
        // Style sheets, and the title of the window.
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

    /// Returns the part of a text that may still be read, in whole characters.
    private func firstBytes(of range: Range<Int>) -> Range<Int> {
        guard range.count > room else { return range }
        var end = range.lowerBound + room
        // The end is within a UTF-8 character.
        while end > range.lowerBound, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return range.lowerBound..<end
    }

    mutating func text(_ text: String) {
        // Counts bytes, because a single character may be as long as the page.
        if let said = link?.text.utf8.count, said < Self.maximumAddressBytes { link?.text += text }
        write(text)
    }

    /// Writes text that is not part of a link's text.
    mutating func write(_ text: String, _ style: TextPiece.Style? = nil) {
        if isPreformatted {
            inline.appendPreformatted(text, style ?? self.style)
        } else {
            inline.append(text, style ?? self.style)
        }
    }

    /// The current style. Found words have priority, then code and headings over emphasis.
    private var style: TextPiece.Style {
        let order: [TextPiece.Style] = [.found, .code, .strong, .emphasis]
        return order.first { styles[$0, default: 0] > 0 } ?? (link == nil ? .plain : .link)
    }

    /// Writes the block that has been read. In a cell, it only ends the cell's current line.
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

    /// Returns the value of an attribute as one line.
    func value(_ name: String, of tag: HTMLTag) -> String? {
        tag.attributes.first { $0.name == name }.map { attribute in
            let raw = bytes[attribute.value].prefix(Self.maximumAddressBytes)
            return DisplayText.line(HTMLText.readable(raw), limit: Self.maximumAddressCharacters)
        }
    }
}
