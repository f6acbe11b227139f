// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import JournalNotes

/// The index extension for folders of Markdown and plain-text notes: indexes, serves and renders
/// them.
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
        let sample = ProcessInfo.processInfo.environment["SEARCHLIGHT_SAMPLE_ITEMS"].flatMap { Int($0) }
        self.init(
            settings: { () throws(Skip) in try JournalSettings() }, report: printToStandardError,
            sampleItems: sample ?? 0)
    }

    /// - Parameters:
    ///   - settings: Called once for each request.
    ///   - report: Receives one line.
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
            try reindexAll(searchableIndex)
            acknowledgementHandler()
        } catch {
            // Without an acknowledgement the host requests the reindex again and removes nothing
            // until then.
            report("reindexing failed: \(error)")
        }
    }

    /// Donates all notes. The reindex removes items that it does not donate again. If a folder is
    /// missing, it removes nothing, since the index cannot be asked for the contents of one folder;
    /// a deleted note's item then stays until the folder is back.
    private func reindexAll(_ index: CSSearchableIndex) throws {
        // Read before anything is deleted: without settings the expected notes are unknown.
        let settings = try readSettings()
        let folders = settings.noteFolders
        let progress = ProgressReport(print: report, now: now)
        settings.problems.forEach(progress.say)
        let donations = Donations(to: index) { progress.madeProgress() }
        if settings.isComplete { try donations.deleteAll() }
        var skipped = settings.problems.count
        var (cut, encoded) = (0, 0)
        walk: for step in folders.walk(visiting: progress.walking) {
            switch step {
            case .note(let file):
                if sampleItems > 0, donations.noteCount >= sampleItems { break walk }
                let note = Note(file)
                try donations.add(note)
                note.remarks.forEach(progress.say)
                if note.missing > 0 { cut += 1 }
                if note.reading != .utf8 { encoded += 1 }
            case .skipped(let skip):
                if settings.isComplete, folders.lost(skip) { throw skip }
                skipped += 1
                progress.say(skip.description)
                index.reportLeftOut(skip.path, reason: skip.reason.kind)
            case .leftOut: break
            }
        }
        try donations.finish()
        // A disk that was unmounted during the walk looks like a folder without notes.
        if settings.isComplete { try folders.check() }
        var parts = [Self.count(of: donations.noteCount), "\(skipped) skipped"]
        if cut > 0 { parts.append("\(cut) indexed in part") }
        if encoded > 0 { parts.append("\(encoded) not in UTF-8") }
        progress.say(settings.absence ?? parts.joined(separator: ", "))
    }

    private static func count(of notes: Int) -> String { notes == 1 ? "1 note" : "\(notes) notes" }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        update(searchableIndex, identifiers, moves: [], acknowledgementHandler)
    }

    /// Renames the items of moved notes, then donates or deletes the notes with these identifiers.
    private func update(
        _ searchableIndex: CSSearchableIndex, _ identifiers: [String], moves: [NoteMove],
        ignoreFiles: [String] = [], _ acknowledgementHandler: @escaping () -> Void
    ) {
        do {
            let settings = try readSettings()
            let folders = settings.noteFolders
            let donations = Donations(to: searchableIndex)
            let renames = folders.renames(moves)
            try donations.rename(renames)
            func update(_ identifiers: [String]) throws -> [(identifier: String, error: NoteLookupError)] {
                try identifiers.compactMap { identifier in
                    let state: NoteState
                    do throws(NoteLookupError) {
                        state = try folders.state(ofIdentifier: identifier, isComplete: settings.isComplete)
                    } catch {
                        return (identifier, error)
                    }
                    switch state {
                    case .note(let file):
                        let note = Note(file)
                        try donations.add(note)
                        note.remarks.forEach(report)
                    case .gone(let reason):
                        if let reason { report("\(reason)") }
                        if case .skipped(let skip) = reason {
                            searchableIndex.reportLeftOut(skip.path, reason: skip.reason.kind)
                        }
                        try donations.delete(identifier)
                    case .kept(let complaint): report(complaint)
                    }
                    return nil
                }
            }
            // A note that could not be read may be readable now.
            let all = identifiers + moves.map(\.new) + moves.map(\.old).filter { renames[$0] == nil }
            let unread = try update(update(all).map(\.identifier))
            try refresh(searchableIndex, besideIgnoreFiles: ignoreFiles, of: folders, donations)
            try donations.finish()
            // If no note can be read, the machine is the likely cause: throw, so that the host
            // requests all again. Otherwise the notes are the cause.
            if unread.count == all.count, ignoreFiles.isEmpty, let first = unread.first { throw first.error }
            for note in unread { report("\(note.error); its item is kept") }
            acknowledgementHandler()
        } catch {
            report("reindexing \(Self.count(of: identifiers.count)) failed: \(error)")
        }
    }

    /// Donates the notes that the patterns of the ignore files no longer exclude, and deletes the
    /// notes that they exclude.
    private func refresh(
        _ index: CSSearchableIndex, besideIgnoreFiles files: [String], of folders: NoteFolders, _ donations: Donations
    ) throws {
        let progress = ProgressReport(print: report, now: now)
        // Sorted, so that the order is deterministic.
        for file in Set(files).sorted() {
            for step in folders.walk(besideIgnoreFile: file, visiting: progress.walking) ?? NoteWalk(folders: []) {
                switch step {
                case .note(let file): try donations.add(Note(file))
                case .leftOut(let path): try donations.delete(path)
                case .skipped(let skip):
                    progress.say(skip.description)
                    index.reportLeftOut(skip.path, reason: skip.reason.kind)
                }
            }
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
        default: throw UnsupportedType(typeIdentifier, supported: Note.dataTypes)
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
            throw UnsupportedType(typeIdentifier, supported: ["\(type) in place", type, "a page in a file"])
        }
        return try page(of: try folders.file(withIdentifier: itemIdentifier), itemIdentifier)
    }

    /// Writes a note as an HTML page into the worker's temporary folder, which is deleted with the
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
        // Without settings the permitted folders are unknown, so the preview has no pictures.
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

    private static func file(_ path: String) throws(NoteLookupError) -> NoteFile {
        do throws(SkipReason) {
            if let file = try NoteFile(contentsOf: path) { return file }
        } catch {
            throw .skipped(Skip(path: path, reason: error))
        }
        throw .notANote(path)
    }
}

