// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The HTML and plain-text forms of a manual.
extension ManualFile {
    /// The maximum size of the text that a preview renders, in UTF-8 bytes.
    package static let maximumPreviewedText = 1 << 20
    private static let maximumWords = 20

    /// Returns a complete HTML document without scripts, which loads nothing.
    ///
    /// - Parameters:
    ///   - limit: The number of UTF-8 bytes of text after which the page ends.
    ///   - query: The search text. An Info manual then begins with the first section that contains
    ///     its words.
    package func html(_ content: ManualContent, limit: Int = .max, query: String? = nil) -> String {
        let title = content.title ?? ownTitle
        var body = "<h1>\(title.escapedForHTML)</h1>\n"
        if let summary = content.summary { body += "<p>\(summary.escapedForHTML)</p>\n" }
        if let problem = content.problem { body += "<p class=\"facts\">\(problem.kind.escapedForHTML)</p>\n" }
        var blocks = content.blocks[...]
        if let query, let start = Self.section(with: query, in: content), start > 0 {
            body += "<p class=\"facts\">The manual begins earlier.</p>\n"
            blocks = blocks[start...]
        }
        var room = limit
        for block in blocks {
            if room <= 0 {
                body += "<p class=\"facts\">The manual goes on.</p>\n"
                break
            }
            let isWhole = block.text.utf8.count <= room
            // A cut block has no fonts, since the cut could be inside a tag.
            body += Self.html(isWhole ? block : ManualBlock(block.kind, block.text.prefix(maximumUTF8Bytes: room)))
            room -= block.text.utf8.count
        }
        return HTMLPage.page(title: title, body: body)
    }

    private static func html(_ block: ManualBlock) -> String {
        let text = block.html.isEmpty ? block.text.escapedForHTML : block.html
        switch block.kind {
        case .section, .heading: return "<h2>\(text)</h2>\n"
        case .subheading: return "<h3>\(text)</h3>\n"
        case .preformatted: return "<pre>\(text)</pre>\n"
        case .paragraph: return "<p>\(lines(text))</p>\n"
        case .item:
            let parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return "<p>\(lines(text))</p>\n" }
            return "<dl><dt>\(parts[0])</dt><dd>\(lines(parts[1]))</dd></dl>\n"
        }
    }

    private static func lines(_ text: String) -> String { text.replacing("\n", with: "<br>\n") }

    /// Returns the index of the first Info section that contains all words of a query.
    private static func section(with query: String, in content: ManualContent) -> Int? {
        let words = query.prefix(maximumUTF8Bytes: 1024).split { !$0.isLetter && !$0.isNumber }
            .prefix(maximumWords).map { $0.lowercased() }.filter { $0.utf8.count > 1 }
        guard !words.isEmpty else { return nil }
        for (index, block) in content.blocks.enumerated()
        where block.kind == .section && index + 1 < content.blocks.count {
            let text = (block.text + "\n" + content.blocks[index + 1].text).lowercased()
            if words.allSatisfy({ text.contains($0) }) { return index }
        }
        return nil
    }

    /// Returns the text with an empty line after each block.
    package func plainText(_ content: ManualContent) -> String {
        content.blocks.map(\.text).joined(separator: "\n\n") + "\n"
    }
}
