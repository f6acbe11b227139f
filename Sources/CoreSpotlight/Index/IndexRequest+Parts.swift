// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
internal import ServiceMessages

extension IndexRequest {
    /// The most items or names in one request.
    static let maximumCount = 256
    /// The bytes after which a request is cut; an item that is larger travels alone.
    static let maximumBytes = 1 << 20

    /// What indexes these items, encoded as they are now. Items that cannot be encoded are left out; the error
    /// is that of the first.
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
            // An item with NUL in its identifier or domain could be neither deleted nor asked for: C strings end there.
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

    /// The changes that delete by these names, made by `change`. Names that no item can have are left out.
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
}