extension IndexRequestHandler: CSFileChangeHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        var identifiers: [String] = []
        var moves: [NoteMove] = []
        var ignoreFiles: [String] = []
        func note(_ file: URL) -> String? {
            NoteKind(fileName: file.lastPathComponent).map { _ in file.path(percentEncoded: false) }
        }
        for change in changes {
            switch change {
            case .changed(let file), .removed(let file):
                identifiers += [note(file)].compactMap { $0 }
                ignoreFiles += Self.ignoreFiles(among: [file])
            case .moved(let from, let to):
                ignoreFiles += Self.ignoreFiles(among: [from, to])
                if let old = note(from), let new = note(to) {
                    moves.append(NoteMove(old: old, new: new))
                } else {
                    identifiers += [note(from), note(to)].compactMap { $0 }
                }
            }
        }
        update(searchableIndex, identifiers, moves: moves, ignoreFiles: ignoreFiles, acknowledgementHandler)
    }

    private static func ignoreFiles(among files: [URL]) -> [String] {
        files.map { $0.path(percentEncoded: false) }.filter { NoteFolders.isIgnoreFile($0) }
    }
}

/// The error for a type that the item does not promise.
struct UnsupportedType: Error, Equatable, CustomStringConvertible {
    var description: String

    init(_ type: String, supported: [String]) {
        description = "A note is not available as \(type), only as \(supported.joined(separator: " or "))."
    }
}

/// Writes a line to standard error, which the host collects.
private func printToStandardError(_ line: String) {
    // A closed standard error leaves no other way to report the line.
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
}
