// SPDX-License-Identifier: Apache-2.0
import FileReading

/// The HTML and plain-text forms of a note.
extension NoteFile {
    /// Returns a complete HTML document. It contains no script and none of the note's raw HTML. Its
    /// content security policy allows only images that are in the document itself.
    ///
    /// - Parameter picture: Returns the replacement for a Markdown image's URL; nil keeps the URL.
    package func html(picture: (_ address: String) -> String? = { _ in nil }) -> String {
        let (frontMatter, body) = parts
        let property = frontMatter?.title
        let title: String
        var content: String
        if kind == .markdown, let document = MarkdownDocument(body, hasFootnotes: Self.hasFootnotes(body)) {
            document.replaceImages(picture)
            let heading = MarkdownText.heading(of: document)
            document.replaceHTML()
            content = document.html()
            title = Note.title(of: self, property, heading: heading)
            if heading == nil, property != nil { content = "<h1>\(title.escapedForHTML)</h1>\n" + content }
        } else {
            content = "<pre>\(String(body).escapedForHTML)</pre>\n"
            let heading = NoteContent.titleAndParagraph(ofPlainText: body).title
            title = Note.title(of: self, property, heading: heading)
        }
        if isCut { content += "<p class=\"end\">The note is longer. Its size is \(Self.megabytes(size)).</p>\n" }
        return """
            <!DOCTYPE html>
            <html>
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="\(Self.contentPolicy)">
            <title>\(title.escapedForHTML)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            \(content)</body>
            </html>

            """
    }

    /// Returns `true` if the note's footnotes can be rendered separately: there are few, and each
    /// has a reference, since cmark-gfm drops footnotes without one.
    static func hasFootnotes(_ body: Substring) -> Bool {
        guard body.utf8.contains(UInt8(ascii: "^")) else { return false }
        var definitions: Set<Substring> = []
        var references: Set<Substring> = []
        for (count, part) in body.split(separator: "[^", omittingEmptySubsequences: false).dropFirst().enumerated() {
            guard count < maximumFootnotes, let end = part.utf8.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let isDefinition = part[end...].hasPrefix("]:")
            if isDefinition { definitions.insert(part[..<end]) } else { references.insert(part[..<end]) }
        }
        return !definitions.isEmpty && definitions.isSubset(of: references)
    }

    private static let maximumFootnotes = 500

    /// The front matter, if the note has one, and the text after it.
    var parts: (frontMatter: FrontMatter?, body: Substring) { FrontMatter.split(text, kind: kind) }

    /// The maximum size of the text that a preview renders, in UTF-8 bytes. It is more than a
    /// reader needs, and even a slow machine renders it in a fraction of the worker's five-second
    /// limit.
    package static let maximumPreviewedText = 1 << 20

    /// Returns the note with only the complete lines that a preview shows.
    package func beginning() -> NoteFile {
        guard text.utf8.count > Self.maximumPreviewedText else { return self }
        var file = self
        file.text = String(text[...].lines(maximumUTF8Bytes: Self.maximumPreviewedText))
        file.isCut = true
        return file
    }

    /// The title of the note's item, computed from the available text.
    package var title: String {
        let (frontMatter, body) = parts
        let heading: String?
        if kind == .markdown, let document = MarkdownDocument(body) {
            heading = MarkdownText.heading(of: document)
        } else {
            heading = NoteContent.titleAndParagraph(ofPlainText: body).title
        }
        return Note.title(of: self, frontMatter?.title, heading: heading)
    }

    /// Formats a size, such as "15.7 MB".
    private static func megabytes(_ bytes: Int64) -> String {
        let tenths = (bytes + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10) MB"
    }

    /// Returns the complete text without markup, with no size limit.
    package func plainText() -> String {
        let (_, body) = parts
        guard kind == .markdown, let document = MarkdownDocument(body) else { return text }
        return MarkdownText(of: document, limit: .max).text + "\n"
    }

    private static let contentPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

    private static let style = """

        :root { color-scheme: light dark; --text: #1f2328; --faint: #6a737d; --line: #d8dee4; --shade: #f4f5f7; }
        @media (prefers-color-scheme: dark) {
          :root { --text: #dfe3e8; --faint: #949ca6; --line: #3a4149; --shade: #23282e; }
        }
        body { color: var(--text); font: 16px/1.55 system-ui, sans-serif; max-width: 42em; margin: 2em auto; padding: 0 1em; }
        h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.4em 0 .5em; }
        h1:first-child { margin-top: 0; }
        pre, code { font-family: ui-monospace, monospace; font-size: .9em; background: var(--shade); border-radius: 4px; }
        code { padding: .1em .3em; }
        pre { padding: .8em 1em; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
        pre code { padding: 0; background: none; }
        blockquote { margin-left: 0; padding-left: 1em; border-left: 3px solid var(--line); color: var(--faint); }
        table { border-collapse: collapse; }
        th, td { border: 1px solid var(--line); padding: .3em .7em; }
        img { max-width: 100%; }
        hr { border: 0; border-top: 1px solid var(--line); }
        .end { border-top: 1px solid var(--line); color: var(--faint); padding-top: .7em; }

        """
}
