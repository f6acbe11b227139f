// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import ManualReading

/// The index extension for the system's manuals: indexes, serves and renders manuals.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    typealias Environment = FolderRequests<ManualFile>.Environment

    private let requests: FolderRequests<ManualFile>

    override convenience init() { self.init(Environment(settings: { try FolderSettings.manuals() })) }

    init(_ environment: Environment) {
        requests = FolderRequests(environment, noun: "manual") { file in
            file.item(ManualFile.unread)
        } item: { (file, progress) throws(SkipReason) in
            progress.reading(file.path)
            return file.item(try file.content(pages: Self.included))
        }
        super.init()
    }

    /// Returns the contents of a page that another page includes.
    private static func included(_ path: String) -> [UInt8]? {
        guard let page = try? ManualFile(contentsOf: path) else { return nil }
        return try? page.contents()
    }

    // MARK: Indexing

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) { requests.update(searchableIndex, identifiers, acknowledgementHandler) }

    override func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) { requests.isThrottled = true }

    override func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {
        requests.isThrottled = false
    }

    // MARK: Promises

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        let file = try requests.file(itemIdentifier)
        switch typeIdentifier {
        case UTType.html.identifier:
            return Data(file.html(try file.content(wantsHTML: true, pages: Self.included)).utf8)
        case UTType.utf8PlainText.identifier: return Data(file.plainText(try file.content(pages: Self.included)).utf8)
        default:
            throw UnsupportedType(
                typeIdentifier, of: "A manual",
                supported: [UTType.html.identifier, UTType.utf8PlainText.identifier])
        }
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        let file = try requests.file(itemIdentifier)
        let type = file.fileType(ManualContent())
        // The worker may not know a type that only the manifest declares.
        let conforms = UTType(type).flatMap { own in UTType(typeIdentifier).map { own.conforms(to: $0) } } ?? false
        let general = [UTType.data.identifier] + (file.kind.compression == nil ? [UTType.text.identifier] : [])
        guard type == typeIdentifier || conforms || general.contains(typeIdentifier) else {
            throw UnsupportedType(typeIdentifier, of: "A manual", supported: ["\(type) in place", type])
        }
        return URL(filePath: itemIdentifier, directoryHint: .notDirectory)
    }

    // MARK: Previews

    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        let file = try requests.file(identifier)
        let content = try file.content(wantsHTML: true, pages: Self.included)
        try Task.checkCancellation()
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { _ in
            Data(file.html(content, limit: ManualFile.maximumPreviewedText, query: queryString).utf8)
        }
        reply.title = file.title(content)
        return reply
    }
}

extension IndexRequestHandler: CSPagedReindexHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexPage page: CSReindexPage,
        acknowledgementHandler: @escaping @Sendable (_ nextCursor: Data?) -> Void
    ) { requests.reindex(searchableIndex, page, acknowledgementHandler) }
}

extension IndexRequestHandler: CSFileChangeHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) { requests.update(searchableIndex, changes, acknowledgementHandler) }
}
