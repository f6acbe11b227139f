// SPDX-License-Identifier: Apache-2.0
import CMarkGFM
import FileReading
import Foundation

/// The text of a Markdown document without its markup, collected in one pass over the tree.
///
/// Raw HTML is reduced to its text, see ``HTMLText``; its headings and paragraphs are treated as
/// the document's own.
struct MarkdownText {
    /// The text of the first non-empty heading.
    private(set) var heading: String?
    /// The text of the first paragraph outside lists and quotations that has more text than the
    /// descriptions of images.
    private(set) var paragraph: String?
    /// The whole text: one line per block, with tabs between table cells.
    private(set) var text = ""
    /// The URLs of links and pictures, and the titles of links, without duplicates.
    private(set) var addresses = Addresses()

    /// The maximum number of inline HTML elements whose attributes are read.
    private static let maximumInlineHTML = 1_000
    private var inlineHTML = 0

    /// The text collected so far for `heading` or `paragraph`.
    private var captured: String?
    private var imageDepth = 0

    /// Returns the first heading that has text, without reading the rest of the document.
    static func heading(of document: borrowing MarkdownDocument) -> String? {
        Self(of: document, limit: .max, endsWithHeading: true).heading
    }

    /// - Parameters:
    ///   - limit: The size of `text`, in UTF-8 bytes, at which reading ends. The text may exceed
    ///     it.
    ///   - endsWithHeading: `true` to end after the first heading.
    init(of document: borrowing MarkdownDocument, limit: Int, endsWithHeading: Bool = false) {
        guard let iterator = cmark_iter_new(document.root) else { return }
        defer { cmark_iter_free(iterator) }
        while text.utf8.count < limit, !endsWithHeading || heading == nil {
            let event = cmark_iter_next(iterator)
            if event == CMARK_EVENT_DONE { break }
            guard let node = cmark_iter_get_node(iterator) else { continue }
            if event == CMARK_EVENT_ENTER {
                enter(node, root: document.root)
            } else {
                exit(node)
            }
        }
        text = text.trimmed
    }

    private mutating func enter(_ node: MarkdownDocument.Node, root: MarkdownDocument.Node) {
        switch cmark_node_get_type(node) {
        case CMARK_NODE_TEXT, CMARK_NODE_CODE: append(Self.literal(node))
        case CMARK_NODE_SOFTBREAK: append(" ")
        case CMARK_NODE_LINEBREAK: append("\n")
        case CMARK_NODE_CODE_BLOCK: text += Self.literal(node)
        case CMARK_NODE_IMAGE:
            imageDepth += 1
            addAddress(of: node)
        case CMARK_NODE_LINK: addAddress(of: node)
        case CMARK_NODE_HTML_BLOCK: appendHTML(Self.literal(node))
        case CMARK_NODE_HTML_INLINE: addAttributes(ofHTML: Self.literal(node))
        case CMARK_NODE_HEADING: if heading == nil { captured = "" }
        case CMARK_NODE_PARAGRAPH: if paragraph == nil, cmark_node_parent(node) == root { captured = "" }
        default: break
        }
    }

    private mutating func exit(_ node: MarkdownDocument.Node) {
        switch cmark_node_get_type(node) {
        case CMARK_NODE_IMAGE: imageDepth -= 1
        case CMARK_NODE_HEADING:
            if let captured = takeCaptured() { heading = captured }
            text += "\n"
        case CMARK_NODE_PARAGRAPH:
            if let captured = takeCaptured() { paragraph = captured }
            text += "\n"
        default: exitTablePart(node)
        }
    }

    /// Extension node types are numbered at run time, so they are identified by name.
    private mutating func exitTablePart(_ node: MarkdownDocument.Node) {
        guard cmark_node_get_syntax_extension(node) != nil, let name = cmark_node_get_type_string(node) else { return }
        switch String(cString: name) {
        case "table_cell": if cmark_node_next(node) != nil { text += "\t" }
        case "table_row", "table_header": text += "\n"
        default: break
        }
    }

