// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import JournalNotes

/// The HTML and plain-text forms of a document.
extension DocumentFile {
    /// The size of the text that a preview renders, in UTF-8 bytes.
    package static let maximumPreviewedText = 1 << 20

    /// Returns a complete HTML document without scripts, which loads only its own pictures.
    ///
    /// - Parameters:
    ///   - limit: The number of UTF-8 bytes of text after which the page ends.
    ///   - picture: The URL of a picture of the first page; nil for none.
    ///   - query: The search text. If it is not empty, the document begins with links to the pages
    ///     that contain its words.
    package func html(
        _ content: DocumentContent, limit: Int = .max, picture: String? = nil, query: String? = nil
    ) throws(SkipReason) -> String {
        if kind.format == .markdown {
            let note = try NoteFile(file, kind: .markdown, path: path, directories: directories)
            return (limit == .max ? note : note.beginning()).html()
        }
        var body = "<h1>\((content.title ?? stem).escapedForHTML)</h1>\n"
        let facts = Self.facts(content)
        if !facts.isEmpty { body += "<p class=\"facts\">\(facts.escapedForHTML)</p>\n" }
        if let problem = content.problem { body += "<p class=\"facts\">\(problem.kind.escapedForHTML)</p>\n" }
        if let query { body += Self.links(toPagesWith: query, in: content) }
        if let picture { body += "<p><img src=\"\(picture.escapedForHTML)\" alt=\"The first page\"></p>\n" }
        var room = limit
        for (index, page) in content.pages.enumerated() {
            if room <= 0 {
                body += "<p class=\"facts\">The document goes on.</p>\n"
                break
            }
            let text = String(page).prefix(maximumUTF8Bytes: room)
            room -= text.utf8.count
            if content.isPaged { body += "<h2 id=\"page-\(index + 1)\">Page \(index + 1)</h2>\n" }
            body += isPreformatted ? "<pre>\(text.escapedForHTML)</pre>\n" : Self.paragraphs(text)
        }
        return HTMLPage.page(title: content.title ?? fileName, body: body)
    }

    private var isPreformatted: Bool { kind.format == .plainText || kind.format == .sourceText }

    private static func facts(_ content: DocumentContent) -> String {
        var facts = content.authors
        if let pages = content.pageCount { facts.append(pages == 1 ? "1 page" : "\(pages) pages") }
        return facts.joined(separator: " · ")
    }

    private static func paragraphs(_ text: String) -> String {
        LineIterator(text[...]).map { line in
            line.allSatisfy(\.isWhitespace) ? "" : "<p>\(String(line).escapedForHTML)</p>\n"
        }
        .joined()
    }

    private static let maximumLinks = 50
    private static let maximumWords = 20

    private static func links(toPagesWith query: String, in content: DocumentContent) -> String {
        let pages = pages(with: query, in: content)
        guard !pages.isEmpty else { return "" }
        let links = pages.prefix(maximumLinks).map { "<a href=\"#page-\($0)\">\($0)</a>" }
        let more = pages.count > maximumLinks ? " …" : ""
        return "<p class=\"facts\">Found on page \(links.joined(separator: ", "))\(more)</p>\n"
    }

    /// Returns the numbers, starting at 1, of the pages that contain all words of a query; if there
    /// are none, the pages that contain any of the words.
    package static func pages(with query: String, in content: DocumentContent) -> [Int] {
        guard content.isPaged else { return [] }
        let words = query.prefix(maximumUTF8Bytes: 1024).split { !$0.isLetter && !$0.isNumber }
            .prefix(maximumWords).map { folded($0) }.filter { $0.utf8.count > 1 }
        if words.isEmpty { return [] }
        var (all, any): ([Int], [Int]) = ([], [])
        for (index, page) in content.pages.enumerated() {
            let text = folded(page)
            let count = words.reduce(0) { $0 + (text.contains($1) ? 1 : 0) }
            if count == words.count { all.append(index + 1) }
            if count > 0 { any.append(index + 1) }
        }
        return all.isEmpty ? any : all
    }

    /// Returns the text in lower case without accents.
    private static func folded(_ text: Substring) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }

    /// Returns the text, whose size is not limited here. Pages are separated by U+000C.
    package func plainText(_ content: DocumentContent) throws(SkipReason) -> String {
        guard isPreformatted else { return content.text + "\n" }
        return TextReading.text(of: try file.readAll(limit: Int(file.size) + 1)).text
    }
}
