// SPDX-License-Identifier: Apache-2.0
import FileReading
import JournalNotes

extension DocumentFile {
    /// Reads the document. A fault in the contents is reported as ``DocumentContent/problem``.
    ///
    /// - Parameters:
    ///   - now: The clock for the PDF time limit.
    ///   - onPage: Called before each page of a PDF file.
    /// - Throws: The reason why the file cannot be read at all.
    package func content(
        now: () -> ContinuousClock.Instant = { ContinuousClock.now }, onPage: () -> Void = {}
    ) throws(SkipReason) -> DocumentContent {
        switch kind.format {
        case .pdf: PDFReader.read(file, now: now, onPage: onPage)
        case .openDocument: OpenDocument.read(file, isSpreadsheet: false)
        case .openDocumentSheet: OpenDocument.read(file, isSpreadsheet: true)
        case .wordProcessing, .presentation, .spreadsheet: OfficeOpenXML.read(file, kind.format)
        case .epub: EPUB.read(file)
        case .richText: try RichText.read(file)
        case .html: try TextFormats.readHTML(file)
        case .markdown: try TextFormats.readNote(self, .markdown)
        case .plainText, .sourceText: try TextFormats.readNote(self, .plainText)
        }
    }

    /// The content for a document that an earlier worker could not read.
    package static var unread: DocumentContent {
        var content = DocumentContent()
        content.problem = .endedWorker
        return content
    }
}
