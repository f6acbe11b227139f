// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension WebPageFile {
    /// The content for a page that an earlier worker could not read.
    package static var unread: WebPageContent {
        var content = WebPageContent()
        content.problem = .endedWorker
        return content
    }

    /// Reads the page. A fault in the contents is reported as ``WebPageContent/problem``.
    ///
    /// - Throws: The reason why the file cannot be read at all.
    package func content() throws(SkipReason) -> WebPageContent { try read().content }

    /// Returns the content together with the blocks of its text.
    package func read() throws(SkipReason) -> (content: WebPageContent, blocks: [HTMLText.Block]) {
        let bytes = try file.readAll()
        var content = WebPageContent()
        content.missing = max(0, Int(file.size) - bytes.count)
        guard kind == .mhtml else {
            let (text, reading) = TextReading.text(of: bytes)
            content.reading = reading
            let blocks = content.take(text, picture: { Self.embedded($0) })
            return (content, blocks)
        }
        guard let archive = PageArchive(bytes), let page = archive.page else {
            content.problem = .damaged
            return (content, [])
        }
        let (text, reading) = page.text
        content.reading = reading
        content.address = Self.webAddress(
            archive.headers["snapshot-content-location"] ?? page.headers["content-location"] ?? "")
        content.kept = archive.headers["date"].flatMap(PageDate.mail)
        let blocks = content.take(text) { source in
            archive.part(source).map(\.contents) ?? Self.embedded(source)
        }
        if content.title == nil {
            content.title = archive.headers["subject"].map(PageArchive.decoded).flatMap(WebPageContent.line)
        }
        if archive.hasMore { content.problem = .tooLarge }
        return (content, blocks)
    }

    /// Returns the bytes in a `data:` URL.
    private static func embedded(_ source: String) -> [UInt8]? {
        guard source.hasPrefix("data:image/"), let comma = source.firstIndex(of: ","),
            source[..<comma].hasSuffix(";base64")
        else { return nil }
        return Data(base64Encoded: String(source[source.index(after: comma)...]), options: .ignoreUnknownCharacters)
            .map { Array($0) }
    }

    /// Returns a web URL; nil for other URLs, which an item must not open.
    static func webAddress(_ text: String, relativeTo base: URL? = nil) -> URL? {
        let text = text.trimmed
        guard !text.isEmpty, text.utf8.count <= 4096, let url = URL(string: text, relativeTo: base)?.absoluteURL,
            let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http", url.host()?.isEmpty == false
        else { return nil }
        return url
    }
}

extension WebPageContent {
    /// Reads a UTF-8 page.
    ///
    /// - Parameter picture: Returns the bytes of a picture that is embedded in the file.
    mutating func take(_ source: String, picture: (String) -> [UInt8]?) -> [HTMLText.Block] {
        if reading == .binary { problem = .notText }
        let html = HTMLText(page: source)
        if !html.isComplete { problem = .tooDeep }
        let visitor = PageVisitor()
        if visitor.read(html: Array(source.utf8)) != nil { problem = .tooDeep }
        var bytes: [UInt8] = []
        for block in html.blocks {
            let line = block.text.utf8
            guard bytes.count + line.count < Self.maximumText else {
                missing += line.count
                continue
            }
            if !bytes.isEmpty { bytes.append(0x0A) }
            bytes += line
        }
        text = String(decoding: bytes, as: UTF8.self)
        language = html.language.flatMap { (2...35).contains($0.utf8.count) ? $0 : nil }
        takeSavedFrom(source.prefix(maximumUTF8Bytes: 4096))
        takeProperties(visitor, html)
        if let found = visitor.picture.flatMap(picture), found.count <= Self.maximumThumbnail * 10 {
            self.picture = Picture(found)
        }
        return html.blocks
    }

    /// Reads the comment of the program that saved the page:
    /// `<!-- saved from url=(0024)https://example.org/ -->`, or SingleFile's comment with `url:`
    /// and `saved date:`.
    private mutating func takeSavedFrom(_ head: String) {
        for line in LineIterator(head[...]) {
            let line = line.trimmed
            if let mark = line.range(of: "saved from url=(") {
                let rest = line[mark.upperBound...]
                let text = rest.dropFirst(rest.prefix { $0 != ")" }.count + 1).prefix { !$0.isWhitespace && $0 != ">" }
                address = address ?? WebPageFile.webAddress(String(text))
            } else if line.hasPrefix("url: ") {
                address = address ?? WebPageFile.webAddress(String(line.dropFirst(5)))
            } else if line.hasPrefix("saved date: ") {
                kept = kept ?? PageDate.script(String(line.dropFirst(12)))
            }
        }
    }
}
