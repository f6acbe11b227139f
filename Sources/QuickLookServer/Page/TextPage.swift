// SPDX-License-Identifier: Apache-2.0
import Previews

/// Renders plain text as an HTML page with the search words highlighted.
enum TextPage {
    static func html(_ text: String, query: String) -> [UInt8] {
        let pieces = Highlighter(query: query).pieces(of: text).map { piece in
            piece.isHighlight ? "<mark>\(HTMLText.escaped(piece.text))</mark>" : HTMLText.escaped(piece.text)
        }
        let page = """
            <!DOCTYPE html><html><head>\(ContentPolicy.metaElement)<meta name="color-scheme" content="light dark">\
            <title>Text</title><style>\(style)</style></head><body><pre dir="auto">\(pieces.joined())</pre></body></html>

            """
        return Array(page.utf8)
    }

    private static let style = """
        :root { color-scheme: light dark; --text: #2e3436; --page: #fff; --found: #f9e2a0; --on-found: #2e2a14 }
        @media (prefers-color-scheme: dark) { :root { --text: #f0f0ef; --page: #242424; --found: #6b4e00; \
        --on-found: #ffe9a8 } }
        body { margin: 0; padding: 1.5rem; color: var(--text); background: var(--page) }
        pre { max-width: 46rem; margin: 0 auto; font: 14px/1.6 "Adwaita Mono", "Source Code Pro", ui-monospace, monospace; \
        white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4 }
        mark { background: var(--found); color: var(--on-found); border-radius: 3px }
        """
}
