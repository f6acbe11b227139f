// SPDX-License-Identifier: Apache-2.0
import ItemRecord

extension IndexBatch {
    /// Whether the batch adds, replaces or updates any item.
    public var hasItems: Bool {
        changes.contains { if case .put = $0 { true } else { false } }
    }

    /// The unique identifiers of the items that the batch adds, replaces or updates; reads all of their records.
    public var itemIdentifiers: [String] {
        changes.compactMap { change in
            guard case .put(let bytes) = change else { return nil }
            // What cannot be read is not indexed either.
            return (try? EncodedItem(decoding: bytes))?.record.uniqueIdentifier
        }
    }

    /// What the batch does after it has deleted everything for the last time; `nil` if it never does.
    public var afterDeletingAll: IndexBatch? {
        guard let last = changes.lastIndex(of: .deleteAll) else { return nil }
        var rest = self
        rest.changes.removeFirst(last + 1)
        return rest
    }
}
