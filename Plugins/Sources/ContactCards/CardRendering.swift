// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension Card {
    /// The maximum size of the indexed text, in bytes.
    package static let maximumText = 128 << 10

    /// A displayed line of a card: its name and its values.
    private struct Row {
        var name: String
        var values: [Labelled]
    }

    private func rows(_ dateText: (CardDate) -> String = { $0.text }) -> [Row] {
        func plain(_ values: [String]) -> [Labelled] { values.map { Labelled(value: $0, label: nil, types: []) } }
        var rows = [
            Row(name: "Nickname", values: plain(nicknames)), Row(name: "Title", values: plain(titles)),
            Row(name: "Organisation", values: plain(organisations.filter { $0 != name })),
            Row(name: "E-mail", values: emailAddresses), Row(name: "Phone", values: phoneNumbers),
            Row(
                name: "Address",
                values: addresses.map { Labelled(value: $0.line, label: $0.label, types: []) }),
            Row(name: "Messages", values: messengers), Row(name: "Web", values: urls),
        ]
        if let birthday { rows.append(Row(name: "Birthday", values: plain([dateText(birthday)]))) }
        if let anniversary { rows.append(Row(name: "Anniversary", values: plain([dateText(anniversary)]))) }
        rows += [
            Row(name: "Related", values: related), Row(name: "Categories", values: plain(categories)),
            Row(name: "Members", values: memberCount > 0 ? plain(["\(memberCount)"]) : []),
        ]
        return rows.filter { !$0.values.isEmpty }
    }

    /// The card as plain text, for receivers of text.
    package var plainText: String {
        var lines = [name]
        for row in rows() {
            for value in row.values {
                lines.append("\(row.name)\(value.label.map { " (\($0))" } ?? ""): \(value.value.oneLine)")
            }
        }
        if !notes.isEmpty { lines += ["", notes.joined(separator: "\n\n")] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The text that is searchable in addition to the attributes, and the number of bytes beyond
    /// the limit.
    package var indexedText: (text: String, missing: Int) {
        let parts = phoneticNames + rows().flatMap { $0.values.map(\.value) } + notes
        let text = parts.joined(separator: "\n")
        let kept = text.prefix(maximumUTF8Bytes: Self.maximumText)
        return (kept, text.utf8.count - kept.utf8.count)
    }

    /// Returns the card as an HTML page.
    ///
    /// - Parameters:
    ///   - book: The name of the address book.
    ///   - picture: The URL of the picture; nil without one.
    ///   - locale: The locale of the dates.
    package func html(book: String, picture: String?, locale: Locale = .ofDates) -> String {
        var body = ""
        if let picture { body += "<img class=\"card-photo\" src=\"\(picture.escapedForHTML)\" alt=\"\">\n" }
        body += "<h1 class=\"card-name\">\(name.escapedForHTML)</h1>\n<table class=\"card\">\n"
        for row in rows({ $0.text(in: locale) }) {
            for (index, value) in row.values.enumerated() {
                let head = index == 0 ? row.name : ""
                let label = value.label.map { " <small>\($0.escapedForHTML)</small>" } ?? ""
                body += "<tr><th>\(head)</th><td>\(Self.link(row.name, value.value))\(label)</td></tr>\n"
            }
        }
        if !book.isEmpty { body += "<tr><th>Address book</th><td>\(book.escapedForHTML)</td></tr>\n" }
        body += "</table>\n"
        for note in notes { body += "<pre class=\"card-note\">\(note.escapedForHTML)</pre>\n" }
        return HTMLPage.text(title: name, style: Self.style, body: body)
    }

    private static func link(_ row: String, _ value: String) -> String {
        let text = value.oneLine.escapedForHTML
        let lowered = value.lowercased()
        if row == "E-mail", value.contains("@") { return "<a href=\"mailto:\(text)\">\(text)</a>" }
        if lowered.hasPrefix("https://") || lowered.hasPrefix("http://") { return "<a href=\"\(text)\">\(text)</a>" }
        return text
    }

    private static let style = """

        .card-photo { float: right; max-width: 160px; max-height: 160px; border-radius: 8px; margin: 0 0 1em 1em; }
        .card-name { font: bold 1.4em/1.3 system-ui, sans-serif; margin: 0 0 .5em; }
        .card { font: 15px/1.5 system-ui, sans-serif; border-collapse: collapse; }
        .card th { text-align: left; vertical-align: top; padding: 0 1em 0 0; color: #6a737d; font-weight: normal; }
        .card small { color: #6a737d; }
        .card-note { white-space: pre-wrap; overflow-wrap: anywhere; font: 15px/1.5 system-ui, sans-serif; }

        """
}
