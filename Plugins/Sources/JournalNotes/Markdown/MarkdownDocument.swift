// SPDX-License-Identifier: Apache-2.0
import CMarkGFM
import FileReading
import Glibc
import Synchronization

/// Markdown parsed by cmark-gfm, with GitHub's tables, strikethrough, autolinks, task lists and tag
/// filter. Owns the parser and its tree. Not thread-safe: use from one thread at a time.
struct MarkdownDocument: ~Copyable {
    typealias Node = OpaquePointer

    private let parser: OpaquePointer
    let root: Node

    /// Serializes parsing, because an extension writes its special characters into a table that all
    /// parsers in the process share.
    private static let parsing = Mutex(())

    private static let areExtensionsRegistered: Bool = {
        cmark_gfm_core_extensions_ensure_registered()
        return true
    }()

    /// - Parameter hasFootnotes: `true` to parse footnotes as separate nodes; footnotes without a
    ///   reference are then dropped.
    /// - Returns: nil if parsing the Markdown would be too expensive, see ``MarkdownCost``.
    init?(_ markdown: Substring, hasFootnotes: Bool = false) {
        guard Self.areExtensionsRegistered, MarkdownCost.isAcceptable(markdown),
            let parser = cmark_parser_new(hasFootnotes ? CMARK_OPT_FOOTNOTES : CMARK_OPT_DEFAULT)
        else { return nil }
        for name in ["table", "strikethrough", "autolink", "tasklist", "tagfilter"] {
            if let found = cmark_find_syntax_extension(name) { cmark_parser_attach_syntax_extension(parser, found) }
        }
        var markdown = markdown
        var root: Node?
        Self.parsing.withLock { _ in
            markdown.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { cmark_parser_feed(parser, $0.baseAddress, $0.count) }
            }
            root = cmark_parser_finish(parser)
        }
        guard let root else {
            cmark_parser_free(parser)
            return nil
        }
        self.parser = parser
        self.root = root
    }

    deinit {
        cmark_node_free(root)
        cmark_parser_free(parser)
    }

    /// Replaces image URLs. An image for which `replacement` returns nil keeps its URL.
    func replaceImages(_ replacement: (_ address: String) -> String?) {
        guard let iterator = cmark_iter_new(root) else { return }
        defer { cmark_iter_free(iterator) }
        while case let event = cmark_iter_next(iterator), event != CMARK_EVENT_DONE {
            guard event == CMARK_EVENT_ENTER, let node = cmark_iter_get_node(iterator),
                cmark_node_get_type(node) == CMARK_NODE_IMAGE, let address = cmark_node_get_url(node),
                let new = replacement(String(cString: address))
            else { continue }
            cmark_node_set_url(node, new)
        }
    }

    /// Replaces each block of raw HTML, which the renderer would drop, with its text.
    func replaceHTML() {
        guard let iterator = cmark_iter_new(root) else { return }
        defer { cmark_iter_free(iterator) }
        var blocks: [Node] = []
        while case let event = cmark_iter_next(iterator), event != CMARK_EVENT_DONE {
            guard event == CMARK_EVENT_ENTER, let node = cmark_iter_get_node(iterator),
                cmark_node_get_type(node) == CMARK_NODE_HTML_BLOCK
            else { continue }
            blocks.append(node)
        }
        // Replaced after the iteration, since the iterator does not allow changes to the tree.
        for block in blocks {
            guard let literal = cmark_node_get_literal(block), let text = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK) else {
                continue
            }
            cmark_node_set_on_enter(text, HTMLText(String(cString: literal)).html)
            if cmark_node_replace(block, text) == 1 { cmark_node_free(block) } else { cmark_node_free(text) }
        }
    }

    /// Returns an HTML fragment. By default, cmark-gfm leaves out raw HTML and links to scripts.
    func html() -> String {
        guard let rendered = cmark_render_html(root, CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser))
        else { return "" }
        // cmark-gfm's default allocator is malloc(3).
        defer { free(rendered) }
        return String(cString: rendered)
    }
}
