// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import ExampleSupport
import PictureGallery
import Synchronization

/// The index extension: donates the pictures in pages, provides files in place and as copies, and
/// renders previews.
final class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    private let log = ExtensionLog()
    private let throttleCount = Mutex(0)

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        let index = CSSearchableIndex(name: Gallery.indexName)
        let present = identifiers.compactMap(Gallery.picture)
        let gone = Set(identifiers).subtracting(present.map(\.id))
        index.deleteSearchableItems(withIdentifiers: gone.sorted()) { error in
            guard error == nil else { return }
            index.indexSearchableItems(present.map(\.searchableItem)) { error in
                guard error == nil else { return }
                // An item may also be in the default index, where the app donates nothing.
                searchableIndex.deleteSearchableItems(withIdentifiers: identifiers) { error in
                    if error == nil { acknowledgementHandler() }
                }
            }
        }
    }

    // MARK: Promises

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        guard let picture = Gallery.picture(itemIdentifier) else { throw CocoaError(.fileNoSuchFile) }
        switch typeIdentifier {
        case UTType.pixelArt.identifier:
            // The host copies the original for a receiver that wants a copy.
            return Gallery.url(of: itemIdentifier)
        case UTType.png.identifier where !inPlace:
            // The folder is removed with the worker. Each picture has one name, so copies do not
            // pile up.
            let url = FileManager.default.temporaryDirectory.appending(path: "\(picture.id).png")
            try picture.png.write(to: url, options: .atomic)
            return url
        default: throw CocoaError(.featureUnsupported)
        }
    }

    // MARK: Previews

    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        guard let picture = Gallery.picture(identifier) else { throw CocoaError(.fileNoSuchFile) }
        return QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { reply in
            reply.title = picture.title
            reply.attachments["picture"] = QLPreviewReplyAttachment(data: picture.png, contentType: .png)
            return Data(picture.html(marking: queryString ?? "").utf8)
        }
    }

    // MARK: Throttling

    override func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {
        let count = throttleCount.withLock { count in
            count += 1
            return count
        }
        log.add("throttled \(count)")
    }

    override func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {
        log.add("resumed \(throttleCount.withLock { $0 })")
    }
}

extension IndexRequestHandler: CSPagedReindexHandler {
    /// The most pictures of a page.
    private static let pageSize = 25

    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexPage page: CSReindexPage,
        acknowledgementHandler: @escaping @Sendable (Data?) -> Void
    ) {
        guard let gallery = try? Gallery.file.read() else { return }
        // The cursor is the number of the last change at the start, and the last donated picture.
        let cursor = page.cursor.map { String(decoding: $0, as: UTF8.self) }?.split(separator: " ", maxSplits: 1)
        let number = cursor?.first.flatMap { Int($0) } ?? gallery.lastChange
        let start = cursor.map { $0.count > 1 ? String($0[1]) : "" } ?? ""
        let rest = gallery.pictures.keys.filter { $0 > start }.sorted()
        var pictures: [PixelArt] = []
        var last: String?
        for id in rest.prefix(max(1, min(page.maximumItemCount, Self.pageSize))) {
            // A cancelled page ends after its first picture, and the next one continues there. So
            // each page is answered, and its worker can be used again.
            if last != nil, page.isCancelled { break }
            last = id
            if let picture = Gallery.picture(id) { pictures.append(picture) }
        }
        let next = last == rest.last ? nil : last.map { Data("\(number) \($0)".utf8) }
        let count = pictures.count
        let index = CSSearchableIndex(name: Gallery.indexName)
        index.beginBatch()
        index.indexSearchableItems(pictures.map(\.searchableItem))
        // The changes up to the number are in the index after the last page, and not before.
        index.endBatch(withClientState: Data("\(next == nil ? number : 0)".utf8)) { [log] error in
            guard error == nil else { return }
            log.add("page of \(count)")
            acknowledgementHandler(next)
        }
    }
}
