// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import JournalNotes

/// Makes folders of Markdown and plain-text notes searchable, serves them to other apps and renders them.
///
/// Keeps nothing between requests: settings and folders are read anew for each, so several may be under way at once.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    private let readSettings: () throws(Skip) -> JournalSettings
    private let report: (String) -> Void

    /// The settings of the person, and complaints on standard error.
    override convenience init() {
        self.init(settings: { () throws(Skip) in try JournalSettings() }, report: printToStandardError)
    }

    /// - Parameters:
    ///   - settings: asked once for each request
    ///   - report: takes one line
    init(settings: @escaping () throws(Skip) -> JournalSettings, report: @escaping (String) -> Void) {
        readSettings = settings
        self.report = report
        super.init()
    }

    // MARK: Indexing

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        do {
            // Before anything is deleted: without settings it is not known what should be there.
            let settings = try readSettings()
            settings.problems.forEach(report)
            let donations = Donations(to: searchableIndex)
            try donations.deleteAll()
            var skipped = 0
            for step in settings.noteFolders.walk() {
                switch step {
                case .note(let file): try donations.add(Note(file))
                case .skipped(let skip):
                    skipped += 1
                    report(skip.description)
                }
            }
            try donations.finish()
            report("\(donations.noteCount) notes, \(skipped) skipped")
            acknowledgementHandler()
        } catch {
            // Not acknowledged, so the whole is asked for again.
            report("reindexing failed: \(error)")
        }
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        do {
            let folders = try readSettings().noteFolders
            let donations = Donations(to: searchableIndex)
            for identifier in identifiers {
                if let file = try Self.file(identifier, in: folders, report: report) {
                    try donations.add(Note(file))
                } else {
                    try donations.delete(identifier)
                }
            }
            try donations.finish()
            acknowledgementHandler()
        } catch {
            report("reindexing \(identifiers.count) notes failed: \(error)")
        }
    }

    /// The note under an identifier, or nil if there is none, which is reported unless its file was deleted.
    private static func file(
        _ identifier: String, in folders: NoteFolders, report: (String) -> Void
    ) throws(NoteLookupError) -> NoteFile? {
        do {
            return try folders.file(withIdentifier: identifier)
        } catch {
            if error.mayPass { throw error }
            if !error.isGone { report(error.description) }
            return nil
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
        let type = try readSettings().noteFolders.kind(ofIdentifier: itemIdentifier).contentType
        guard inPlace, typeIdentifier == type else {
            throw UnsupportedType(typeIdentifier, supported: ["\(type) in place"])
        }
        return URL(filePath: itemIdentifier, directoryHint: .notDirectory)
    }

    // MARK: Previews

    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        let path = request.fileURL.path(percentEncoded: false)
        guard let file = try NoteFile(contentsOf: path) else { throw NoteLookupError.notANote(path) }
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { _ in Data(file.html().utf8) }
        reply.title = Note(file).title
        return reply
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
