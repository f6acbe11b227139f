// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

// The example from WWDC17 session 231: results that can be dragged and whose content is created
// when they are dropped, and an app's own search.

/// Photos that promise their image when they are indexed.
struct PhotoItems {
    func item(_ identifier: String, title: String) -> CSSearchableItem {
        let attributes = CSSearchableItemAttributeSet(itemContentType: kUTTypeImage as String)
        attributes.title = title
        attributes.providerDataTypeIdentifiers = [kUTTypePNG as String]
        attributes.providerFileTypeIdentifiers = [kUTTypeJPEG as String]
        attributes.providerInPlaceFileTypeIdentifiers = [kUTTypeTIFF as String]
        attributes.rankingHint = 80
        attributes.userCreated = true
        attributes.userCurated = true
        return CSSearchableItem(uniqueIdentifier: identifier, domainIdentifier: "photos", attributeSet: attributes)
    }
}

/// Fulfils the promises.
final class PhotoPromises: NSObject, CSSearchableIndexDelegate {
    let folder: URL

    init(folder: URL) { self.folder = folder }

    func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping () -> Void
    ) {
        acknowledgementHandler()
    }

    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping () -> Void
    ) {
        acknowledgementHandler()
    }

    func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        Data("\(itemIdentifier) as \(typeIdentifier)".utf8)
    }

    func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        folder.appendingPathComponent(itemIdentifier)
    }
}

/// The app's own search, in the query language, which delivers results as they are found.
final class PhotoSearch {
    private(set) var titles: [String] = []
    private var query: CSSearchQuery?

    func search(_ text: String, done: @escaping (Error?) -> Void) {
        let escaped = text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
        let query = CSSearchQuery(queryString: "title == \"*\(escaped)*\"cdw", attributes: ["title"])
        query.foundItemsHandler = { items in
            self.titles += items.compactMap { $0.attributeSet.title }
        }
        query.completionHandler = done
        self.query = query
        query.start()
    }

    func stop() { query?.cancel() }
}
