// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import JournalNotes

/// Makes folders of Markdown and plain-text notes searchable, serves them to other apps and renders them.
///
/// Keeps nothing between requests: settings and folders are read anew for each, so several may be under way at once.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    private let readSettings: () throws(Skip) -> JournalSettings
    private let report: (String) -> Void
    private let now: () -> ContinuousClock.Instant
    private let temporaryFolder: URL
    private let sampleItems: Int

    /// The settings of the person, and complaints on standard error.
    override convenience init() {
        let sample = ProcessInfo.processInfo.environment["SEARCHLIGHT_SAMPLE_ITEMS"].flatMap { Int($0) }
        self.init(
            settings: { () throws(Skip) in try JournalSettings() }, report: printToStandardError,
            sampleItems: sample ?? 0)
    }

    /// - Parameters:
    ///   - settings: asked once for each request
    ///   - report: takes one line
    ///   - now: the clock that paces signs of life
    ///   - temporaryFolder: where pages are made for receivers of files
    ///   - sampleItems: how many notes are enough, as the validator says; 0 for all
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
            // Not acknowledged, so the whole is asked for again, and until then nothing is removed.
            report("reindexing failed: \(error)")
        }
    }

    /// Donates all notes. Those that are gone are removed with the rest of what is not donated again, unless a folder is
    /// missing: then nothing is, since the index cannot be asked what lay where, and a deleted note stays until the
    /// folder is back.
    private func reindexAll(_ index: CSSearchableIndex) throws {
        // Before anything is deleted: without settings it is not known what should be there.
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
            case .leftOut: break
            }
        }
        try donations.finish()
        // A disk that went away during the walk looked like a folder without notes.
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

    /// Donates or deletes the notes with these identifiers, after the items of moved notes were renamed.
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
                    case .gone(let complaint):
                        if let complaint { report(complaint) }
                        try donations.delete(identifier)
                    case .kept(let complaint): report(complaint)
                    }
                    return nil
                }
            }
            // What failed a moment ago may not any more.
            let all = identifiers + moves.map(\.new) + moves.map(\.old).filter { renames[$0] == nil }
            let unread = try update(update(all).map(\.identifier))
            try refresh(besideIgnoreFiles: ignoreFiles, of: folders, donations)
            try donations.finish()
            // Where no note can be read it is the machine's fault, and all are asked for again; else it is that note's.
            if unread.count == all.count, ignoreFiles.isEmpty, let first = unread.first { throw first.error }
            for note in unread { report("\(note.error); what was found in it is kept") }
            acknowledgementHandler()
        } catch {
            report("reindexing \(Self.count(of: identifiers.count)) failed: \(error)")
        }
    }

    /// Donates what patterns leave out no longer, and deletes what they do.
    private func refresh(
        besideIgnoreFiles files: [String], of folders: NoteFolders, _ donations: Donations
    ) throws {
        let progress = ProgressReport(print: report, now: now)
        // A folder in another one is done with it.
        for file in Set(files).sorted() {
            for step in folders.walk(besideIgnoreFile: file, visiting: progress.walking) ?? NoteWalk(folders: []) {
                switch step {
                case .note(let file): try donations.add(Note(file))
                case .leftOut(let path): try donations.delete(path)
                case .skipped(let skip): progress.say(skip.description)
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
        // Whoever wants a copy has it made by the host.
        if typeIdentifier == type { return URL(filePath: itemIdentifier, directoryHint: .notDirectory) }
        guard !inPlace, typeIdentifier == UTType.html.identifier else {
            throw UnsupportedType(typeIdentifier, supported: ["\(type) in place", type, "a page in a file"])
        }
        return try page(of: try folders.file(withIdentifier: itemIdentifier), itemIdentifier)
    }

    /// Writes a note as a page into the worker's temporary folder, which goes with the worker. The same note has the same
    /// place, so that there are never more pages than notes.
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
        // Without settings it is not known what may be looked at.
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

/// A type that was not promised.
struct UnsupportedType: Error, Equatable, CustomStringConvertible {
    var description: String

    init(_ type: String, supported: [String]) {
        description = "A note cannot be had as \(type), but as \(supported.joined(separator: " or "))."
    }
}

/// Writes a line where the host collects what an extension has to say.
private func printToStandardError(_ line: String) {
    // If standard error is closed there is nobody left to tell.
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
}
