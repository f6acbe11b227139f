// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import WebPageReading

/// The index extension for saved web pages: indexes, serves and renders web pages.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    typealias Environment = FolderRequests<WebPageFile>.Environment

    private let requests: FolderRequests<WebPageFile>

    override convenience init() { self.init(Environment(settings: { try FolderSettings.webPages() })) }

    init(_ environment: Environment) {
        requests = FolderRequests(environment, noun: "web page") { file in
            file.item(WebPageFile.unread)
        } item: { (file, progress) throws(SkipReason) in
            progress.reading(file.path)
            return file.item(try file.content())
        }
        super.init()
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
        let (content, blocks) = try file.read()
        switch typeIdentifier {
        case UTType.html.identifier where file.kind == .mhtml: return Data(file.html(content, blocks).utf8)
        case UTType.utf8PlainText.identifier: return Data(file.plainText(content).utf8)
        case UTType.url.identifier:
            if let address = content.address { return Data(address.absoluteString.utf8) }
            fallthrough
        default:
            throw UnsupportedType(typeIdentifier, of: "This web page", supported: file.dataTypes(content))
        }
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        let type = try requests.file(itemIdentifier).kind.contentType
        // A damaged file has the generic data type. The worker may not know a type that only the
        // manifest declares.
        let conforms = UTType(type).flatMap { own in UTType(typeIdentifier).map { own.conforms(to: $0) } } ?? false
        guard [type, UTType.data.identifier].contains(typeIdentifier) || conforms else {
            throw UnsupportedType(typeIdentifier, of: "A web page", supported: ["\(type) in place", type])
        }
        return URL(filePath: itemIdentifier, directoryHint: .notDirectory)
    }

    // MARK: Previews

    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        let file = try requests.file(identifier)
        let (content, blocks) = try file.read()
        try Task.checkCancellation()
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { reply in
            if let picture = content.picture, let type = UTType(picture.contentType) {
                reply.attachments["picture"] = QLPreviewReplyAttachment(data: Data(picture.bytes), contentType: type)
            }
            let page = file.html(
                content, blocks, limit: WebPageFile.maximumPreviewedText,
                picture: content.picture.map { _ in "cid:picture" })
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
    ) { requests.reindex(searchableIndex, page, acknowledgementHandler) }
}

extension IndexRequestHandler: CSFileChangeHandler {
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, updateItemsForFileChanges changes: [CSFileChange],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) { requests.update(searchableIndex, changes, acknowledgementHandler) }
}
