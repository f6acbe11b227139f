// SPDX-License-Identifier: Apache-2.0

extension AttributePreview {
    /// The preview as a complete HTML document for light and dark mode, without scripts or external
    /// resources.
    public var html: String {
        let rows = facts.map { "<dt>\(HTMLText.escaped($0.name))</dt><dd>\(HTMLText.escaped($0.value))</dd>" }.joined()
        let picture = thumbnail.map { "<img src=\"\($0.address)\" alt=\"\">" } ?? ""
        return """
            <!DOCTYPE html>
            <html><head>\(ContentPolicy.metaElement)\
            <meta name="viewport" content="width=device-width, initial-scale=1">\
            <meta name="color-scheme" content="light dark"><title>\(HTMLText.escaped(title))</title>
            <style>\(Self.style)</style></head><body>
            <header>\(picture)<div><h1 dir="auto">\(marked(title))</h1>\(rows.isEmpty ? "" : "<dl>\(rows)</dl>")</div></header>
            \(description.map { "<p dir=\"auto\">\(marked($0))</p>" } ?? "")
            \(content.map { "<pre dir=\"auto\">\(marked($0))</pre>" } ?? "")
            </body></html>

            """
    }

    /// A style that resembles desktop apps: their font, subdued facts, and an accent colour for
    /// found words.
    private static let style = """
        :root { color-scheme: light dark; --text: #2e3436; --faint: #6b7074; --line: #e3e3e1; --page: #fff; \
        --found: #f9e2a0; --on-found: #2e2a14 }
        @media (prefers-color-scheme: dark) { :root { --text: #f0f0ef; --faint: #a5a9ac; --line: #3d3d3d; --page: #242424; \
        --found: #6b4e00; --on-found: #ffe9a8 } }
        body { font: 15px/1.55 "Adwaita Sans", Cantarell, Inter, system-ui, sans-serif; color: var(--text); \
        background: var(--page); max-width: 44rem; margin: 0 auto; padding: 2rem 1.5rem 3rem; overflow-wrap: anywhere }
        header { display: flex; gap: 1.25rem; align-items: flex-start; padding-bottom: 1.25rem; \
        border-bottom: 1px solid var(--line) }
        header:last-child { border: 0 }
        header > div { flex: 1; min-width: 0 }
        img { max-width: 8rem; max-height: 8rem; border-radius: 8px; box-shadow: 0 0 0 1px var(--line) }
        h1 { font-size: 1.6rem; line-height: 1.25; font-weight: 700; letter-spacing: -.01em; margin: 0 0 .6rem }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; font-size: .9rem }
        dt { color: var(--faint) }
        dd { margin: 0 }
        p { margin: 1.25rem 0 0; color: var(--faint) }
        pre { margin: 1.25rem 0 0; font: inherit; white-space: pre-wrap }
        mark { background: var(--found); color: var(--on-found); border-radius: 3px; padding: 0 .1em; margin: 0 -.1em }
        """

    private func marked(_ text: String) -> String {
        highlighter.pieces(of: text).map {
            $0.isHighlight ? "<mark>\(HTMLText.escaped($0.text))</mark>" : HTMLText.escaped($0.text)
        }.joined()
    }
}
