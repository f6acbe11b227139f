// SPDX-License-Identifier: Apache-2.0
package import CoreSpotlight
import Dispatch
import Synchronization

/// Sends changes to an index in batches, with bounded memory: at most two requests are in flight
/// while the next batch is collected. Not thread-safe: use from one thread at a time. Calls block
/// until the index accepts another request.
package final class DonationBatches {
    package static let itemsPerBatch = 200
    /// The text size, in UTF-8 bytes, at which a batch is sent even if it has fewer items.
    package static let textPerBatch = 4 << 20

    /// The number of items added.
    package private(set) var itemCount = 0

    private let index: CSSearchableIndex
    private let onSend: () -> Void
    private let requests: RequestWindow
    private var batch: [CSSearchableItem] = []
    private var textInBatch = 0
    private var deletions: [String] = []

    /// - Parameters:
    ///   - isCancelled: Returns `true` if the donations are no longer needed. Blocked calls then
    ///     throw `CancellationError`.
    ///   - onSend: Called after each batch that is sent.
    package init(
        to index: CSSearchableIndex, isCancelled: @escaping () -> Bool = { false }, onSend: @escaping () -> Void = {}
    ) {
        self.index = index
        requests = RequestWindow(size: 2, isCancelled: isCancelled)
        self.onSend = onSend
    }

    /// Adds an item to the current batch.
    ///
    /// - Parameter textBytes: The size of the item's text.
    /// - Throws: The error of an earlier request, if there was one.
    package func add(_ item: CSSearchableItem, textBytes: Int) throws {
        itemCount += 1
        try append(item, textBytes: textBytes)
    }

    /// Keeps the items whose identifiers begin with a prefix, although they are not donated: at the
    /// end of a reindex, the host considers an updated item as donated. The update changes no
    /// attribute.
    package func keepItems(withPrefix prefix: String) throws {
        var failure: (any Error)?
        try index.listItems(withPrefix: prefix) { identifiers in
            do {
                for identifier in identifiers {
                    let update = CSSearchableItem(
                        uniqueIdentifier: identifier, domainIdentifier: nil,
                        attributeSet: CSSearchableItemAttributeSet())
                    update.isUpdate = true
                    try append(update, textBytes: 0)
                }
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    private func append(_ item: CSSearchableItem, textBytes: Int) throws {
        batch.append(item)
        textInBatch += textBytes
        if batch.count >= Self.itemsPerBatch || textInBatch >= Self.textPerBatch { try sendItems() }
    }

    /// Renames items before later additions and deletions.
    package func rename(_ identifiers: [String: String]) throws {
        guard !identifiers.isEmpty else { return }
        try requests.enter { [index] done in index.renameSearchableItems(identifiers, completionHandler: done) }
    }

    package func delete(_ identifier: String) throws {
        deletions.append(identifier)
        if deletions.count >= Self.itemsPerBatch { try sendDeletions() }
    }

    /// Sends the remaining changes and waits until all changes are durable. Throws the first error.
    package func finish() throws {
        if !batch.isEmpty { try sendItems() }
        if !deletions.isEmpty { try sendDeletions() }
        try requests.waitForAll()
    }

    private func sendItems() throws {
        try requests.enter { [index, batch] done in index.indexSearchableItems(batch, completionHandler: done) }
        batch.removeAll(keepingCapacity: true)
        textInBatch = 0
        onSend()
    }

    private func sendDeletions() throws {
        try requests.enter { [index, deletions] done in
            index.deleteSearchableItems(withIdentifiers: deletions, completionHandler: done)
        }
        deletions.removeAll()
        onSend()
    }
}

/// Limits the number of concurrent requests and keeps the first error.
private final class RequestWindow {
    typealias Completion = @Sendable ((any Error)?) -> Void

    private let size: Int
    private let isCancelled: () -> Bool
    private let room: DispatchSemaphore
    private let firstError = FirstError()

    init(size: Int, isCancelled: @escaping () -> Bool) {
        self.size = size
        self.isCancelled = isCancelled
        // Created with 0, then signalled, because libdispatch traps if a semaphore is destroyed
        // while its value is below the initial one.
        room = DispatchSemaphore(value: 0)
        for _ in 0..<size { room.signal() }
    }

    /// Waits for a free slot, then starts a request. The request calls its completion handler once,
    /// from any thread.
    func enter(_ request: (@escaping Completion) -> Void) throws {
        try wait()
        if let error = firstError.value.withLock({ $0 }) {
            room.signal()
            throw error
        }
        request { [firstError, room] error in
            firstError.value.withLock { if $0 == nil { $0 = error } }
            room.signal()
        }
    }

    func waitForAll() throws {
        for _ in 0..<size { try wait() }
        for _ in 0..<size { room.signal() }
        if let error = firstError.value.withLock({ $0 }) { throw error }
    }

    private func wait() throws {
        while room.wait(timeout: .now() + .seconds(1)) == .timedOut {
            if isCancelled() { throw CancellationError() }
        }
    }

    private final class FirstError: Sendable {
        let value = Mutex<(any Error)?>(nil)
    }
}
