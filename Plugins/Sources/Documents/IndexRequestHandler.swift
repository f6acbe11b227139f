// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import DocumentReading
import FileDonations
import FileReading
import Synchronization

/// The index extension for folders of documents: indexes, serves and renders documents.
///
/// Each request reads the settings and folders again, so requests can run concurrently.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    /// The parts of the environment that tests replace.
    struct Environment {
        /// Called once for each request.
        var settings: () throws(Skip) -> FolderSettings = { () throws(Skip) in try .documents() }
        /// Receives one line at a time.
        var report: (String) -> Void = printToStandardError
        var now: () -> ContinuousClock.Instant = { ContinuousClock.now }
        var record: () -> ReadingRecord.Storage = { .index() }
    }

    /// The number of documents after which a page ends while the host throttles the extension.
    static let throttledCount = 10

    private let environment: Environment
    private let isThrottled = Mutex(false)

    override convenience init() { self.init(Environment()) }

    init(_ environment: Environment) {
        self.environment = environment
        super.init()
    }

    // MARK: Indexing

    /// Returns the donor for a request, with the current settings.
    ///
    /// - Parameter record: The record for a reindex. In an update, the host itself determines which
    ///   file makes a worker crash.
    private func donor(to index: CSSearchableIndex, record: ReadingRecord? = nil) throws -> FolderDonor<DocumentFile> {
        let settings = try environment.settings()
        let progress = ProgressReport(print: environment.report, now: environment.now)
        let (now, report) = (environment.now, environment.report)
        return FolderDonor(to: index, settings, noun: "document", progress: progress) {
            (file, progress) throws(SkipReason) in
            guard file.kind.format == .pdf, let record else {
                return file.item(try file.content(now: now, onPage: { progress.reading(file.path) }))
            }
            if record.isSkipped(file.fingerprint) { return file.item(DocumentFile.unread) }
            // Without a record, such a file may make one more worker crash.
            func note(_ change: () throws -> Void) {
                do { try change() } catch { report("\(file.path.onOneLine): \(error)") }
            }
            note { try record.begin(file.fingerprint) }
            let item = file.item(try file.content(now: now, onPage: { progress.reading(file.path) }))
            note { try record.end() }
            return item
        }
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        update(searchableIndex, identifiers, moves: [], ignoreFiles: [], acknowledgementHandler)
    }

    private func update(
        _ searchableIndex: CSSearchableIndex, _ identifiers: [String], moves: [FileMove], ignoreFiles: [String],
        _ acknowledgementHandler: @escaping () -> Void
    ) {
        do {
            try donor(to: searchableIndex).update(identifiers, moves: moves, ignoreFiles: ignoreFiles)
            acknowledgementHandler()
        } catch {
            environment.report("reindexing \(identifiers.count + moves.count) documents failed: \(error)")
        }
    }

    override func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {
        isThrottled.withLock { $0 = true }
    }

    override func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {
        isThrottled.withLock { $0 = false }
    }

    // MARK: Promises

    private func document(_ identifier: String) throws -> DocumentFile {
        let folders: DocumentFolders = try environment.settings().servedFolders()
        do throws(FileLookupError) {
            return try folders.file(withIdentifier: identifier)
        } catch {
            // The error makes the host remove the item.
            if error.isGone { throw CocoaError(.fileNoSuchFile) }
            throw error
        }
    }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        let file = try document(itemIdentifier)
        switch typeIdentifier {
        case UTType.html.identifier where typeIdentifier != file.kind.contentType:
            return try Data(file.html(file.content(now: environment.now)).utf8)
        case UTType.utf8PlainText.identifier:
            return try Data(file.plainText(file.content(now: environment.now)).utf8)
        case UTType.utf16PlainText.identifier:
            let text = try file.plainText(file.content(now: environment.now))
            return Array(text.utf16).withUnsafeBytes { Data($0) }
        case UTType.png.identifier, UTType.jpeg.identifier:
            if let picture = try firstPage(of: file, typeIdentifier) { return picture }
            fallthrough
        default:
            throw UnsupportedType(
                typeIdentifier, of: "A document",
                supported: [UTType.html.identifier, UTType.utf8PlainText.identifier, "a picture of its first page"])
        }
    }

    /// The width and height of a first page that is delivered or displayed, in pixels.
    private static let pageSide: Int32 = 1600

    private func firstPage(of file: DocumentFile, _ type: String) throws -> Data? {
        if file.kind.format == .pdf {
            guard type == UTType.png.identifier else { return nil }
            return try PDFReader.firstPage(of: file, side: Self.pageSide).map { Data($0) }
        }
        let picture = try file.content(now: environment.now).thumbnail
        return picture?.contentType == type ? picture.map { Data($0.bytes) } : nil
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        let type = try document(itemIdentifier).kind.contentType
        // The host copies the file for receivers that need a copy.
        guard let own = UTType(type), let wanted = UTType(typeIdentifier), own.conforms(to: wanted) else {
            throw UnsupportedType(typeIdentifier, of: "A document", supported: ["\(type) in place", type])
        }
        return URL(filePath: itemIdentifier, directoryHint: .notDirectory)
    }

    // MARK: Previews

    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        let file = try document(identifier)
        let now = environment.now
        let content = try file.content(now: now)
        try Task.checkCancellation()
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { reply in
            var picture = content.thumbnail.map { Data($0.bytes) }
            var type = content.thumbnail?.contentType ?? ""
            if file.kind.format == .pdf, let page = try? PDFReader.firstPage(of: file, side: 800) {
                (picture, type) = (Data(page), UTType.png.identifier)
            }
            if let picture, let type = UTType(type) {
                reply.attachments["page-1"] = QLPreviewReplyAttachment(data: picture, contentType: type)
            }
            let page = try file.html(
                content, limit: DocumentFile.maximumPreviewedText, picture: picture.map { _ in "cid:page-1" },
                query: queryString)
            return Data(page.utf8)
        }
        reply.title = content.title ?? file.stem
        return reply
    }
}

extension IndexRequestHandler: CSPagedReindexHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexPage page: CSReindexPage,
        acknowledgementHandler: @escaping @Sendable (_ nextCursor: Data?) -> Void
    ) {
        do {
            let record = ReadingRecord(environment.record())
            try record.recover()
            let deadline = environment.now() + page.maximumDuration
            var count = 0
            // The cursor is the path of the last file. A path is shorter than 4,096 bytes.
            let last = try donor(to: searchableIndex, record: record).donatePage(
                after: page.cursor.map { String(decoding: $0, as: UTF8.self) }, items: page.maximumItemCount
            ) { [unowned self] in
                count += 1
                if page.isCancelled || environment.now() >= deadline { return true }
                return count >= Self.throttledCount && isThrottled.withLock { $0 }
            }
            if last == nil { try record.finish() }
            acknowledgementHandler(last.map { Data($0.utf8) })
        } catch {
            // Without an acknowledgement, the host requests the page again and deletes nothing
            // until then.
            environment.report("reindexing failed: \(error)")
        }
    }
}

extension IndexRequestHandler: CSFileChangeHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        let files = FileChanges<DocumentFile>(changes)
        update(
            searchableIndex, files.identifiers, moves: files.moves, ignoreFiles: files.ignoreFiles,
            acknowledgementHandler)
    }
}