    private mutating func appendHTML(_ html: String) {
        let read = HTMLText(html)
        for block in read.blocks {
            if block.level > 0, heading == nil { heading = block.text }
            if block.level == 0, paragraph == nil { paragraph = block.text }
            text += block.text + "\n"
        }
        for address in read.addresses { addresses.add(address) }
    }

    /// Reads only the attributes, since the element's text is a separate node.
    private mutating func addAttributes(ofHTML html: String) {
        guard html.utf8.contains(UInt8(ascii: "=")), inlineHTML < Self.maximumInlineHTML else { return }
        inlineHTML += 1
        let read = HTMLText(html)
        for block in read.blocks { append(block.text + " ") }
        for address in read.addresses { addresses.add(address) }
    }

    private mutating func addAddress(of node: MarkdownDocument.Node) {
        if let address = cmark_node_get_url(node) { addresses.add(String(cString: address)) }
        if let title = cmark_node_get_title(node) { addresses.add(String(cString: title)) }
    }

    private mutating func append(_ piece: String) {
        text += piece
        if imageDepth == 0 { captured? += piece }
    }

    private mutating func takeCaptured() -> String? {
        defer { captured = nil }
        guard let text = captured?.trimmed, !text.isEmpty else { return nil }
        return text
    }

    private static func literal(_ node: MarkdownDocument.Node) -> String {
        cmark_node_get_literal(node).map { String(cString: $0) } ?? ""
    }
}

/// Link URLs and titles, in order, without duplicates and limited in number.
struct Addresses {
    static let maximumCount = 20_000
    /// The maximum length of a URL, in UTF-8 bytes. Longer URLs, such as pictures in `data:` URLs,
    /// are ignored.
    static let maximumLength = 2_048

    private(set) var texts: [String] = []
    private var known: Set<String> = []

    mutating func add(_ address: String) {
        guard !address.isEmpty, address.utf8.count <= Self.maximumLength, address.utf8.first != UInt8(ascii: "#"),
            !address.hasPrefix("data:"), texts.count < Self.maximumCount, known.insert(address).inserted
        else { return }
        texts.append(address)
        // Also adds the percent-decoded URL.
        guard address.utf8.contains(UInt8(ascii: "%")), let decoded = address.removingPercentEncoding,
            known.insert(decoded).inserted
        else { return }
        texts.append(decoded)
    }

    mutating func add(_ others: Addresses) { for address in others.texts { add(address) } }

    /// Adds the URLs in definitions, `[label]: address "title"`, since the tree has no node for a
    /// definition that no link uses.
    mutating func addDefinitions(in markdown: Substring) {
        var markdown = markdown
        var lines: [String] = []
        markdown.withUTF8 { bytes in
            var isBeforeText = true
            var index = 0
            while index < bytes.count {
                switch bytes[index] {
                case 0x0A, 0x0D: isBeforeText = true
                case UInt8(ascii: " "), UInt8(ascii: ">"): break
                case UInt8(ascii: "[") where isBeforeText:
                    let rest = bytes[index...].prefix(Self.maximumLength).prefix { $0 != 0x0A && $0 != 0x0D }
                    lines.append(String(decoding: rest, as: UTF8.self))
                    index += rest.count - 1
                default: isBeforeText = false
                }
                index += 1
            }
        }
        for line in lines { addDefinition(line.utf8) }
    }

    private mutating func addDefinition(_ line: String.UTF8View) {
        guard let end = line.firstIndex(of: UInt8(ascii: "]")),
            case let rest = line[end...].dropFirst(), rest.first == UInt8(ascii: ":")
        else { return }
        // The tree contains a footnote's text, except for a single word, which is parsed as a URL.
        if line.dropFirst().first == UInt8(ascii: "^"), Substring(rest.dropFirst()).trimmed.contains(" ") { return }
        for part in rest.dropFirst().split(separator: UInt8(ascii: "\"")) {
            add(String(Substring(part).trimmed.drop { $0 == "<" }.prefix { $0 != ">" }))
        }
    }
}
