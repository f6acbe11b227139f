// SPDX-License-Identifier: Apache-2.0

// Source written for Apple's SDK. Half of the test is that it compiles with this import alone. The
// other half calls it (AdapterTests). Do not change anything here for the compiler, except `any`,
// which this package's settings require.
import CoreSpotlight

class IndexRequestHandler: CSIndexExtensionRequestHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        let attributes = CSSearchableItemAttributeSet(contentType: .text)
        attributes.title = "All"
        attributes.userCurated = true
        attributes.rating = NSNumber(value: 5)
        attributes.fileSize = 12 as NSNumber
        let item = CSSearchableItem(uniqueIdentifier: "1", domainIdentifier: "notes", attributeSet: attributes)
        item.expirationDate = .distantFuture
        searchableIndex.indexSearchableItems([item])
        acknowledgementHandler()
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        let items = identifiers.map { identifier -> CSSearchableItem in
            let attributes = CSSearchableItemAttributeSet(itemContentType: "public.text")
            attributes.title = identifier
            return CSSearchableItem(
                uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: attributes)
        }
        CSSearchableIndex.default().indexSearchableItems(items)
        acknowledgementHandler()
    }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        return Data()
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        return URL(string: "file://")!
    }
}

/// A request handler with `async` methods that also renders previews.
final class PreviewingRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    var opened = Date()

    override init() {
        super.init()
        opened = Date.distantPast
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        Task {
            let item = CSSearchableItem(
                uniqueIdentifier: "awaited", domainIdentifier: nil, attributeSet: CSSearchableItemAttributeSet())
            try? await CSSearchableIndex(name: "named").indexSearchableItems([item])
            acknowledgementHandler()
        }
    }

    override func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {}

    override func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {}

    func providePreview(for request: QLFilePreviewRequest) async throws -> QLPreviewReply {
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: CGSize(width: 800, height: 600)) { reply in
            reply.title = "Made"
            reply.stringEncoding = .isoLatin1
            return Data("<p>caf\u{e9} <img src=\"cid:logo\">".unicodeScalars.map { UInt8($0.value) })
        }
        reply.attachments["logo"] = QLPreviewReplyAttachment(data: Data([1, 2, 3]), contentType: .png)
        return reply
    }
}

/// A preview extension without an index.
class PreviewProvider: QLPreviewProvider, QLPreviewingController {
    func providePreview(
        for request: QLFilePreviewRequest, completionHandler handler: @escaping (QLPreviewReply?, (any Error)?) -> Void
    ) {
        handler(QLPreviewReply(fileURL: request.fileURL), nil)
    }
}

/// A view-based preview extension. It compiles but receives no requests.
class ViewBasedPreview: QLPreviewProvider, QLPreviewingController {
    func preparePreviewOfSearchableItem(identifier: String, queryString: String?) async throws {}
    func preparePreviewOfFile(at url: URL) async throws {}
}

/// An app's own protocol for the index.
protocol SearchIndexing {
    func indexSearchableItems(_ items: [CSSearchableItem]) async throws
    func deleteSearchableItems(withIdentifiers identifiers: [String]) async throws
}

extension CSSearchableIndex: SearchIndexing {}

/// The same protocol with completion handlers, as in an app's tests.
protocol HandlerIndexing {
    func indexSearchableItems(_ items: [CSSearchableItem], completionHandler: (((any Error)?) -> Void)?)
}

final class FakeIndex: HandlerIndexing {
    func indexSearchableItems(_ items: [CSSearchableItem], completionHandler: (((any Error)?) -> Void)? = nil) {
        completionHandler?(nil)
    }
}

/// A model that indexes from the main actor.
@MainActor
final class Library {
    let index: CSSearchableIndex
    init(index: CSSearchableIndex = .default()) { self.index = index }

    func update() async throws {
        let items = [CSSearchableItem(), CSSearchableItem()]
        try await index.indexSearchableItems(items)
        try await index.deleteSearchableItems(withIdentifiers: [items[0].uniqueIdentifier])
        let indexing: any SearchIndexing = CSSearchableIndex(name: "library", protectionClass: .complete)
        try await indexing.deleteSearchableItems(withIdentifiers: ["x"])
    }

    func updateLater() {
        guard CSSearchableIndex.isIndexingAvailable() else { return }
        index.deleteAllSearchableItems { error in
            if let error { print(error.localizedDescription) }
        }
        CSSearchableIndex.default().deleteSearchableItems(withDomainIdentifiers: ["a"], completionHandler: nil)
    }
}
