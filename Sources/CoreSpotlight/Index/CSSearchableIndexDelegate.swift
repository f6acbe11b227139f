// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Answers what the index asks of an app: to donate again, and to turn items into what they promised.
///
/// Methods are called off the main thread, several at once. Where Apple's protocol has optional methods, this one has
/// default implementations; the method to be called is chosen where the conformance is declared, so a subclass must
/// inherit from a class that declares them, as ``CSIndexExtensionRequestHandler`` does.
///
/// - Note: Differs on Linux: optional methods have default implementations, so calls are written without a question
///   mark.
public protocol CSSearchableIndexDelegate: NSObjectProtocol {
    /// The index was lost: donate every item again, then call the handler. Until it was called the request is repeated.
    @preconcurrency
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex,
        reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void)

    /// Donate these items again, or delete them, then call the handler. Until it was called the request is repeated. Items that
    /// expire are asked for a week before, so that what still exists is found on.
    @preconcurrency
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
        acknowledgementHandler: @escaping @Sendable () -> Void)

    /// Indexing is slowed down, since the machine is busy or runs on battery: do only what matters. Optional.
    func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex)

    /// Indexing is no longer slowed down. Optional.
    func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex)

    /// The item as data of a type it promised in `providerDataTypeIdentifiers`. Empty data stands for no such item.
    /// Optional.
    ///
    /// - Throws: Why there is none; whoever asked is told its description.
    func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data

    /// The item as a file of a type it promised: the original, or a copy unless `inPlace`. The
    /// file is left where it is. The URL `file://` stands for no such item. Optional.
    ///
    /// - Throws: Why there is none; whoever asked is told its description.
    func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL

    /// Supplies items for these identifiers. Optional.
    ///
    /// - Note: Unused on Linux: items that are about to expire are asked for with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    @preconcurrency
    func searchableItems(
        forIdentifiers identifiers: [String], searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void)

    /// Supplies items for these identifiers. Optional.
    ///
    /// - Note: Unused on Linux: items that are about to expire are asked for with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    func searchableItems(forIdentifiers identifiers: [String]) async -> [CSSearchableItem]

    /// Supplies items of indexes with a protection class. Optional.
    ///
    /// - Note: Unused on Linux: there are no protection classes, and items are asked for with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    @preconcurrency
    func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType,
        searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void)

    /// Supplies items of indexes with a protection class. Optional.
    ///
    /// - Note: Unused on Linux: there are no protection classes, and items are asked for with
    ///   ``searchableIndex(_:reindexSearchableItemsWithIdentifiers:acknowledgementHandler:)``.
    func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType
    ) async -> [CSSearchableItem]

    /// Is told of items for which the system found out something. Optional.
    ///
    /// - Note: Unused on Linux: nothing computes attributes that could be told of.
    func searchableItemsDidUpdate(_ items: [CSSearchableItem])
}

extension CSSearchableIndexDelegate {
    /// Does nothing.
    public func searchableIndexDidThrottle(_ searchableIndex: CSSearchableIndex) {}

    /// Does nothing.
    public func searchableIndexDidFinishThrottle(_ searchableIndex: CSSearchableIndex) {}

    /// Says that no data is promised.
    public func data(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String
    ) throws -> Data {
        throw UnservedRequest("data(for:itemIdentifier:typeIdentifier:)", Self.self)
    }

    /// Says that no file is promised.
    public func fileURL(
        for searchableIndex: CSSearchableIndex, itemIdentifier: String, typeIdentifier: String, inPlace: Bool
    ) throws -> URL {
        throw UnservedRequest("fileURL(for:itemIdentifier:typeIdentifier:inPlace:)", Self.self)
    }

    /// Supplies none.
    @preconcurrency
    public func searchableItems(
        forIdentifiers identifiers: [String], searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void
    ) {
        searchableItemsHandler([])
    }

    /// Calls the form with a handler.
    public func searchableItems(forIdentifiers identifiers: [String]) async -> [CSSearchableItem] {
        let items: [CSSearchableItem]? = try? await answer { answer in
            searchableItems(forIdentifiers: identifiers) { answer.give($0, nil) }
        }
        return items ?? []
    }

    /// Supplies what is supplied without a protection class.
    @preconcurrency
    public func searchableItems(
        forIdentifiers identifiers: [String], protectionClass: FileProtectionType,
        searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void
    ) {
        searchableItems(forIdentifiers: identifiers, searchableItemsHandler: searchableItemsHandler)
    }

    /// Calls the form with a handler.
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

/// Thrown by the methods that a class did not write.
struct UnservedRequest: Error, CustomStringConvertible {
    let description: String

    init(_ method: String, _ type: Any.Type) { description = "\(type) does not implement \(method)." }
}
