// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The HTML and plain-text forms of a saved page.
extension WebPageFile {
    /// The maximum size of the text that a preview renders, in UTF-8 bytes.
    package static let maximumPreviewedText = 1 << 20

    /// Returns a complete HTML document with the page's text, without its scripts and styles. It
    /// loads only its own picture.
    package func html(
        _ content: WebPageContent, _ blocks: [HTMLText.Block], limit: Int = .max, picture: String? = nil,
        locale: Locale = .ofDates
    ) -> String {
        var body = "<h1>\((content.title ?? stem).escapedForHTML)</h1>\n"
        let facts = Self.facts(content, locale).joined(separator: " · ")
        if !facts.isEmpty { body += "<p class=\"facts\">\(facts.escapedForHTML)</p>\n" }
        if let address = content.address?.absoluteString {
            body += "<p class=\"facts\"><a href=\"\(address.escapedForHTML)\">\(address.escapedForHTML)</a></p>\n"
        }
        if let problem = content.problem { body += "<p class=\"facts\">\(problem.kind.escapedForHTML)</p>\n" }
        if let picture { body += "<p><img src=\"\(picture.escapedForHTML)\" alt=\"\"></p>\n" }
        var room = limit
        for block in blocks {
            if room <= 0 {
                body += "<p class=\"facts\">The page goes on.</p>\n"
                break
            }
            let text = block.text.prefix(maximumUTF8Bytes: room)
            room -= text.utf8.count
            // The page's headings are one level below the title.
            let name = block.level == 0 ? "p" : "h\(min(block.level + 1, 6))"
            body += "<\(name)>\(text.escapedForHTML)</\(name)>\n"
        }
        return HTMLPage.page(title: content.title ?? fileName, body: body)
    }

    private static func facts(_ content: WebPageContent, _ locale: Locale) -> [String] {
        // A date without a time zone is in UTC (``PageDate``).
        let style = Date.FormatStyle(locale: locale, timeZone: .gmt).day().month().year()
        func day(_ date: Date?) -> String? { date?.formatted(style) }
        let stars = content.rating.map { String(format: "%.1f of 5", $0) }
        let time = content.duration.map { "\(Int(($0 / 60).rounded(.up))) min" }
        var days = [day(content.starts), day(content.ends)].compactMap { $0 }
        if days.first == days.last { days = Array(days.prefix(1)) }
        let dates = days.joined(separator: " – ")
        let parts: [String?] =
            [content.site] + content.authors.prefix(5).map { $0 }
            + [day(content.published), dates.isEmpty ? nil : dates, content.place.name, content.place.address, time]
            + [stars, content.price]
        return parts.compactMap { $0 }
    }

    package func plainText(_ content: WebPageContent) -> String { content.text + "\n" }
}
