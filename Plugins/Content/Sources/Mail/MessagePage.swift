// SPDX-License-Identifier: Apache-2.0
import ContentSupport
import CoreSpotlight
import MailMessages

/// The page that shows a message: its header, its text or HTML, and the names of its attachments.
///
/// The host removes references to the network. Pictures come from the message itself.
struct MessagePage {
    /// The maximum size of a page's HTML or text, in bytes.
    static let maximumBody = 1 << 20
    /// The maximum total size of a page's pictures, in bytes.
    static let maximumPictures = 16 << 20
    static let maximumPictureCount = 64

    let html: String
    let title: String
    /// The pictures that the page refers to by `cid:`.
    var pictures: [String: (data: Data, type: UTType)] = [:]

    /// - Parameter locale: The locale of the date.
    init(_ located: LocatedMessage, locale: Locale = .ofDates) {
        let (message, body, pictures) = located.bytes.withUnsafeBytes { bytes in
            let message = Message(bytes)
            let body = message.hasHTML ? Message.html(of: bytes, limit: Self.maximumBody) : nil
            return (message, body, body.map { Self.pictures(of: message, bytes, in: $0) } ?? [:])
        }
        title = message.title
        self.pictures = pictures
        html = Self.page(message, body: body, folder: located.folder, locale)
    }

    /// Returns a message as text with its header, for receivers of plain text.
    static func plainText(_ located: LocatedMessage) -> String {
        let message = located.bytes.withUnsafeBytes { Message($0) }
        let head = header(message, .ofDates).map { "\($0.name): \($0.value)\n" }.joined()
        return head + "\n" + message.text + "\n"
    }

    private static func pictures(
        of message: Message, _ bytes: UnsafeRawBufferPointer, in html: String
    ) -> [String: (data: Data, type: UTType)] {
        var wanted: [(part: UInt32, name: String, type: UTType)] = []
        for attachment in message.attachments where attachment.type.hasPrefix("image/") {
            guard wanted.count < maximumPictureCount else { break }
            guard let name = attachment.contentID, html.containsBytes(of: "cid:" + name),
                let type = UTType(mimeType: attachment.type)
            else { continue }
            wanted.append((attachment.part, name, type))
        }
        guard !wanted.isEmpty else { return [:] }
        let contents = Message.attachments(parts: wanted.map(\.part), of: bytes, limit: maximumPictures)
        var pictures: [String: (data: Data, type: UTType)] = [:]
        for picture in wanted {
            if let data = contents[picture.part] { pictures[picture.name] = (data, picture.type) }
        }
        return pictures
    }

    private static func header(_ message: Message, _ locale: Locale) -> [(name: String, value: String)] {
        func list(_ people: [MailPerson]) -> String {
            let shown = people.prefix(20).map { person in
                switch (person.name, person.address) {
                case (let name?, let address?): "\(name) <\(address)>"
                case (let name?, nil): name
                case (nil, let address): address ?? ""
                }
            }
            return shown.joined(separator: ", ") + (people.count > 20 ? " and \(people.count - 20) more" : "")
        }
        var lines: [(name: String, value: String)] = []
        for (name, people) in [("From", message.from), ("To", message.to), ("Cc", message.cc)] where !people.isEmpty {
            lines.append((name, list(people)))
        }
        if let date = message.date {
            let style = Date.FormatStyle(locale: locale).day().month().year().hour().minute()
            lines.append(("Date", date.formatted(style)))
        }
        lines.append(("Subject", message.subject?.firstLine(maximumCharacters: 400) ?? "(no subject)"))
        return lines
    }

    private static func page(_ message: Message, body: String?, folder: MailFolder, _ locale: Locale) -> String {
        var rows = header(message, locale).dropLast().map { line in
            "<tr><th>\(line.name)</th><td>\(line.value.escapedForHTML)</td></tr>\n"
        }
        rows.append("<tr><th>Folder</th><td>\("\(folder.account): \(folder.name)".escapedForHTML)</td></tr>\n")
        let attached = message.attachments.filter { !$0.isInline }
        if !attached.isEmpty {
            let names = attached.prefix(50).map { ($0.name.isEmpty ? $0.type : $0.name).escapedForHTML }
            rows.append("<tr><th>Attached</th><td>\(names.joined(separator: "<br>"))</td></tr>\n")
        }
        let text = String(decoding: message.text.utf8.prefix(maximumBody), as: UTF8.self)
        let content = body ?? "<pre>\(text.escapedForHTML)</pre>"
        let notice = message.isEncrypted ? "<p class=\"mail-note\">This message is encrypted.</p>\n" : ""
        return """
            <!DOCTYPE html>
            <html>
            <head>
            <meta charset="utf-8">
            <meta name="color-scheme" content="light dark">
            <title>\(message.title.escapedForHTML)</title>
            <style>\(style)</style>
            </head>
            <body>
            <h1 class="mail-subject">\(message.title.escapedForHTML)</h1>
            <table class="mail-header">
            \(rows.joined())</table>
            \(notice)<div class="mail-body">
            \(content)
            </div>
            </body>
            </html>

            """
    }

    private static let style = """

        .mail-subject { font: bold 1.3em/1.3 system-ui, sans-serif; margin: 0 0 .5em; }
        .mail-header { font: 14px/1.4 system-ui, sans-serif; border-collapse: collapse; margin-bottom: 1em; }
        .mail-header th { text-align: left; vertical-align: top; padding: 0 1em 0 0; color: #6a737d; }
        .mail-note { font: italic 14px/1.4 system-ui, sans-serif; }
        .mail-body pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 15px/1.5 system-ui, sans-serif; }

        """
}
