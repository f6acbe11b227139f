// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import SystemSupport

@testable import CoreSpotlight

/// The library's objects as in an app's process, with a test store.
final class LibraryApp: Sendable {
    let connection: ServiceConnection
    let transport: ServiceTransport
    let sender: RequestSender
    let delegates: IndexDelegates

    private final class Desk: Sendable { let delegates = Mutex<IndexDelegates?>(nil) }

    init(store: String, bundle: String = "com.example.notes", finder: ServiceFinder? = nil) {
        let desk = Desk()
        let connection = ServiceConnection(
            opener: finder ?? ServiceFinder(location: StoreLocation(folder: store)),
            identity: ProcessIdentity(
                environment: [:], bundleIdentifier: bundle, processIdentifier: 1, program: "test"),
            onCall: DelegateHandler { desk.delegates.withLock { $0 }?.asked ?? [] }.receive)
        self.connection = connection
        transport = ServiceTransport(connection: connection)
        sender = RequestSender(transport: transport)
        delegates = IndexDelegates { [weak connection] in connection?.setDelegateWanted($0) }
        desk.delegates.withLock { $0 = delegates }
    }

    func index(
        _ name: String? = nil, protectionClass: FileProtectionType = .completeUntilFirstUserAuthentication
    ) -> CSSearchableIndex {
        CSSearchableIndex(name: name, sender: sender, delegates: delegates, protectionClass: protectionClass)
    }

    static func item(_ identifier: String) -> CSSearchableItem {
        let attributes = CSSearchableItemAttributeSet(contentType: .plainText)
        attributes.title = identifier
        attributes.providerDataTypeIdentifiers = ["public.utf8-plain-text"]
        attributes.providerFileTypeIdentifiers = ["public.plain-text"]
        return CSSearchableItem(uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: attributes)
    }

    /// Returns the data of an item of `com.example.notes`.
    func fetch(_ item: String) async throws -> Data {
        try await transport.fetchData(bundle: "com.example.notes", item: item, type: "public.utf8-plain-text")
    }

    /// Returns the identifiers of the items that a query finds.
    func found(
        _ text: String, classes: [FileProtectionType] = [.none, .complete, .completeUnlessOpen]
    ) async throws -> Set<String> {
        try await ProcessTransports.$replacement.withValue(.init(query: transport)) {
            let query = CSSearchQuery(queryString: text, attributes: ["title"])
            query.protectionClasses = classes
            var found: Set<String> = []
            for try await result in query.results { found.insert(result.id) }
            return found
        }
    }
}

/// A delegate that donates its items, and delivers the configured data.
final class LibraryDelegate: NSObject, CSSearchableIndexDelegate, Sendable {
    let requests = Mutex<[String]>([])
    private let identifiers: [String]
    private let text: Data
    private let file: String

    init(_ identifiers: [String], data: Data = Data(), file: String = "") {
        self.identifiers = identifiers
        text = data
        self.file = file
    }

    func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        requests.withLock { $0.append("all") }
        searchableIndex.indexSearchableItems(identifiers.map(LibraryApp.item)) { error in
            // Called twice, as some delegates do.
            if error == nil { for _ in 0..<2 { acknowledgementHandler() } }
        }
    }

    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {
        requests.withLock { $0.append(identifiers.joined(separator: " ")) }
        if identifiers != ["never"] { acknowledgementHandler() }
    }

    func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) { requests.withLock { $0.append("slow") } }

    func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {
        requests.withLock { $0.append("fast") }
    }

    func data(for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String) throws -> Data {
        requests.withLock { $0.append("data \(itemIdentifier)") }
        if itemIdentifier == "broken" { throw CSIndexError(.unknownError, "It is broken.") }
        return text
    }

    func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        file.isEmpty ? URL(string: "file://")! : URL(filePath: file)
    }
}
