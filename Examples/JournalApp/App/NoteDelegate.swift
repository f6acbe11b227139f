// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import DesktopApp
import Journal

/// Answers the index while the app is open, with the code of the extension, and shows each request.
///
/// The app and the extension share one library, so both donate the same for a note.
final class NoteDelegate: NSObject, CSSearchableIndexDelegate, Sendable {
    private var handler: CSIndexExtensionRequestHandler { makeIndexRequestHandler() }

    func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        show("The app donates all notes.")
        handler.searchableIndex(
            searchableIndex, reindexAllSearchableItemsWithAcknowledgementHandler: acknowledgementHandler)
    }

    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        handler.searchableIndex(
            searchableIndex, reindexSearchableItemsWithIdentifiers: identifiers,
            acknowledgementHandler: acknowledgementHandler)
    }

    func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        show("The app delivers \(typeIdentifier).")
        return try handler.data(for: searchableIndex, itemIdentifier: itemIdentifier, typeIdentifier: typeIdentifier)
    }

    func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        show("The app delivers a file of \(typeIdentifier).")
        return try handler.fileURL(
            for: searchableIndex, itemIdentifier: itemIdentifier, typeIdentifier: typeIdentifier, inPlace: inPlace)
    }
}
