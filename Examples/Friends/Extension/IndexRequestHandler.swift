// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import ExampleSupport
import FriendRecords

/// The index extension: donates the friends and provides their cards while the app does not run.
final class IndexRequestHandler: CSIndexExtensionRequestHandler {
    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        guard let friends = friends()?.values else { return }
        // All items of friends go. The activities have another domain and stay.
        searchableIndex.deleteSearchableItems(withDomainIdentifiers: ["friends"]) { error in
            guard error == nil else { return }
            searchableIndex.indexSearchableItems(friends.map(\.searchableItem)) { error in
                if error == nil { acknowledgementHandler() }
            }
        }
    }

    override func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        guard let friends = friends() else { return }
        let present = identifiers.compactMap { friends[$0] }
        searchableIndex.deleteSearchableItems(withIdentifiers: identifiers.filter { friends[$0] == nil }) { error in
            guard error == nil else { return }
            searchableIndex.indexSearchableItems(present.map(\.searchableItem)) { error in
                if error == nil { acknowledgementHandler() }
            }
        }
    }

    override func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        guard let friend = try AddressBook.file.read()[itemIdentifier] else { throw CocoaError(.fileNoSuchFile) }
        guard let data = friend.data(ofType: typeIdentifier) else { throw CocoaError(.featureUnsupported) }
        return data
    }

    /// The friends; `nil` if the file cannot be read now.
    private func friends() -> [String: Friend]? {
        do { return try AddressBook.file.read() } catch {
            FileHandle.standardError.write(Data("The friends cannot be read: \(error)\n".utf8))
            return nil
        }
    }
}
