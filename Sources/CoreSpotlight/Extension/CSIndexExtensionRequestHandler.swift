// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The principal class of an index extension. Override the methods that the extension supports, and
/// set `NSExtensionPrincipalClass` in the manifest to the class.
///
/// One object handles all requests, several at once, off the main thread; the main queue keeps
/// running. Donations to the index in the arguments, to ``CSSearchableIndex/default()`` or to a
/// named index belong to the extension's app.
open class CSIndexExtensionRequestHandler: NSObject, NSExtensionRequestHandling, CSSearchableIndexDelegate {
    /// Creates the object. Called off the main thread.
    public override init() {}

    /// Does nothing.
    open func beginRequest(with context: NSExtensionContext) {}

    /// Releases the handler without calling it, so that the request fails and is repeated. Override
    /// this method.
    @preconcurrency
    open func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
    ) {}

    /// Releases the handler without calling it, so that the request fails and is repeated. Override
    /// this method.
    @preconcurrency
    open func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {}

    /// Does nothing.
    open func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {}

    /// Does nothing.
    open func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {}

    /// Provides no data. Override this method to fulfil promises.
    ///
    /// - Throws: An error that says that the method is not implemented.
    open func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        throw UnservedRequest("data(for:itemIdentifier:typeIdentifier:)", Self.self)
    }

    /// Provides no file. Override this method to fulfil promises.
    ///
    /// - Throws: An error that says that the method is not implemented.
    open func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        throw UnservedRequest("fileURL(for:itemIdentifier:typeIdentifier:inPlace:)", Self.self)
    }

    /// Provides no items.
    ///
    /// - Note: Differs on Linux: called only for items of encrypted indexes, unless the variant
    ///   with a protection class is implemented. Other items are requested with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    @preconcurrency
    open func searchableItems(
        forIdentifiers identifiers: [String], searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void
    ) {
        searchableItemsHandler([])
    }

    /// Calls the variant with a handler.
    ///
    /// - Note: Differs on Linux: called only for items of encrypted indexes, unless the variant
    ///   with a protection class is implemented. Other items are requested with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    open func searchableItems(forIdentifiers identifiers: [String]) async -> [CSSearchableItem] {
        let items: [CSSearchableItem]? = try? await answer { answer in
            searchableItems(forIdentifiers: identifiers) { answer.give($0, nil) }
        }
        return items ?? []
    }

    /// Provides the same items as the method without a protection class.
    ///
    /// - Note: Differs on Linux: called only for items of encrypted indexes. Other items are
    ///   requested with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    @preconcurrency
    open func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType,
        searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void
    ) {
        searchableItems(forIdentifiers: identifiers, searchableItemsHandler: searchableItemsHandler)
    }

    /// Calls the variant with a handler.
    ///
    /// - Note: Differs on Linux: called only for items of encrypted indexes. Other items are
    ///   requested with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    open func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType
    ) async -> [CSSearchableItem] {
        let items: [CSSearchableItem]? = try? await answer { answer in
            searchableItems(forIdentifiers: identifiers, protectionClass: protectionClass) { answer.give($0, nil) }
        }
        return items ?? []
    }

    /// Does nothing.
    ///
    /// - Note: Unused on Linux: nothing computes attributes that could be reported.
    open func searchableItemsDidUpdate(_ items: [CSSearchableItem]) {}
}
