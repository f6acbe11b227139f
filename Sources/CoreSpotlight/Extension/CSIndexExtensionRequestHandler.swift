// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The principal class of an index extension: override what the extension serves, and name the class in
/// `NSExtensionPrincipalClass` of the manifest.
///
/// One object serves all requests, several at once, on threads other than the main one; the main queue runs meanwhile.
/// What is donated to the index that is passed in, to ``CSSearchableIndex/default()`` or to a named index goes to the app
/// that the extension belongs to.
open class CSIndexExtensionRequestHandler: NSObject, NSExtensionRequestHandling, CSSearchableIndexDelegate {
    /// Makes the object, off the main thread.
    public override init() {}

    /// Does nothing.
    open func beginRequest(with context: NSExtensionContext) {}

    /// Lets go of the handler without calling it, so that the request fails and is repeated. Override it.
    @preconcurrency
    open func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
    ) {}

    /// Lets go of the handler without calling it, so that the request fails and is repeated. Override it.
    @preconcurrency
    open func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void
    ) {}

    /// Does nothing.
    open func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {}

    /// Does nothing.
    open func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {}

    /// Says that no data is promised.
    ///
    /// - Throws: That, always; override it to promise something.
    open func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        throw UnservedRequest("data(for:itemIdentifier:typeIdentifier:)", Self.self)
    }

    /// Says that no file is promised.
    ///
    /// - Throws: That, always; override it to promise something.
    open func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        throw UnservedRequest("fileURL(for:itemIdentifier:typeIdentifier:inPlace:)", Self.self)
    }

    /// Supplies none.
    ///
    /// - Note: Unused on Linux: items that are about to expire are asked for with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    @preconcurrency
    open func searchableItems(
        forIdentifiers identifiers: [String], searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void
    ) {
        searchableItemsHandler([])
    }

    /// Calls the form with a handler.
    ///
    /// - Note: Unused on Linux: items that are about to expire are asked for with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    open func searchableItems(forIdentifiers identifiers: [String]) async -> [CSSearchableItem] {
        let items: [CSSearchableItem]? = try? await answer { answer in
            searchableItems(forIdentifiers: identifiers) { answer.give($0, nil) }
        }
        return items ?? []
    }

    /// Supplies what is supplied without a protection class.
    ///
    /// - Note: Unused on Linux: there are no protection classes, and items are asked for with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    @preconcurrency
    open func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType,
        searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void
    ) {
        searchableItems(forIdentifiers: identifiers, searchableItemsHandler: searchableItemsHandler)
    }

    /// Calls the form with a handler.
    ///
    /// - Note: Unused on Linux: there are no protection classes, and items are asked for with
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
    /// - Note: Unused on Linux: nothing computes attributes that could be told of.
    open func searchableItemsDidUpdate(_ items: [CSSearchableItem]) {}
}
