// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
internal import ServiceMessages

extension IndexRequest {
    /// The maximum number of items or names in one request.
    static let maximumCount = 256
    /// The size in bytes at which a request is divided. A larger item gets its own request.
    static let maximumBytes = 1 << 20

    /// Returns the changes that index these items in their current state. Items that cannot be
    /// encoded are omitted; the error belongs to the first of them.
    static func index(_ items: [CSSearchableItem]) -> (changes: [EncodedChange], error: CSIndexError?) {
        var changes: [EncodedChange] = []
        var firstError: CSIndexError?
        var batch: [UInt8] = []
        var count = 0
        for item in items {
            let record: [UInt8]
            do throws(CSIndexError) { record = try encode(item) } catch {
                firstError = firstError ?? error
                continue
            }
            if count == maximumCount || (count > 0 && batch.count + record.count > maximumBytes) {
                changes.append(.put(batch))
                batch = []
                count = 0
            }
            RecordBatch.append(record, to: &batch)
            count += 1
        }
        if count > 0 { changes.append(.put(batch)) }
        return (changes, firstError)
    }

    private static func encode(_ item: CSSearchableItem) throws(CSIndexError) -> [UInt8] {
        let name = item.uniqueIdentifier.prefix(80)
        do throws(ItemRecordError) {
            // An item with NUL in its identifier or domain could not be deleted or requested,
            // because C strings end at NUL.
            try check(item.uniqueIdentifier, "identifier")
            if let domain = item.domainIdentifier { try check(domain, "domain") }
            return try item.record.encoded()
        } catch {
            throw CSIndexError(.invalidItemError, "The item \"\(name)\" was not indexed. \(error)")
        }
    }

    private static func check(_ text: String, _ what: String) throws(ItemRecordError) {
        guard text.utf8.contains(0) else { return }
        throw .malformed(offset: 0, reason: "the \(what) contains NUL; choose another")
    }

    /// Returns the changes, created by `change`, that delete items by these names. Names that no
    /// item can have are ignored.
    static func delete(_ names: [String], _ change: ([String]) -> EncodedChange) -> [EncodedChange] {
        var changes: [EncodedChange] = []
        var part: [String] = []
        var bytes = 0
        for name in names where !name.utf8.contains(0) && name.utf8.count <= ItemRecord.maximumIdentifierBytes {
            if part.count == maximumCount || (!part.isEmpty && bytes + name.utf8.count > maximumBytes) {
                changes.append(change(part))
                part = []
                bytes = 0
            }
            part.append(name)
            bytes += name.utf8.count
        }
        if !part.isEmpty { changes.append(change(part)) }
        return changes
    }

    /// Returns the single change that renames items, or no change for impossible or unchanged
    /// identifiers. All renames take effect at once, so they are not divided. If there is an error,
    /// nothing is renamed.
    static func rename(_ identifiers: [String: String]) -> (changes: [EncodedChange], error: CSIndexError?) {
        do throws(CSIndexError) {
            let maximum = ChangeList.maximumChanges / 2 - 1
            guard identifiers.count <= maximum else {
                throw CSIndexError(
                    .quotaExceeded,
                    "No item was renamed: the call has \(identifiers.count) renames; the limit is \(maximum). "
                        + "Rename fewer at a time.")
            }
            let renames = identifiers.filter { !$0.key.utf8.contains(0) }.map { ItemRename($0.key, to: $0.value) }
                .sorted { $0.identifier < $1.identifier }
            for rename in renames { try check(rename.newIdentifier, of: rename) }
            if let rename = renames.contradiction {
                throw CSIndexError(
                    .invalidItemError,
                    "No item was renamed: two items would have the identifier \"\(rename.newIdentifier.prefix(80))\". Give "
                        + "each another one.")
            }
            guard let change = EncodedChange.renameItems(renames).meaningful else { return ([], nil) }
            var list = ChangeList()
            do throws(ChangeList.TooLarge) { try list.appendToBatch([change]) } catch {
                throw CSIndexError(
                    .quotaExceeded,
                    "No item was renamed: the identifiers have \(error.bytes) bytes; the limit is "
                        + "\(ChangeList.maximumBatchBytes). Rename fewer at a time.")
            }
            return ([change], nil)
        } catch {
            return ([], error)
        }
    }

    private static func check(_ newIdentifier: String, of rename: ItemRename) throws(CSIndexError) {
        let limit = ItemRecord.maximumIdentifierBytes
        guard newIdentifier.utf8.contains(0) || !(1...limit).contains(newIdentifier.utf8.count) else { return }
        throw CSIndexError(
            .invalidItemError,
            "The item \"\(rename.identifier.prefix(80))\" was not renamed, nor any other item of the call. An identifier needs 1 to "
                + "\(limit) bytes without NUL. Choose another one.")
    }
}
