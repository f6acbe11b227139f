// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The methods with which an app handles requests from the index: donating items again, and
/// fulfilling promises.
///
/// Methods are called off the main thread, several at once. Optional methods of Apple's protocol
/// have default implementations here. Swift selects the implementation where the conformance is
/// declared. So to override an optional method in a subclass, inherit from a class that declares
/// the method, such as ``CSIndexExtensionRequestHandler``.
///
/// - Note: Differs on Linux: optional methods have default implementations, so calls are written
///   without a question mark.
public protocol CSSearchableIndexDelegate: NSObjectProtocol {
    /// Donates every item again after the index was lost, then calls the handler. The request is
    /// repeated until the handler is called.
    ///
    /// Items that are not donated again stay in the index, even if they no longer exist in the app.
    /// So begin with ``CSSearchableIndex/deleteAllSearchableItems(completionHandler:)``. Searches
    /// find the earlier items until the handler is called. Then the items that were not donated
    /// again are deleted.
    @preconcurrency
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void)

    /// Donates these items again, deletes those that no longer exist in the app, then calls the
    /// handler. The request is repeated until the handler is called.
    ///
    /// An item that is neither donated nor deleted stays in the index, and searches still find it.
    /// The request does not name the index of an item. So delete an item that no longer exists from
    /// each index to which you donate:
    ///
    /// ```swift
    /// let gone = identifiers.filter { recipes[$0] == nil }
    /// searchableIndex.deleteSearchableItems(withIdentifiers: gone) { error in
    ///     guard error == nil else { return }
    ///     let items = identifiers.compactMap { recipes[$0] }.map(item)
    ///     searchableIndex.indexSearchableItems(items) { error in
    ///         if error == nil { acknowledgementHandler() }
    ///     }
    /// }
    /// ```
    ///
    /// The host requests items that a preview, a drag or a comparison of files found missing, and
    /// items that expire within a week. Items of an encrypted index are requested with that index,
    /// and only while it is unlocked.
    @preconcurrency
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void)

    /// Announces that indexing is throttled, because the machine is busy or runs on battery. Do
    /// only important work. Optional.
    func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex)

    /// Announces that indexing is no longer throttled. Optional.
    func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex)

    /// Provides an item as data in one of its `providerDataTypeIdentifiers`. Return empty data if
    /// the item does not exist. Optional.
    ///
    /// - Throws: An error if the item cannot be provided. The caller receives its description.
    func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data

    /// Provides an item as a file in a type that it promises: the original, or a copy unless
    /// `inPlace` is `true`. The file is left in place. Return the URL `file://` if the item does
    /// not exist. Optional.
    ///
    /// - Throws: An error if the item cannot be provided. The caller receives its description.
    func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL

    /// Provides the items with these identifiers. Optional.
    ///
    /// - Note: Differs on Linux: called only for items of encrypted indexes, unless the variant
    ///   with a protection class is implemented. Other items are requested with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    @preconcurrency
    func searchableItems(
        forIdentifiers identifiers: [String], searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void)

    /// Provides the items with these identifiers. Optional.
    ///
    /// - Note: Differs on Linux: called only for items of encrypted indexes, unless the variant
    ///   with a protection class is implemented. Other items are requested with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    func searchableItems(forIdentifiers identifiers: [String]) async -> [CSSearchableItem]

    /// Provides items of an encrypted index, a week before they expire, while the user has unlocked
    /// the store. The items are donated to the index. Items that are not provided are requested
    /// with ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    /// Optional.
    ///
    /// In an app, the delegate of the index receives the request. Implement either this method or
    /// its other variant.
    ///
    /// - Note: Differs on Linux: called only for items of encrypted indexes. Other items are
    ///   requested with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    @preconcurrency
    func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType,
        searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void)

    /// Provides items of an encrypted index, a week before they expire, while the user has unlocked
    /// the store. The items are donated to the index. Items that are not provided are requested
    /// with ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    /// Optional.
    ///
    /// In an app, the delegate of the index receives the request. Implement either this method or
    /// its other variant.
    ///
    /// - Note: Differs on Linux: called only for items of encrypted indexes. Other items are
    ///   requested with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType
    ) async -> [CSSearchableItem]

    /// Receives items for which the system has computed attributes. Optional.
    ///
    /// - Note: Unused on Linux: nothing computes attributes that could be reported.
    func searchableItemsDidUpdate(_ items: [CSSearchableItem])
}

extension CSSearchableIndexDelegate {
    /// Does nothing.
    public func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {}

    /// Does nothing.
    public func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {}

    /// Throws an error that says that the method is not implemented.
    public func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        throw UnservedRequest("data(for:itemIdentifier:typeIdentifier:)", Self.self)
    }

    /// Throws an error that says that the method is not implemented.
    public func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        throw UnservedRequest("fileURL(for:itemIdentifier:typeIdentifier:inPlace:)", Self.self)
    }

    /// Provides no items.
    @preconcurrency
    public func searchableItems(
        forIdentifiers identifiers: [String], searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void
    ) {
        searchableItemsHandler([])
    }

    /// Calls the variant with a handler.
    public func searchableItems(forIdentifiers identifiers: [String]) async -> [CSSearchableItem] {
        let items: [CSSearchableItem]? = try? await answer { answer in
            searchableItems(forIdentifiers: identifiers) { answer.give($0, nil) }
        }
        return items ?? []
    }

    /// Provides the same items as the method without a protection class.
    @preconcurrency
    public func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType,
        searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void
    ) {
        searchableItems(forIdentifiers: identifiers, searchableItemsHandler: searchableItemsHandler)
    }

    /// Calls the variant with a handler.
    public func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType
    ) async -> [CSSearchableItem] {
        let items: [CSSearchableItem]? = try? await answer { answer in
            searchableItems(forIdentifiers: identifiers, protectionClass: protectionClass) { answer.give($0, nil) }
        }
        return items ?? []
    }

    /// Does nothing.
    public func searchableItemsDidUpdate(_ items: [CSSearchableItem]) {}
}

/// The error thrown by a method that a class does not implement.
struct UnservedRequest: Error, CustomStringConvertible {
    let description: String

    init(_ method: String, _ type: Any.Type) { description = "\(type) does not implement \(method)." }
}
