// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import PictureReading

/// The index extension for folders of pictures: indexes, serves and renders pictures.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    /// The parts of the environment that tests replace.
    struct Environment: Sendable {
        var requests = FolderRequests<PictureFile>.Environment(settings: { () throws(Skip) in try .pictures() })
        var settings: @Sendable () throws -> PictureSettings = {
            try PictureSettings(environment: ProcessInfo.processInfo.environment)
        }
        var thumbnails = ThumbnailCache()
    }

    /// The width and height of the picture in a preview, in pixels.
    private static let previewSide = 1600

    private let environment: Environment
    private let requests: FolderRequests<PictureFile>

    override convenience init() { self.init(Environment()) }

    init(_ environment: Environment) {
        self.environment = environment
        let now = environment.requests.now
        let settings = environment.settings
        requests = FolderRequests(environment.requests, noun: "picture") { file in
            file.item(PictureFile.unread, PictureSettings())
        } item: { (file, progress) throws(SkipReason) in
            progress.reading(file.path)
            // If the settings cannot be read, the location is left out.
            var copies = PictureSettings()
            do { copies = try settings() } catch { copies.copiesLocation = false }
            return file.item(file.content(PictureDecoder(now: now), cache: environment.thumbnails), copies)
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
        guard [UTType.jpeg.identifier, UTType.png.identifier].contains(typeIdentifier) else {
            throw UnsupportedType(
                typeIdentifier, of: "A picture", supported: [UTType.jpeg.identifier, UTType.png.identifier])
        }
        let settings = try environment.settings()
        let copy = try file.copy(
            asPNG: typeIdentifier == UTType.png.identifier, side: settings.copySize,
            withLocation: settings.copiesLocation, PictureDecoder(now: environment.requests.now))
        return Data(copy)
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        let file = try requests.file(itemIdentifier)
        let type = file.kind.contentType
        guard let own = UTType(type), let wanted = UTType(typeIdentifier), own.conforms(to: wanted) else {
            throw UnsupportedType(typeIdentifier, of: "A picture", supported: ["\(type) in place", type])
        }
        if !inPlace, try !environment.settings().copiesLocation {
            throw UnsupportedType(
                typeIdentifier, of: "A copy without the location",
                supported: [UTType.jpeg.identifier, UTType.png.identifier])
        }
        return URL(filePath: itemIdentifier, directoryHint: .notDirectory)
    }

    // MARK: Previews

    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        let file = try requests.file(identifier)
        let decoder = PictureDecoder(now: environment.requests.now, isCancelled: { Task.isCancelled })
        let (content, picture) = file.preview(side: Self.previewSide, decoder)
        try Task.checkCancellation()
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { reply in
            if let picture, let type = UTType(picture.contentType) {
                reply.attachments["picture"] = QLPreviewReplyAttachment(data: Data(picture.bytes), contentType: type)
            }
            return Data(file.html(content, picture: picture.map { _ in "cid:picture" }).utf8)
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
