// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One page of a reindex: its start position, and the amount of work that it may take.
public struct CSReindexPage: Sendable {
    /// The position at which the previous page ended; `nil` for the first page.
    public var cursor: Data?
    /// The approximate number of items after which the page should end.
    public var maximumItemCount: Int
    /// The duration after which the page should end, even with fewer items.
    public var maximumDuration: Duration
    /// The memory limit in bytes. Above it, the host terminates the worker.
    public var memoryLimit: Int
    private let cancellation: @Sendable () -> Bool

    /// `true` once the host no longer waits for the page. In that case, release the acknowledgement
    /// handler.
    public var isCancelled: Bool { cancellation() }

    /// Creates a page, for example for a test.
    ///
    /// - Parameter isCancelled: Called on any thread.
    public init(
        cursor: Data?, maximumItemCount: Int, maximumDuration: Duration, memoryLimit: Int = 512 << 20,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.cursor = cursor
        self.maximumItemCount = maximumItemCount
        self.maximumDuration = maximumDuration
        self.memoryLimit = memoryLimit
        cancellation = isCancelled
    }
}

/// A handler that donates large collections in pages.
///
/// A principal class that conforms to this protocol receives pages instead of
/// ``CSSearchableIndexDelegate/searchableIndex(_:reindexAllSearchableItemsWithAcknowledgementHandler:)``.
/// The host stores the position after each page, so that a reindex can continue after the worker or
/// the host has exited or the machine was restarted.
///
/// The method is called off the main thread. Apple has no such protocol.
///
/// ```swift
/// final class IndexRequestHandler: CSIndexExtensionRequestHandler, CSPagedReindexHandler {
///     func searchableIndex(
///         _ searchableIndex: CSSearchableIndex, reindexPage page: CSReindexPage,
///         acknowledgementHandler: @escaping @Sendable (Data?) -> Void
///     ) {
///         let start = page.cursor.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
///         let recipes = store.recipes(from: start, count: page.maximumItemCount)
///         let next = recipes.count < page.maximumItemCount ? nil : Data("\(start + recipes.count)".utf8)
///         searchableIndex.indexSearchableItems(recipes.map(item)) { error in
///             if error == nil { acknowledgementHandler(next) }
///         }
///     }
/// }
/// ```
public protocol CSPagedReindexHandler: CSSearchableIndexDelegate {
    /// Donates items, starting at the page's cursor, and then calls the handler with the cursor of
    /// the next page, or with `nil` after the last item.
    ///
    /// Call the handler when everything up to the new cursor is durable. A cursor has 1 to 4,096
    /// bytes and describes the position completely, because the host may request the next page from
    /// another process. The same page may be requested again. At the end of the reindex the host
    /// deletes the items that no page has donated, so the handler must not delete anything. If the
    /// handler is released without a call or is called with empty data, the page fails, and the
    /// host requests it again.
    func searchableIndex(
        _ searchableIndex: CSSearchableIndex, reindexPage page: CSReindexPage,
        acknowledgementHandler: @escaping @Sendable (_ nextCursor: Data?) -> Void)
}
