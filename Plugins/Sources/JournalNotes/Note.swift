// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What is indexed of a note.
package struct Note: Sendable, Equatable {
    /// The longest title, in characters.
    static let maximumTitle = 200
    /// The longest description, in characters.
    static let maximumSummary = 300
    /// The longest text content, in UTF-8 bytes.
    package static let maximumText = 1 << 20
    /// How much of a Markdown note is parsed to index it, in UTF-8 bytes: with little markup as much as all text that
    /// is kept, with much of it the greater part.
    static let maximumParsed = 4 << 20
    static let maximumTags = 100

    /// Absolute path.
    package var identifier: String
    /// The folders between the configured one and the note, dotted; nil directly in the configured folder.
    package var domain: String?
    package var contentType: String
    /// From front matter, the first heading, the first line (plain text) or the file name.
    package var title: String
    /// From front matter or the first paragraph.
    package var summary: String?
    /// Without markup, at most 1 MiB.
    package var text: String
    /// Tags of the front matter.
    package var keywords: [String]
    /// From front matter, or when the file was made.
    package var created: Date
    package var modified: Date
    /// Bytes.
    package var fileSize: Int64
}

extension Note {
    /// - Parameter timeZone: for dates of the front matter that name none
    package init(_ file: NoteFile, timeZone: TimeZone = .current) {
        let (frontMatter, body) = FrontMatter.split(file.text)
        let content = NoteContent(body, kind: file.kind)
        identifier = file.path
        domain = Self.domain(of: file.directories)
        contentType = file.kind.contentType
        title = Self.title(of: file, frontMatter, heading: content.title)
        let description = frontMatter?.summary ?? content.paragraph
        summary = description?.summary(maximumCharacters: Self.maximumSummary)
        text = content.text
        keywords = (frontMatter?.tags ?? []).prefix(Self.maximumTags).map {
            $0.summary(maximumCharacters: Self.maximumTitle)
        }
        let date = frontMatter?.date.flatMap { ISO8601.date(from: $0, timeZone: timeZone) }
        created = date ?? file.birth ?? file.modified
        modified = file.modified
        fileSize = file.size
    }

    /// - Parameter heading: what the body has for a title
    static func title(of file: NoteFile, _ frontMatter: FrontMatter?, heading: String?) -> String {
        let title =
            frontMatter?.title ?? customaryTitle(of: file) ?? heading ?? NoteKind.stem(ofFileName: file.fileName)
        return title.summary(maximumCharacters: maximumTitle)
    }

    /// "copyright of PACKAGE" for a file whose first line would say nothing.
    private static func customaryTitle(of file: NoteFile) -> String? {
        guard NoteKind.beginsWithFormula(fileName: file.fileName),
            let folder = file.path.split(separator: "/").dropLast().last
        else { return nil }
        return "\(file.fileName) of \(folder)"
    }

    /// Dots divide domains, so those in names become underscores.
    private static func domain(of directories: [String]) -> String? {
        if directories.isEmpty { return nil }
        return directories.map { String($0.map { $0 == "." ? "_" : $0 }) }.joined(separator: ".")
    }
}

/// The parts of a note's body.
struct NoteContent {
    var title: String?
    var paragraph: String?
    var text: String

    /// - Parameter body: without front matter
    init(_ body: Substring, kind: NoteKind) {
        if kind == .markdown {
            if let document = MarkdownDocument(body.lines(maximumUTF8Bytes: Note.maximumParsed)) {
                let content = MarkdownText(of: document, limit: Note.maximumText)
                title = content.heading
                paragraph = content.paragraph
                text = content.text.prefix(maximumUTF8Bytes: Note.maximumText)
                return
            }
        }
        (title, paragraph) = Self.titleAndParagraph(ofPlainText: body)
        // A copy of what is kept, not a view of what may be much larger.
        text = String(body).prefix(maximumUTF8Bytes: Note.maximumText)
    }

    /// The first line that has letters or digits, and the lines that follow up to a blank one.
    static func titleAndParagraph(ofPlainText body: Substring) -> (title: String?, paragraph: String?) {
        var title: String?
        var paragraph = ""
        for line in LineIterator(body) {
            // Much more than a title or description can be; a line may be as long as the file.
            let line = String(line).prefix(maximumUTF8Bytes: 16 * Note.maximumSummary)
            let saysSomething = line.contains { $0.isLetter || $0.isNumber }
            if title == nil {
                if saysSomething { title = line.trimmed }
            } else if saysSomething {
                paragraph += line + " "
                if paragraph.utf8.count > 16 * Note.maximumSummary { break }
            } else if !paragraph.isEmpty {
                break
            }
        }
        return (title, paragraph.isEmpty ? nil : paragraph)
    }
}
