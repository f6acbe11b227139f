// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import JournalNotes

/// The index extension for folders of Markdown and plain-text notes: indexes, serves and renders
/// notes.
///
/// Keeps no state between requests. Each request reads the settings and folders again, so requests
/// can run concurrently.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    private let readSettings: () throws(Skip) -> JournalSettings
    private let report: (String) -> Void
    private let now: () -> ContinuousClock.Instant
    private let temporaryFolder: URL
    private let sampleItems: Int

    /// Reads the user's settings and reports problems to standard error.
    override convenience init() {
        self.init(
            settings: { () throws(Skip) in try JournalSettings() }, report: printToStandardError,
            sampleItems: requestedSample)
    }

    /// - Parameters:
    ///   - settings: Called once for each request.
    ///   - report: Receives one line at a time.
    ///   - now: The clock that limits the rate of progress reports.
    ///   - temporaryFolder: The folder for HTML pages that are delivered as files.
    ///   - sampleItems: The number of notes after which a reindex ends, as requested by the
    ///     validator; 0 for all.
    init(
        settings: @escaping () throws(Skip) -> JournalSettings, report: @escaping (String) -> Void,
        now: @escaping () -> ContinuousClock.Instant = { ContinuousClock.now },
        temporaryFolder: URL = FileManager.default.temporaryDirectory, sampleItems: Int = 0
    ) {
        readSettings = settings
        self.report = report
        self.now = now
        self.temporaryFolder = temporaryFolder
        self.sampleItems = sampleItems
        super.init()
    }

    // MARK: Indexing

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        do {
            try donor(to: searchableIndex).donateAll(sampleItems: sampleItems)
            acknowledgementHandler()
        } catch {
            // Without an acknowledgement, the host requests the reindex again and removes nothing
            // until then.
            report("reindexing failed: \(error)")
        }
    }

    /// Returns the donor for a request, with the current settings.
    private func donor(to index: CSSearchableIndex) throws(Skip) -> FolderDonor<NoteFile> {
        let progress = ProgressReport(print: report, now: now)
        return FolderDonor(to: index, try readSettings(), noun: "note", progress: progress) { file, _ in
            FileItem(Note(file))
        }
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        update(searchableIndex, identifiers, moves: [], acknowledgementHandler)
    }

    private func update(
        _ searchableIndex: CSSearchableIndex, _ identifiers: [String], moves: [FileMove],
        ignoreFiles: [String] = [], _ acknowledgementHandler: @escaping () -> Void
    ) {
        do {
            try donor(to: searchableIndex).update(identifiers, moves: moves, ignoreFiles: ignoreFiles)
            acknowledgementHandler()
        } catch {
            let count = identifiers.count == 1 ? "1 note" : "\(identifiers.count) notes"
            report("reindexing \(count) failed: \(error)")
        }
    }

    // MARK: Promises

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        let folders = try readSettings().noteFolders
        switch typeIdentifier {
        case UTType.html.identifier: return try Data(folders.file(withIdentifier: itemIdentifier).html().utf8)
        case UTType.utf8PlainText.identifier:
            return try Data(folders.file(withIdentifier: itemIdentifier).plainText().utf8)
        default: throw UnsupportedType(typeIdentifier, of: "A note", supported: Note.dataTypes)
        }
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        let folders = try readSettings().noteFolders
        let type = try folders.kind(ofIdentifier: itemIdentifier).contentType
        // The host copies the file for receivers that need a copy.
        if typeIdentifier == type { return URL(filePath: itemIdentifier, directoryHint: .notDirectory) }
        guard !inPlace, typeIdentifier == UTType.html.identifier else {
            throw UnsupportedType(
                typeIdentifier, of: "A note", supported: ["\(type) in place", type, "a page in a file"])
        }
        return try page(of: try folders.file(withIdentifier: itemIdentifier), itemIdentifier)
    }

    /// Writes a note as an HTML page to the worker's temporary folder, which is deleted with the
    /// worker. A note always has the same page path, so there are never more pages than notes.
    private func page(of file: NoteFile, _ identifier: String) throws -> URL {
        let page = temporaryFolder.appending(path: "pages\(identifier).html", directoryHint: .notDirectory)
        try FileManager.default.createDirectory(
            at: page.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(file.html().utf8).write(to: page, options: .atomic)
        return page
    }

    // MARK: Previews

    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        let path = request.fileURL.path(percentEncoded: false)
        let file = try Self.file(path).beginning()
        // Without settings, the permitted folders are unknown, so the preview has no pictures.
        let folders = try? readSettings().noteFolders
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { reply in
            guard let folders else { return Data(file.html().utf8) }
            var pictures = NotePictures(of: file.path, in: folders)
            let page = file.html { pictures.reference(to: $0) }
            for picture in pictures.pictures {
                guard let type = UTType(picture.contentType) else { continue }
                reply.attachments[picture.name] = QLPreviewReplyAttachment(data: picture.bytes, contentType: type)
            }
            return Data(page.utf8)
        }
        reply.title = file.title
        return reply
    }

    private static func file(_ path: String) throws(FileLookupError) -> NoteFile {
        do throws(SkipReason) {
            if let file = try NoteFile(contentsOf: path) { return file }
        } catch {
            throw .skipped(Skip(path: path, reason: error))
        }
        throw .otherName(path)
    }
}

/// Returns the extension's handler, for an app that answers for its notes while it is open.
public func makeIndexRequestHandler() -> CSIndexExtensionRequestHandler { IndexRequestHandler() }

extension IndexRequestHandler: CSFileChangeHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        let files = FileChanges<NoteFile>(changes)
        update(
            searchableIndex, files.identifiers, moves: files.moves, ignoreFiles: files.ignoreFiles,
            acknowledgementHandler)
    }
}
