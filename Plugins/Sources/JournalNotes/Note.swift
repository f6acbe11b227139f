// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The indexed contents of a note.
package struct Note: Sendable, Equatable {
    /// The maximum length of a title, in characters.
    static let maximumTitle = 200
    /// The maximum length of a description, in characters.
    static let maximumSummary = 300
    /// The maximum length of the text content, in UTF-8 bytes: an item may have 16 MiB with all its
    /// attributes.
    package static let maximumText = (16 << 20) - (512 << 10)
    /// The size, in UTF-8 bytes, of the pieces in which long Markdown is parsed. A tree may take
    /// 180 bytes per byte of text.
    static let maximumPiece = 1 << 20
    /// The maximum size of the list of URLs after the text, in UTF-8 bytes.
    static let maximumAddresses = 256 << 10
    static let maximumTags = 100

    /// The absolute path of the file.
    package var identifier: String
    /// The names of the folders between the configured folder and the note, joined with dots; nil
    /// for a note directly in the configured folder.
    package var domain: String?
    package var contentType: String
    /// The title, from front matter, the first heading, the first line (plain text) or the file
    /// name.
    package var title: String
    /// The description, from front matter or the first paragraph.
    package var summary: String?
    /// The text without markup, followed by its link URLs.
    package var text: String
    /// The number of bytes of the file, or of its text, that are not in `text`; 0 if the text is
    /// complete.
    package var missing: Int64
    /// The encoding from which the text was decoded.
    package var reading: TextReading
    /// The properties of the front matter.
    package var properties: NoteProperties
    /// The names of the file: the full name, and the name split into words if that is different.
    package var fileNames: [String]
    /// The name of the folder that contains the file.
    package var folderName: String?
    /// The creation date, from front matter or the file system.
    package var created: Date
    /// The modification date, from front matter or the file system.
    package var modified: Date
    /// The size of the file, in bytes.
    package var fileSize: Int64
}

extension Note {
    /// - Parameter timeZone: The time zone for front-matter dates without one.
    package init(_ file: NoteFile, timeZone: TimeZone = .current) {
        let (frontMatter, body) = file.parts
        let content = NoteContent(body, kind: file.kind)
        properties = frontMatter.map { NoteProperties($0, timeZone: timeZone) } ?? NoteProperties()
        identifier = file.path
        domain = Self.domain(of: file.directories)
        contentType = file.kind.contentType
        title = Self.title(of: file, properties.text(.title), heading: content.title)
        let description = properties.text(.summary) ?? content.paragraph
        summary = description?.summary(maximumCharacters: Self.maximumSummary)
        text = content.text
        missing = file.missing + Int64(content.missing)
        reading = file.reading
        fileNames = Self.names(ofFile: file.fileName)
        folderName = file.path.split(separator: "/").dropLast().last.map(String.init)
        created = properties.date(.created) ?? file.birth ?? file.modified
        modified = properties.date(.modified) ?? file.modified
        fileSize = file.size
    }

    /// The warnings about a note that is indexed with limitations. Each is one line, even if the
    /// path contains line breaks.
    package var remarks: [String] {
        var remarks: [String] = []
        if let remark = reading.remark { remarks.append("\(identifier.onOneLine) \(remark)") }
        if missing > 0 {
            let indexed =
                "\(identifier.onOneLine) is indexed in part: the last \(missing) bytes of \(fileSize) are left out"
            remarks.append("\(indexed) (limit \(NoteFile.maximumSize))")
        }
        return remarks
    }

    /// - Parameters:
    ///   - property: The title in the front matter.
    ///   - heading: The title in the body.
    static func title(of file: NoteFile, _ property: String?, heading: String?) -> String {
        let title = property ?? customaryTitle(of: file) ?? heading ?? NoteKind.stem(ofFileName: file.fileName)
        return title.summary(maximumCharacters: maximumTitle)
    }

    /// Returns "copyright of PACKAGE" for a file whose first line is not a useful title.
    private static func customaryTitle(of file: NoteFile) -> String? {
        guard NoteKind.beginsWithFormula(fileName: file.fileName),
            let folder = file.path.split(separator: "/").dropLast().last
        else { return nil }
        return "\(file.fileName) of \(folder)"
    }

    /// Returns a file name, and its words if the name joins them with underscores or capital
    /// letters: "meeting Notes q3" for `meetingNotes_q3.md`.
    static func names(ofFile fileName: String) -> [String] {
        var words = ""
        var wasLowercase = false
        var isDivided = false
        for character in NoteKind.stem(ofFileName: fileName) {
            if character == "_" || wasLowercase && character.isUppercase {
                isDivided = true
                words.append(" ")
            }
            if character != "_" { words.append(character) }
            wasLowercase = character.isLowercase
        }
        return isDivided ? [fileName, words.trimmed] : [fileName]
    }

    /// Returns a note's domain. Dots separate the parts of a domain, so dots in folder names become
    /// underscores.
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
    /// The number of UTF-8 bytes of text that are left out.
    var missing = 0

    /// - Parameter body: The text without front matter.
    init(_ body: Substring, kind: NoteKind) {
        switch kind {
        case .markdown:
            text = ""
            var addresses = Addresses()
            for piece in Self.pieces(of: body) {
                guard let document = MarkdownDocument(piece) else {
                    if text.isEmpty { (title, paragraph) = Self.titleAndParagraph(ofPlainText: piece) }
                    append(String(piece))
                    continue
                }
                let content = MarkdownText(of: document, limit: .max)
                title = title ?? content.heading
                paragraph = paragraph ?? content.paragraph
                append(content.text)
                addresses.add(content.addresses)
                addresses.addDefinitions(in: piece)
            }
            append(Self.list(addresses))
        case .plainText:
            (title, paragraph) = Self.titleAndParagraph(ofPlainText: body)
            // A copy, since a substring would keep the possibly much larger body in memory.
            text = String(body).prefix(maximumUTF8Bytes: Note.maximumText)
            missing = body.utf8.count - text.utf8.count
        }
    }

    private mutating func append(_ piece: String) {
        if piece.isEmpty { return }
        let separator = text.isEmpty ? "" : "\n"
        let kept = piece.prefix(maximumUTF8Bytes: max(0, Note.maximumText - text.utf8.count - separator.utf8.count))
        missing += piece.utf8.count - kept.utf8.count
        if !kept.isEmpty { text += separator + kept }
    }

    /// Splits the text into pieces that end at a paragraph boundary where possible.
    private static func pieces(of body: Substring) -> [Substring] {
        var pieces: [Substring] = []
        var rest = body
        while rest.utf8.count > Note.maximumPiece {
            var piece = rest.lines(maximumUTF8Bytes: Note.maximumPiece)
            if let blank = piece.lastRange(ofBytes: [0x0A, 0x0A]) { piece = piece[..<blank.upperBound] }
            if piece.isEmpty { break }
            pieces.append(piece)
            rest = Substring(rest.utf8.dropFirst(piece.utf8.count))
        }
        return rest.isEmpty ? pieces : pieces + [rest]
    }

    private static func list(_ addresses: Addresses) -> String {
        var list = ""
        for address in addresses.texts {
            guard list.utf8.count + address.utf8.count < Note.maximumAddresses else { break }
            list += list.isEmpty ? address : "\n" + address
        }
        return list
    }

    /// Returns the first line that contains letters or digits, and the following lines up to a
    /// blank line.
    static func titleAndParagraph(ofPlainText body: Substring) -> (title: String?, paragraph: String?) {
        var title: String?
        var paragraph = ""
        for line in LineIterator(body) {
            // Far more than a title or description needs, since a line may be as long as the file.
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
