// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import JournalNotes

/// The contents of a document: its text by page, and its properties.
package struct DocumentContent: Sendable {
    /// A picture of the first page, as PNG or JPEG.
    package struct Picture: Sendable {
        package var bytes: [UInt8]
        /// The uniform type identifier.
        package var contentType: String

        /// - Returns: nil for an empty picture, or one that is neither PNG nor JPEG.
        package init?(_ bytes: [UInt8], limit: Int = DocumentContent.maximumThumbnail) {
            guard bytes.count <= limit else { return nil }
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                contentType = "public.png"
            } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                contentType = "public.jpeg"
            } else {
                return nil
            }
            self.bytes = bytes
        }
    }

    /// The maximum length of the text, in UTF-8 bytes: an item may have 16 MiB with all its
    /// attributes.
    package static let maximumText = Note.maximumText
    /// The maximum size of a picture in an item, in bytes.
    package static let maximumThumbnail = 192 << 10

    package var title: String?
    package var authors: [String] = []
    package var keywords: [String] = []
    package var subject: String?
    package var summary: String?
    package var publishers: [String] = []
    /// The languages, as BCP 47 tags.
    package var languages: [String] = []
    package var created: Date?
    package var modified: Date?
    package var pageCount: Int?
    /// The text. In a document with pages, U+000C ends each page except the last.
    package var text = ""
    /// `true` if the parts of the text between U+000C are the pages, slides or sheets.
    package var isPaged = false
    package var thumbnail: Picture?
    /// The number of text bytes that are known to be missing.
    package var missing = 0
    /// The reason why some or all of the text could not be read.
    package var problem: DocumentProblem?
    /// The encoding of a text file.
    package var reading = TextReading.utf8

    package init() {}

    /// The text by page; the whole text if there are no pages.
    package var pages: [Substring] {
        guard isPaged else { return [text[...]] }
        return text.utf8.split(separator: 0x0C, omittingEmptySubsequences: false).map { Substring($0) }
    }
}

/// The reason why a document's text is not indexed, or only in part.
package enum DocumentProblem: Error, Sendable, Equatable, CaseIterable {
    case encrypted
    /// The file does not have the format that its name implies. Everything before the fault is
    /// indexed.
    case damaged
    /// libpoppler-glib is not installed.
    case noPDFLibrary
    /// The parts of the package are too large when decompressed.
    case tooLarge
    case tooDeep
    /// Reading took too long.
    case tooSlow
    /// An earlier worker crashed or was killed while it read the file.
    case endedWorker
    case notText

    /// The reason in a few words, without names.
    package var kind: String {
        switch self {
        case .encrypted: "encrypted"
        case .damaged: "damaged, or not of the format that its name says"
        case .noPDFLibrary: "the text of PDF needs libpoppler-glib8, which is not installed"
        case .tooLarge: "its parts expand beyond \(PackageReader.maximumSize >> 20) MiB"
        case .tooDeep: "its elements nest too deeply"
        case .tooSlow: "reading it takes more than \(PDFReader.maximumSeconds) seconds"
        case .endedWorker: "the PDF reader crashed on it"
        case .notText: "not text"
        }
    }
}

/// Collects text up to a limit.
struct TextCollector {
    private(set) var bytes: [UInt8] = []
    /// The number of UTF-8 bytes beyond the limit.
    private(set) var missing = 0
    private(set) var pageBreaks = 0
    let limit: Int

    init(limit: Int = DocumentContent.maximumText) { self.limit = limit }

    var isFull: Bool { missing > 0 }
    /// `true` if the page has text.
    var hasText: Bool { !bytes.isEmpty && bytes.last != 0x0C }

    mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        guard missing == 0, text.count <= limit - bytes.count else {
            missing += text.count
            return
        }
        bytes.append(contentsOf: text)
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    /// Ends the line, unless it is empty.
    mutating func endLine() {
        guard let last = bytes.last, last != 0x0A, last != 0x0C else { return }
        append("\n")
    }

    mutating func endPage() {
        endLine()
        append("\u{0C}")
        pageBreaks += 1
    }

    /// The text without trailing white space.
    var text: String {
        var end = bytes.count
        while end > 0, bytes[end - 1] == 0x0A || bytes[end - 1] == 0x20 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }
}

extension DocumentContent {
    mutating func take(_ collector: TextCollector) {
        text = collector.text
        isPaged = collector.pageBreaks > 0
        missing += collector.missing
    }

    /// Reads a title, people and dates from properties with Dublin Core names.
    mutating func take(_ properties: DocumentProperties) {
        title = properties.first("title").flatMap(Self.title)
        authors = properties.all("initial-creator") + properties.all("creator")
        var seen: Set<String> = []
        authors = authors.filter { seen.insert($0).inserted }
        keywords = properties.all("keyword") + properties.all("keywords").flatMap(Self.list)
        subject = properties.first("subject")
        summary = properties.first("description").map { $0.summary(maximumCharacters: 300) }
        publishers = properties.all("publisher")
        languages = properties.all("language").filter { (2...35).contains($0.utf8.count) }
        created = properties.date("creation-date") ?? properties.date("created")
        modified = properties.date("modified") ?? properties.date("date")
        pageCount = properties.first("Pages").flatMap { Int($0) }
        if let pages = pageCount, !(1...1_000_000).contains(pages) { pageCount = nil }
    }

    /// Returns a usable title. Word processors put the program's name into the titles of printed
    /// documents.
    static func title(_ text: String) -> String? {
        var title = text.summary(maximumCharacters: 200)
        for prefix in ["Microsoft Word - ", "Microsoft PowerPoint - ", "Microsoft Excel - "]
        where title.hasPrefix(prefix) {
            title = String(title.dropFirst(prefix.count))
        }
        let isEmpty = !title.contains { $0.isLetter || $0.isNumber }
        return isEmpty || ["untitled", "title", "unknown"].contains(title.lowercased()) ? nil : title
    }

    /// Splits a list at commas or semicolons.
    static func list(_ text: String) -> [String] {
        let parts = text.split { $0 == "," || $0 == ";" }
        return parts.prefix(100).map { $0.trimmed.summary(maximumCharacters: 200) }.filter { !$0.isEmpty }
    }
}

extension Substring {
    func summary(maximumCharacters limit: Int) -> String { String(self).summary(maximumCharacters: limit) }
}
