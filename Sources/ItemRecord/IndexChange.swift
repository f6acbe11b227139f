// SPDX-License-Identifier: Apache-2.0

/// A change to an index. Apps, workers, the service, the store and its log all use this type;
/// ``ChangeList`` encodes it.
///
/// `Records` is the representation of the items: an encoded ``RecordBatch`` in messages and in the
/// log, and an array of decoded items where a receiver reads them.
public enum IndexChange<Records: Sendable & Hashable>: Sendable, Hashable {
    /// Adds, replaces or updates items.
    case put(Records)
    /// Deletes items by identifier.
    case deleteItems([String])
    /// Deletes domains and all domains below them.
    case deleteDomains([String])
    /// Deletes everything, including the client state.
    case deleteAll
    /// Changes the identifiers of items, all at the same time.
    case renameItems([ItemRename])

    /// Returns the change with its items converted to another representation.
    ///
    /// - Throws: The errors of `form`.
    public func withRecords<Other, Failure: Error>(
        _ form: (Records) throws(Failure) -> Other
    ) throws(Failure) -> IndexChange<Other> {
        switch self {
        case .put(let records): .put(try form(records))
        case .deleteItems(let names): .deleteItems(names)
        case .deleteDomains(let names): .deleteDomains(names)
        case .deleteAll: .deleteAll
        case .renameItems(let renames): .renameItems(renames)
        }
    }

    /// The number of list entries that the change uses: one, plus one per name.
    public var count: Int {
        switch self {
        case .deleteItems(let names), .deleteDomains(let names): 1 + names.count
        case .renameItems(let renames): 1 + 2 * renames.count
        case .put, .deleteAll: 1
        }
    }
}

/// A change with encoded items.
public typealias EncodedChange = IndexChange<[UInt8]>

extension IndexChange<[UInt8]> {
    /// The change without names that no item can have; `nil` if nothing is left. Deleting or
    /// renaming items that cannot exist is not an error.
    public var meaningful: EncodedChange? {
        func possible(_ names: [String]) -> [String] {
            names.filter { $0.utf8.count <= ItemLimit.identifierBytes.maximum }
        }
        switch self {
        case .put(let records): return records.isEmpty ? nil : self
        case .deleteItems(let names): return possible(names).isEmpty ? nil : .deleteItems(possible(names))
        case .deleteDomains(let names): return possible(names).isEmpty ? nil : .deleteDomains(possible(names))
        case .deleteAll: return self
        case .renameItems(let renames):
            let possible = renames.filter(\.isPossible)
            return possible.isEmpty ? nil : .renameItems(possible)
        }
    }

    /// The approximate memory use of the change, in bytes.
    public var byteCount: Int {
        switch self {
        case .put(let records): records.count
        case .deleteItems(let names), .deleteDomains(let names): names.reduce(0) { $0 + $1.utf8.count + 16 }
        case .renameItems(let renames):
            renames.reduce(0) { $0 + $1.identifier.utf8.count + $1.newIdentifier.utf8.count + 32 }
        case .deleteAll: 0
        }
    }

    /// The upper bound of the change's size in a ``ChangeList``, in bytes: a tag, and five bytes
    /// per length.
    var largestEncoding: Int {
        switch self {
        case .put(let records): 6 + records.count
        case .deleteItems(let names), .deleteDomains(let names): names.reduce(6) { $0 + 5 + $1.utf8.count }
        case .renameItems(let renames):
            renames.reduce(6) { $0 + 10 + $1.identifier.utf8.count + $1.newIdentifier.utf8.count }
        case .deleteAll: 1
        }
    }
}
