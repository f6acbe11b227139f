// SPDX-License-Identifier: Apache-2.0
import ContactCards
import CoreSpotlight
import FileDonations
import FileReading

/// The index extension for vCard files and the address books of Evolution and GNOME Contacts:
/// indexes, serves and renders cards.
class IndexRequestHandler: CSIndexExtensionRequestHandler, QLPreviewingController {
    private let requests: RecordRequests<CardFile>

    /// Reads the user's settings and reports problems to standard error.
    override convenience init() {
        self.init(RecordRequests.Environment(settings: { () throws(Skip) in try .contacts() }))
    }

    init(_ environment: RecordRequests<CardFile>.Environment) {
        requests = RecordRequests(environment, noun: "card", owner: Self.database) { (file) throws(SkipReason) in
            try Self.records(of: file)
        }
        super.init()
    }

    /// Returns the database that a write-ahead log or rollback journal belongs to.
    private static func database(of path: String) -> String? {
        for ending in ["-wal", "-journal"] where path.hasSuffix("/contacts.db" + ending) {
            return String(path.dropLast(ending.count))
        }
        return nil
    }

    private static func records(of file: CardFile) throws(SkipReason) -> FileRecords {
        let list = try CardList(file)
        let count = list.entries.count
        let records = list.entries.map { entry in
            FileRecord(key: entry.key, digest: FNV1a.hash(entry.bytes)) { () throws(RecordFault) in
                guard !entry.isTooLarge else { throw RecordFault("a card of more than \(Card.Limits.size) bytes") }
                return file.item(entry.card, key: entry.key, count: count)
            }
        }
        return FileRecords(records, leftOut: list.leftOut)
    }

    // MARK: Indexing

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) { requests.reindex(searchableIndex, identifiers, acknowledgementHandler) }

    override func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) { requests.throttle(true) }

    override func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) { requests.throttle(false) }

    // MARK: Promises

    /// Finds the card for an item.
    ///
    /// - Throws: `CocoaError.fileNoSuchFile` if it no longer exists, so that the host removes the
    ///   item.
    private func locate(_ identifier: String) throws -> (file: CardFile, entry: CardList.Entry, count: Int) {
        let (file, key) = try requests.file(of: identifier)
        let entries = try CardList(file).entries
        guard let entry = entries.first(where: { $0.key == key }), !entry.isTooLarge else {
            throw CocoaError(.fileNoSuchFile)
        }
        return (file, entry, entries.count)
    }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        let entry = try locate(itemIdentifier).entry
        let card = entry.card
        switch typeIdentifier {
        case UTType.vCard.identifier: return Data(entry.exported)
        case UTType.utf8PlainText.identifier: return Data(card.plainText.utf8)
        case UTType.url.identifier:
            if let url = card.mailURL ?? card.phoneURL { return Data(url.absoluteString.utf8) }
        default: if let picture = card.picture, picture.contentType == typeIdentifier { return Data(picture.bytes) }
        }
        throw UnsupportedType(typeIdentifier, of: "This card", supported: card.dataTypes)
    }

    override func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        let (file, _, count) = try locate(itemIdentifier)
        guard file.kind == .vCard, count == 1, typeIdentifier == UTType.vCard.identifier else {
            throw UnsupportedType(typeIdentifier, of: "The file of a card", supported: [UTType.vCard.identifier])
        }
        return URL(filePath: file.path, directoryHint: .notDirectory)
    }

    // MARK: Previews

    func providePreviewOfSearchableItem(identifier: String, queryString: String?) async throws -> QLPreviewReply {
        let (file, entry, count) = try locate(identifier)
        let card = entry.card
        let reply = QLPreviewReply(dataOfContentType: .html, contentSize: .zero) { reply in
            if let picture = card.picture, let type = UTType(picture.contentType) {
                reply.attachments["photo"] = QLPreviewReplyAttachment(data: Data(picture.bytes), contentType: type)
            }
            let page = card.html(book: file.bookName(cardCount: count), picture: card.picture.map { _ in "cid:photo" })
            return Data(page.utf8)
        }
        reply.title = card.name
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
