// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import JournalNotes

/// HTML, Markdown and text files.
enum TextFormats {
    static func readHTML(_ file: OpenedFile) throws(SkipReason) -> DocumentContent {
        let bytes = try file.readAll()
        let (text, reading) = TextReading.text(of: bytes)
        var content = DocumentContent()
        content.reading = reading
        content.missing = max(0, Int(file.size) - bytes.count)
        if reading == .binary { content.problem = .notText }
        let page = HTMLText(page: text)
        if !page.isComplete { content.problem = .tooDeep }
        var collector = TextCollector()
        for block in page.blocks {
            collector.append(block.text)
            collector.endLine()
        }
        content.take(collector)
        let heading = page.blocks.first { $0.level == 1 }?.text
        content.title =
            [page.title, page.metadata["og:title"], heading].lazy.compactMap { $0 }
            .compactMap(DocumentContent.title).first
        content.languages = page.language.map { [$0] }?.filter { (2...35).contains($0.utf8.count) } ?? []
        content.authors =
            ["author", "dc.creator", "article:author"].lazy.compactMap { page.metadata[$0] }.first
            .map { [$0.summary(maximumCharacters: 200)] } ?? []
        content.keywords = page.metadata["keywords"].map(DocumentContent.list) ?? []
        let summary = page.metadata["description"] ?? page.metadata["og:description"]
        content.summary = summary?.summary(maximumCharacters: 300)
        return content
    }

    /// Reads Markdown and plain text as Journal does.
    static func readNote(_ document: DocumentFile, _ kind: NoteKind) throws(SkipReason) -> DocumentContent {
        let file = try NoteFile(document.file, kind: kind, path: document.path, directories: document.directories)
        let note = Note(file)
        var content = DocumentContent()
        content.text = note.text
        content.missing = Int(note.missing)
        content.reading = note.reading
        if note.reading == .binary { content.problem = .notText }
        // The first line of source code is not a useful title.
        if document.kind.format != .sourceText {
            content.title = DocumentContent.title(note.title)
            content.summary = note.summary
        }
        if kind == .markdown {
            content.authors = note.properties.texts(.authors)
            content.keywords = note.properties.tags
            content.languages = note.properties.texts(.languages)
            content.created = note.properties.date(.created)
            content.modified = note.properties.date(.modified)
        }
        return content
    }
}
