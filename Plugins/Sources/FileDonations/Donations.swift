// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Dispatch
import Synchronization

/// Sends items to an index in batches, with bounded memory: at most two batches are in flight while
/// the next one is collected. Not thread-safe: use from one thread at a time. Calls block until the
/// index accepts another batch.
package final class Donations {
    package static let itemsPerBatch = 200
    /// The total size of texts and pictures, in bytes, at which a batch is sent even if it has
    /// fewer items.
    package static let sizePerBatch = 4 << 20

    /// The number of items added.
    package private(set) var count = 0

    private let index: CSSearchableIndex
    private let onSend: () -> Void
    private let window = Window(size: 2)
    private var batch: [CSSearchableItem] = []
    private var sizeOfBatch = 0
    private var deletions: [String] = []

    /// - Parameter onSend: Called after each batch that is sent.
    package init(to index: CSSearchableIndex, onSend: @escaping () -> Void = {}) {
        self.index = index
        self.onSend = onSend
    }

    /// Deletes all items in the index, and returns when the deletion is durable.
    package func deleteAll() throws {
        try window.enter { [index] done in index.deleteAllSearchableItems(completionHandler: done) }
        try window.waitForAll()
    }

    /// Adds an item to the current batch.
    ///
    /// - Parameter size: The size of the item's texts and pictures, in bytes.
    /// - Throws: The error of an earlier batch, if there was one.
    package func add(_ item: CSSearchableItem, size: Int) throws {
        count += 1
        try append(item, size: size)
    }

    /// Keeps the items of a file or folder that cannot be read, although they are not donated: at
    /// the end of a reindex, the host considers an updated item as donated. The update changes no
    /// attribute.
    package func keepItems(at path: String) throws {
        if try index.hasItem(path) { try keep(path) }
        // The identifiers of records in a file begin with its path too.
        try index.visitItemIdentifiers(withPrefix: path + "/", firstPage: 2) { page in
            for identifier in page { try keep(identifier) }
            return true
        }
    }

    private func keep(_ identifier: String) throws {
        let update = CSSearchableItem(
            uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: CSSearchableItemAttributeSet())
        update.isUpdate = true
        try append(update, size: 0)
    }

    private func append(_ item: CSSearchableItem, size: Int) throws {
        batch.append(item)
        sizeOfBatch += size
        if batch.count >= Self.itemsPerBatch || sizeOfBatch >= Self.sizePerBatch { try sendBatch() }
    }

    /// Renames items before later additions and deletions.
    package func rename(_ identifiers: [String: String]) throws {
        guard !identifiers.isEmpty else { return }
        try window.enter { [index] done in index.renameSearchableItems(identifiers, completionHandler: done) }
    }

    package func delete(_ identifier: String) throws {
        deletions.append(identifier)
        if deletions.count >= Self.itemsPerBatch { try sendDeletions() }
    }

    /// Sends the remaining changes, and returns when everything is durable, or throws the first
    /// error.
    package func finish() throws {
        if !batch.isEmpty { try sendBatch() }
        if !deletions.isEmpty { try sendDeletions() }
        try window.waitForAll()
    }

    private func sendBatch() throws {
        try window.enter { [index, batch] done in index.indexSearchableItems(batch, completionHandler: done) }
        batch.removeAll(keepingCapacity: true)
        sizeOfBatch = 0
        onSend()
    }

    private func sendDeletions() throws {
        try window.enter { [index, deletions] done in
            index.deleteSearchableItems(withIdentifiers: deletions, completionHandler: done)
        }
        deletions.removeAll()
    }
}

/// Limits the number of concurrent requests and keeps the first error.
private final class Window: Sendable {
    typealias Completion = @Sendable ((any Error)?) -> Void

    private let size: Int
    private let room: DispatchSemaphore
    private let firstError = Mutex<(any Error)?>(nil)

    init(size: Int) {
        self.size = size
        // Created with 0, then signalled, because libdispatch traps if a semaphore is destroyed
        // while its value is below the initial one.
        room = DispatchSemaphore(value: 0)
        for _ in 0..<size { room.signal() }
    }

    /// Waits for a free slot, then starts a request. The request calls its completion handler once,
    /// from any thread.
    func enter(_ request: (@escaping Completion) -> Void) throws {
        room.wait()
        if let error = firstError.withLock({ $0 }) {
            room.signal()
            throw error
        }
        request { [self] error in
            firstError.withLock { if $0 == nil { $0 = error } }
            room.signal()
        }
    }

    func waitForAll() throws {
        for _ in 0..<size { room.wait() }
        for _ in 0..<size { room.signal() }
        if let error = firstError.withLock({ $0 }) { throw error }
    }
}
