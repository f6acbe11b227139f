// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import DesktopApp
import ExampleSupport

/// The commands of the app. `search`, `complete` and `view` belong together: they are meant for the
/// open app, which keeps the query.
struct JournalApp: TerminalApp {
    static let identifier = "com.searchlight.journal"
    static let switches: Set<String> = ["--words-only"]

    let shown = ShownLines(of: identifier)
    let session = SearchSession()
    let delegate = NoteDelegate()

    func execute(_ words: CommandWords) async throws {
        switch words.name {
        case "write": try await write(words)
        case "search": try await session.search(words.text, wordsOnly: words.has("words-only"))
        case "complete": try await session.complete(Int(words.text) ?? 0)
        case "view":
            guard let identifier = await session.view(Int(words.text) ?? 0) else {
                throw CommandError("There is no result \(words.text).")
            }
            try view(identifier)
        case "last": for line in try shown.all() { show(line) }
        default:
            throw CommandError(
                """
                Unknown command. Commands: write TITLE --text T, search TEXT [--words-only], complete N, view N, last.
                """)
        }
    }

    /// Writes a note into the first folder of the journal, and donates it at once. The extension
    /// would also find the file, but later.
    private func write(_ words: CommandWords) async throws {
        guard !words.text.slug.isEmpty else { throw CommandError("A note needs a title.") }
        guard let folder = try NoteFolder.first() else {
            throw CommandError("Write the path of a folder for notes into \(NoteFolder.settings.path).")
        }
        let file = folder.appending(path: words.text.slug + ".md", directoryHint: .notDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("# \(words.text)\n\n\(words["text"] ?? "")\n".utf8).write(to: file, options: .atomic)
        let (isDone, done) = AsyncStream.makeStream(of: Void.self)
        delegate.searchableIndex(.default(), reindexSearchableItemsWithIdentifiers: [file.path]) { done.finish() }
        for await _ in isDone {}
        show("wrote \(file.path)")
    }

    func view(_ path: String) throws {
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        try shown.add("note \(path)")
        show(text)
    }

    // MARK: Staying open

    func open() {
        // Connects and loads the model for meanings, so that the first search is fast.
        CSUserQuery.prepare()
        // From now on the index asks the app and not its extension.
        CSSearchableIndex.default().indexDelegate = delegate
        NSUserActivity.setContinuationHandler { activity, _ in
            switch activity.activityType {
            case CSSearchableItemActionType:
                let path = activity.userInfo?[CSSearchableItemActivityIdentifier] as? String
                return (try? view(path ?? "")) != nil
            case CSQueryContinuationActionType:
                search(activity.userInfo?[CSSearchQueryString] as? String ?? "")
                return true
            default: return false
            }
        }
    }

    private func search(_ text: String) {
        Task {
            do {
                let count = try await session.search(text, wordsOnly: false)
                try shown.add("search \(text): \(count)")
            } catch { show("Error: \(error.localizedDescription)") }
        }
    }
}

/// The folders of notes, in the settings that the app and the extension share.
enum NoteFolder {
    static var settings: URL {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"] ?? NSHomeDirectory()
        let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.config"
        return URL(filePath: folder).appending(path: "\(JournalApp.identifier)/folders")
    }

    static func first() throws -> URL? {
        let lines = try String(contentsOf: settings, encoding: .utf8).split(separator: "\n")
        return lines.first { $0.hasPrefix("/") }.map { URL(filePath: String($0), directoryHint: .isDirectory) }
    }
}
