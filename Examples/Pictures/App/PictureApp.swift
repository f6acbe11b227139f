// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import DesktopApp
import ExampleSupport
import PictureGallery

/// The commands of the app.
struct PictureApp: TerminalApp {
    static let identifier = Gallery.bundle
    static let switches: Set<String> = []
    /// The number of pictures in a batch.
    private static let batchSize = 20

    let shown = ShownLines(of: identifier)

    func execute(_ words: CommandWords) async throws {
        switch words.name {
        case "add": try await add(words.rest)
        case "remove": try await remove(words.text)
        case "sync": try await sync()
        case "list": for id in try Gallery.file.read().pictures.keys.sorted() { show(id) }
        case "show": try view(words.text)
        case "find": for item in try await find(words.text) { show(Self.line(item)) }
        case "log": for line in try ExtensionLog().lines() { show(line) }
        case "last": for line in try shown.all() { show(line) }
        default:
            throw CommandError(
                "Unknown command. Commands: add FILE …, remove ID, sync, list, show ID, find TEXT, log, last.")
        }
    }

    // MARK: Donating

    private func add(_ files: [String]) async throws {
        try ExtensionLog().prepare()
        var added: [String] = []
        for file in files {
            let data = try Data(contentsOf: URL(filePath: file))
            guard let picture = PixelArt(data) else { throw CommandError("\(file) is not a picture of pixels.") }
            let url = Gallery.url(of: picture.id)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: url, options: .atomic)
            added.append(picture.id)
        }
        try Gallery.file.change { gallery in for id in added { gallery.put(id) } }
        show("added \(added.count)")
        try await sync()
    }

    private func remove(_ id: String) async throws {
        guard try Gallery.file.change({ $0.remove(id) }) else { throw CommandError("There is no picture \(id).") }
        try? FileManager.default.removeItem(at: Gallery.url(of: id))
        try await sync()
    }

    /// Donates the changes that the index does not have, in batches. A batch and its client state
    /// become durable together, so an app that is killed continues after its last batch.
    private func sync() async throws {
        let index = CSSearchableIndex(name: Gallery.indexName)
        let state = try await index.fetchLastClientState()
        let gallery = try Gallery.file.read()
        var changes = gallery.changes(after: Int(String(decoding: state, as: UTF8.self)) ?? 0)[...]
        while !changes.isEmpty {
            let batch = changes.prefix(Self.batchSize)
            changes = changes.dropFirst(Self.batchSize)
            let present = batch.filter { gallery.pictures[$0.id] != nil }.compactMap { Gallery.picture($0.id) }
            let removed = batch.filter { gallery.pictures[$0.id] == nil }.map(\.id)
            index.beginBatch()
            try await index.indexSearchableItems(present.map(\.searchableItem))
            try await index.deleteSearchableItems(withIdentifiers: removed)
            let number = batch.last?.number ?? 0
            try await index.endBatch(withClientState: Data("\(number)".utf8))
            show("batch of \(batch.count), state \(number)")
        }
    }

    // MARK: Searching and viewing

    /// Searches among pictures. Pictures of the app's own type are among them.
    func find(_ text: String) async throws -> [CSSearchableItem] {
        let context = CSSearchQueryContext()
        context.fetchAttributes = ["title", "contentDescription"]
        context.filterQueries = ["contentTypeTree == \"\(UTType.image.identifier)\""]
        let value = text.escapedForQuery
        let query = CSSearchQuery(
            queryString: "title == \"\(value)*\"cdw || contentDescription == \"\(value)*\"cdw", queryContext: context)
        var found: [CSSearchableItem] = []
        for try await result in query.results { found.append(result.item) }
        return found
    }

    static func line(_ item: CSSearchableItem) -> String {
        "\(item.uniqueIdentifier)\t\(item.attributeSet.title ?? "")"
    }

    func view(_ id: String) throws {
        guard let picture = Gallery.picture(id) else { throw CommandError("There is no picture \(id).") }
        try shown.add("picture \(id)")
        show(([picture.title, picture.caption] + picture.rows).joined(separator: "\n"))
    }

    // MARK: Continuing

    func open() {
        NSUserActivity.setContinuationHandler { activity, _ in
            switch activity.activityType {
            case CSSearchableItemActionType:
                let id = activity.userInfo?[CSSearchableItemActivityIdentifier] as? String
                return (try? view(id ?? "")) != nil
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
                let found = try await find(text)
                try shown.add("search \(text): \(found.map(\.uniqueIdentifier).sorted().joined(separator: ", "))")
                for item in found { show(Self.line(item)) }
            } catch { show("Error: \(error.localizedDescription)") }
        }
    }
}
