// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
internal import ServiceMessages

/// The calls of a batch, kept in memory until it ends. Nothing of it is anywhere else before.
struct IndexBatch: Sendable {
    /// The most bytes of a batch: what one message carries, less the client state that goes with it.
    static let maximumBytes = ChangeList.maximumBytes - ClientState.maximumBytes
    /// The most changes and names.
    private static let maximumChanges = ChangeList.maximumChanges

    private(set) var changes = ChangeList()
    private var changeCount = 0

    /// Adds what one call does, all of it or nothing.
    ///
    /// - Throws: ``CSIndexError/Code/quotaExceeded`` when the batch would become too large; it is as it was then.
    mutating func append(_ actions: [IndexRequest.Action]) throws(CSIndexError) {
        let added = actions.compactMap(\.change)
        let bytes = changes.bytes.count + added.reduce(0) { $0 + $1.largestEncoding }
        let count = changeCount + added.reduce(0) { $0 + 1 + $1.nameCount }
        guard bytes <= Self.maximumBytes, count <= Self.maximumChanges else {
            throw CSIndexError(
                .quotaExceeded,
                "The call was not added to the batch, which has \(changeCount) changes of \(changes.bytes.count) bytes: "
                    + "with it the batch would have \(count) changes of \(bytes) bytes, and the limits are "
                    + "\(Self.maximumChanges) and \(Self.maximumBytes). End the batch, begin another and make the call "
                    + "there.")
        }
        for change in added { changes.append(change) }
        changeCount = count
    }
}

/// What is known of client states.
enum ClientState {
    /// The longest, in bytes.
    static let maximumBytes = 250
}

extension IndexRequest.Action {
    /// The action as a part of a batch; `nil` for what is about batches.
    fileprivate var change: ChangeList.Change? {
        switch self {
        case .indexRecords(let batch): .indexRecords(batch)
        case .deleteItems(let names): .deleteItems(names)
        case .deleteDomains(let names): .deleteDomains(names)
        case .deleteAll: .deleteAll
        case .commitBatch, .clientState, .record: nil
        }
    }
}

extension ChangeList.Change {
    /// The most bytes that the encoding takes: a tag, and each length in five bytes.
    fileprivate var largestEncoding: Int {
        switch self {
        case .indexRecords(let batch): 6 + batch.count
        case .deleteItems(let names), .deleteDomains(let names): names.reduce(6) { $0 + 5 + $1.utf8.count }
        case .deleteAll: 1
        }
    }

    fileprivate var nameCount: Int {
        switch self {
        case .deleteItems(let names), .deleteDomains(let names): names.count
        case .indexRecords, .deleteAll: 0
        }
    }
}
