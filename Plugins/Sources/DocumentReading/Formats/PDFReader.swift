// SPDX-License-Identifier: Apache-2.0
import CPoppler
import FileReading
import Foundation

/// Reads PDF files through poppler, which is loaded at run time.
package enum PDFReader {
    /// The maximum time to extract the text of a file, in seconds.
    package static let maximumSeconds = 20
    static let maximumPages = 20_000
    /// The width and height of an item's thumbnail, in pixels.
    private static let thumbnailSide: Int32 = 256

    /// - Parameters:
    ///   - now: The clock for the time limit.
    ///   - onPage: Called before each page.
    static func read(
        _ file: OpenedFile, now: () -> ContinuousClock.Instant, onPage: () -> Void
    ) -> DocumentContent {
        var content = DocumentContent()
        let document: PDFDocument
        do throws(DocumentProblem) {
            document = try PDFDocument(file)
        } catch {
            content.problem = error
            return content
        }
        document.readProperties(&content)
        let count = document.pageCount
        content.pageCount = count
        content.isPaged = true
        let deadline = now() + .seconds(maximumSeconds)
        var collector = TextCollector()
        for page in 0..<min(count, maximumPages) {
            if page > 0 { collector.endPage() }
            onPage()
            if now() > deadline {
                content.problem = .tooSlow
                break
            }
            if let text = document.text(ofPage: page) { collector.append(text) }
            if collector.isFull { break }
        }
        content.take(collector)
        content.isPaged = true
        if now() <= deadline, count > 0 {
            onPage()
            content.thumbnail = document.picture(side: thumbnailSide).flatMap { DocumentContent.Picture($0) }
        }
        return content
    }

    /// Returns the first page as a PNG, at most `side` pixels wide and high; nil if it cannot be
    /// rendered.
    package static func firstPage(of file: DocumentFile, side: Int32) throws(DocumentProblem) -> [UInt8]? {
        try PDFDocument(file.file).picture(side: side)
    }
}

/// An open PDF file.
private final class PDFDocument {
    private let document: OpaquePointer

    init(_ file: OpenedFile) throws(DocumentProblem) {
        var opened: OpaquePointer?
        let result = pdf_open(file.descriptor.raw, &opened)
        switch result {
        case PDF_NO_LIBRARY: throw .noPDFLibrary
        case PDF_ENCRYPTED: throw .encrypted
        default: break
        }
        guard let opened else { throw .damaged }
        document = opened
    }

    deinit { pdf_close(document) }

    var pageCount: Int { Int(pdf_page_count(document)) }

    func text(ofPage page: Int) -> String? {
        guard let text = pdf_copy_text(document, Int32(page)) else { return nil }
        defer { free(text) }
        let result = String(cString: text)
        return result.utf8.contains(0x0C) ? result.replacing("\u{0C}", with: "\n") : result
    }

    func picture(side: Int32) -> [UInt8]? {
        var length = 0
        guard let bytes = pdf_copy_png(document, 0, side, &length) else { return nil }
        defer { free(bytes) }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
    }

    private func property(_ name: pdf_property) -> String? {
        guard let text = pdf_copy_property(document, name) else { return nil }
        defer { free(text) }
        let value = String(cString: text).trimmed
        return value.isEmpty ? nil : value
    }

    func readProperties(_ content: inout DocumentContent) {
        let xmp = DocumentProperties()
        if let metadata = property(PDF_XMP) { _ = xmp.visit(Array(metadata.utf8.prefix(1 << 20))) }
        content.title = (property(PDF_TITLE) ?? xmp.first("title")).flatMap(DocumentContent.title)
        let author = property(PDF_AUTHOR).map { $0.split(separator: ";").map { String($0.trimmed) } }
        content.authors = (author ?? xmp.all("creator")).prefix(100).map { $0.summary(maximumCharacters: 200) }
        content.subject = property(PDF_SUBJECT)?.summary(maximumCharacters: 300)
        content.keywords = property(PDF_KEYWORDS).map(DocumentContent.list) ?? []
        content.languages = xmp.all("language").filter { (2...35).contains($0.utf8.count) }
        content.created = Self.date(pdf_created(document))
        content.modified = Self.date(pdf_modified(document))
    }

    private static func date(_ seconds: Int64) -> Date? {
        // Between the years 1900 and 3000.
        (-2_208_988_800..<32_503_680_000).contains(seconds) && seconds != -1
            ? Date(timeIntervalSince1970: Double(seconds)) : nil
    }
}
