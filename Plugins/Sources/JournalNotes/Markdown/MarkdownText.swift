// SPDX-License-Identifier: Apache-2.0
import CMarkGFM

/// What a Markdown document says, without its markup: gathered in one pass over the tree.
struct MarkdownText {
    /// Text of the first heading that has any.
    private(set) var heading: String?
    /// Text of the first paragraph, outside of lists and quotations, that has any but that of images.
    private(set) var paragraph: String?
    /// All text; blocks on lines of their own, cells of a table divided by tabs.
    private(set) var text = ""

    /// What is being read for `heading` or `paragraph`.
    private var captured: String?
    private var imageDepth = 0

    /// The first heading that has any text; what comes behind it is not looked at.
    static func heading(of document: borrowing MarkdownDocument) -> String? {
        Self(of: document, limit: .max, endsWithHeading: true).heading
    }

    /// - Parameters:
    ///   - limit: read no further once `text` has so many UTF-8 bytes; it may then have more
    ///   - endsWithHeading: read no further than the first heading
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
        case CMARK_NODE_IMAGE: imageDepth += 1
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

    /// The types of extensions are numbered at run time and known by name.
    private mutating func exitTablePart(_ node: MarkdownDocument.Node) {
        guard cmark_node_get_syntax_extension(node) != nil, let name = cmark_node_get_type_string(node) else { return }
        switch String(cString: name) {
        case "table_cell": if cmark_node_next(node) != nil { text += "\t" }
        case "table_row", "table_header": text += "\n"
        default: break
        }
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
